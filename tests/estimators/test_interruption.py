"""Time and Ctrl-C: every estimator, calibration, several classes and every search ends soon, with a model."""

import os
import signal
import threading
import warnings
from time import perf_counter

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from maxmargin.estimators import (
    SVC,
    SVCCV,
    SVR,
    SVRCV,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
)
from maxmargin.result import Reason

pytestmark = [pytest.mark.compiled, pytest.mark.filterwarnings("ignore")]
SLACK = 5.0

KERNEL = {
    "SVC": SVC(),
    "SVC, probabilities": SVC(probability=True),
    "SVC by a library": SVC(solver="qp"),
    "NuSVC": NuSVC(nu=0.4),
    "SVR": SVR(),
    "NuSVR": NuSVR(),
    "OneClassSVM": OneClassSVM(),
    "SVCCV": SVCCV(gammas=(0.01, 0.1)),
    "SVRCV": SVRCV(),
}
LINEAR = {
    "LinearSVC": LinearSVC(),
    "LinearSVC, hinge": LinearSVC(loss="hinge"),
    "LinearSVC, Crammer-Singer": LinearSVC(multi_class="crammer_singer"),
    "LinearSVR": LinearSVR(),
    "LinearSVCCV": LinearSVCCV(),
}
ALL = {**KERNEL, **LINEAR}


def rows(n, d, classes=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, rng.integers(0, classes, n)


def ends(machine, n, d, slack):
    machine.set_params(tol=1e-12)
    machine.set_params(max_time=0.5).fit(*rows(300, d))  # compiled before the clock starts
    X, y = rows(n, d)
    began = perf_counter()
    machine.set_params(max_time=0.5).fit(X, y)
    assert perf_counter() - began <= 0.5 * 1.5 + 0.3 + slack
    assert machine.predict(X[:5]).shape == (5,)


@pytest.mark.parametrize("name", ALL)
def test_every_estimator_ends_in_time_with_a_model(name):
    ends(ALL[name], *((2000, 10) if name in KERNEL else (20_000, 20)), SLACK)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_every_estimator_ends_in_time_on_large_data(name):
    ends(ALL[name], *((8000, 20) if name in KERNEL else (100_000, 50)), 0.3)


def test_a_search_without_time_for_a_cell_has_a_model_all_the_same():
    X, y = rows(3000, 10)
    for machine in (SVCCV(max_time=0.01), LinearSVCCV(max_time=0.001)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            machine.fit(X, y)
        assert machine.status_.reason is Reason.MAX_TIME
        assert machine.predict(X[:3]).shape == (3,)


@pytest.fixture
def listening():
    """Ctrl-C as a terminal sends it: a background job starts with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(machine, X, y, seconds):
    """Ends soon after Ctrl-C: with a model that says so, or KeyboardInterrupt; a fit may be done before."""
    sent = []

    def send():
        sent.append(perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(seconds, send)
    timer.start()
    try:
        machine.fit(X, y)
    except KeyboardInterrupt:
        return
    finally:
        done = perf_counter()
        timer.cancel()
        timer.join()
    if sent and sent[0] < done:
        assert done - sent[0] < 1.5 + SLACK
        assert machine.status_.reason is Reason.INTERRUPTED


def broken_off(name, moments):
    machine = ALL[name].set_params(max_time=None, tol=1e-13)
    n, d = (1500, 10) if name in KERNEL else (20_000, 20)
    X, y = rows(n, d)
    for seconds in moments:
        try:
            interrupted(machine, X, y, seconds)
        except KeyboardInterrupt:  # it came between the fit and its end
            continue


@pytest.mark.parametrize("name", ALL)
def test_ctrl_c_at_some_moments(name, listening):
    broken_off(name, (0.05, 0.4, 1.1))


def pressed(fit, seconds=0.4):
    """What a fit gives, where Ctrl-C comes once."""
    clone(ENDLESS).set_params(max_time=0.1).fit(*rows(50, 5))  # nothing is imported or compiled when it comes
    LinearSVCCV(solver="subgradient", max_time=0.1).fit(*rows(50, 5))
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        return fit()
    finally:
        timer.cancel()
        timer.join()


ENDLESS = SVC(solver="subgradient", bias="augmented", tol=0.0)


@pytest.mark.parametrize(
    "loop",
    [
        lambda X, y: GridSearchCV(make_pipeline(ENDLESS), {"svc__C": [1, 2]}, cv=2).fit(X, y),
        lambda X, y: cross_val_score(ENDLESS, X, y),
        lambda X, y: OneVsRestClassifier(ENDLESS).fit(X, y),
        lambda X, y: OneVsRestClassifier(LinearSVCCV(solver="subgradient", cv_tol=0.0)).fit(X, y),
    ],
    ids=["grid search", "cross validation", "one against the rest", "a search of ours in it"],
)
def test_ctrl_c_leaves_a_loop_of_a_library_at_once(loop, listening):
    with pytest.raises(KeyboardInterrupt):
        pressed(lambda: loop(*rows(200, 5)))


@pytest.mark.parametrize("passes", [lambda machine: machine, make_pipeline], ids=["directly", "a pipeline"])
def test_ctrl_c_keeps_the_model_for_who_called_fit(passes, listening):
    machine = clone(ENDLESS)
    X, y = rows(200, 5)
    pressed(lambda: passes(machine).fit(X, y))
    assert machine.status_.reason is Reason.INTERRUPTED
    assert machine.predict(X[:3]).shape == (3,)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_ctrl_c_at_many_moments(name, listening):
    broken_off(name, np.random.default_rng(0).uniform(0.01, 2.0, 50))
