"""Tall problems on shards: the same model as on one machine, the same bits whatever runs the shards, few rounds."""

import sys
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import InvalidInput, Problem, Reason, solve
from maxmargin.cluster.engine import Here, Processes
from maxmargin.cluster.plan import Plan
from maxmargin.cluster.run import fit_parts
from maxmargin.cluster.settings import TallSettings
from maxmargin.cluster.shard import part_of
from maxmargin.losses import loss as loss_by_name

pytestmark = pytest.mark.compiled

CLASSES = ("hinge", "squared-hinge", "logistic")
NUMBERS = ("epsilon-insensitive", "squared-epsilon-insensitive", "least-squares")


@pytest.fixture
def small_client(monkeypatch):
    """A client that takes few rows, so that small data is as large as any to it."""
    few = TallSettings(client_numbers=2**12, rows_per_feature=20)
    monkeypatch.setattr("maxmargin.cluster.tall.settings", few)
    monkeypatch.setattr("maxmargin.cluster.run.settings", few)


def data(n=6000, d=6, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.5
    W = rng.normal(size=(d, classes if classes > 2 else 1))
    z = X @ W + rng.normal(size=(n, W.shape[1]))
    return X, (np.argmax(z, axis=1) if classes > 2 else (z[:, 0] > 0.3).astype(int)), z[:, 0]


def parts(X, y, K=5, weights=None):
    cuts = np.linspace(0, len(y), K + 1).astype(int)
    pieces = [slice(a, b) for a, b in pairwise(cuts)]
    return [part_of([X[p]], y[p], None if weights is None else weights[p], k) for k, p in enumerate(pieces)]


def fit(X, y, loss="hinge", K=5, weights=None, classification=True, engine=Here, **plan):
    plan = Plan(loss_by_name(loss), **{"shard_bytes": 1, "tol": 1e-6, **plan})
    return fit_parts(engine(parts(X, y, K, weights)), plan, classification)


@pytest.mark.parametrize("bias", ["none", "augmented", "free"])
@pytest.mark.parametrize("loss", CLASSES + NUMBERS)
@pytest.mark.parametrize("storage", ["dense", "float32", "sparse"])
def test_the_model_is_that_of_one_machine(loss, bias, storage, small_client):
    X, labels, numbers = data()
    X = {"dense": X, "float32": X.astype(np.float32), "sparse": sp.csr_array(X * (np.abs(X) > 0.5))}[storage]
    y = labels if loss in CLASSES else numbers
    found = fit(X, y, loss, bias=bias, classification=loss in CLASSES, bias_scale=2.0 if bias == "augmented" else 1.0)
    assert found.method == "tall" and found.status.reason is Reason.CONVERGED, found.status
    problem = Problem(X, y, loss=loss, bias=bias, bias_scale=2.0 if bias == "augmented" else 1.0)
    one = solve(problem, tol=1e-8)
    (proof,) = found.certificates
    # Both prove where the optimum is.
    assert (
        proof.dual - proof.rounding <= one.certificate.primal and one.certificate.dual <= proof.primal + proof.rounding
    )
    # And the primal that is claimed is that of the coefficients.
    w, b = found.coef[0], found.intercept[0]
    inside = np.append(w, b / 2.0 if bias == "augmented" else 0.0)
    assert problem.primal(inside, b if bias == "free" else 0.0) == pytest.approx(proof.primal, rel=1e-10)
    assert len(found.history) <= 15


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_the_bits_do_not_depend_on_who_runs_the_shards(loss, small_client, monkeypatch):
    X, y, _ = data()
    one = fit(X, y, loss)
    for threads in ("1", "3"):
        monkeypatch.setenv("MAXMARGIN_THREADS", threads)
        other = fit(X, y, loss)
        assert (one.coef == other.coef).all() and (one.intercept == other.intercept).all()
        assert [r.relative_gap for r in one.history] == [r.relative_gap for r in other.history]


@pytest.mark.parametrize("workers", [1, 2])
def test_processes_come_to_the_same_bits(workers, small_client):
    X, y, _ = data()
    one = fit(X, y)
    engine = Processes(parts(X, y), workers)
    with engine:
        other = fit_parts(engine, Plan(loss_by_name("hinge"), shard_bytes=1, tol=1e-6), True)
    assert (one.coef == other.coef).all() and (one.intercept == other.intercept).all()


@pytest.mark.parametrize("K", [1, 2, 40])
def test_the_rounds_do_not_grow_with_the_shards(K, small_client):
    X, y, _ = data(20_000)
    for C in (0.01, 1.0, 100.0):
        found = fit(X, y, K=K, C=C)
        assert found.status.reason is Reason.CONVERGED and len(found.history) <= 15
        assert next(k for k, line in enumerate(found.history, 1) if line.relative_gap <= 1e-3) <= 8


def test_a_weight_is_a_repetition(small_client):
    X, y, _ = data()
    weights = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    again = np.repeat(np.arange(len(y)), weights.astype(int))
    weighted, repeated = fit(X, y, weights=weights), fit(X[again], y[again])
    scale = repeated.certificates[0].primal
    assert weighted.certificates[0].primal == pytest.approx(scale, rel=3e-6)


def test_several_classes_share_their_rounds(small_client):
    X, y, _ = data(classes=4)
    found = fit(X, y, class_weight="balanced")
    assert found.coef.shape == (4, X.shape[1]) and len(found.certificates) == 4
    assert found.status.reason is Reason.CONVERGED and len(found.history) <= 15
    for k, proof in enumerate(found.certificates):
        weights = found.class_weights[np.searchsorted(found.classes, y)]
        one = solve(Problem(X, np.where(y == k, 1, -1), sample_weight=weights), tol=1e-8).certificate
        assert proof.dual - proof.rounding <= one.primal and one.dual <= proof.primal + proof.rounding


def test_small_data_is_solved_on_the_client():
    X, y, _ = data(500)
    found = fit(X, y)
    assert found.method == "client" and found.status.reason is Reason.CONVERGED and len(found.history) == 1


def test_budgets_and_callbacks_hand_back_what_is_proved(small_client):
    X, y, _ = data()
    seen = []
    stopped = fit(X, y, callbacks=[lambda line: seen.append(line) or True])
    assert stopped.status.reason is Reason.CALLBACK and len(seen) == 2  # the round, and the proof
    limited = fit(X, y, max_rounds=1)
    assert limited.status.reason is Reason.MAX_ITER
    hasty = fit(X, y, max_time=1e-6, tol=0.0)
    assert hasty.status.reason is Reason.MAX_TIME and hasty.certificates[0].relative_gap < np.inf
    timed = fit(X, y, max_time=0.5, tol=0.0)
    assert timed.status.reason in (Reason.MAX_TIME, Reason.STALLED)
    for found in (stopped, limited, timed):
        assert 0.0 <= found.certificates[0].gap < np.inf


def test_what_workers_hold_says_how_large_it_is():
    X, y, _ = data(300)
    for rows in (X, sp.csr_array(X)):
        (part,) = parts(rows, y, 1)
        assert X.nbytes <= sys.getsizeof(part) <= 2 * X.nbytes + 10_000


def test_what_cannot_be_used_is_named():
    X, y, _ = data(300)
    bad = X.copy()
    bad[200, 1] = np.nan
    with pytest.raises(InvalidInput, match=r"partition 3 of X"):
        fit(bad, y)
    with pytest.raises(InvalidInput, match="only the class"):
        fit(X, np.zeros(300))
    with pytest.raises(InvalidInput, match="partition 1 of sample_weight"):
        fit(X, y, weights=np.where(np.arange(300) == 70, -1.0, 1.0))
    with pytest.raises(InvalidInput, match="hard margin"):
        fit(X, y, C=np.inf)
