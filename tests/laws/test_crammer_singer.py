"""Laws of all classes in one problem: weak duality, weights, the proof again by the oracle, one way to fit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_wine

from maxmargin import (
    CrammerSingerProblem,
    InvalidInput,
    Iterate,
    LinearSVC,
    Refused,
    certify,
    list_solvers,
    model_of,
    solve,
)
from maxmargin.data import Data
from maxmargin.kernels import Linear
from maxmargin.losses import Hinge
from maxmargin.models import load, save
from maxmargin.models.certify import certify as check
from maxmargin.oracle import ClassesOracle
from maxmargin.training.budget import Budget
from maxmargin.training.checkpoint import Checkpoint
from maxmargin.training.fit import fit
from maxmargin.training.recipe import Recipe
from maxmargin.training.selection import cross_validate

pytestmark = pytest.mark.compiled
SOLVERS = ("coordinate-ascent", "interior-point")
BIASES = ("augmented", "none")


def data(n=90, k=4, seed=0, storage=np.asarray):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) * (rng.random((n, 5)) < 0.7)
    y = (X[:, :k] + 0.7 * rng.normal(size=(n, k))).argmax(axis=1)
    return storage(X), y, rng


def typed_twice(problem, W, alpha):
    """Both objectives, written down a second time."""
    rows = np.column_stack([problem.X, np.full(problem.n, problem.space.constant)])
    F, C, y = rows @ W.T, problem.C, problem.target
    primal = 0.5 * (W**2).sum()
    for i in range(problem.n):
        primal += C[i] * max(F[i, m] - F[i, y[i]] + (m != y[i]) for m in range(problem.k))
    V = alpha.T @ rows
    dual = -0.5 * (V**2).sum() - sum(alpha[i, m] for i in range(problem.n) for m in range(problem.k) if m != y[i])
    return primal, dual


def judged(problem, W, alpha):
    """The same by the oracle."""
    constant = problem.space.constant
    oracle = ClassesOracle(W[:, :-1], constant * W[:, -1], constant)
    oracle.add(problem.X, problem.target, problem.C, alpha)
    return oracle.judgement()


@pytest.mark.parametrize("bias", BIASES)
def test_weak_duality_for_any_pair(bias):
    """Any feasible α is below any W; the problem, the certificate and the oracle have the same two numbers."""
    X, y, rng = data()
    problem = CrammerSingerProblem(X, y, C=2.0, bias=bias, sample_weight=rng.uniform(0.5, 2.0, len(y)), bias_scale=1.0)
    for size in (0.01, 0.5, 5.0):
        beta = problem.feasible(size * rng.normal(size=problem.duals))
        assert problem.is_feasible(beta)
        w = size * rng.normal(size=problem.space.size)
        W = w.reshape(problem.k, -1)
        if bias == "none":
            W[:, -1] = 0.0
        primal, dual = typed_twice(problem, W, beta.reshape(problem.n, -1))
        assert dual <= primal
        assert problem.primal(w) == pytest.approx(primal, rel=1e-12)
        assert problem.dual(beta) == pytest.approx(dual, rel=1e-12)
        truth = judged(problem, W, beta.reshape(problem.n, -1))
        assert (truth.primal, truth.dual) == pytest.approx((primal, dual), rel=1e-12)
        one = certify(problem, Iterate(w=w, beta=beta, linked=False))
        assert one.dual == pytest.approx(dual, rel=1e-12) and dual <= one.primal <= primal * (1.0 + 1e-12)


@pytest.mark.parametrize("way", ["auto", *SOLVERS])
@pytest.mark.parametrize("bias", BIASES)
def test_the_interval_holds_the_optimum(bias, way):
    """Every certificate on the way has the optimum between its two numbers, also by the oracle's arithmetic."""
    X, y, _ = data()
    problem, seen = CrammerSingerProblem(X, y, C=3.0, bias=bias), []
    best = solve(problem, "interior-point", tol=1e-11)
    low, high = best.certificate.dual, best.certificate.primal
    result = solve(problem, way, tol=1e-7, every=1, callbacks=[lambda look: seen.append(look.certificate)])
    assert result.converged and len(seen) >= len(result.trace) > 2  # "auto" may have gone through two solvers
    for one in [*seen, result.certificate]:
        assert one.dual <= high * (1.0 + 1e-12) and low <= one.primal * (1.0 + 1e-12)
    truth = judged(problem, result.point.w.reshape(problem.k, -1), result.beta)
    assert truth.most <= result.certificate.relative_gap + 1e-12
    assert result.kkt.largest < 1e-2 and certify(problem, result.point).holds(1e-7)


