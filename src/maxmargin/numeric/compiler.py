"""Numba, as the package uses it: the cache on disk, and the word that a first compilation is under way.

What is damaged in the cache is compiled anew; where nothing can be kept on disk, every process compiles for itself,
and says so once. Nothing imports this module but `numeric.compiled`, at the first call of a compiled function.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import threading
from collections.abc import Callable
from importlib import import_module
from time import perf_counter, sleep
from typing import Any

from llvmlite.binding import Linkage, ffi
from numba import njit
from numba.core import compiler_lock, event
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.codegen import CPUCodeLibrary
from numba.core.runtime import rtsys

from maxmargin.numeric import stopwatch
from maxmargin.numeric.compiled import extensions

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger("maxmargin")

#: The most seconds to wait for another process that compiles the same function; the longest take a few.
LONGEST_WAIT = 60.0
#: Seconds of compilation after which the user is told what takes so long.
SOME = 1.0

_told: set[str] = set()


def dispatcher(function: Callable[..., Any], fastmath: set[str] | bool) -> Any:
    """The function as Numba compiles it, kept on disk where that can be."""
    for module in extensions:
        import_module(module)
    made = njit(nogil=True, fastmath=fastmath, error_model="numpy")(function)
    if hasattr(made, "_cache"):  # not where the compiler is switched off
        try:
            made._cache = _Cache(function)
        except (RuntimeError, OSError):  # no folder can be written to: not beside the package, not at home
            _tell_once("the package's folder and the home folder cannot be written to")
    return made


def _tell_once(why: str) -> None:
    if "kept" not in _told:
        _told.add("kept")
        logger.warning(
            "compiled code is not kept on disk (%s), so every process compiles anew:"
            " set NUMBA_CACHE_DIR to a folder that can be written to",
            why,
        )


class _Cache(FunctionCache):
    """Numba's cache on disk, where damage means to compile again, and a full disk to go on without.

    One process compiles a function, others wait for it and load what it has made: two compilations may order sums in
    two ways, and all processes are to come to the same bits.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        known: Any = self._cache_file
        self._cache_file: Any = _Files(known._cache_path, self._impl.filename_base, known._source_stamp)
        self._turn = _Turn(self._cache_file._index_path + ".lock")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        # Machine code needs Numba's runtime only. Numba's own method brings in all that it can compile as well (a third
        # of a second); where there is something to compile, the compiler does so itself.
        rtsys.initialize(target_context)
        found = self._loaded(sig, target_context)
        if found is None:
            with stopwatch.standing_still():
                self._turn.take()
            found = self._loaded(sig, target_context)  # somebody else may have made it meanwhile
        if found is not None:
            self._turn.leave()
        return found

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        try:
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)
        except Exception as error:  # whatever damaged bytes can do to a reader
            logger.info("the compiled code in %s is damaged (%r); compiling again", self._cache_file._index_path, error)
            self._cache_file.forget()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _tell_once(error.strerror or str(error))
        except Exception:  # the index is damaged: begin a new one
            self._cache_file.forget()
        finally:
            self._turn.leave()


class _Turn:
    """Whose turn it is to compile a function: a lock on a file, which ends with its process."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.file: Any = None

    def take(self) -> None:
        """Wait for the others, but not for ever: one that hangs must not hold up everybody."""
        if fcntl is None or self.file is not None:
            return
        try:
            file = open(self.path, "ab")
        except OSError:  # nothing can be kept here, so that there is nothing to wait for
            return
        ends = perf_counter() + LONGEST_WAIT
        while perf_counter() < ends:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                sleep(0.05)
            except OSError:  # a file system without locks
                break
            else:
                self.file = file
                return
        file.close()

    def leave(self) -> None:
        """Let the others go on."""
        if self.file is not None:
            self.file.close()
            self.file = None


class _Files(IndexDataCacheFile):
    """The files of one function, each with its checksum at the end: damaged machine code must not run."""

    def _load_index(self) -> Any:
        try:
            version, stamp, overloads = _loaded(self._index_path)
        except FileNotFoundError:
            return {}
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: Any) -> None:
        self._put(self._index_path, (self._version, self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        return _loaded(self._data_path(name))

    def _save_data(self, name: str, data: Any) -> None:
        self._put(self._data_path(name), data)

    def _put(self, path: str, contents: Any) -> None:
        data = self._dump(contents)
        with self._open_for_write(path) as file:
            file.write(data + hashlib.sha256(data).digest())

    def forget(self) -> None:
        """Remove the index: what it names is written anew."""
        try:
            os.unlink(self._index_path)
        except OSError:
            pass


def _loaded(path: str) -> Any:
    with open(path, "rb") as file:
        raw = file.read()
    if hashlib.sha256(raw[:-32]).digest() != raw[-32:]:
        raise ValueError("its checksum is wrong")
    return pickle.loads(raw[:-32])


def _own_copies(library: Any) -> None:
    """Give compiled code of ours copies of its own of all that it calls.

    Numba names the copies alike and leaves it to the loader which of them runs: the one that is in memory already. A
    function that was optimised in another place may order its sums in another way, so that the bits would depend on
    what the process has compiled or loaded before.
    """
    functions = [one for one in library._final_module.functions if not one.is_declaration]
    if any("maxmargin" in one.name for one in functions):
        for one in functions:
            if one.linkage == Linkage.linkonce_odr:
                one.linkage = Linkage.internal
    _optimize(library)


_optimize = CPUCodeLibrary._optimize_final_module
CPUCodeLibrary._optimize_final_module = _own_copies  # type: ignore[method-assign]


class _Announcer(event.Listener):
    """Logs each compilation of ours: the first fit on a machine waits for it, later ones do not."""

    def on_start(self, event: Any) -> None:
        stopwatch.start()
        function = event.data["dispatcher"].py_func
        if (function.__module__ or "").startswith("maxmargin"):
            logger.info("compiling %s.%s (first use; kept on disk)", function.__module__, function.__name__)
            if "compiling" not in _told and stopwatch.compiled_for() > SOME:
                _told.add("compiling")
                logger.warning("compiling for this machine: some seconds, once, and only at the first use")

    def on_end(self, event: Any) -> None:
        stopwatch.stop()


event.register("numba:compile", _Announcer())


def _after_fork() -> None:
    """A compilation that another thread had under way does not exist in a forked process; its lock must not, either."""
    locks: tuple[Any, ...] = compiler_lock.global_compiler_lock, getattr(ffi.lib, "_lock", None)
    for lock in locks:
        if hasattr(lock, "_lock"):
            lock._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
