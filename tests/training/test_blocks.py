"""Rows in blocks: the same optimum, certificate and bits as in memory, and a proof that the oracle confirms."""

from __future__ import annotations

from dataclasses import replace
from threading import Event

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import Problem, solve
from maxmargin.certificate import examine
from maxmargin.data import Data
from maxmargin.errors import InvalidInput, Refused
from maxmargin.result import Iterate, Reason
from maxmargin.solvers.linear import coordinate_newton
from maxmargin.training.block_ascent import BlockAscent
from maxmargin.training.block_files import Cache
from maxmargin.training.checkpointed_run import Stoppable
from tests.oracle import false_claims

pytestmark = pytest.mark.compiled

LOSSES = ("hinge", "squared-hinge", "logistic", "epsilon-insensitive", "squared-epsilon-insensitive", "least-squares")
STORAGES = ("dense", "float32", "sparse")


@pytest.fixture
def cached(monkeypatch):
    """Rows as a cache of many small blocks."""
    monkeypatch.setattr("maxmargin.training.block_files.BLOCK_BYTES", 20_000)
    made = []

    def make(X, **options):
        cache = Cache(**options)
        made.append(cache)
        list(cache.fill(Data(X[start : start + 37], None) for start in range(0, X.shape[0], 37)))
        return cache

    yield make
    for cache in made:
        cache.close()


def data(storage="dense", n=900, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.3
    values = X @ rng.normal(size=d) + 0.5 * rng.normal(size=n) + 0.4
    if storage == "sparse":
        X = sp.csr_array(X * (rng.random((n, d)) < 0.4))
    return X.astype(np.float32) if storage == "float32" else X, values


def targets(values, loss):
    return np.where(values > 0, 1, -1) if "hinge" in loss or loss == "logistic" else values


def refuted(result, X):
    """What the oracle refutes of a result, which it sees beside the rows in memory."""
    return false_claims(replace(result, problem=result.problem._but(X=X)))[0]


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("bias", ["none", "augmented", "free"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_same_optimum_as_in_memory(loss, bias, storage, cached):
    X, values = data(storage)
    y = targets(values, loss)
    blocks = cached(X)
    assert len(blocks.places) > 2
    result = solve(Problem(blocks, y, loss=loss, bias=bias, C=0.7), tol=1e-6)
    assert result.converged, result.status
    assert not refuted(result, X)
    whole = solve(Problem(X, y, loss=loss, bias=bias, C=0.7), tol=1e-6)
    assert result.certificate.primal >= whole.certificate.dual - whole.certificate.rounding
    assert whole.certificate.primal >= result.certificate.dual - result.certificate.rounding


@pytest.mark.parametrize("bias", ["none", "augmented", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "epsilon-insensitive"])
def test_block_ascent_where_newton_has_too_many_features(loss, bias, cached, monkeypatch):
    X, values = data("sparse", d=60)
    monkeypatch.setattr(coordinate_newton, "settings", replace(coordinate_newton.settings, most_features=10))
    problem = Problem(cached(X), targets(values, loss), loss=loss, bias=bias, C=0.05)
    with pytest.raises(Refused, match="at most 10 features"):
        solve(problem, "coordinate-newton")
    result = solve(problem, BlockAscent(), tol=1e-4)
    assert result.converged, result.status
    assert not refuted(result, X)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("bias", ["augmented", "free"])
def test_a_certificate_is_a_sum_over_blocks(bias, storage, cached):
    """At one point, plain and with twice the precision: what is proved in memory is proved block by block."""
    X, values = data(storage)
    y = targets(values, "hinge")
    whole, blocks = (Problem(rows, y, bias=bias) for rows in (X, cached(X)))
    rng = np.random.default_rng(1)
    beta = whole.feasible(whole.target * rng.random(whole.n))
    point = Iterate(w=rng.normal(size=whole.space.size), beta=beta, linked=False)
    for wanted in (1e-3, 1e-16):
        one, other = (examine(problem, point, wanted=wanted).certificate for problem in (whole, blocks))
        assert one.precision == other.precision
        assert other.primal == pytest.approx(one.primal, abs=one.rounding + other.rounding)
        assert other.dual == pytest.approx(one.dual, abs=one.rounding + other.rounding)
        assert other.rounding == pytest.approx(one.rounding, rel=1e-6)
        np.testing.assert_array_equal(one.kinds.codes, other.kinds.codes)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_the_same_bits_whatever_the_threads(loss, cached, monkeypatch):
    X, values = data(n=20_000, d=8)
    blocks = cached(X)
    found = []
    for threads in ("1", "2", "2"):
        monkeypatch.setenv("MAXMARGIN_THREADS", threads)
        result = solve(Problem(blocks, targets(values, loss), loss=loss), tol=1e-4, random_state=3)
        found.append((result.point.w.tobytes(), result.point.b, result.beta.tobytes()))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("bias", ["none", "augmented", "free"])
def test_rows_far_from_the_origin(bias, cached):
    X, values = data()
    X = X + 1e5
    result = solve(Problem(cached(X), targets(values, "hinge"), bias=bias, C=0.1), tol=1e-4)
    assert result.converged, result.status
    assert not refuted(result, X)


def test_a_dual_point_is_a_start(cached):
    X, values = data(n=4000)
    problem = Problem(cached(X), targets(values, "hinge"))
    cold = solve(problem, tol=1e-5)
    warm = solve(problem, tol=1e-5, start=cold)
    assert warm.converged and warm.iterations < cold.iterations


def test_whoever_needs_all_rows_refuses_blocks(cached):
    X, values = data(n=100)
    blocks, y = cached(X), targets(values, "hinge")
    for name in ("smo", "pegasos", "qp-primal"):
        with pytest.raises(Refused, match="come in blocks"):
            solve(Problem(blocks, y), name)
    with pytest.raises(InvalidInput, match="linear kernel"):
        Problem(blocks, y, kernel="rbf")


def test_a_value_that_is_no_number_is_named(cached):
    X, _ = data(n=100)
    X[80, 3] = np.nan
    with pytest.raises(InvalidInput, match=r"X\[74:\]\[6, 3\] is nan"):
        cached(X)


def test_ctrl_c_acts_between_two_blocks(cached):
    X, values = data(n=20_000)
    stop, reads = Event(), 0
    solver = None

    def watch():
        nonlocal reads
        if solver is not None and solver.stepping:
            reads += 1
            if reads > 2:
                stop.set()
            solver.check()

    problem = Problem(cached(X, watch=watch), targets(values, "hinge"), bias="augmented")
    solver = Stoppable(BlockAscent(), stop)
    result = solve(problem, solver, tol=0.0)
    assert result.status.reason is Reason.INTERRUPTED
    assert reads == 3 < len(problem.X.places)
    assert 0 < result.certificate.relative_gap < 1
    assert not refuted(result, X)


def test_scaled_blocks(cached):
    for storage in STORAGES:
        X, _ = data(storage)
        blocks = cached(X, widened=True)
        factor = np.linspace(0.5, 2.0, X.shape[1])
        before = blocks.largest
        blocks.scale(factor)
        dense = X.toarray() if storage == "sparse" else X
        np.testing.assert_array_equal(blocks.largest, np.abs(dense * factor).max(axis=0))
        assert (before != blocks.largest).any()
        rows = np.array([0, 5, 5, 333])
        some = blocks[rows]
        some = some.toarray() if storage == "sparse" else some
        np.testing.assert_array_equal(some, (dense * factor)[rows])
