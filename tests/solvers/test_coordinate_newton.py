"""The linear solver's ways to begin and to end: samples of tall data or sweeps, Newton, steps on the free block."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import Problem, solve
from maxmargin.losses import list_losses
from maxmargin.problem.space import LinearSpace
from maxmargin.solvers.linear import coordinate_newton
from maxmargin.solvers.linear.free_block import FreeBlock, times
from maxmargin.solvers.linear.growing_sample import grow, is_tall
from maxmargin.solvers.linear.growing_sample import settings as growing
from maxmargin.solvers.linear.newton import AugmentedLagrangian, slope_along
from maxmargin.solvers.linear.nonzeros import thinned
from maxmargin.solvers.linear.sweeps import survey

pytestmark = pytest.mark.compiled

ROWS, COLUMNS = growing.growth * growing.fewest_rows + 500, 5
LOSSES = [name for name in list_losses() if name not in ("logistic", "one-class")]
REGRESSION = ("epsilon-insensitive", "squared-epsilon-insensitive", "least-squares")


def tall(loss: str = "hinge", storage=np.asarray, **options) -> Problem:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS)) * np.geomspace(3, 0.2, COLUMNS)
    score = X @ rng.normal(size=COLUMNS) + rng.normal(size=ROWS)
    y = score if loss in REGRESSION else np.where(score > 0.5, 1, -1)
    problem = Problem(storage(X), y, loss=loss, **options)
    assert is_tall(problem.space, problem.form)
    return problem


@pytest.mark.parametrize("bias", ["none", "augmented", "free"])
@pytest.mark.parametrize("loss", LOSSES)
def test_samples_lead_to_the_same_optimum_as_sweeps(loss, bias):
    problem = tall(loss, bias=bias, C=0.3)
    sampled = solve(problem, "coordinate-newton", tol=1e-8)
    swept = solve(problem, "coordinate-newton", tol=1e-8, start=np.zeros(problem.n))
    assert sampled.certificate.holds(1e-8) and swept.certificate.holds(1e-8)
    assert sampled.certificate.primal == pytest.approx(swept.certificate.primal, rel=3e-8)


@pytest.mark.parametrize("storage", [sp.csr_array, np.float32])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_samples_of_any_storage_and_any_C(storage, C):
    weight = np.random.default_rng(1).integers(0, 4, ROWS).astype(float)
    for bias in ("augmented", "free"):
        assert solve(tall(storage=storage, C=C, bias=bias, sample_weight=weight), tol=1e-7).certificate.holds(1e-7)


@pytest.mark.parametrize("bias", ["augmented", "free"])
def test_samples_may_miss_a_class(bias):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(ROWS, COLUMNS))
    y = np.full(ROWS, -1)
    y[:3] = 1
    assert solve(Problem(X, y, bias=bias, C=10.0), "coordinate-newton", tol=1e-6).certificate.holds(1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_few_nonzeros_are_the_rows_of_the_same_array(dtype):
    X = np.random.default_rng(5).normal(size=(5000, 7)).astype(dtype)
    X[np.random.default_rng(6).random(X.shape) < 0.8] = 0.0
    dense = LinearSpace(X, 1.0)
    thin = thinned(dense)
    expected = sp.csr_array(X)
    for found, array in zip(thin.rows, (expected.indptr, expected.indices, expected.data), strict=True):
        np.testing.assert_array_equal(found, array)
    assert thin.work == expected.nnz and thinned(LinearSpace(X + 1, 1.0)).work == X.size
    result = solve(Problem(X, X @ np.arange(7) > 0.3, bias="augmented"), "coordinate-newton", tol=1e-9)
    assert result.certificate.holds(1e-9)


@pytest.mark.parametrize("bias", ["none", "augmented"])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_survey_sees_the_gap_of_the_whole_problem_and_lets_only_settled_samples_go(loss, bias):
    problem = wide(loss, bias)
    form, space = problem.form, problem.space
    beta = solve(problem, "coordinate-newton", tol=1e-3).beta
    w = space.combine(beta)
    order = np.arange(problem.n, dtype=np.uint32)
    active, gap, low, high, worst = survey(space.scores(w), order, form.arrays, beta, 0.0)
    assert gap == pytest.approx(problem.primal(w) - problem.dual(beta), rel=1e-9)
    assert low <= 0.0 <= high and worst == max(high, -low)
    np.testing.assert_array_equal(np.sort(order), np.arange(problem.n))
    gone = order[active:]
    assert len(gone) or loss == "least-squares"  # which has neither ends nor kinks
    for i in gone:  # a step to either side leaves the box or lowers the dual
        for step in (-1e-6, 1e-6):
            if form.lower[i] <= beta[i] + step <= form.upper[i]:
                moved = beta.copy()
                moved[i] += step
                assert problem.dual(moved) < problem.dual(beta)
    assert survey(space.scores(w), order, form.arrays, beta, np.inf)[0] == problem.n


@pytest.mark.parametrize("bias", ["augmented", "free"])
@pytest.mark.parametrize("loss", LOSSES)
def test_newton_keeps_its_sums_and_searches_where_something_moves(loss, bias):
    problem = tall(loss, bias=bias, C=0.3)
    space, form = problem.space, problem.form
    lagrangian = AugmentedLagrangian(space, form, np.zeros(problem.n), np.zeros(space.size), 0.0, 1.0)
    for step in range(6):
        lagrangian.step()
        np.testing.assert_allclose(lagrangian.combined, space.combine(lagrangian.u), rtol=1e-9, atol=1e-9)
        assert lagrangian.sum == pytest.approx(lagrangian.u.sum(), rel=1e-9, abs=1e-9)
        along = space.scores(np.linspace(1.0, -1.0, space.size))
        (z, directions, beta, dual), fixed = lagrangian._moving(along)
        inertia = 1.0 / lagrangian.sigma
        for alpha in (0.2, 0.7):
            whole = slope_along(0, space.n, alpha, inertia, lagrangian.z, along, lagrangian.beta, form.arrays)
            some = slope_along(0, len(z), alpha, inertia, z, directions, beta, dual)
            assert fixed + some == pytest.approx(whole, rel=1e-9, abs=1e-9)
        if step == 3:
            lagrangian.multiply()


def test_sweeps_begin_on_tall_data_where_a_few_rows_show_that_they_suffice(monkeypatch):
    grown = []
    monkeypatch.setattr(coordinate_newton, "grow", lambda *args: grown.append(args) or grow(*args))
    rng = np.random.default_rng(8)
    apart = rng.normal(size=(ROWS, 60))
    y = np.where(rng.random(ROWS) < 0.5, 1, -1)
    apart[:, 0] += 100.0 * y  # hardly any sample has to move
    cases = {
        "a step leads across the box": (tall(C=1e-4, bias="augmented"), False),
        "the box is wide": (tall(C=10.0, bias="augmented"), True),
        "the classes are far apart": (Problem(apart, y, C=1e3, bias="augmented"), False),
        "a free bias": (tall(C=1e-4, bias="free"), True),
    }
    for case, (problem, samples) in cases.items():
        grown.clear()
        assert solve(problem, "coordinate-newton", tol=1e-6).certificate.holds(1e-6), case
        assert bool(grown) == samples, case


def test_rows_of_nothing_but_zeros():
    for rows in (np.zeros((6, 2)), sp.csr_array((6, 2))):
        for bias in ("none", "augmented", "free"):
            assert solve(Problem(rows, [1, 1, 1, 1, 0, 0], C=1.0, bias=bias), tol=1e-6).certificate.holds(1e-6)


def wide(loss: str, bias: str = "augmented") -> Problem:
    rng = np.random.default_rng(3)
    X = sp.random_array((600, 1500), density=0.05, random_state=rng, format="csr")
    score = X @ rng.normal(size=1500)
    y = score if loss in REGRESSION else np.where(score > 0, 1, -1)
    return Problem(X, y, loss=loss, C=10.0, bias=bias)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_step_on_the_free_block_raises_the_dual_by_what_it_says(loss):
    problem = wide(loss)
    form = problem.form
    beta = np.clip(np.random.default_rng(4).normal(size=problem.n) * form.target, form.lower, form.upper)
    w = problem.space.combine(beta)
    before = problem.dual(beta)
    block = FreeBlock(problem.space, form, beta, problem.space.constant)
    kept = np.setdiff1d(np.arange(problem.n), block.some)
    old = beta.copy()
    rise = block.ascend(problem.space.diag() + form.ridge, beta, w, 0.0, 30)
    assert rise > 0.0 and problem.dual(beta) - before == pytest.approx(rise, rel=1e-9)
    np.testing.assert_array_equal(beta[kept], old[kept])
    np.testing.assert_allclose(w, problem.space.combine(beta), atol=1e-9 * np.abs(w).max())


@pytest.mark.parametrize("storage", [sp.csr_array, lambda X: X.toarray()])
def test_the_copy_of_the_free_rows_has_their_products(storage):
    X = sp.random_array((40, 300), density=0.02, random_state=np.random.default_rng(5), format="csr")
    problem = Problem(storage(X), np.where(np.arange(40) % 2, 1, -1), bias="none")
    beta = np.where(np.arange(40) % 3, 0.5 * problem.target, 0.0)
    block = FreeBlock(problem.space, problem.form, beta, 0.0)
    some = X[block.some].toarray()
    columns = np.count_nonzero(some, axis=0)
    assert (columns == 0).any() and (columns == 1).any() and (columns > 1).any()
    v = np.random.default_rng(6).normal(size=block.size)
    by_rows, by_columns, diagonal = block.linked()
    np.testing.assert_allclose(times(by_rows, times(by_columns, v)) + diagonal * v, some @ (some.T @ v), rtol=1e-6)


@pytest.mark.parametrize("bias", ["none", "augmented", "free"])
@pytest.mark.parametrize("loss", LOSSES)
def test_wide_problems_with_steps_on_the_free_block(loss, bias, monkeypatch):
    taken = []
    ascend = FreeBlock.ascend
    monkeypatch.setattr(FreeBlock, "ascend", lambda *args: taken.append(ascend(*args)) or taken[-1])
    at_once = replace(coordinate_newton.settings, free_block_after=0.0, free_block_soon=0.0)
    monkeypatch.setattr(coordinate_newton, "settings", at_once)
    result = solve(wide(loss, bias), "coordinate-newton", tol=1e-9)
    assert result.certificate.holds(1e-9) and max(taken) > 0.0


@pytest.mark.parametrize("large, early", [(0.0, True), (np.inf, False)])
def test_steps_on_the_free_block_begin_early_where_the_gap_is_large(large, early, monkeypatch):
    passes = []
    ascend = coordinate_newton._Sweeps._ascend_free_block
    monkeypatch.setattr(
        coordinate_newton._Sweeps, "_ascend_free_block", lambda self: passes.append(self.passes) or ascend(self)
    )
    settings = replace(coordinate_newton.settings, large_gap=large)
    monkeypatch.setattr(coordinate_newton, "settings", settings)
    solve(wide("hinge", "augmented"), "coordinate-newton", tol=1e-12, max_iter=200)
    first = settings.free_block_soon if early else settings.free_block_after
    assert passes and first < passes[0] < first + 2 * settings.survey_passes


@pytest.mark.parametrize("make", [lambda: tall(C=1.0), lambda: wide("hinge", "free")])
def test_the_number_of_threads_does_not_change_the_bits(make, monkeypatch):
    at_once = replace(coordinate_newton.settings, free_block_after=0.0, free_block_soon=0.0)
    monkeypatch.setattr(coordinate_newton, "settings", at_once)
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("MAXMARGIN_THREADS", threads)
        result = solve(make(), "coordinate-newton", tol=1e-7)
        found.append((result.beta.tobytes(), np.asarray(result.w).tobytes(), result.certificate.gap))
    assert found[0] == found[1]