def test_far_from_the_origin_the_claim_stays_true():
    """Where rounding is most of the gap, the certificate says so: the oracle never finds a larger gap than claimed."""
    X, y, _ = data()
    for offset in (1e2, 1e4, 1e6):
        problem = CrammerSingerProblem(X + offset, y, C=10.0)
        result = solve(problem, tol=1e-9, max_iter=200)
        truth = judged(problem, result.point.w.reshape(problem.k, -1), result.beta)
        assert truth.least <= result.certificate.relative_gap


@pytest.mark.parametrize("way", SOLVERS)
def test_a_weight_is_so_many_copies_and_storage_makes_no_difference(way):
    X, y, rng = data()
    repeats = rng.integers(0, 3, len(y))
    weighted = CrammerSingerProblem(X, y, C=0.7, sample_weight=repeats)
    written = CrammerSingerProblem(np.repeat(X, repeats, axis=0), np.repeat(y, repeats), C=0.7)
    sparse = CrammerSingerProblem(sp.csr_array(X), y, C=0.7, sample_weight=repeats)
    narrow = CrammerSingerProblem(X.astype(np.float32), y, C=0.7, sample_weight=repeats)
    one, *others = (solve(problem, way, tol=1e-9) for problem in (weighted, written, sparse, narrow))
    for other, rel in zip(others, (1e-8, 1e-8, 1e-4), strict=True):
        assert other.converged and other.certificate.primal == pytest.approx(one.certificate.primal, rel=rel)
        np.testing.assert_allclose(other.w, one.w, atol=3e-3)


def test_a_class_weight_multiplies_the_C_of_its_rows():
    X, y, _ = data()
    by_class = {0: 1.0, 1: 2.0, 2: 0.5, 3: 1.0}
    one = CrammerSingerProblem(X, y, class_weight=by_class)
    other = CrammerSingerProblem(X, y, sample_weight=[by_class[label] for label in y])
    np.testing.assert_array_equal(one.C, other.C)
    balanced = CrammerSingerProblem(X, y, class_weight="balanced").C
    assert np.ptp([balanced[y == label].sum() for label in range(4)]) < 1e-9


@pytest.mark.parametrize("C", [1.0, 1e3])
@pytest.mark.parametrize("load_set", [load_wine, load_breast_cancer])
def test_features_as_they_come_converge(load_set, C):
    X, y = load_set(return_X_y=True)
    machine = LinearSVC(multi_class="crammer_singer", C=C, max_iter=500).fit(X, y)
    assert machine.certificate_.relative_gap <= 1e-4 and machine.n_iter_ < 100
    assert machine.score(X, y) > 0.95


def recipe(**more):
    return Recipe(Hinge(), Linear(), multiclass="crammer-singer", bias="augmented", **more)


def test_the_command_line_the_estimator_and_solve_have_the_same_bits():
    X, y, _ = data()
    fitted = fit(Data(X, y), recipe(C=0.5))
    machine = LinearSVC(multi_class="crammer_singer", C=0.5).fit(X, y)
    result = solve(CrammerSingerProblem(X, y, C=0.5))
    for w, b, one in (
        (machine.coef_, machine.intercept_, machine.certificate_),
        (result.w, result.b, result.certificate),
    ):
        np.testing.assert_array_equal(fitted.model.w, w)
        np.testing.assert_array_equal(fitted.model.b, b)
        assert (fitted.solved[0].primal, fitted.solved[0].dual) == (one.primal, one.dual)
    np.testing.assert_array_equal(fitted.model.predict(X), machine.predict(X))
    np.testing.assert_array_equal(result.predict(X), machine.predict(X))


def test_two_classes_are_the_binary_problem_with_C_doubled():
    X, y, _ = data(k=2)
    fitted = fit(Data(X, y), recipe(C=0.5))
    machine = LinearSVC(multi_class="crammer_singer", C=0.5).fit(X, y)
    plain = LinearSVC(loss="hinge", bias="augmented", C=1.0).fit(X, y)
    for w in (fitted.model.w, machine.coef_):
        np.testing.assert_array_equal(w, plain.coef_)
    assert all(one.holds() for one in check(fitted.model, [Data(X, y)]))


