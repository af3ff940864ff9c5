"""How a round is run: one task for each shard, and sums in the order of the shards.

A task is a function of its shard and of what the round sends: ``function(shard, common, own)``. It keeps nothing. A
task that is lost with its worker is run again, anywhere, and comes to the same bits; there is nothing to wait for and
nothing to rebuild. Sums are taken in groups of `FAN` shards, and groups of these, whatever runs them: the bits depend
on the shards alone, and these on the data alone.
"""

from __future__ import annotations

import pickle
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache, reduce
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import numpy as np

from maxmargin.errors import MaxMarginError
from maxmargin.numeric.parallel import one_blas_thread, one_thread, over_tasks
from maxmargin.solvers.clock import TimeUp

#: How many results are added up at a time.
FAN = 8
#: How often a task may lose its worker before the round is given up.
TRIES = 20

#: function(shard, common, own), which a worker imports by its name.
Function = Callable[[Any, Any, Any], Any]


class WorkersLost(MaxMarginError, RuntimeError):
    """The cluster is gone, or loses the same task again and again; the message says what was seen."""


class Engine(ABC):
    """Shards and whoever computes on them."""

    #: How many shards there are.
    shards: int

    @abstractmethod
    def map(
        self, function: Function, common: Any = None, own: Sequence[Any] | None = None, until: float | None = None
    ) -> list[Any]:
        """function(shard, common, own_k) for every shard, in their order.

        `until` is a moment of `perf_counter` after which nobody waits any more: `TimeUp`.
        """

    def map_sum(
        self, function: Function, common: Any = None, own: Sequence[Any] | None = None, until: float | None = None
    ) -> Any:
        """The sum of the results (see `added`), in the order of the shards."""
        return tree_sum(self.map(function, common, own, until))

    @abstractmethod
    def grouped(
        self, function: Function, groups: Sequence[Sequence[int]], common: Any = None, own: Sequence[Any] | None = None
    ) -> Engine:
        """An engine whose shards are function([shards of a group], common, own_k)."""

    def close(self) -> None:
        """Give back what the engine holds."""
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def added(a: Any, b: Any) -> Any:
    """A + b for numbers and arrays, one behind the other for lists, part by part for tuples; None adds nothing."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, tuple):
        parts = [added(x, y) for x, y in zip(a, b, strict=True)]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    return a + b


def sum_of_group(*results: Any) -> Any:
    """The sum of a few results, one after the other."""
    return reduce(added, results)


def tree_sum(results: Sequence[Any]) -> Any:
    """The sum in groups of `FAN`, and groups of these."""
    while len(results) > 1:
        results = [sum_of_group(*results[first : first + FAN]) for first in range(0, len(results), FAN)]
    return results[0]


def bytes_of(thing: Any) -> int:
    """About how many bytes it takes to send this."""
    if isinstance(thing, np.ndarray):
        return thing.nbytes if thing.dtype.kind != "O" else 64 * thing.size
    if isinstance(thing, (list, tuple)):
        return sum(map(bytes_of, thing))
    if isinstance(thing, dict):
        return sum(bytes_of(value) for value in thing.values())
    if hasattr(thing, "indptr"):
        return int(thing.data.nbytes + thing.indices.nbytes + thing.indptr.nbytes)
    if hasattr(thing, "__dict__"):
        return sum(map(bytes_of, vars(thing).values()))
    return 8 if isinstance(thing, (int, float, np.generic)) else len(thing) if isinstance(thing, (str, bytes)) else 0


class Held:
    """What workers hold says how large it is: Dask keeps to a worker's memory by that."""

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + bytes_of(vars(self))


def in_one_thread(function: Function, shard: Any, common: Any, own: Any) -> Any:
    """A task as every engine runs it: the others take the other cores."""
    with one_thread(), one_blas_thread():
        return function(shard, common, own)


class Here(Engine):
    """All shards in this process, side by side in its threads."""

    def __init__(self, shards: Sequence[Any]) -> None:
        self._shards = list(shards)
        self.shards = len(self._shards)

    def map(
        self, function: Function, common: Any = None, own: Sequence[Any] | None = None, until: float | None = None
    ) -> list[Any]:
        results: list[Any] = [None] * self.shards

        def work(k: int) -> None:
            if until is not None and perf_counter() >= until:
                raise TimeUp
            results[k] = in_one_thread(function, self._shards[k], common, None if own is None else own[k])

        over_tasks(work, self.shards, lambda: None)
        return results

    def grouped(
        self, function: Function, groups: Sequence[Sequence[int]], common: Any = None, own: Sequence[Any] | None = None
    ) -> Here:
        return Here(Here([[self._shards[i] for i in group] for group in groups]).map(function, common, own))


class Processes(Engine):
    """Shards in files, and processes that read them; a process that ends is replaced, its tasks are run again.

    Each process has shards of its own, which it keeps after their first use.
    """

    def __init__(self, shards: Sequence[Any], workers: int = 2) -> None:
        self.shards = len(shards)
        self._folder = Path(tempfile.mkdtemp(prefix="maxmargin-"))
        for k, shard in enumerate(shards):
            _write(self._path(k), shard)
        self._pools = [_one_process() for _ in range(min(workers, max(1, self.shards)))]

    def map(
        self, function: Function, common: Any = None, own: Sequence[Any] | None = None, until: float | None = None
    ) -> list[Any]:
        calls = [(function, self._path(k), common, None if own is None else own[k]) for k in range(self.shards)]
        waiting = {k: self._submit(k, calls[k]) for k in range(self.shards)}
        results: list[Any] = [None] * self.shards
        for k in range(self.shards):
            for trial in range(TRIES):
                try:
                    left = None if until is None else max(0.0, until - perf_counter())
                    results[k] = waiting[k].result(left)
                    break
                except TimeoutError:
                    for future in waiting.values():
                        future.cancel()
                    raise TimeUp from None
                except BrokenProcessPool:
                    if trial == TRIES - 1:
                        raise WorkersLost(f"shard {k} has lost {TRIES} worker processes, one after the other") from None
                    waiting[k] = self._submit(k, calls[k])
        return results

    def _submit(self, k: int, call: tuple[Any, ...]) -> Future[Any]:
        place = k % len(self._pools)
        try:
            return self._pools[place].submit(_run_from_file, *call)
        except BrokenProcessPool:
            self._pools[place].shutdown(wait=False)
            self._pools[place] = _one_process()
            return self._pools[place].submit(_run_from_file, *call)

    def grouped(
        self, function: Function, groups: Sequence[Sequence[int]], common: Any = None, own: Sequence[Any] | None = None
    ) -> Processes:
        together = Here([[_read(self._path(i)) for i in group] for group in groups])
        return Processes(together.map(function, common, own), len(self._pools))

    def process_ids(self) -> list[int]:
        """The ids of the worker processes that run."""
        return [process for pool in self._pools for process in list(pool._processes or {})]

    def _path(self, k: int) -> Path:
        return self._folder / f"shard-{k}"

    def close(self) -> None:
        for pool in self._pools:
            pool.shutdown(wait=True, cancel_futures=True)
        shutil.rmtree(self._folder, ignore_errors=True)


def _one_process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


def _write(path: Path, shard: Any) -> None:
    with open(path, "wb") as file:
        pickle.dump(shard, file, protocol=5)


@cache
def _read(path: Path) -> Any:
    with open(path, "rb") as file:
        return pickle.load(file)


def _run_from_file(function: Function, path: Path, common: Any, own: Any) -> Any:
    return in_one_thread(function, _read(path), common, own)
