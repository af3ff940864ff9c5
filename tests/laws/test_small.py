"""Small problems solved in one compiled call: their certificate is the general one, and true by other arithmetic."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, load_wine

from maxmargin import Problem, solve
from maxmargin.certificate import certify
from maxmargin.estimators import SVC, LinearSVC
from maxmargin.kernels import RBF
from maxmargin.losses import list_losses
from maxmargin.losses import loss as loss_of
from maxmargin.small import solve_small
from maxmargin.training import linear_rest, pairs
from tests.oracle import false_claims

pytestmark = pytest.mark.compiled

LOSSES = [one for one in map(loss_of, list_losses()) if one.task != "novelty"]
KERNELS = ["linear", "rbf", "laplacian", "polynomial"]


def made(loss, kernel="rbf", bias="free", n=60, offset=0.0, scale=1.0, seed=0, C=2.0, **more):
    rng = np.random.default_rng(seed)
    X = offset + scale * rng.normal(size=(n, 4))
    y = rng.normal(size=n) if loss.task == "regression" else np.where(X[:, 0] - offset + rng.normal(size=n) > 0, 1, -1)
    return Problem(more.pop("rows", X), more.pop("labels", y), loss=loss, kernel=kernel, bias=bias, C=C, **more)


def cases():
    for loss in LOSSES:
        for kernel in KERNELS:
            for bias in ("free", "augmented", "none") if kernel == "linear" else ("free",):
                yield pytest.param(loss, kernel, bias, id=f"{loss.name}-{kernel}-{bias}")


@pytest.mark.parametrize(("loss", "kernel", "bias"), list(cases()))
@pytest.mark.parametrize(("offset", "scale"), [(0.0, 1.0), (1e3, 1.0), (0.0, 1e-4), (-5.0, 1e3)])
def test_its_certificate_is_the_general_one_and_true(loss, kernel, bias, offset, scale):
    problem = made(loss, kernel, bias, offset=offset, scale=scale, C=1.0)
    tol = 1e-5
    result = solve_small(problem, tol, None)
    if not hasattr(result, "certificate"):
        return  # not small, or not there: the general loop's
    told = result.certificate
    again = certify(problem, result.point)
    assert told.relative_gap <= tol and told.holds(tol)
    assert abs(told.primal - again.primal) <= told.rounding + again.rounding
    assert abs(told.dual - again.dual) <= told.rounding + again.rounding
    assert told.kkt_violation == pytest.approx(again.kkt_violation, rel=1e-4, abs=1e-7)
    assert not false_claims(result, tol)[0]


def test_the_usual_problems_are_small():
    for loss in LOSSES:
        if made(loss).form is not None:
            assert solve(made(loss)).solver.name == "smo" and hasattr(
                solve_small(made(loss), 1e-4, None), "certificate"
            )
    linear = [loss for loss in LOSSES if loss.name.endswith(("hinge", "epsilon-insensitive"))]
    assert len(linear) == 4
    for loss in linear:
        for bias in ("free", "augmented", "none"):
            assert hasattr(solve_small(made(loss, "linear", bias), 1e-4, None), "certificate")


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e3])
@pytest.mark.parametrize("bias", ["free", "augmented", "none"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_raw_features_are_no_harder_than_scaled_ones(task, bias, C):
    """Columns whose sizes differ by 10⁵, far from 0: the interior point ends, and its duals satisfy the conditions."""
    X, y = load_wine(return_X_y=True)
    X = X * np.geomspace(1e-2, 1e2, X.shape[1])
    loss, target = ("hinge", y == 1) if task == "classification" else ("epsilon-insensitive", X[:, 0] + X[:, 3])
    result = solve_small(Problem(X, target, loss=loss, bias=bias, C=C / X.var()), 1e-4, None)
    assert result.solver.name == "interior-point"
    assert result.certificate.relative_gap <= 1e-4 and not false_claims(result, 1e-4)[0]
    size = np.abs(result.problem.target).max()
    assert result.certificate.kkt_violation <= 1e-3 * size


@pytest.mark.parametrize(
    ("loss", "kernel"), [("hinge", "rbf"), ("squared-hinge", "linear"), ("epsilon-insensitive", "rbf")]
)
def test_sparse_rows_and_weights_and_repetitions_give_the_same(loss, kernel):
    loss = loss_of(loss)
    first = made(loss, kernel)
    X, y = first.X, first.target
    whole = solve(first, tol=1e-9)
    sparse = solve(made(loss, kernel, rows=sp.csr_array(X), labels=y), tol=1e-9)
    times = np.random.default_rng(3).integers(0, 4, len(y))
    weighted = solve(made(loss, kernel, rows=X, labels=y, sample_weight=times.astype(float)), tol=1e-9)
    repeated = solve(made(loss, kernel, rows=np.repeat(X, times, axis=0), labels=np.repeat(y, times)), tol=1e-9)
    assert sparse.certificate.primal == pytest.approx(whole.certificate.primal, rel=1e-8)
    assert weighted.certificate.primal == pytest.approx(repeated.certificate.primal, rel=1e-8)


def test_what_it_cannot_prove_goes_to_the_general_loop():
    """Rounding that is too large for the tolerance, too many steps, a budget: the loop's words, from the same point."""
    far = solve(made(loss_of("hinge"), RBF(gamma=0.5), offset=1e7), tol=1e-12)
    assert far.certificate.relative_gap > 0 and not false_claims(far)[0]
    hard = made(loss_of("hinge"), RBF(gamma=0.5), n=300, C=1e7)
    assert solve(hard, tol=1e-4, max_time=30.0).certificate.relative_gap <= 1e-4
    assert solve(made(loss_of("hinge")), max_iter=1).status.reason.name != "CONVERGED"


