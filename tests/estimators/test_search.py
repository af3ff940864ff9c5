"""What a search does with its threads, its time and Ctrl-C; that it finds the right thing is in `test_agreement`."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

from maxmargin import SVCCV, SVRCV, Problem
from maxmargin.errors import InvalidInput
from maxmargin.kernels import Polynomial
from maxmargin.losses.hinge import Hinge
from maxmargin.numeric.parallel import over_tasks
from maxmargin.training import budget as training
from maxmargin.training.kernel_matrix import block_of, shared_matrix
from maxmargin.training.search import runs

pytestmark = pytest.mark.compiled


def scaled(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_the_number_of_threads_does_not_change_the_bits(load, monkeypatch):
    X, y = scaled(load)
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("MAXMARGIN_THREADS", threads)
        found.append(SVCCV(Cs=[0.1, 0.15, 1.0, 100.0], gammas=[0.01, 0.1], cv=3).fit(X, y))
    one, three = found
    np.testing.assert_array_equal(one.fold_scores_, three.fold_scores_)
    np.testing.assert_array_equal(one.best_estimator_.dual_coef_, three.best_estimator_.dual_coef_)
    assert one.worst_gap_ == three.worst_gap_ and 0.0 < one.worst_gap_ <= one.cv_tol


def test_every_fit_of_a_search_reaches_the_gap_that_was_asked_for():
    X, y = scaled(load_breast_cancer)
    for tol in (1e-2, 1e-7):
        search = SVCCV(Cs=[0.1, 1000.0], gammas=[0.001, 0.1], cv=3, cv_tol=tol, refit=False).fit(X, y)
        assert search.worst_gap_ <= tol
    assert SVRCV(Cs=[1.0, 100.0], cv=3, refit=False).fit(X, X @ np.arange(30.0)).worst_gap_ <= 1e-3


def test_a_matrix_that_the_cache_does_not_hold_in_float64_is_not_shared():
    """Once, what fitted in float32 only was asked for in float64, and the search ended with a MemoryLimit."""
    X, y = scaled(load_breast_cancer)
    n = len(X)
    search = SVCCV(Cs=[1.0], gammas=[0.01], cv=3, cache_size=6e-6 * n * n).fit(X, y)
    assert np.isfinite(search.scores_).all()


def test_near_values_of_C_are_one_run():
    Cs = np.array([0.1, 0.15, 0.2, 1.0, 10.0, 15.0])
    assert runs(Cs, apart=True) == [slice(0, 3), slice(3, 4), slice(4, 6)]
    assert runs(Cs, apart=False) == [slice(0, 6)]


def test_ctrl_c_ends_a_search_that_runs_on_several_threads(monkeypatch):
    X, y = scaled(load_breast_cancer)
    real, fits = training.solve, []

    def pressed(problem, *, callbacks, **options):
        fits.append(options["max_time"])
        first, until = len(fits) == 1, 0.0
        while not callbacks[0](None):  # every fit waits until the main thread has heard, and tells the fits to stop
            if first and time.monotonic() > until:  # again after a while, as anybody would: Python may lose one
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
                until = time.monotonic() + 5.0
            time.sleep(0.01)
        return real(problem, callbacks=callbacks, **options)

    monkeypatch.setattr(training, "solve", pressed)
    monkeypatch.setenv("MAXMARGIN_THREADS", "2")
    # A job that was started in the background may have been told to ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):  # nothing was scored: there is no model to hand back
            SVCCV(Cs=[0.01, 1.0, 100.0], gammas=[0.01, 0.1], cv=5, refit=False).fit(X, y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(fits) <= 4, "those that had not begun never did"


def test_a_failing_task_stops_the_others(monkeypatch):
    monkeypatch.setenv("MAXMARGIN_THREADS", "2")
    stopped, done = threading.Event(), []

    def work(k):
        if k == 0:
            raise InvalidInput("no")
        done.append(stopped.wait(timeout=60))

    with pytest.raises(InvalidInput, match="no"):
        over_tasks(work, 8, stopped.set)
    assert len(done) < 7 and all(done), "who had begun was told and waited for; the rest never began"


def test_a_block_of_the_shared_matrix():
    K = np.arange(30.0, dtype=np.float32).reshape(5, 6)
    rows, columns = np.array([4, 0]), np.array([5, 1, 1])
    np.testing.assert_array_equal(block_of(K, rows, columns), K[np.ix_(rows, columns)])
    with pytest.raises(InvalidInput, match="'polynomial' overflows on this data"):
        shared_matrix(Polynomial(degree=5, gamma=1.0, coef0=0.0), np.full((3, 2), 1e35, np.float32), 1e6)


def test_a_problem_of_checked_parts_is_the_problem():
    X, y = scaled(load_iris)
    X, sign = X[:100], np.where(y[:100] == 1, 1.0, -1.0)
    checked = Problem(X, sign, kernel="rbf", C=2.0)
    trusted = Problem.of_checked(X, sign, Hinge(), checked.kernel, "free", np.full(100, 2.0), checked.cache_bytes)
    assert vars(trusted).keys() == vars(checked).keys()
    for name, value in vars(checked).items():
        np.testing.assert_array_equal(vars(trusted)[name], value)
