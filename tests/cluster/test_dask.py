"""Fits on a small cluster of processes: collections of every kind, the same bits as here, lost workers."""

import asyncio
import os
import pickle
import signal

import numpy as np
import pytest
import scipy.sparse as sp

import maxmargin
from maxmargin import InvalidInput, MaxMarginError, Reason, load, save
from maxmargin.cluster.engine import Here
from maxmargin.cluster.plan import Plan
from maxmargin.cluster.run import fit_parts
from maxmargin.cluster.settings import TallSettings
from maxmargin.losses import loss as loss_by_name

from .test_tall import data, parts

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.compiled

N, D, CHUNK = 8000, 6, 1000


@pytest.fixture
def tall(monkeypatch):
    """Rows, and a client that takes few of them, so that the rounds are those of large data."""
    few = TallSettings(client_numbers=2**12, rows_per_feature=20)
    monkeypatch.setattr("maxmargin.cluster.tall.settings", few)
    monkeypatch.setattr("maxmargin.cluster.run.settings", few)
    monkeypatch.setattr("maxmargin.cluster.shard.SHARD_BYTES", 1)
    return data(N, D)


def collections(X, y, chunk=CHUNK):
    return da.from_array(X, chunks=(chunk, X.shape[1])), da.from_array(y, chunks=chunk)