@pytest.mark.parametrize("sparse", [False, True])
def test_pairs_that_share_kernel_values_are_those_solved_alone(sparse):
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X = sp.csr_array(X) if sparse else X
    together = SVC(tol=1e-9).fit(X, y)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        rows = np.flatnonzero((y == a) | (y == b))
        alone = solve(Problem(X[rows], y[rows] == a, kernel=together.kernel_), tol=1e-9)
        assert together.certificate_[a, b].primal == pytest.approx(alone.certificate.primal, rel=1e-8)
        assert together.certificate_[a, b].relative_gap <= 1e-9


@pytest.mark.parametrize(("machine", "module"), [(SVC(), pairs), (LinearSVC(), linear_rest)])
def test_threads_change_no_bit(machine, module, monkeypatch):
    monkeypatch.setattr(pairs, "AT_ONCE", 0)
    X, y = load_iris(return_X_y=True)
    fits = []
    for threaded in (0.0, np.inf):
        monkeypatch.setattr(module, "THREADED", threaded)
        fits.append(machine.fit(X, y).decision_function(X))
    np.testing.assert_array_equal(*fits)


def test_ctrl_c_among_pairs_gives_a_model(monkeypatch):
    real, calls = pairs._solve_pair, []
    monkeypatch.setattr(pairs, "AT_ONCE", 0)

    def press(*given):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(pairs, "_solve_pair", press)
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="interrupted"):
        machine = SVC().fit(X, y)
    assert len(machine.certificate_) == 3 and machine.predict(X).shape == y.shape


def test_strict_sums_stay_strict_when_a_fast_caller_compiles_them_first(tmp_path):
    """What a compiled function does not say, it inherits from its first caller: the sum must say that it is strict."""
    code = """
import numpy as np
from maxmargin.numeric.compiled import compiled
from maxmargin.certificate.exact import compensated_sum

@compiled
def fast(values):
    total, lost = compensated_sum(values)
    return total + lost

values = np.array([1e16, 1.0, -1e16, 1.0] * 50)
assert fast(values) == 100.0, fast(values)
assert sum(compensated_sum(values)) == 100.0, compensated_sum(values)
"""
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
