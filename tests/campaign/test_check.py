"""`check` rejects a false or tampered claim and accepts true ones: dense, CSR, every loss, kernel, bias and weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from maxmargin import Problem, kernels, solve
from maxmargin.data import Data
from maxmargin.data.scaling import scaling
from maxmargin.estimators import SVC, LinearSVC
from maxmargin.models import load, model_of, save
from maxmargin.models.certify import certify
from maxmargin.result import Iterate
from maxmargin.solvers import Solver
from tests.campaign.test_short import LOSSES, rows

pytestmark = pytest.mark.compiled

KERNELS = [
    kernels.Linear(),
    kernels.RBF(0.3),
    kernels.Laplacian(0.3),
    kernels.Polynomial(2, 0.5, 1.0),
    kernels.Sigmoid(0.05, 0.1),
]


def confirmed(model, X, y, **more):
    return all(finding.holds(**more) for finding in certify(model, [Data(X[:7], y[:7]), Data(X[7:], y[7:])]))


def with_proof(model, **changes):
    """The same model with another claim about its first machine."""
    proofs = (replace(model.training.proofs[0], **changes), *model.training.proofs[1:])
    return replace(model, training=replace(model.training, proofs=proofs))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_true_claims_are_confirmed_and_false_ones_are_not(loss, kernel, tmp_path):
    X, y = rows(40)
    for bias in ("free", "augmented") if loss.task != "novelty" else ("free",):
        for matrix in (X + 5.0, sp.csr_array(np.where(np.abs(X) < 0.3, 0.0, X))):
            if kernel.positive is False and bias != "free":
                continue
            more = {"bias_scale": 2.0} if bias == "augmented" else {}
            try:
                result = solve(Problem(matrix, y, loss=loss, kernel=kernel, bias=bias, **more), tol=1e-3, max_iter=500)
            except ValueError:
                continue  # no solver for this loss with an indefinite kernel
            save(model_of(result), tmp_path / "model.mm")
            model = load(tmp_path / "model.mm")
            assert confirmed(model, matrix, y)
            if result.certificate.gap == np.inf:
                continue
            # A smaller gap than there is, a dual point of somebody else's, another bias.
            gap = certify(model, [Data(matrix, y)])[0].relative_gap
            if gap > 1e-8:
                assert not confirmed(with_proof(model, relative_gap=0.5 * gap), matrix, y)
            claim = model.training.proofs[0]
            if claim.beta.size:
                assert not confirmed(with_proof(model, relative_gap=1e-9, beta=0.9 * claim.beta), matrix, y)
            assert not confirmed(replace(with_proof(model, relative_gap=1e-9), b=1.5 * model.b + 0.1), matrix, y)
            assert not confirmed(model, matrix, y, tol=-1.0)


def test_a_false_gap_on_unix_times_is_rejected():
    """What an RBF kernel by ‖a‖² + ‖b‖² − 2⟨a, b⟩ would have claimed: its optimum is another problem's."""
    t = 1.7e9 + 7200.0 * np.random.default_rng(0).random((200, 1))
    y = np.sign(np.sin(t[:, 0] / 900.0))
    gamma = 1.0 / t.var()

    def cancelling(A, B):
        return np.exp(-gamma * np.maximum(0.0, (A**2).sum(1)[:, None] + (B**2).sum(1) - 2.0 * A @ B.T))

    wrong = solve(Problem(cancelling(t, t), y, kernel="precomputed", C=100.0), "smo", tol=1e-6)
    right = model_of(solve(Problem(t, y, kernel=kernels.RBF(gamma), C=100.0), tol=1e-6))
    assert confirmed(right, t, y) and confirmed(right, t, y, tol=1e-6)
    used = np.flatnonzero(wrong.beta)
    false = replace(right, vectors=t[used], coef=wrong.beta[used][None, :], b=np.array([wrong.b]))
    claim = {"rows": used, "beta": wrong.beta[used], "relative_gap": wrong.certificate.relative_gap}
    assert wrong.certificate.relative_gap < 1e-6
    finding = certify(with_proof(false, **claim), [Data(t, y)])[0]
    assert finding.relative_gap > 1e-3
    assert not finding.holds() and not finding.holds(1e-6)


@pytest.mark.parametrize("estimator", [SVC(C=2.0), SVC(multi_class="ovr"), LinearSVC(loss="hinge")])
def test_weights_scaling_and_several_classes(estimator):
    X, y = rows(60)
    X = 100.0 + 3.0 * X
    y = y + (X[:, 1] > 100.0)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 60)
    learnt = scaling("standard", X)
    fitted = estimator.set_params(class_weight="balanced").fit(learnt.apply(X), y, weights)
    model = replace(model_of(fitted, scaling=learnt))
    assert all(finding.holds() for finding in certify(model, [Data(X, y)], weights))
    assert not all(
        finding.holds() for finding in certify(with_proof(model, relative_gap=0.0), [Data(X, y)], weights)
    ) or (certify(model, [Data(X, y)], weights)[0].relative_gap < 1e-9)
    assert not all(finding.holds() for finding in certify(model, [Data(X, y)], weights[::-1].copy()))


@dataclass(frozen=True)
class Dusty(Solver):
    """A solution whose zeros are not quite 0: too small for support vectors, and part of what is proved."""

    name: ClassVar[str] = "dusty"
    paper: ClassVar[str] = ""

    def accepts(self, problem):
        return None

    def iterates(self, problem, start, rng):
        solved = solve(problem, "smo", tol=1e-8)
        beta = solved.beta.copy()
        for sign in (1.0, -1.0):
            outside = (beta == 0.0) & (problem.target == sign)
            beta[outside] = sign * 1e-8 * problem.C.max() / np.count_nonzero(outside)
        yield Iterate(1, beta=beta)


@pytest.mark.parametrize("estimator", [LinearSVC(loss="hinge"), LinearSVC(loss="hinge", multi_class="ovo"), SVC()])
def test_a_saved_estimator_carries_the_duals_that_were_certified(estimator):
    X, y = rows(200)
    y = np.where(X[:, 2] > 1.0, 2, y)
    fitted = clone(estimator).set_params(solver=Dusty(), tol=1e-4).fit(X, y)
    claims = fitted.certificate_.values()
    for finding, claim in zip(certify(model_of(fitted), [Data(X, y)]), claims, strict=True):
        assert finding.dual == pytest.approx(claim.dual, rel=1e-13)
        assert finding.relative_gap <= claim.relative_gap * (1.0 + 1e-6)


def test_a_hard_margin():
    X, y = rows(40)
    X[:, 0] += 2.0 * y
    result = solve(Problem(X, y, C=np.inf), tol=1e-6)
    model = model_of(result)
    assert confirmed(model, X, y) and confirmed(model, X, y, tol=1e-6)
    assert not confirmed(model, X, -y)


def test_large_kernel_models_take_the_compiled_loops():
    """Beyond the work that long doubles are for: float64 differences, dense and sparse, with a bound."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((1500, 40)) < 0.1, rng.normal(size=(1500, 40)), 0.0)
    wide = sp.csr_array(X)
    y = np.where(X.sum(1) + 0.1 * rng.normal(size=1500) > 0, 1, -1)
    model = model_of(solve(Problem(wide, y, kernel=kernels.RBF(0.2)), tol=1e-3))
    for matrix in (wide, X):
        same = model if sp.issparse(matrix) else replace(model, vectors=model.vectors.toarray())
        finding = certify(same, [Data(matrix, y)])[0]
        assert finding.holds() and finding.rounding < 1e-10