def test_the_bits_are_those_of_this_process(client, tall):
    X, y, _ = tall
    dX, dy = collections(X, y)
    found = maxmargin.dask.solve(dX, dy, tol=1e-6, client=client)
    here = fit_parts(Here(parts(X, y, N // CHUNK)), Plan(loss_by_name("hinge"), tol=1e-6), True)
    assert found.method == here.method == "tall" and found.status.reason is Reason.CONVERGED
    assert (found.coef == here.coef).all() and (found.intercept == here.intercept).all()
    assert found.certificates[0].primal == here.certificates[0].primal


def test_an_estimator_is_used_as_ever(client, tall, tmp_path):
    X, y, _ = tall
    labels = np.array(["no", "yes"])[y]
    dX, dy = collections(X, labels)
    model = maxmargin.dask.LinearSVC(loss="hinge", tol=1e-5).fit(dX, dy)
    assert model.certificate_.relative_gap <= 1e-5 and len(model.history_) <= 12
    predicted, values = model.predict(dX), model.decision_function(dX)
    assert predicted.chunks == dy.chunks and values.chunks == dy.chunks
    assert ((values.compute() > 0) == (predicted.compute() == "yes")).all()
    assert model.score(dX, dy) == pytest.approx(np.mean(predicted.compute() == labels))
    local = model.to_local()
    assert type(local) is maxmargin.LinearSVC and (local.predict(X) == predicted.compute()).all()
    assert (pickle.loads(pickle.dumps(model)).predict(X) == local.predict(X)).all()
    save(model.model_, tmp_path / "model.mm")
    assert (load(tmp_path / "model.mm").predict(X[:100]) == local.predict(X[:100])).all()


def test_ordinary_estimators_hand_over(client):
    X, y, target = data(3000)
    dX, dy = collections(X, y, 700)
    model = maxmargin.LinearSVC(loss="hinge").fit(dX, dy)
    assert type(model) is maxmargin.LinearSVC and model.history_
    assert (model.predict(dX).compute() == model.predict(X)).all()
    line = maxmargin.LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1).fit(*collections(X, target, 700))
    np.testing.assert_allclose(line.predict(collections(X, y, 700)[0]).compute(), line.predict(X), rtol=1e-12)
    alone = maxmargin.LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1, tol=1e-8).fit(X, target)
    np.testing.assert_allclose(line.coef_, alone.coef_, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("kind", ["columns", "unknown", "sparse", "frame", "uneven", "float32", "array"])
def test_collections_of_every_kind(kind, client):
    X, y, _ = data(3000, classes=3)
    alone = maxmargin.dask.solve(*collections(X, y, 500), client=client)
    dX, dy = collections(X, y, 500)
    if kind == "columns":
        dX = da.from_array(X, chunks=(500, 2))
    elif kind == "unknown":  # and with a partition that is left empty
        keep = da.from_array(np.arange(3000) >= 500, chunks=500)
        X, y, dX, dy = X[500:], y[500:], dX[keep], dy[keep]
        alone = maxmargin.dask.solve(*collections(X, y, 500), client=client)
    elif kind == "sparse":
        dX = dX.map_blocks(sp.csr_array, dtype=X.dtype, meta=sp.csr_array((0, 0)))
    elif kind == "frame":
        frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcdef")).assign(y=y), npartitions=6)
        dX, dy = frame[list("abcdef")], frame["y"]
    elif kind == "uneven":
        dX, dy = dX.rechunk({0: (10, 1990, 1000)}), dy.rechunk({0: 700})
    elif kind == "float32":
        dX = dX.astype(np.float32)
    elif kind == "array":
        dy = y
    model = maxmargin.dask.LinearSVC(loss="hinge").fit(dX, dy)
    for proof, other in zip(model.certificate_.values(), alone.certificates, strict=True):
        slack = 1e-6 * other.primal if kind == "float32" else proof.rounding + other.rounding
        assert proof.dual <= other.primal + slack and other.dual <= proof.primal + slack
    predicted = model.predict(dX)
    assert (np.asarray(predicted.compute()) == model.predict(X)).mean() > 0.999
    assert type(predicted).__name__ == ("Series" if kind == "frame" else "Array")
    assert np.asarray(model.decision_function(dX).compute()).shape == (len(y), 3)
    if kind == "frame":
        with pytest.raises(ValueError, match="feature names"):
            model.predict(dX[list("fedcba")]).compute()
        assert list(model.feature_names_in_) == list("abcdef")


def broken(block, block_info=None):
    if block_info[0]["chunk-location"][0] == 2:
        raise OSError("the file ends too early")
    return block


def test_what_is_wrong_is_named(client):
    X, y, _ = data(3000)
    dX, dy = collections(X, y, 500)
    corrupt = dX.map_blocks(broken, dtype=X.dtype, meta=np.empty((0, 0)))
    with pytest.raises(InvalidInput, match="partition 2 cannot be computed: OSError: the file ends too early"):
        maxmargin.dask.solve(corrupt, dy, client=client)
    hole = X.copy()
    hole[1234, 3] = np.inf
    with pytest.raises(InvalidInput, match="partition 2 of X"):
        maxmargin.dask.solve(da.from_array(hole, chunks=(500, 6)), dy, client=client)
    with pytest.raises(InvalidInput, match="y has 2000 rows, X has 3000"):
        maxmargin.dask.solve(dX, dy[:2000], client=client)
    with pytest.raises(InvalidInput, match="solver='smo' is for one machine"):
        maxmargin.dask.LinearSVC(solver="smo").fit(dX, dy)
    with pytest.raises(InvalidInput, match="needs a Dask array"):
        maxmargin.dask.LinearSVC().fit(X, y)


def test_an_asynchronous_client(client):
    X, y, _ = data(3000)

    async def fit():
        async with distributed.Client(client.scheduler.address, asynchronous=True) as other:
            return await maxmargin.dask.LinearSVC(loss="hinge", client=other).fit(*collections(X, y, 500))

    assert asyncio.run(fit()).certificate_.relative_gap <= 1e-4


def kill_one(client):
    pids = client.run(os.getpid)
    os.kill(next(iter(pids.values())), signal.SIGKILL)


@pytest.mark.parametrize("phase", [1, 2])
def test_a_worker_that_is_killed_changes_nothing(phase, client, tall):
    X, y, _ = tall
    dX, dy = collections(X, y)
    whole = maxmargin.dask.solve(dX, dy, tol=1e-6, client=client)
    seen = []

    def killer(line):
        seen.append(line)
        if len(seen) == phase:
            kill_one(client)

    found = maxmargin.dask.solve(dX, dy, tol=1e-6, client=client, callbacks=[killer])
    assert (found.coef == whole.coef).all() and len(found.history) == len(whole.history)
    client.wait_for_workers(2, timeout=60)


def test_a_cluster_that_is_gone_is_no_hang(tall):
    X, y, _ = tall
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    )
    with distributed.Client(cluster) as client:
        with pytest.raises(MaxMarginError, match="scheduler"):
            maxmargin.dask.solve(*collections(X, y), client=client, callbacks=[lambda line: cluster.close()])
