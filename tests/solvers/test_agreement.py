"""All solvers solve the same problem: their gaps, each other's objectives, scikit-learn's and a QP library's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC, LinearSVC

from maxmargin import Problem, solve

from .problems import BIASES, DATA, data, optimisers, problem, promised_gap, solved

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("solver", optimisers())
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("name", DATA)
def test_every_solver_reaches_its_gap(name, bias, solver):
    result = solved(name, bias, solver)
    if result is None:
        pytest.skip("refused")
    assert result.converged, str(result.status)
    assert result.certificate.relative_gap <= promised_gap(solver)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("name", DATA)
def test_all_solvers_agree_within_their_gaps(name, bias):
    results = [r for r in (solved(name, bias, solver) for solver in optimisers()) if r is not None]
    assert len(results) >= 5
    for one in results:
        for other in results:
            # Two points whose gaps are g and h differ by at most max(g, h) in their primal values.
            allowed = one.certificate.gap + other.certificate.gap + 1e-12 * one.certificate.primal
            assert abs(one.certificate.primal - other.certificate.primal) <= allowed


def hinge_objective(model, X, y, C, bias_penalty):
    w, b = model.coef_.ravel(), float(model.intercept_[0])
    return 0.5 * w @ w + 0.5 * bias_penalty * b**2 + C * np.maximum(0.0, 1.0 - y * (X @ w + b)).sum()


@pytest.mark.parametrize("name", ["separable", "overlapping", "cancer", "digits"])
def test_free_bias_is_scikit_learns_svc(name):
    X, y, _ = data(name)
    signs = np.where(y == np.unique(y)[1], 1.0, -1.0)
    theirs = SVC(kernel="linear", C=1.0, tol=1e-8).fit(X, y)
    ours = solved(name, "free", "smo")
    assert ours.certificate.primal == pytest.approx(hinge_objective(theirs, X, signs, 1.0, 0.0), rel=1e-6)
    np.testing.assert_array_equal(ours.support, np.sort(theirs.support_))
    np.testing.assert_allclose(ours.w, theirs.coef_.ravel(), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("name", ["separable", "overlapping", "cancer", "digits"])
def test_augmented_bias_is_liblinears(name):
    X, y, _ = data(name)
    signs = np.where(y == np.unique(y)[1], 1.0, -1.0)
    theirs = LinearSVC(loss="hinge", C=1.0, tol=1e-10, max_iter=1_000_000, random_state=0).fit(X, y)
    ours = solved(name, "augmented", "coordinate-ascent")
    assert ours.certificate.primal == pytest.approx(hinge_objective(theirs, X, signs, 1.0, 1.0), rel=1e-6)
    np.testing.assert_allclose(ours.w, theirs.coef_.ravel(), rtol=1e-3, atol=1e-4)
    assert ours.b == pytest.approx(theirs.intercept_[0], rel=1e-3, abs=1e-4)


def test_kernel_svm_is_scikit_learns_svc():
    X, y, _ = data("moons")
    theirs = SVC(kernel="rbf", gamma="scale", C=1.0, tol=1e-10).fit(X, y)
    for solver in ("smo", "qp"):
        ours = solved("moons", "free", solver)
        np.testing.assert_array_equal(ours.support, np.sort(theirs.support_))
        np.testing.assert_allclose(ours.beta[theirs.support_], theirs.dual_coef_.ravel(), atol=1e-5)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("name", ["overlapping", "moons"])
def test_a_qp_library_finds_the_same_dual(name, bias):
    """The dual written out here from the formulas, and handed to a library that the package does not use for it."""
    from qpsolvers import solve_qp

    X, y, kernel = data(name)
    signs = np.where(y == np.unique(y)[1], 1.0, -1.0)
    if kernel == "linear":
        K = X @ X.T
    else:
        gamma = 1.0 / (X.shape[1] * X.var())
        K = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(-1))
    if bias == "augmented":
        K = K + 1.0
    n = len(y)
    constraint = {"A": signs[None], "b": np.zeros(1)} if bias == "free" else {}
    Q = K * np.outer(signs, signs)
    alpha = solve_qp(Q, -np.ones(n), lb=np.zeros(n), ub=np.ones(n), solver="piqp", **constraint)
    dual = alpha.sum() - 0.5 * alpha @ Q @ alpha
    exact = solved(name, bias, "smo" if bias == "free" else "coordinate-ascent")
    assert exact.certificate.dual == pytest.approx(dual, rel=1e-6)
    np.testing.assert_array_equal(exact.support, np.flatnonzero(alpha > 1e-5))


def test_penalty_says_what_it_solved():
    """MATH: a penalty c is an augmented bias of scale √c, with a certificate of its own."""
    from maxmargin.solvers.textbook.penalty import Penalty

    X, y, _ = data("overlapping")
    p = problem("overlapping", "free")
    result = solve(p, solver=Penalty(c=4.0), tol=1e-9, max_iter=4000)
    ((name, penalised),) = result.related.items()
    assert "c=4" in name
    augmented = solve(Problem(X, y, bias="augmented", bias_scale=2.0), solver="coordinate-ascent", tol=1e-10)
    assert penalised.relative_gap < 1e-3
    assert abs(penalised.primal - augmented.certificate.primal) <= penalised.gap + augmented.certificate.gap
    # With a finite c the free problem is solved only nearly; a larger c solves it better.
    better = solve(p, solver=Penalty(c=400.0), tol=1e-9, max_iter=20_000)
    assert 0 < better.certificate.gap < result.certificate.gap


def test_explicit_transform_is_its_kernel():
    """(⟨a,b⟩ + 1)² has the features 1, √2·a, products with √2, squares: the same fit with Φ and with k."""
    from maxmargin.kernels import Polynomial

    X, y, _ = data("moons")

    def features(Z):
        a, b = Z[:, 0], Z[:, 1]
        return np.c_[np.sqrt(2) * a, np.sqrt(2) * b, a * a, b * b, np.sqrt(2) * a * b]

    explicit = solve(Problem(X, y, transform=features), solver="qp-primal", tol=1e-9)
    implicit = solve(Problem(X, y, kernel=Polynomial(degree=2, gamma=1.0, coef0=1.0)), solver="smo", tol=1e-9)
    assert explicit.certificate.primal == pytest.approx(implicit.certificate.primal, rel=1e-7)
    np.testing.assert_allclose(explicit.decision_function(X), implicit.decision_function(X), atol=1e-4)
