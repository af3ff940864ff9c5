"""Wide sparse problems on shards: on one worker where they fit it, by block-diagonal steps where they do not."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import Problem, Reason, Refused, solve
from maxmargin.cluster import gathered, run, tall
from maxmargin.cluster.engine import Processes
from maxmargin.cluster.plan import Plan
from maxmargin.cluster.run import fit_parts
from maxmargin.losses import loss as loss_by_name

from .test_tall import fit, parts

pytestmark = pytest.mark.compiled


@pytest.fixture
def large(monkeypatch):
    """Data that is too large for a client, or for one worker."""
    few = replace(tall.settings, client_numbers=1000, most_features=50)
    monkeypatch.setattr(tall, "settings", few)
    monkeypatch.setattr(run, "settings", few)

    def of_one_worker(size, **options):
        few = replace(run.wide_settings, one_worker_bytes=size, **options)
        monkeypatch.setattr(run, "wide_settings", few)
        monkeypatch.setattr(gathered, "settings", few)

    return of_one_worker


def data(n=1500, d=400, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.03, format="csr", rng=rng)
    z = X @ rng.normal(size=d)
    return X, (z > np.median(z)).astype(int), z


def agrees(found, X, y, **problem):
    one = solve(Problem(X, y, **problem), tol=1e-8).certificate
    for proof in found.certificates:
        assert proof.dual - proof.rounding <= one.primal and one.dual <= proof.primal + proof.rounding


@pytest.mark.parametrize("bias", ["none", "augmented", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "epsilon-insensitive"])
def test_block_steps_come_to_the_model_of_one_machine(loss, bias, large):
    large(1, most_gatherings=0)
    X, labels, numbers = data()
    y = numbers if loss == "epsilon-insensitive" else labels
    found = fit(X, y, loss, K=4, bias=bias, tol=2e-2, classification=loss != "epsilon-insensitive")
    assert found.method == "wide" and found.status.reason is Reason.CONVERGED, found.status
    agrees(found, X, y, loss=loss, bias=bias)


@pytest.mark.parametrize("bias", ["none", "augmented", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "epsilon-insensitive"])
def test_rows_near_their_kinks_are_solved_together(loss, bias, large):
    X, labels, numbers = data()
    large(int(0.6 * (X.data.nbytes + X.indices.nbytes)))
    y = numbers if loss == "epsilon-insensitive" else labels
    found = fit(X, y, loss, K=4, bias=bias, tol=1e-4, classification=loss != "epsilon-insensitive")
    assert found.method == "gathered" and found.status.reason is Reason.CONVERGED, found.status
    assert len(found.history) <= 15
    agrees(found, X, y, loss=loss, bias=bias)


def test_all_classes_share_their_passes(large):
    X, _, z = data()
    large(int(0.9 * (X.data.nbytes + X.indices.nbytes)))
    y = np.digitize(z, np.quantile(z, [0.3, 0.6]))
    found = fit(X, y, K=4, tol=1e-3)
    assert found.method == "gathered" and found.status.reason is Reason.CONVERGED, found.status
    assert len(found.certificates) == 3 and len(found.history) <= 15
    for k, proof in enumerate(found.certificates):
        one = solve(Problem(X, np.where(y == k, 1, -1)), tol=1e-8).certificate
        assert proof.dual - proof.rounding <= one.primal and one.dual <= proof.primal + proof.rounding


def test_one_worker_solves_what_fits_it(large):
    large(2**29)
    X, y, _ = data()
    found = fit(X, y, K=4, tol=1e-6)
    assert found.method == "one worker" and found.status.reason is Reason.CONVERGED and len(found.history) == 1
    agrees(found, X, y)


def test_the_bits_do_not_depend_on_who_runs_the_shards(large, monkeypatch):
    large(1, most_gatherings=0)
    X, y, _ = data()
    one = fit(X, y, K=4, max_rounds=5)
    monkeypatch.setenv("MAXMARGIN_THREADS", "1")
    other = fit(X, y, K=4, max_rounds=5)
    with Processes(parts(X, y, 4), 2) as engine:
        third = fit_parts(engine, Plan(loss_by_name("hinge"), shard_bytes=1, max_rounds=5, tol=1e-6), True)
    for found in (other, third):
        assert (found.coef == one.coef).all() and found.certificates[0].dual == one.certificates[0].dual


def test_a_step_never_lowers_the_dual(large):
    large(1, most_gatherings=0)
    X, y, _ = data()
    duals = [line.dual for line in fit(X, y, K=8, bias="none", max_rounds=12, tol=1e-9).history]
    assert (np.diff(duals[:-1]) >= 0.0).all()


def test_a_loss_without_arrays_is_refused(large):
    large(1, most_gatherings=0)
    X, y, _ = data()
    with pytest.raises(Refused, match="squared-hinge"):
        fit(X, y, "logistic", K=4)
