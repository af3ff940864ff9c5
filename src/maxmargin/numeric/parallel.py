"""Threads that do not change the bits: a fixed partition, single-threaded BLAS inside, sums in a fixed order."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import threadpoolctl
from threadpoolctl import ThreadpoolController

from maxmargin.errors import InvalidInput

#: Multiply-adds that take as long as to wake a thread: about a tenth of a millisecond.
LITTLE_WORK = 2e5


def threads() -> int:
    """How many threads to use: MAXMARGIN_THREADS if set, else the cores this process may run on; see `at_most`."""
    most: int | None = getattr(_here, "most", None)
    if most is not None:
        return most
    wanted = os.environ.get("MAXMARGIN_THREADS")
    if wanted:
        try:
            count = int(wanted)
        except ValueError:
            count = 0
        if count < 1:
            raise InvalidInput(f"MAXMARGIN_THREADS is {wanted!r}; set it to a whole number ≥ 1, or unset it")
        return count
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def blocks(n: int, size: int) -> list[tuple[int, int]]:
    """Cut range(n) into consecutive blocks of the given size; the cuts never depend on the number of threads."""
    return [(start, min(start + size, n)) for start in range(0, n, size)]


def over_blocks(function: Callable[[int, int], object], n: int, size: int, work: float = np.inf) -> None:
    """Call function(start, stop) for every block, side by side; each call must write to its own place.

    Where all of it is so little work (in multiply-adds) that waking a thread takes longer, one block after the other.
    """
    if n <= size:  # as in all small fits: not a microsecond more than the call itself
        if n > 0:
            function(0, n)
        return
    pieces = blocks(n, size)
    helpers = min(threads(), len(pieces)) - 1 if work > LITTLE_WORK else 0
    if helpers <= 0 or getattr(_here, "inside", False):  # a thread of ours that waited for the others would block them
        for start, stop in pieces:
            function(start, stop)
        return
    rest = iter(pieces)

    def take() -> None:
        for start, stop in rest:  # whoever is free takes the next
            function(start, stop)

    others = [_pool(helpers).submit(take) for _ in range(helpers)]
    try:
        take()
    finally:
        for other in others:
            if not other.cancel():
                other.result()


def over_tasks(function: Callable[[int], object], count: int, stop: Callable[[], object]) -> None:
    """Call function(k) for every k < count, side by side; each call must write to its own place.

    Where one fails, or at Ctrl-C (of which only the main thread hears), those that wait are cancelled, `stop` is called
    to tell the others, and they are waited for.
    """
    workers = min(threads(), count)
    if workers <= 1 or getattr(_here, "inside", False):
        for k in range(count):
            function(k)
        return
    jobs = []
    try:
        for k in range(count):
            jobs.append(_pool(workers).submit(function, k))
        for job in jobs:
            job.result()
    except BaseException:
        stop()
        for job in jobs:
            job.cancel()
        wait(jobs)
        raise


@contextmanager
def at_most(count: int | None) -> Iterator[None]:
    """Use so many threads for what this thread does; a negative count is joblib's: −1 for all, −2 for all but one."""
    before = getattr(_here, "most", None)
    if count is not None:
        _here.most = count if count > 0 else max(1, threads() + 1 + count)
    try:
        yield
    finally:
        _here.most = before


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep what this thread does to itself: where whole tasks run side by side, each of them needs one thread."""
    before = getattr(_here, "inside", False)
    _here.inside = True
    try:
        yield
    finally:
        _here.inside = before


def _pool(workers: int) -> ThreadPoolExecutor:
    """Threads that stay: starting them anew would cost more than many a pass over small data."""
    with _lock:
        if workers not in _pools:
            _pools[workers] = ThreadPoolExecutor(workers, "maxmargin", lambda: setattr(_here, "inside", True))
        return _pools[workers]


_lock = threading.Lock()
_pools: dict[int, ThreadPoolExecutor] = {}
_here = threading.local()
_inside = 0
_limits: list = []
_found: tuple[int, ThreadpoolController] | None = None


def _controller() -> ThreadpoolController:
    """The BLAS libraries of this process; looked for again (a millisecond) when modules have been imported since."""
    global _found
    if _found is None or _found[0] != len(sys.modules):
        _found = len(sys.modules), ThreadpoolController()
    return _found[1]


@cache
def _load_blas() -> None:
    """Load SciPy's BLAS, which can be limited only once it is there: whoever calls it first may do so inside the limit.

    The library is enough, where SciPy brings one: the modules that use it take a tenth of a second to import.
    """
    own = sorted((Path(scipy.__file__).parents[1] / "scipy.libs").glob("libscipy_openblas*"))
    if not own:
        import_module("scipy.linalg.blas")
    for library in own:
        ctypes.CDLL(str(library))


def _take_control() -> None:
    """Let this thread change the limit: threadpoolctl 3.8 ignores all threads but the first that did, until told so.

    Ours may do so in turn, as they hold a lock and count who is inside.
    """
    openblas: Any = getattr(threadpoolctl, "OpenBLASController", None)
    if hasattr(openblas, "clear_controlling_thread"):
        openblas.clear_controlling_thread(force=True)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread, so that its sums have one order; several threads may be inside at once."""
    global _inside
    if getattr(_here, "depth", 0):  # this thread is inside already, and the limit holds until it leaves
        yield
        return
    with _lock:
        _inside += 1
        _here.depth = getattr(_here, "depth", 0) + 1
        if not _limits:
            _load_blas()
            _take_control()
            _limits.append(_controller().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            _here.depth -= 1
            if _inside == 0:
                _take_control()
                _limits.pop().restore_original_limits()
                _take_control()  # and leave it to whoever comes next


def _after_fork() -> None:
    """A forked process has none of its parent's threads but the one that forked, nor what the others held."""
    global _lock, _inside
    _lock = threading.Lock()
    _pools.clear()
    _inside = getattr(_here, "depth", 0)  # a limit that only the others wanted is lifted when it is next used
    shared: Any = getattr(getattr(threadpoolctl, "OpenBLASController", None), "_SHARED_STATE", None)
    if hasattr(shared, "lock"):
        shared.lock = threading.Lock()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "maxmargin" and module is not None:
            for value in list(vars(module).values()):
                _renew_locks(value)


def _renew_locks(value: object) -> None:
    """New locks for a registry, and for the cached properties of a class, which have locks before Python 3.12."""
    if isinstance(value, type):
        for part in vars(value).values():
            if isinstance(part, cached_property) and hasattr(part, "lock"):
                part.lock = threading.RLock()
    elif type(value).__module__ == "maxmargin.registry" and hasattr(value, "_lock"):
        value._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
