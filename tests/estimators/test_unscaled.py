"""Small linear problems as users bring them, unscaled and far from the origin: every linear estimator converges."""

from time import perf_counter

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from maxmargin.estimators import SVC, SVR, LinearSVC, LinearSVR
from maxmargin.result import Reason

MACHINES = {
    "squared hinge": lambda C: LinearSVC(C=C),
    "hinge": lambda C: LinearSVC(C=C, loss="hinge"),
    "pairs": lambda C: LinearSVC(C=C, loss="hinge", multi_class="ovo"),
    "no bias": lambda C: LinearSVC(C=C, loss="hinge", fit_intercept=False),
    "augmented": lambda C: LinearSVC(C=C, loss="hinge", bias="augmented"),
    "tube": lambda C: LinearSVR(C=C),
    "squared tube": lambda C: LinearSVR(C=C, loss="squared_epsilon_insensitive"),
    "kernel": lambda C: SVC(C=C, kernel="linear"),
    "kernel tube": lambda C: SVR(C=C, kernel="linear"),
}


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(7))
@pytest.mark.parametrize("name", MACHINES)
def test_small_linear_problems_converge_whatever_their_scale(name, seed):
    """n < 200, C up to 1e4, values up to 1e3, offsets up to 1e6, up to 4 classes: in 2 s, or 10 on a loaded machine."""
    rng = np.random.default_rng([seed, len(name)])
    n, d, classes = int(rng.integers(10, 200)), int(rng.integers(1, 12)), int(rng.integers(2, 5))
    C, scale = 10.0 ** rng.uniform(-2, 4), 10.0 ** rng.uniform(-1, 3)
    X = rng.normal(size=(n, d)) * scale * 10.0 ** rng.uniform(-1, 0, d)
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    X = X + rng.integers(0, 2) * 10.0 ** rng.uniform(0, 6)
    machine = MACHINES[name](C).set_params(max_time=10.0)
    machine.fit(X, y + 0.1 * rng.normal(size=n) if "tube" in name else y)
    assert machine.status_.reason is Reason.CONVERGED, str(machine.status_)


@pytest.mark.compiled
@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_raw_features_take_no_time(load):
    X, y = load(return_X_y=True)
    for loss in ("squared_hinge", "hinge"):
        LinearSVC(loss=loss, max_time=30.0).fit(X, y)
        began = perf_counter()
        machine = LinearSVC(loss=loss, max_time=30.0).fit(X, y)
        assert machine.status_.reason is Reason.CONVERGED
        assert perf_counter() - began < 5.0


def test_the_reported_crashes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 20))
    y = np.where(X[:, 0] > 0, 1, 0)
    LinearSVC(max_time=10.0, tol=1e-3).fit(X + 1e8, y)
    LinearSVC(max_time=10.0, fit_intercept=False, C=100).fit(X + 1e6, y)
    X, y = 70 * rng.normal(size=(67, 4)), rng.integers(0, 4, 67)
    assert LinearSVC(loss="hinge", C=1e3, max_time=30.0).fit(X, y).status_.reason is Reason.CONVERGED
