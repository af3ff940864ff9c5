"""Workers killed in every phase of a fit, replaced one after the other, restarted: the same bits, and no hang."""

import os
import signal
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import MaxMarginError, Reason
from maxmargin.cluster import gathered, run, tall
from maxmargin.cluster.dask_engine import Dask
from maxmargin.dask import solve

from .test_tall import data
from .test_wide import data as wide_data

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.compiled


@pytest.fixture
def problem(request, monkeypatch):
    """Collections whose fit takes rounds: tall, or wide with near rows that are gathered."""
    monkeypatch.setattr("maxmargin.cluster.shard.SHARD_BYTES", 1)
    few = replace(tall.settings, client_numbers=2**12, most_features=50)
    monkeypatch.setattr(tall, "settings", few)
    monkeypatch.setattr(run, "settings", few)
    if request.param == "tall":
        X, y, _ = data(8000)
        return da.from_array(X, chunks=(1000, 6)), da.from_array(y, chunks=1000)
    X, y, _ = wide_data()
    wide = replace(run.wide_settings, one_worker_bytes=int(0.6 * (X.data.nbytes + X.indices.nbytes)))
    monkeypatch.setattr(run, "wide_settings", wide)
    monkeypatch.setattr(gathered, "settings", wide)
    dX = da.from_array(X.toarray(), chunks=(300, X.shape[1]))
    return dX.map_blocks(sp.csr_array, dtype=X.dtype, meta=sp.csr_array((0, 0))), da.from_array(y, chunks=300)


def kill(client):
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)


def same(found, whole):
    assert found.status.reason is Reason.CONVERGED and len(found.history) == len(whole.history)
    assert (found.coef == whole.coef).all() and (found.intercept == whole.intercept).all()
    assert found.certificates[0].primal == whole.certificates[0].primal


@pytest.mark.slow
@pytest.mark.parametrize("problem", ["tall", "wide"], indirect=True)
def test_a_worker_killed_in_any_phase_changes_nothing(problem, client, monkeypatch):
    wait, phases, deadly = Dask._wait, [], [-1]

    def killing(self, futures, until):
        phases.append(len(futures))
        if len(phases) - 1 == deadly[0]:
            kill(client)
        wait(self, futures, until)

    monkeypatch.setattr(Dask, "_wait", killing)
    whole = solve(*problem, tol=1e-5, client=client)
    count = len(phases)
    assert count >= 5
    for phase in range(count):
        client.wait_for_workers(2, timeout=60)
        phases.clear()
        deadly[0] = phase
        same(solve(*problem, tol=1e-5, client=client), whole)


@pytest.mark.slow
@pytest.mark.parametrize("problem", ["tall", "wide"], indirect=True)
def test_all_workers_may_be_replaced_one_after_the_other(problem, client):
    whole, first = solve(*problem, tol=1e-5, client=client), list(client.run(os.getpid).values())
    victims = list(first)

    def next_one(line):
        if victims:
            os.kill(victims.pop(), signal.SIGKILL)

    same(solve(*problem, tol=1e-5, client=client, callbacks=[next_one]), whole)
    assert not victims
    client.wait_for_workers(2, timeout=60)
    assert not set(first) & set(client.run(os.getpid).values())


@pytest.mark.parametrize("problem", ["tall"], indirect=True)
def test_a_scheduler_that_forgets_everything_is_no_hang(problem, client):
    with pytest.raises(MaxMarginError, match="fit again"):
        solve(*problem, tol=1e-9, client=client, callbacks=[lambda line: client.restart(wait_for_workers=False)])
    client.wait_for_workers(2, timeout=60)
    assert np.isfinite(solve(*problem, tol=1e-3, client=client).coef).all()
