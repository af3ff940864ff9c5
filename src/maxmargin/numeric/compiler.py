"""Numba, as the package uses it: the cache on disk, and the word that a first compilation is under way.

What is damaged in the cache is compiled anew; where nothing can be kept on disk, every process compiles for itself,
and says so once. Nothing imports this module but `numeric.compiled`, at the first call of a compiled function.
"""

from __future__ import annotations

import gc
import getpass
import hashlib
import logging
import os
import pickle
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from time import perf_counter, sleep
from typing import Any, ClassVar

from llvmlite.binding import Linkage, ffi
from numba import njit
from numba.core import compiler_lock, config, event
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary
from numba.core.compiler import Flags, compile_extra
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.runtime import rtsys

from maxmargin.numeric import stopwatch
from maxmargin.numeric.compiled import extensions
from maxmargin.numeric.sources import sources

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
    made: Any = njit(nogil=True, fastmath=fastmath, error_model="numpy")(function)
    if hasattr(made, "_cache"):  # not where the compiler is switched off
        made._compiler.__class__ = _Compiler
        try:
            made._cache = _Cache(function)
        except (RuntimeError, OSError):
            _tell_once("neither the package's folder nor home nor a temporary one can be written to")
    return made


def part(function: Callable[..., Any], fastmath: set[str] | bool) -> Any:
    """The function as compiled code takes it in: half of the time to compile it by itself would be for nothing."""
    for module in extensions:
        import_module(module)
    options: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    made: Any = njit(nogil=True, fastmath=fastmath, error_model="numpy", **options)(function)
    made._compiler.__class__ = _PartCompiler
    return made


def _tell_once(why: str) -> None:
    if "kept" not in _told:
        _told.add("kept")
        logger.warning(
            "compiled code is not kept on disk (%s), so every process compiles anew:"
            " set NUMBA_CACHE_DIR to a folder that can be written to",
            why,
        )


@contextmanager
def _in_temporary_folder() -> Iterator[None]:
    """Let Numba keep its files in a temporary folder of the user's, which nobody else can write to or has made."""
    folder = os.path.join(tempfile.gettempdir(), f"maxmargin-compiled-{getpass.getuser()}")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    seen = os.lstat(folder)
    if not stat.S_ISDIR(seen.st_mode) or (
        hasattr(os, "getuid") and (seen.st_uid != os.getuid() or seen.st_mode & 0o77)
    ):
        raise OSError(f"{folder} is not a folder of this user's alone")
    if "temporary" not in _told:
        _told.add("temporary")
        logger.info("compiled code is kept in %s: the package's folder and home cannot be written to", folder)
    settings: Any = config
    before, settings.CACHE_DIR = settings.CACHE_DIR, folder
    try:
        yield
    finally:
        settings.CACHE_DIR = before


class _Flags(Flags):
    """How to compile; where the liberties are the same, the copies are one and the same object.

    Numba looks up by its flags what it knows of a function, thousands of times, and compares them one by one.
    """

    __slots__ = ("_hash",)
    _shared: ClassVar[dict[_Flags, _Flags]] = {}

    def copy(self) -> _Flags:
        known = super().copy()
        known.no_cpython_wrapper = known.no_cfunc_wrapper = True  # inside, a part and a whole are the same
        return self._shared.setdefault(known, known)

    def __hash__(self) -> int:
        if not hasattr(self, "_hash"):
            self._hash = super().__hash__()
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or super().__eq__(other)


class _Compiler(_FunctionCompiler):
    """Numba's, with flags of ours."""

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        description = self.targetdescr
        flags = _Flags()
        description.options.parse_as_flags(flags, self.targetoptions)
        return compile_extra(
            description.typing_context,
            description.target_context,
            self.py_func,
            args=args,
            return_type=return_type,
            flags=flags,
            locals=self.locals,
            library=self._library(description.target_context.codegen()),
            pipeline_class=self.pipeline_class,
        )

    def _library(self, codegen: Any) -> Any:
        """Where the code goes; None for one as usual."""
        return None


class _PartCompiler(_Compiler):
    """Makes code for other code alone."""

    def _library(self, codegen: Any) -> Any:
        return _PartLibrary(codegen, self.py_func.__qualname__)


class _PartLibrary(JITCodeLibrary):
    """The code of a part: neither optimised nor made machine code of, as it is both with the code that calls it."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        return _Nowhere


class _Nowhere:
    """Where a part is in memory."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Nothing: Python never calls a part."""


class _Results(CompileResultCacheImpl):
    """What is written of compiled code, without the environments of Numba's own functions in it.

    They are for code that prints, or calls Python; ours does neither, and to read them back brings in a good part of
    the compiler.
    """

    def reduce(self, cres: Any) -> Any:
        *kept, _environments = super().reduce(cres)
        return (*kept, ())


class _Cache(FunctionCache):
    """Numba's cache on disk, where damage means to compile again, and a full disk to go on without.

    One process compiles a function, others wait for it and load what it has made: two compilations may order sums in
    two ways, and all processes are to come to the same bits.
    """

    _impl_class = _Results

    def __init__(self, function: Callable[..., Any]) -> None:
        try:
            super().__init__(function)
        except RuntimeError:  # no folder can be written to: not beside the package, not at home
            with _in_temporary_folder():
                super().__init__(function)
        known: Any = self._cache_file
        stamp = known._source_stamp, sources(function)
        self._cache_file: Any = _Files(known._cache_path, self._impl.filename_base, stamp)
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

    depth, collects = 0, False

    def on_start(self, event: Any) -> None:
        stopwatch.start()
        if self.depth == 0:  # a tenth of the time would be a search for garbage, of which a compilation makes little
            self.collects = gc.isenabled()
            gc.disable()
        self.depth += 1
        function = event.data["dispatcher"].py_func
        if (function.__module__ or "").startswith("maxmargin"):
            logger.info("compiling %s.%s (first use; kept on disk)", function.__module__, function.__name__)
            if "compiling" not in _told and stopwatch.compiled_for() > SOME:
                _told.add("compiling")
                logger.warning("compiling for this machine: some seconds, once, and only at the first use")

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and self.collects:
            gc.enable()
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
