"""Kernel models on shards: the certified interval holds the exact optimum, and the bits are those of any engine."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import InvalidInput, Problem, Reason, solve
from maxmargin.cluster.engine import Here, Processes
from maxmargin.cluster.landmarks import fit_landmarks
from maxmargin.cluster.plan import Plan
from maxmargin.cluster.settings import LandmarkSettings, TallSettings
from maxmargin.errors import Refused
from maxmargin.kernels import RBF, Linear, Polynomial
from maxmargin.losses import loss as loss_by_name

from .test_tall import parts

pytestmark = pytest.mark.compiled


@pytest.fixture(autouse=True)
def small_client(monkeypatch):
    """A client that takes few rows, and a sample that is a part of them."""
    few = TallSettings(client_numbers=2**10, rows_per_feature=4)
    monkeypatch.setattr("maxmargin.cluster.tall.settings", few)
    monkeypatch.setattr("maxmargin.cluster.run.settings", few)
    monkeypatch.setattr("maxmargin.cluster.landmarks.settings", LandmarkSettings(sample_rows=500, sent_bytes=4000.0))


def rings(n=1500, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    r = np.linalg.norm(X[:, :2], axis=1) + 0.2 * rng.normal(size=n)
    return X, np.digitize(r, [1.2] if classes == 2 else [0.8, 1.6])


def fit(X, y, loss="hinge", kernel=RBF("scale"), most=None, engine=Here, weights=None, **plan):  # noqa: B008
    plan = Plan(loss_by_name(loss), **{"shard_bytes": 1, "tol": 1e-2, "C": 2.0, **plan})
    return fit_landmarks(engine(parts(X, y, 5, weights)), plan, kernel, most)


@pytest.mark.parametrize("bias", ["none", "augmented", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "logistic"])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_interval_holds_the_exact_optimum(loss, bias, sparse):
    X, y = rings()
    kernel = RBF(0.5) if bias != "none" else Polynomial(2, 0.5, 1.0)
    X = sp.csr_array(X * (np.abs(X) > 0.5)) if sparse else X
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    best = solve(Problem(X, y, loss=loss, kernel=kernel, bias=bias, C=2.0, sample_weight=weights), tol=1e-6)
    for most in (6, None):
        found = fit(X, y, loss, kernel, most, bias=bias, weights=weights)
        (one,) = found.fitted.certificates
        exact = best.certificate
        assert one.primal + one.rounding >= exact.dual and one.dual - one.rounding <= exact.primal
        assert one.rows == len(y) and found.coef.shape[1] <= (most or 2000)
        values = found.landmarks.values(X) @ found.coef[0] + found.fitted.intercept[0]
        c = found.coef[0]
        losses = best.problem.loss_sum(values) + 0.5 * c @ found.landmarks.values(found.landmarks.rows) @ c
        assert one.primal == pytest.approx(losses, rel=1e-9)
    assert found.fitted.status.reason is Reason.CONVERGED, found.fitted.status


def test_the_bits_are_those_of_any_engine_and_gamma_is_that_of_all_rows():
    X, y = rings(classes=3)
    one, other = (fit(X, y, engine=engine) for engine in (Here, Processes))
    np.testing.assert_array_equal(one.coef, other.coef)
    assert [c.relative_gap for c in one.fitted.certificates] == [c.relative_gap for c in other.fitted.certificates]
    assert one.landmarks.kernel.gamma == pytest.approx(RBF("scale").fitted(X).gamma)
    assert len(one.fitted.certificates) == 3 and one.fitted.status.reason is Reason.CONVERGED


def test_what_has_no_landmarks_is_refused():
    X, y = rings(100)
    with pytest.raises(Refused, match="positive, and not linear"):
        fit(X, y, kernel=Linear())
    with pytest.raises(InvalidInput, match="hard margin"):
        fit(X, y, C=np.inf)


def test_svc_on_collections():
    da, distributed = pytest.importorskip("dask.array"), pytest.importorskip("distributed")
    from maxmargin.dask import SVC

    X, y = rings(classes=3)
    labels = np.array(["in", "mid", "out"])[y]
    with distributed.Client(processes=False, dashboard_address=None) as client:
        rows = da.from_array(X, chunks=(400, 3))
        model = SVC(C=2.0, tol=1e-2, client=client).fit(rows, da.from_array(labels, chunks=400))
        assert model.status_.reason is Reason.CONVERGED and model.certificate_.relative_gap <= 1e-2
        found = model.predict(rows)
        assert hasattr(found, "dask") and (found.compute() == labels).mean() > 0.8
        local = model.to_local()
        np.testing.assert_array_equal(local.predict(X), found.compute())
        for options in ({"approximation": None}, {"kernel": "linear"}, {"multi_class": "ovo"}, {"probability": True}):
            with pytest.raises((InvalidInput, Refused)):
                SVC(client=client, **options).fit(rows, da.from_array(labels, chunks=400))
