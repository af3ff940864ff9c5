"""The saddle function between primal and dual, and the two quadratic programs, against what `solve` finds."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin import Problem, Saddle, dual_qp, primal_qp, solve
from maxmargin.errors import InvalidInput

rng = np.random.default_rng(0)
X = rng.normal(size=(24, 2))
y = np.where(X[:, 0] + 0.5 * rng.normal(size=24) > 0, 1, -1)
SEPARABLE = X + 2.5 * y[:, None]


@pytest.mark.parametrize("bias", ["none", "augmented", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "logistic"])
def test_the_saddle_lies_between_the_two_objectives(loss, bias):
    p = Problem(X, y, loss=loss, bias=bias, C=0.7)
    G = Saddle(p)
    for _ in range(20):
        w, b = rng.normal(size=2), 0.0 if bias == "none" else float(rng.normal())
        alpha = rng.uniform(0.01, 0.69, size=24)
        if bias == "free":  # otherwise min over b is −∞
            alpha[y > 0] *= alpha[y < 0].sum() / alpha[y > 0].sum()
            alpha *= 0.69 / max(0.69, alpha.max())
        inside = np.append(w, b if bias == "augmented" else 0.0)
        primal = p.primal(inside, b if bias == "free" else 0.0)
        assert G(w, G.best_alpha(w, b), b) == pytest.approx(primal, rel=1e-9)  # the maximum over α is the primal
        assert G(w, alpha, b) <= primal + 1e-9
        if bias != "augmented":  # there the minimum is over b too
            dual = p.dual(y * alpha)
            assert G(G.best_w(alpha), alpha) == pytest.approx(dual, rel=1e-9)  # the minimum over w is the dual
            assert G(w, alpha) >= dual - 1e-9
    result = solve(p, tol=1e-10)
    assert G(result.w, result.alpha, result.b) == pytest.approx(result.certificate.primal, rel=1e-8)


def test_the_saddle_of_the_other_scale_is_that_of_source_003():
    lam = 0.3
    p = Problem(X, y, lam=lam, bias="none")
    G = Saddle(p, objective="lam")
    w, alpha = rng.normal(size=2), rng.uniform(size=24)
    assert G(w, alpha) == pytest.approx(float(alpha @ (1 - y * (X @ w)) + lam / 2 * w @ w), rel=1e-12)
    np.testing.assert_allclose(G.best_w(alpha), X.T @ (y * alpha) / lam, rtol=1e-12)
    assert set(np.round(G.best_alpha(w), 12)) <= {0.0, 1.0}
    assert G(w, alpha + 1.0) == -np.inf
    for wrong in (lambda: G([1.0], alpha), lambda: G(w, [1.0]), lambda: G(w, alpha, b=1.0)):
        with pytest.raises(InvalidInput):
            wrong()
    for problem in (Problem(X, y, kernel="rbf"), Problem(SEPARABLE, y, C=np.inf)):
        with pytest.raises(InvalidInput, match="linear"):
            Saddle(problem)


@pytest.mark.parametrize("C", [0.5, np.inf])
@pytest.mark.parametrize("bias", ["free", "none"])
def test_the_quadratic_programs_have_the_solution_of_solve(bias, C):
    pytest.importorskip("qpsolvers")
    p = Problem(SEPARABLE if np.isinf(C) else X, y, bias=bias, C=C)
    best = solve(p, tol=1e-10)
    primal = primal_qp(p)
    x = primal.solve()
    first = 1 if bias == "free" else 0
    assert primal.names[first] == "w1" and (first == 0 or primal.names[0] == "b")
    np.testing.assert_allclose(x[first : first + 2], best.w, atol=1e-5)
    if first:
        assert x[0] == pytest.approx(best.b, abs=1e-5)
    assert primal.value(x) == pytest.approx(best.certificate.primal, rel=1e-6)
    assert primal.violation(x) <= 1e-6
    for equality in ("two inequalities", "one equality"):
        dual = dual_qp(p, equality)
        alpha = dual.solve("piqp" if equality == "one equality" else "clarabel")
        assert -dual.value(alpha) == pytest.approx(best.certificate.dual, rel=1e-6)  # strong duality
        np.testing.assert_allclose(X_of(p).T @ (y * alpha), best.w, atol=1e-5)
        assert dual.violation(alpha) <= 1e-6
        assert (dual.E is None) == (equality == "two inequalities" or bias == "none")
    # The library's optimum of source 004's dual is what the solver finds with the same form.
    if np.isinf(C):
        by_multipliers = solve(p, "qp", hard="multipliers", tol=1e-8)
        assert by_multipliers.certificate.relative_gap <= 1e-8


def X_of(p):
    return p.X


def test_the_matrices_of_source_004():
    """Its own small example: b, w and the rows y_n (1, z_n)."""
    Z = np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]])
    labels = np.array([-1, -1, 1, 1])
    p = Problem(Z, labels, C=np.inf)
    primal = primal_qp(p)
    np.testing.assert_array_equal(primal.Q, np.diag([0.0, 1.0, 1.0]))
    np.testing.assert_array_equal(primal.p, np.zeros(3))
    np.testing.assert_array_equal(primal.A, labels[:, None] * np.c_[np.ones(4), Z])
    np.testing.assert_array_equal(primal.c, np.ones(4))
    dual = dual_qp(p)
    np.testing.assert_array_equal(dual.Q, np.outer(labels, labels) * (Z @ Z.T))
    np.testing.assert_array_equal(dual.p, -np.ones(4))
    np.testing.assert_array_equal(dual.A, np.vstack([labels, -labels, np.eye(4)]))
    assert "Q = " in str(dual) and "4 variables" in str(dual) and "α1" in str(dual)


def test_what_is_not_in_that_form_is_refused():
    for problem, words in (
        (Problem(X, y, loss="squared-hinge"), "hinge"),
        (Problem(X, y, bias="augmented"), "constant feature"),
        (Problem(X, X[:, 0], loss="epsilon-insensitive"), "two classes"),
    ):
        for make in (primal_qp, dual_qp):
            with pytest.raises(InvalidInput, match=words):
                make(problem)
    with pytest.raises(InvalidInput, match="dual_qp"):
        primal_qp(Problem(X, y, kernel="rbf"))
    with pytest.raises(InvalidInput, match="one equality"):
        dual_qp(Problem(X, y), equality="none")
    with pytest.raises(InvalidInput, match="needs no Q"):
        dual_qp(Problem(X, y, cache_bytes=1000.0))