def test_a_saved_model_is_checked_again(tmp_path):
    X, y, rng = data()
    weights = rng.integers(0, 3, len(y)).astype(float)
    labels = np.array(["d", "a", "c", "b"])[y]
    fitted = fit(Data(X, labels), recipe(class_weight={"a": 2.0}), weights)
    save(fitted.model, tmp_path / "m.mm")
    back = load(tmp_path / "m.mm")
    assert back.scheme == "crammer-singer" and back.machines == 4
    parts = [Data(X[:30], labels[:30]), Data(X[30:], labels[30:])]
    (found,) = check(back, parts, weights)
    assert found.holds() and not found.holds(1e-15)
    (changed,) = check(back, [Data(X, labels[::-1])], weights)
    assert not changed.holds()
    save(model_of(solve(CrammerSingerProblem(X, y))), tmp_path / "linear.model", "liblinear")
    np.testing.assert_array_equal(
        load(tmp_path / "linear.model").predict(X), solve(CrammerSingerProblem(X, y)).predict(X)
    )


class Killed(Exception):
    """The moment of death."""


def test_a_training_that_was_broken_off_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    """Wherever it was killed: each state that was kept leads to the same model."""
    X, y, _ = data(n=200)
    kept = tmp_path / "state"
    asked = recipe(solver="coordinate-ascent", tol=1e-7, C=5.0)
    whole, save_state = fit(Data(X, y), asked, budget=Budget(checkpoint=str(kept), work=1e4)), Checkpoint.save
    assert whole.converged and len(whole.traces[0]) > 3
    for stop in (1, 3):
        path, states = tmp_path / f"state{stop}", []

        def counted(self, states=states, stop=stop):
            save_state(self)
            states.append(1)
            if len(states) > stop:
                raise Killed

        monkeypatch.setattr(Checkpoint, "save", counted)
        with pytest.raises(Killed):
            fit(Data(X, y), asked, budget=Budget(checkpoint=str(path), work=1e4))
        monkeypatch.setattr(Checkpoint, "save", save_state)
        again = fit(Data(X, y), asked, budget=Budget(checkpoint=str(path), resume=True, work=1e4))
        np.testing.assert_array_equal(again.model.w, whole.model.w)
        assert again.solved[0].primal == whole.solved[0].primal


def test_starts_budgets_callbacks_and_cross_validation_are_those_of_any_problem():
    X, y, _ = data(n=200)
    problem = CrammerSingerProblem(X, y, C=5.0)
    cold = solve(problem, "coordinate-ascent", tol=1e-7)
    for start in (cold, cold.beta, cold.point.beta):
        assert solve(problem, "coordinate-ascent", tol=1e-6, start=start).iterations <= 1
    short = solve(problem, "coordinate-ascent", tol=1e-12, max_iter=3, snapshots=True, every=1)
    assert not short.converged and short.certificate.relative_gap < np.inf
    assert short.trace.snapshots[-1].w.shape == (4, 5)
    machine = LinearSVC(multi_class="crammer_singer", C=5.0, warm_start=True, solver="coordinate-ascent").fit(X, y)
    assert machine.n_iter_ > 5 and machine.fit(X, y).n_iter_ <= 2
    score, spread = cross_validate(Data(X, y), recipe(), None, 3, Budget())
    assert 0.5 < score <= 1.0 and spread < 0.3


def test_what_means_nothing_is_refused():
    X, y, _ = data()
    for more, words in (
        ({"bias": "free"}, "no free bias"),
        ({"C": np.inf}, "finite C"),
        ({"class_weight": {9: 1.0}}, "not among the labels"),
    ):
        with pytest.raises(InvalidInput, match=words):
            CrammerSingerProblem(X, y, **more)
    with pytest.raises(InvalidInput, match=r"three or more classes.*C=2"):
        CrammerSingerProblem(X, y > 1)
    problem = CrammerSingerProblem(X, y)
    for name in set(list_solvers()) - set(SOLVERS):
        with pytest.raises(Refused, match=r"several classes; use solver='coordinate-ascent'"):
            solve(problem, name)
    with pytest.raises(Refused, match="grain=1"):
        solve(problem, "coordinate-ascent", grain=1)
    wide = CrammerSingerProblem(np.random.default_rng(0).normal(size=(90, 300)), y)
    with pytest.raises(Refused, match="weights of all classes"):
        solve(wide, "interior-point")
    with pytest.raises(InvalidInput, match="two classes"):
        _ = solve(problem).slack
