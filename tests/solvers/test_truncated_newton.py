"""Truncated Newton: the smooth losses to their promised gap, against a QP library and scikit-learn, on every path."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

from maxmargin import Problem, certify, solve
from maxmargin.losses import list_losses
from maxmargin.losses.base import registry as losses_registry
from maxmargin.result import Iterate, Reason
from maxmargin.solvers.base import registry
from maxmargin.solvers.linear import truncated_newton

from .problems import BIASES, DATA, data, problem, promised_gap

pytestmark = pytest.mark.compiled

SMOOTH = [name for name in list_losses() if losses_registry[name]().smooth]
NEWTON = "truncated-newton"


def smooth_problem(name, loss, bias, **options):
    X, y, kernel = data(name)
    options = {"kernel": kernel, **options}
    return Problem(options.pop("rows", X), np.where(y == y.max(), 1.0, -1.0), loss=loss, bias=bias, **options)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", SMOOTH)
def test_the_promised_gap_and_the_optimum_of_a_qp_library(loss, bias, name):
    p = smooth_problem(name, loss, bias)
    result = solve(p, solver=NEWTON, tol=promised_gap(NEWTON), max_time=60)
    assert promised_gap(NEWTON) == 1e-8
    assert result.converged, str(result.status)
    if p.form is not None:
        other = solve(p, solver="qp", tol=1e-8, max_time=60)
        allowed = result.certificate.gap + other.certificate.gap + 1e-12 * other.certificate.primal
        assert abs(result.certificate.primal - other.certificate.primal) <= allowed


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("name", ["separable", "overlapping", "cancer", "digits"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_logistic_is_scikit_learns(name, bias, C):
    p = smooth_problem(name, "logistic", bias, C=C, class_weight="balanced")
    ours = solve(p, tol=1e-9, max_time=60)
    assert ours.solver.name == NEWTON
    theirs = LogisticRegression(
        C=C, class_weight="balanced", fit_intercept=bias == "free", solver="newton-cholesky", tol=1e-9
    ).fit(p.X, p.target)
    w, b = theirs.coef_.ravel(), float(np.ravel(theirs.intercept_)[0])
    value = p.primal(np.append(w, 0.0), b)
    assert ours.certificate.primal == pytest.approx(value, rel=1e-6)
    assert ours.certificate.primal <= value * (1 + 1e-9)
    np.testing.assert_allclose(ours.decision_function(p.X), theirs.decision_function(p.X), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", SMOOTH)
def test_the_linear_kernel_as_a_matrix_gives_the_same_fit(loss, bias):
    X, _, _ = data("overlapping")
    linear = solve(smooth_problem("overlapping", loss, bias), solver=NEWTON, tol=1e-10)
    options = {"kernel": "precomputed", "rows": X @ X.T}
    kernel = solve(smooth_problem("overlapping", loss, bias, **options), solver=NEWTON, tol=1e-10)
    assert linear.converged and kernel.converged
    assert kernel.certificate.primal == pytest.approx(linear.certificate.primal, rel=1e-9)
    np.testing.assert_allclose(kernel.beta, linear.beta, atol=1e-4)


@pytest.mark.parametrize("bias", BIASES)
def test_factoring_and_conjugate_gradients_find_the_same(bias, monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)  # as it comes, from 1e-3 to 1e3: conjugate gradients take long
    p = Problem(X, y, loss="logistic", bias=bias, C=0.1)
    factored = solve(p, solver=NEWTON, tol=1e-9)
    monkeypatch.setattr(truncated_newton, "settings", replace(truncated_newton.settings, most_features=0))
    conjugate = solve(p, solver=NEWTON, tol=1e-9, max_time=60)
    assert factored.converged and conjugate.converged
    assert conjugate.certificate.primal == pytest.approx(factored.certificate.primal, rel=2e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("bias", BIASES)
def test_half_the_squared_gradient_is_the_gap(bias, kernel):
    p = smooth_problem("overlapping", "logistic", bias, kernel=kernel)
    steps = 0
    for iterate in registry[NEWTON].iterates(p, Iterate(), np.random.default_rng(0)):
        certificate = certify(p, iterate)
        assert iterate.estimate * certificate.primal == pytest.approx(certificate.gap, rel=1e-6, abs=1e-9)
        steps += 1
        if certificate.relative_gap < 1e-12:
            break
    assert 3 <= steps <= 30


def test_sparse_rows_and_single_precision():
    dense = solve(smooth_problem("digits", "logistic", "free"), solver=NEWTON, tol=1e-9)
    X, _, _ = data("digits")
    for rows in (sp.csr_array(X), X.astype(np.float32), sp.csr_array(X.astype(np.float32))):
        other = solve(smooth_problem("digits", "logistic", "free", rows=rows), solver=NEWTON, tol=1e-8)
        assert other.converged
        assert other.certificate.primal == pytest.approx(dense.certificate.primal, rel=1e-6)
    kernel = smooth_problem("moons", "logistic", "free", rows=data("moons")[0].astype(np.float32))
    assert solve(kernel, solver=NEWTON, tol=1e-8).converged


def test_a_kernel_matrix_over_the_cap_is_done_in_blocks():
    whole = solve(smooth_problem("moons", "logistic", "free"), solver=NEWTON, tol=1e-9)
    blocks = solve(smooth_problem("moons", "logistic", "free", cache_bytes=200 * 8 * 50), solver=NEWTON, tol=1e-9)
    assert blocks.converged
    assert blocks.certificate.primal == pytest.approx(whole.certificate.primal, rel=2e-9)


@pytest.mark.parametrize("name", ["cancer", "moons"])
def test_a_warm_start_is_where_it_begins(name):
    p = smooth_problem(name, "logistic", "free")
    best = solve(p, solver=NEWTON, tol=1e-10)
    again = solve(p, solver=NEWTON, tol=1e-10, start=best, every=1)
    assert again.converged and again.iterations == 1
    from_duals = solve(p, solver=NEWTON, tol=1e-8, start=best.beta, every=1)
    assert from_duals.converged and from_duals.iterations <= 2
    dearer = smooth_problem(name, "logistic", "free", C=1.1)
    cold, warm = (solve(dearer, solver=NEWTON, tol=1e-9, start=start, every=1) for start in (None, best))
    assert warm.converged and warm.iterations < cold.iterations


@pytest.mark.parametrize("loss", SMOOTH)
def test_it_ends_where_rounding_lets_nothing_be_gained(loss):
    for name in ("cancer", "moons"):
        result = solve(smooth_problem(name, loss, "free"), solver=NEWTON, tol=0, max_time=60)
        assert result.status.reason in (Reason.FINISHED, Reason.CONVERGED)
        assert result.certificate.relative_gap < 1e-12


def test_a_kinked_loss_is_sent_to_auto():
    reason = registry[NEWTON].accepts(problem("overlapping", "free"))
    assert reason is not None and "'hinge'" in reason and "solver='auto'" in reason
