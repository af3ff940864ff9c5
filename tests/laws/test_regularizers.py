"""Laws of every regulariser, and of the problems that have another one than ½‖w‖²."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from maxmargin import InvalidInput, Iterate, Problem, Refused, Saddle, certify, list_regularizers, primal_qp, solve
from maxmargin.losses import list_losses
from maxmargin.losses.base import registry as losses
from maxmargin.regularizers import L1, regularizer
from maxmargin.solvers import refusal
from maxmargin.solvers.base import registry as solvers
from tests.oracle import false_claims, judged

BIASES = ("none", "augmented", "free")
SMOOTH = [name for name in list_losses() if losses[name]().smooth]
numbers = st.floats(-50, 50).map(lambda x: round(x, 3))


def vectors(size=5):
    return arrays(np.float64, size, elements=numbers)


def rows(n=60, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-1, 2, d) + rng.normal(size=d)
    z = X[:, 0] / np.abs(X[:, 0]).max() + 0.3 * rng.normal(size=n)
    return X, z


def problem(loss, bias, C=1.0, X=None, seed=0, **more):
    made, z = rows(seed=seed)
    task = losses[loss]().task
    return Problem(
        made if X is None else X, np.sign(z) if task == "classification" else z, loss=loss, bias=bias, C=C,
        regularizer="l1", **more,
    )  # fmt: skip


# The functions


@pytest.mark.parametrize("name", list_regularizers())
@given(w=vectors(), v=vectors())
def test_fenchel_and_young(name, w, v):
    r = regularizer(name)
    assert r.value(np.zeros(5)) == 0.0 and r.value(w) >= 0.0
    theta = min(1.0, r.reach(v))
    inside = theta * v * (1.0 - 1e-15)
    assert r.conjugate(inside) < np.inf
    if theta < 1.0:
        assert r.conjugate(1.001 * theta * v) == np.inf
    gaps = r.gaps(w, inside)
    size = 1.0 + r.value(w) + abs(r.conjugate(inside)) + float(np.abs(w) @ np.abs(v))
    assert (gaps >= -1e-13 * size).all()
    assert gaps.sum() == pytest.approx(r.value(w) + r.conjugate(inside) - float(w @ inside), abs=1e-12 * size)


@given(w=vectors())
def test_the_gap_of_l1_closes_at_the_signs(w):
    assert not L1().gaps(w, np.sign(w)).any()


# The problems


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", SMOOTH)
def test_weak_duality_and_the_gap_as_a_sum(loss, bias):
    """P − D is the sum of the gaps of the weights and of the samples, all of them ≥ 0, at any pair."""
    from maxmargin.certificate.kkt import sample_gaps

    rng = np.random.default_rng(3)
    p = problem(loss, bias)
    for _ in range(20):
        w = rng.normal(size=p.space.size) * rng.integers(0, 2, p.space.size)
        w[-1] *= bool(p.space.constant)
        z = p.space.scores(w)
        b = p.best_bias(z)
        beta = p.dual_point(z, b)
        beta = beta * (1.0 - 1e-14)
        v = p.space.combine(beta)
        parts = p.regularizer.gaps(w, v).sum() + sample_gaps(p, beta, z + b).sum() - b * beta.sum()
        gap = p.primal(w, b) - p.dual(beta)
        assert gap >= 0.0
        assert parts == pytest.approx(gap, rel=1e-9, abs=1e-9 * p.primal(w, b))


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", SMOOTH)
def test_every_smooth_loss_is_solved_and_the_oracle_agrees(loss, bias, C):
    result = solve(problem(loss, bias, C), tol=1e-8)
    assert result.converged, str(result)
    found, truth = false_claims(result)
    assert not found, found
    assert truth.primal == pytest.approx(result.certificate.primal, rel=1e-10)
    assert result.certificate.relative_gap == pytest.approx(result.certify().relative_gap, abs=1e-9)
    conditions = {one.name: one.residual for one in result.kkt.conditions}
    assert max(conditions.values()) <= 1e-5, conditions


@pytest.mark.parametrize("loss", SMOOTH)
def test_the_oracle_takes_of_a_dual_point_the_multiple_that_is_feasible(loss):
    """Twice the dual point has |v| = 2: its D is no bound, and the oracle's is that of the multiple that is inside."""
    from dataclasses import replace

    result = solve(problem(loss, "none"), tol=1e-8)
    doubled = replace(result, point=replace(result.point, beta=2.0 * result.beta))
    truth = judged(doubled)
    if truth.outside == 0.0:  # the box allows it
        assert truth.dual == pytest.approx(result.certificate.dual, rel=1e-7)
    assert truth.dual <= result.certificate.primal
    again = certify(result.problem, Iterate(w=result.point.w, beta=2.0 * result.beta, linked=False))
    assert again.dual <= result.certificate.primal
    assert again.relative_gap <= 1e-6 or truth.outside > 0.0


@pytest.mark.parametrize("loss", SMOOTH)
def test_the_oracle_mends_a_sum_without_a_quadratic_term(loss):
    """Where Σβ is not 0, what the oracle takes off one dual variable changes D by its term, and by no square."""
    from dataclasses import replace

    X, _ = rows()
    result = solve(problem(loss, "free", 1e-3, X=30.0 * X), tol=1e-12)
    certificate = result.certificate
    for part in (1e-5, -1e-5):
        beta = result.beta.copy()
        row = np.abs(beta).argmax()
        off = part * beta[row]
        beta[row] += off
        truth = judged(replace(result, point=replace(result.point, beta=beta)))
        assert truth.dual <= certificate.primal + truth.rounding + certificate.rounding
        reached = certificate.dual * 30.0 * np.abs(X).max()  # what the features may then take of D
        assert truth.dual == pytest.approx(certificate.dual, abs=(20.0 + reached) * abs(off))


