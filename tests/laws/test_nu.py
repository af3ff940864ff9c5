"""Laws of ν-problems: weak duality for any pair, the share of the samples, the ordinary problem behind each."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm

from maxmargin import InvalidInput, NuProblem, NuSVC, NuSVR, Refused, certify, list_solvers, solve
from maxmargin.data import Data
from maxmargin.kernels import RBF
from maxmargin.losses import EpsilonInsensitive, Hinge
from maxmargin.models import load, save
from maxmargin.models.certify import certify as check
from maxmargin.training.budget import Budget
from maxmargin.training.fit import fit
from maxmargin.training.recipe import Recipe

pytestmark = pytest.mark.compiled
TASKS = ("classes", "values")


def data(task, n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    values = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    return X, (values > 0.3).astype(int) if task == "classes" else values, rng


def problem_of(task, nu=0.4, kernel=None, weights=None, **more):
    X, y, rng = data(task, **more)
    loss = "hinge" if task == "classes" else "epsilon-insensitive"
    given = rng.uniform(0.5, 2.0, len(X)) if weights else None
    return NuProblem(X, y, nu, loss, kernel=kernel or RBF(0.5), C=2.0, sample_weight=given)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("task", TASKS)
def test_weak_duality_for_any_pair(task, weights):
    """The dual at any feasible β is below the primal at any w, with any margin or tube."""
    problem = problem_of(task, weights=weights)
    rng = np.random.default_rng(1)
    for size in (0.01, 0.3, 5.0):
        beta = problem.feasible(size * rng.normal(size=problem.n))
        assert problem.is_feasible(beta)
        w = size * rng.normal(size=problem.n)
        b = problem.best_bias(problem.space.scores(w))
        assert problem.dual(beta) <= problem.primal(w, b) + 1e-9
        assert problem.primal(w, b) <= problem.primal(w, b + 0.1) + 1e-9
        assert problem.primal(w, b) <= problem.primal(w, b - 0.1) + 1e-9


@pytest.mark.parametrize("way", ["auto", "smo"])
@pytest.mark.parametrize("nu", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("task", TASKS)
def test_the_solution_has_its_share_of_errors_and_support_vectors(task, nu, way):
    problem = problem_of(task, nu)
    result = solve(problem, way, tol=1e-8)
    assert result.converged and certify(problem, result.point).holds(1e-8)
    z, tau = result.decision_function(problem.X), result.point.tau
    off = problem.target * z < tau - 1e-6 if task == "classes" else np.abs(problem.target - z) > tau + 1e-6
    assert np.mean(off) <= nu + 1e-12 <= np.mean(result.beta != 0.0) + 1e-9
    mass = np.abs(result.beta).sum()
    assert mass <= nu * problem.C.sum() * (1.0 + 1e-9)
    assert tau < 1e-3 or mass == pytest.approx(nu * problem.C.sum(), rel=1e-9)  # a tube of 0 may have mass to spare


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.1])
def test_the_sums_are_kept_where_a_sample_is_on_both_sides_of_its_tube(noise):
    """A regression with mass to spare: the matrix of the free variables is singular, and the sums must not drift."""
    X, _, rng = data("values")
    result = solve(
        NuProblem(X, X[:, 0] + noise * rng.normal(size=len(X)), 0.5, "epsilon-insensitive", kernel=RBF(1 / 3))
    )
    assert result.converged and result.certificate.infeasibility <= 1e-11 * result.problem.half


@pytest.mark.parametrize("task", TASKS)
def test_the_ordinary_problem_has_the_same_solution(task):
    result = solve(problem_of(task), tol=1e-9)
    ordinary = result.ordinary
    again = certify(ordinary.problem, ordinary.point)
    assert isinstance(ordinary.problem.loss, Hinge if task == "classes" else EpsilonInsensitive)
    assert again.relative_gap < 1e-7
    np.testing.assert_allclose([again.primal, again.dual], [ordinary.certificate.primal, ordinary.certificate.dual])
    alone = solve(ordinary.problem, tol=1e-10)
    np.testing.assert_allclose(
        alone.decision_function(alone.problem.X), ordinary.decision_function(alone.problem.X), atol=1e-3
    )
    assert result.kkt.largest < 1e-3


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("task", TASKS)
def test_scikit_learn_has_the_same_function(task, kernel):
    X, y, _ = data(task)
    made, peer = (NuSVC, svm.NuSVC) if task == "classes" else (NuSVR, svm.NuSVR)
    # Not a whole number of samples on either side, so that one of them is free and the thresholds are unique.
    mine = made(nu=0.41, kernel=kernel, tol=1e-9).fit(X, y)
    theirs = peer(nu=0.41, kernel=kernel, tol=1e-10).fit(X, y)
    name = "decision_function" if task == "classes" else "predict"
    np.testing.assert_allclose(getattr(mine, name)(X), getattr(theirs, name)(X), atol=1e-5)


@pytest.mark.parametrize("task", TASKS)
def test_storage_and_the_matrix_itself_make_no_difference(task):
    problem = problem_of(task)
    X, y = problem.X, problem.target
    loss = problem.loss
    K = problem.kernel.block(X, X)
    for way in ("auto", "smo"):
        expected = solve(problem, way, tol=1e-9)
        for same in (
            NuProblem(sp.csr_array(X), y, 0.4, loss, kernel=RBF(0.5), C=2.0),
            NuProblem(K, y, 0.4, loss, kernel="precomputed", C=2.0),
        ):
            found = solve(same, way, tol=1e-9)
            assert found.certificate.dual == pytest.approx(expected.certificate.dual, rel=1e-8)


@pytest.mark.parametrize("task", TASKS)
def test_looks_callbacks_snapshots_and_budgets_are_those_of_any_problem(task):
    problem, seen = problem_of(task, n=300), []
    result = solve(
        problem,
        "smo",
        grain=10,
        tol=1e-6,
        snapshots=True,
        every=1,
        callbacks=[lambda look: seen.append(look.certificate)],
    )
    assert result.converged and len(result.trace) == len(seen) == len(result.trace.snapshots) > 2
    assert all(one.primal >= one.dual - 1e-9 * abs(one.dual) for one in seen)
    short = solve(problem, "smo", tol=1e-12, max_iter=20)
    assert not short.converged and short.certificate.relative_gap < np.inf
    assert solve(problem, "smo", tol=1e-6, start=result.beta).iterations < result.iterations


@pytest.mark.parametrize("task", TASKS)
def test_a_saved_model_is_checked_again(task, tmp_path):
    X, y, _ = data(task)
    loss = Hinge() if task == "classes" else EpsilonInsensitive(0.1)
    y = y + (X[:, 2] > 0.5) if task == "classes" else y  # three classes
    fitted = fit(Data(X, y), Recipe(loss, RBF(0.5), nu=0.2))
    save(fitted.model, tmp_path / "m.mm")
    back = load(tmp_path / "m.mm")
    assert back.training.nu == 0.2
    assert all(one.holds() for one in check(back, [Data(X, y)]))
    assert not all(one.holds() for one in check(back, [Data(X, y[::-1])]))


@pytest.mark.parametrize("task", TASKS)
def test_checkpoints_do_not_change_what_is_proved(task, tmp_path):
    X, y, _ = data(task, n=400)
    loss = Hinge() if task == "classes" else EpsilonInsensitive(0.1)
    kept = fit(Data(X, y), Recipe(loss, RBF(0.5), nu=0.3), budget=Budget(checkpoint=str(tmp_path / "state"), work=1e4))
    plain = fit(Data(X, y), Recipe(loss, RBF(0.5), nu=0.3))
    assert kept.converged and plain.converged and len(kept.traces[0]) > 2
    scale = abs(plain.solved[0].primal)
    assert kept.solved[0].primal == pytest.approx(plain.solved[0].primal, abs=1e-2 * scale)


def test_what_has_no_solution_is_refused_at_once():
    X, y, _ = data("classes")
    with pytest.raises(InvalidInput, match=r"nu is infeasible.*allows nu ≤ 0\.05"):
        NuProblem(X, np.arange(80) < 2, nu=0.5)
    for kernel in ("linear", "rbf"):
        with pytest.raises(InvalidInput, match="do not tell the classes apart"):
            solve(NuProblem(np.ones((80, 3)), y, nu=0.2, kernel=kernel))
    for more in ({"loss": "logistic"}, {"bias": "none"}, {"nu": 0.0}, {"nu": 1.5}, {"C": np.inf}):
        with pytest.raises(InvalidInput, match="nu"):
            NuProblem(X, y, **more)
    for name in set(list_solvers()) - {"smo"}:
        with pytest.raises(Refused, match=r"second sum.*use solver='smo'"):
            solve(NuProblem(X, y, nu=0.2), name)
