"""A clock for time budgets that stands still while something is compiled: that happens once per machine."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

_lock = threading.Lock()
_spent = 0.0
_began = 0.0
_depth = 0


def now() -> float:
    """Seconds, as of `time.perf_counter`, without those of compilation by any thread."""
    began = _began if _depth else perf_counter()
    return began - _spent


@contextmanager
def standing_still() -> Iterator[None]:
    """The clock stands still meanwhile, in all threads: compilation holds up most of them."""
    start()
    try:
        yield
    finally:
        stop()


def start() -> None:
    """A compilation begins, perhaps inside another."""
    global _began, _depth
    with _lock:
        if _depth == 0:
            _began = perf_counter()
        _depth += 1


def stop() -> None:
    """A compilation is done."""
    global _spent, _depth
    with _lock:
        _depth -= 1
        if _depth == 0:
            _spent += perf_counter() - _began


def compiled_for() -> float:
    """The seconds that compilation has taken in this process so far."""
    return perf_counter() - now()


def _after_fork() -> None:
    """A compilation that another thread had under way does not exist in a forked process."""
    global _lock, _depth
    _lock, _depth = threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