@pytest.mark.parametrize("loss", SMOOTH)
def test_zero_is_optimal_up_to_the_critical_C(loss):
    """At w = 0 the slopes are proportional to C: where the largest is below 1, no weight is worth its price."""
    p = problem(loss, "free", 1.0)
    u = p.pulls(np.zeros(p.n))
    critical = 1.0 / np.abs(p.space.combine(u)).max()
    below, above = (solve(p.with_cost(share * critical), tol=1e-9) for share in (0.99, 1.05))
    assert not below.w.any() and below.converged
    assert above.w.any() and above.converged


def test_few_weights_and_the_same_bits_for_dense_and_sparse():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    for bias in BIASES:
        parameters = {"loss": "squared-hinge", "bias": bias, "C": 0.02, "regularizer": "l1"}
        dense, again, sparse = (
            solve(Problem(rows, y, **parameters), tol=1e-9) for rows in (X, X.copy(), sp.csr_array(X))
        )
        assert 0 < np.count_nonzero(dense.w) < 15
        assert dense.w.tobytes() == again.w.tobytes()
        assert np.array_equal(np.flatnonzero(dense.w), np.flatnonzero(sparse.w))
        np.testing.assert_allclose(dense.w, sparse.w, atol=1e-5)


def test_weights_equal_repetition_and_zero_leaves_out():
    X, z = rows()
    y, times = np.sign(z), np.random.default_rng(1).integers(0, 3, len(z))
    for bias in BIASES:
        parameters = {"loss": "logistic", "bias": bias, "regularizer": "l1", "C": 2.0}
        weighted = solve(Problem(X, y, sample_weight=times, **parameters), tol=1e-9)
        repeated = solve(Problem(np.repeat(X, times, axis=0), np.repeat(y, times), **parameters), tol=1e-9)
        assert weighted.certificate.primal == pytest.approx(repeated.certificate.primal, rel=1e-8)
        assert not weighted.beta[times == 0].any()


@pytest.mark.parametrize("wide", [False, True])
def test_many_features_few_rows_and_copies_of_features(wide):
    """More features than W holds at first, some of them equal, some of them empty; sparse and dense."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 600)) * (rng.random((80, 600)) < (0.02 if wide else 0.5))
    X[:, 300:] = X[:, :300]
    X[:, 50] = 0.0
    y = np.sign(X[:, :5].sum(axis=1) + 0.01)
    for given_rows in (X, sp.csr_array(X)):
        for C in (0.1, 10.0):
            result = solve(Problem(given_rows, y, loss="squared-hinge", C=C, regularizer="l1"), tol=1e-7)
            assert result.converged, str(result)
            assert result.w[50] == 0.0
            assert not false_claims(result)[0]


@pytest.mark.parametrize("sparse", [False, True])
def test_the_model_by_columns_is_the_model_by_its_matrix(monkeypatch, sparse):
    """Where the matrix would be too large, sweeps over the columns find the same optimum."""
    from dataclasses import replace

    from maxmargin.solvers.linear import columns

    X = StandardScaler().fit_transform(rows(60, 30)[0])
    X = sp.csr_array(X * (np.random.default_rng(0).random(X.shape) < 0.2)) if sparse else X
    for bias in BIASES:
        p = problem("logistic", bias, X=X)
        with_matrix = solve(p, tol=1e-6)
        monkeypatch.setattr(columns, "settings", replace(columns.settings, most_features=0))
        without = solve(p, tol=1e-6)
        monkeypatch.undo()
        assert without.converged and with_matrix.converged
        assert without.certificate.primal == pytest.approx(with_matrix.certificate.primal, rel=2e-6)


def test_a_start_is_honoured():
    p = problem("squared-hinge", "free")
    best = solve(p, tol=1e-9)
    again = solve(p, tol=1e-6, start=(best.w, best.b))
    assert again.converged and again.iterations <= 3 < best.iterations


# The refusals


@pytest.mark.parametrize("name", [name for name in solvers if "l1" not in solvers[name].regularizers])
def test_every_other_solver_refuses_it_in_one_sentence(name):
    sentence = refusal(solvers[name], problem("squared-hinge", "augmented"))
    assert "l1" in sentence and "proximal-newton" in sentence and "\n" not in sentence
    with pytest.raises(Refused, match="proximal-newton"):
        solve(problem("squared-hinge", "augmented"), name)


def test_what_has_no_l1_says_so():
    X, z = rows()
    y = np.sign(z)
    for wrong, said in [
        ({"kernel": "rbf"}, "kernel='linear'"),
        ({"C": np.inf}, "finite C"),
        ({"regularizer": "l3"}, "no regularizer 'l3'"),
    ]:
        with pytest.raises(InvalidInput, match=said):
            Problem(X, y, **{"regularizer": "l1", **wrong})
    with pytest.raises(InvalidInput, match="one-class"):
        Problem(X, loss="one-class", regularizer="l1")
    with pytest.raises(Refused, match="squared-hinge"):
        solve(Problem(X, y, loss="hinge", regularizer="l1"))
    with pytest.raises(Refused, match="only 'l1'"):
        solve(Problem(X, y, loss="squared-hinge"), "proximal-newton")
    for refused in (Saddle, primal_qp):
        with pytest.raises(InvalidInput, match="l2"):
            refused(problem("squared-hinge", "free"))
