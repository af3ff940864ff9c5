"""The hard margin: solved to 1e-8 where there is one, and a proof where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin import Problem, solve
from maxmargin.result import Reason
from maxmargin.solvers.base import registry

from .problems import BIASES, clouds

pytestmark = pytest.mark.compiled

#: Its gap shrinks only as its penalty grows; the others must reach 1e-8.
LOOSE = {"penalty": 1e-4, "perceptron": np.inf}


def accepting(p: Problem) -> list[str]:
    return [name for name in registry.names() if registry[name].accepts(p) is None]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("bias", BIASES)
def test_separable_data_to_a_tiny_gap(bias, kernel):
    X, y = clouds(3.5)
    p = Problem(X, y, kernel=kernel, bias=bias, C=np.inf)
    assert {"qp", "smo" if bias == "free" else "coordinate-ascent"} <= set(accepting(p))
    for solver in accepting(p):
        tol = LOOSE.get(solver, 1e-8)
        result = solve(p, solver=solver, tol=min(tol, 1.0), max_time=60)
        assert result.certificate.relative_gap <= tol, (solver, str(result.status))
        least = (p.target * result.decision_function(X)).min()
        if solver == "perceptron":  # its hyperplane is its own: whole numbers of corrections, and whatever margin
            assert (result.coef == np.round(result.coef)).all() and least > 0
        else:  # the certified hyperplane keeps every margin at 1 or more, whoever found it
            assert least >= 1 - 1e-9, solver
        # It is the combination of samples that it says it is, and certifies to the same numbers again.
        if kernel == "linear" and result.coef is not None:
            np.testing.assert_allclose(result.coef @ X, result.w, rtol=1e-9, atol=1e-9)
        assert result.certify().primal == pytest.approx(result.certificate.primal, rel=1e-9)


def test_a_hard_margin_stopped_half_way_certifies_to_the_same_numbers():
    X, y = clouds(3.5)
    result = solve(Problem(X, y, C=np.inf), solver="projected-gradient", tol=0, max_iter=200)
    assert result.certificate.relative_gap > 1e-6
    assert result.certify().primal == pytest.approx(result.certificate.primal, rel=1e-9)
    np.testing.assert_allclose(result.coef @ X, result.w, rtol=1e-9)


def test_hard_margin_is_the_limit_of_a_large_C():
    X, y = clouds(3.5)
    hard = solve(Problem(X, y, C=np.inf), solver="smo", tol=1e-10)
    soft = solve(Problem(X, y, C=1e6), solver="smo", tol=1e-10)
    assert hard.certificate.primal == pytest.approx(soft.certificate.primal, rel=1e-8)
    np.testing.assert_allclose(hard.w, soft.w, rtol=1e-6)


@pytest.mark.parametrize("n", [200, 4000])
@pytest.mark.parametrize("bias", BIASES)
def test_inseparable_data_gets_a_proof_from_every_solver(bias, n):
    X, y = clouds(0.5, n)
    p = Problem(X, y, bias=bias, C=np.inf)
    for solver in accepting(p):
        if n > 1000 and solver.startswith("qp"):
            continue  # a dense program of 4000 unknowns takes its time
        result = solve(p, solver=solver, tol=1e-8, max_time=60)
        assert result.status.reason is Reason.INSEPARABLE, (solver, str(result.status))
        assert "not separable" in str(result.certificate)
        check_proof(result.certificate.inseparable, X, y, bias)


def check_proof(proof, X, y, bias):
    """One point in both hulls, checked from the data alone."""
    alpha = proof.alpha
    assert (alpha >= 0).all()
    if bias == "free":
        assert alpha[y > 0].sum() == pytest.approx(1.0, abs=1e-12)
        assert alpha[y < 0].sum() == pytest.approx(1.0, abs=1e-12)
        Z = X
    else:
        assert alpha.sum() == pytest.approx(1.0, abs=1e-12)
        Z = X if bias == "none" else np.c_[X, np.ones(len(X))]
    distance = np.linalg.norm((alpha * y) @ Z)
    assert distance <= 1e-7 * np.linalg.norm(Z, axis=1).max()
    assert distance == pytest.approx(proof.distance, abs=1e-12)


def test_the_same_row_with_both_labels_has_no_hard_margin_in_any_kernel():
    X, y = clouds(3.5, 50)
    X, y = np.r_[X, X[:1]], np.r_[y, -y[:1]]
    result = solve(Problem(X, y, kernel="rbf", C=np.inf), solver="smo", tol=1e-8, max_time=60)
    assert result.status.reason is Reason.INSEPARABLE


def test_separable_data_is_never_called_inseparable():
    for seed in range(20):
        X, y = clouds(2.5, 60, seed)
        separable = (X.sum(axis=1) * y).min() > 0
        result = solve(Problem(X, y, C=np.inf), solver="smo", tol=1e-6, max_time=20)
        if separable:
            assert result.converged
        else:
            assert result.status.reason in (Reason.CONVERGED, Reason.INSEPARABLE)
