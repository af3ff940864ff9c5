"""Rows far from the origin, unscaled features, numbers that defeat a factorisation: still a result, and the same."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import Problem, solve
from maxmargin.losses import loss
from maxmargin.problem.bias import smooth_bias
from maxmargin.result import Iterate, Reason
from maxmargin.solvers import Solver
from maxmargin.solvers.base import SolverFailed
from maxmargin.solvers.base import registry as solvers
from maxmargin.solvers.linear.newton_step import factored, solve_positive
from maxmargin.solvers.translation import about_mean


def far(n, d, offset, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X + offset, np.where(X[:, 0] + rng.normal(size=n) > 0, 1, -1)


@pytest.mark.parametrize("name", ["squared-hinge", "logistic", "least-squares", "squared-epsilon-insensitive"])
def test_the_best_bias_at_any_scale(name):
    """The slope changes its sign within a few spacings of the answer, and nothing is raised."""
    rng = np.random.default_rng(1)
    for _ in range(100):
        n = int(rng.integers(2, 200))
        t = np.r_[1.0, -1.0, rng.choice([-1.0, 1.0], n - 2)]
        scores = rng.normal(size=n) * 10.0 ** rng.uniform(-8, 12) + rng.choice([0, 1, -1]) * 10.0 ** rng.uniform(-5, 14)
        C = 10.0 ** rng.uniform(-8, 8) * rng.random(n) + 1e-12
        b = smooth_bias(loss(name), t, C, 0.0, scores)
        near = 8 * np.spacing(max(abs(b), np.abs(scores).max()))
        below, above = (float(C @ loss(name).slope(scores + at, t)) for at in (b - near, b + near))
        assert below <= 1e-12 * C.sum() and above >= -1e-12 * C.sum()


@pytest.mark.parametrize("solver", ["coordinate-newton", "interior-point", "smo", "auto"])
@pytest.mark.parametrize("name", ["hinge", "squared-hinge"])
def test_a_translation_changes_nothing_but_the_bias(solver, name):
    X, moved, y = far(150, 5, 1e5)
    here, there = (solve(Problem(rows, y, loss=name), solver, tol=1e-5, max_time=60) for rows in (X, moved))
    assert here.converged and there.converged
    assert there.certificate.primal == pytest.approx(here.certificate.primal, rel=1e-4)


@pytest.mark.parametrize("bias", ["none", "augmented"])
def test_features_are_turned_where_the_bias_is_not_free(bias):
    _, X, y = far(60, 4, 1e3)
    problem = Problem(X, y, bias=bias)
    near = about_mean(problem)
    assert near is not None
    np.testing.assert_allclose(near.problem.X @ near.problem.X.T, X @ X.T, rtol=1e-12)
    w = np.random.default_rng(0).normal(size=5)
    np.testing.assert_allclose(near.problem.X @ w[:-1], X @ near.turned(w)[:-1], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(near.turned(near.turned(w)), w)
    assert solve(problem, tol=1e-4, max_time=60).converged


def test_rows_near_the_origin_and_sparse_ones_stay():
    X, moved, y = far(60, 4, 1e3)
    assert about_mean(Problem(X, y)) is None
    assert about_mean(Problem(moved, y, kernel="rbf")) is None
    assert about_mean(Problem(sp.csr_array(sp.random(60, 40, 0.05, random_state=0)), y)) is None
    assert about_mean(Problem(sp.csr_array(moved), y)) is not None


def test_a_factorisation_recovers():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(3, 30)) * 10.0 ** rng.uniform(-6, 6, 30)
    matrix = a.T @ a - 1e-9 * np.diag(np.square(a).sum(axis=0))  # indefinite as rounding would make it
    assert np.isfinite(solve_positive(matrix, rng.normal(size=30))).all()
    with pytest.raises(np.linalg.LinAlgError):
        factored(np.full((3, 3), np.nan))


def test_one_class_of_denormal_numbers_has_a_result_or_a_typed_error():
    from maxmargin.errors import MaxMarginError

    X = np.random.default_rng(0).normal(size=(20, 2)) * 1e-310
    try:
        solve(Problem(X, loss="one-class", C=1.0), "interior-point", max_time=5)
    except MaxMarginError:
        pass


class Broken(Solver):
    """A solver that fails at once, or after a point."""

    name, paper = "broken", ""

    def __init__(self, points):
        self.points = points

    def accepts(self, problem):
        return None

    def iterates(self, problem, start, rng):
        for k in range(self.points):
            yield Iterate(k + 1, beta=np.zeros(problem.n))
        raise np.linalg.LinAlgError("not positive definite")


def test_a_failure_is_a_typed_error_or_the_best_point_so_far():
    X, _, y = far(50, 3, 0)
    with pytest.raises(SolverFailed, match=r"broken failed .* not positive definite"):
        solve(Problem(X, y), Broken(0))
    result = solve(Problem(X, y), Broken(1))
    assert result.status.reason is Reason.STALLED
    assert "not positive definite" in str(result.status)


def test_auto_goes_on_with_the_next_solver(monkeypatch):
    X, _, y = far(50, 3, 0)
    one_class = type(solvers["smo"])
    monkeypatch.setattr(one_class, "iterates", Broken(0).iterates.__func__)
    monkeypatch.setattr(one_class, "points", 0, raising=False)
    watched = {"callbacks": [lambda look: False]}  # a run that is watched takes the general loop, however small
    result = solve(Problem(X, y), **watched)
    assert result.converged and result.solver.name == "coordinate-newton"
    monkeypatch.setattr(type(solvers["coordinate-newton"]), "iterates", Broken(1).iterates.__func__)
    monkeypatch.setattr(type(solvers["coordinate-newton"]), "points", 1, raising=False)
    result = solve(Problem(X, y), **watched)
    assert result.converged and result.solver.name == "interior-point"


def test_labels_that_no_hyperplane_separates_at_a_large_C():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 10))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    for offset in (0.0, 1e4, 1e6):
        assert solve(Problem(X + offset, y, C=1e3), max_time=60).converged
