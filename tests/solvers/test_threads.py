"""Threads: ours inside ours, those of BLAS, and those of a forked process."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from threadpoolctl import ThreadpoolController, threadpool_info

from maxmargin import SVC, LinearSVC, LinearSVR, NuSVC
from maxmargin.numeric import parallel
from maxmargin.numeric.parallel import one_blas_thread, over_blocks

pytestmark = pytest.mark.compiled


def test_threads_inside_threads_do_not_wait_for_each_other(monkeypatch):
    monkeypatch.setenv("MAXMARGIN_THREADS", "2")
    seen = np.zeros(100)

    def outer(start: int, stop: int) -> None:
        def inner(first: int, last: int) -> None:
            seen[start + first : start + last] += 1

        over_blocks(inner, stop - start, 5)

    over_blocks(outer, 100, 25)
    assert (seen == 1).all()


def _count_in_child(queue) -> None:
    seen = np.zeros(10)
    over_blocks(lambda start, stop: seen.__setitem__(slice(start, stop), 1), 10, 1)
    queue.put(float(seen.sum()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_blas_is_looked_for_again_when_modules_have_come(monkeypatch):
    looked = []
    monkeypatch.setattr(parallel, "ThreadpoolController", lambda: looked.append(1) or ThreadpoolController())
    monkeypatch.setattr(parallel, "_found", None)
    for module, times in ((None, 1), (None, 1), ("a module that was not there", 2)):
        if module:
            monkeypatch.setitem(sys.modules, module, sys)
        with one_blas_thread():
            assert {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"} == {1}
        assert len(looked) == times


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_blas_has_one_thread_whoever_asks_for_it_and_as_many_as_before_afterwards():
    """Some versions of threadpoolctl ignore every thread but the first one that ever set a limit."""
    before = blas_threads()
    inside, leave, seen = threading.Event(), threading.Event(), []

    def other() -> None:
        with one_blas_thread():
            seen.append(blas_threads())
            inside.set()
            leave.wait(30)

    with one_blas_thread():
        pass  # the main thread has been first
    worker = threading.Thread(target=other)
    worker.start()
    assert inside.wait(30)
    with one_blas_thread():
        leave.set()
        worker.join(30)
        seen.append(blas_threads())  # the thread that set the limit is gone
    assert seen == [{1}, {1}]
    assert blas_threads() == before


def test_a_forked_process_starts_threads_of_its_own(monkeypatch):
    monkeypatch.setenv("MAXMARGIN_THREADS", "2")
    over_blocks(lambda start, stop: None, 10, 1)  # the parent's threads exist now
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_count_in_child, args=(queue,))
    child.start()
    child.join(30)
    assert child.exitcode == 0 and queue.get() == 10.0


MACHINES = [SVC(), NuSVC(nu=0.2), LinearSVC(), LinearSVC(loss="hinge"), LinearSVR(loss="squared_epsilon_insensitive")]


@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_four_threads_at_once_come_to_the_bits_of_one(machine):
    """Their arrays are in other places of the memory: no sum may be in another order for that."""
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)

    def fitted(_):
        one = clone(machine).fit(X, y)
        return one.intercept_.tobytes() + one.dual_coef_.tobytes()

    alone = fitted(0)
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(fitted, range(60))) == {alone}
