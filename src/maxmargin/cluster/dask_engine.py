"""The engine on Dask: shards are futures, a round is a task for each and a tree of sums.

A task may run on any worker and is pure, so that a worker that is lost means that Dask runs its tasks again: first
those that made its shards, from wherever the user's collection came from. Nobody waits for ever: while results are
outstanding, the client looks after the cluster, and says so where no worker is left or the scheduler is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from functools import partial
from time import perf_counter
from typing import Any

from maxmargin.cluster.engine import FAN, TRIES, Engine, Function, WorkersLost, in_one_thread, sum_of_group
from maxmargin.errors import InvalidInput, MaxMarginError, missing_extra
from maxmargin.solvers.clock import TimeUp

#: Seconds between two looks at the cluster while results are outstanding; and for which it may be without a worker, or
#: the client without its scheduler.
LOOK, PATIENCE = 0.5, 60.0


def distributed() -> Any:
    """The package of Dask that runs clusters."""
    try:
        import distributed
    except ImportError:
        raise missing_extra("distributed", "dask") from None
    return distributed


class Dask(Engine):
    """Shards that are futures of a client.

    It is for a thread of its own where the client is asynchronous: calls block until their results are there.
    """

    def __init__(self, client: Any, shards: Sequence[Any], name: str = "shard") -> None:
        self.client, self._shards, self.name = client, list(shards), name
        self.shards = len(self._shards)
        #: What the shards are called where something is wrong with one of them; by default their numbers.
        self.labels: Sequence[Any] = range(self.shards)

    def map(
        self, function: Function, common: Any = None, own: Sequence[Any] | None = None, until: float | None = None
    ) -> list[Any]:
        return self._gathered(self._tasks(function, common, own), until)

    def map_sum(
        self, function: Function, common: Any = None, own: Sequence[Any] | None = None, until: float | None = None
    ) -> Any:
        results = self._tasks(function, common, own)
        everything = list(results)
        while len(results) > 1:
            groups = [results[first : first + FAN] for first in range(0, len(results), FAN)]
            results = [self._submit(sum_of_group, *group, pure=False) for group in groups]
            everything += results
        return self._gathered(results, until, everything)[0]

    def grouped(
        self, function: Function, groups: Sequence[Sequence[int]], common: Any = None, own: Sequence[Any] | None = None
    ) -> Dask:
        sent = self._submit(_same, common, pure=False)
        made = []
        for k, group in enumerate(groups):
            members, mine = [self._shards[i] for i in group], None if own is None else own[k]
            made.append(self._submit(in_one_thread, function, members, sent, mine, pure=False))
        return Dask(self.client, made)

    def close(self) -> None:
        """What was made of the shards can still be made again: Dask knows how, and need not hold them for that."""
        self._shards = []

    def _tasks(self, function: Function, common: Any, own: Sequence[Any] | None) -> list[Any]:
        # What a round sends is a task of its own, not data on a worker: it is there again when that worker is not.
        sent = [self._submit(_same, common, pure=False)] * self.shards
        mine = [None] * self.shards if own is None else list(own)
        return self._sent(
            self.client.map, partial(in_one_thread, function), self._shards, sent, mine, pure=False, priority=1
        )

    def _submit(self, *arguments: Any, **options: Any) -> Any:
        return self._sent(self.client.submit, *arguments, **options)

    def _sent(self, send: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        try:
            return send(*arguments, **options)
        except Exception as error:
            if type(error).__name__ != "ClosedClientError":
                raise
            raise WorkersLost("the client has lost its scheduler; connect again and fit again") from error

    def _gathered(self, futures: list[Any], until: float | None, everything: list[Any] | None = None) -> list[Any]:
        trial = 0
        while True:
            try:
                self._wait(futures, until)
                return self._call(self.client.gather, futures)
            except (TimeUp, KeyboardInterrupt):
                self._call(self.client.cancel, everything or futures)
                raise
            except CancelledError as error:
                raise WorkersLost("the scheduler has lost this fit's tasks: was it restarted? fit again") from error
            except MaxMarginError:
                raise
            except Exception as error:
                if type(error).__name__ != "KilledWorker":
                    raise self._named(error, futures) from error
                trial += 1
                if trial >= TRIES:
                    raise WorkersLost(f"workers die of the same task again and again: {error}") from error
                self._call(self.client.retry, futures)

    def _wait(self, futures: list[Any], until: float | None) -> None:
        """Until all results are there, or one has failed; a cluster without workers is not waited for."""
        dead_since: float | None = None
        while not all(future.done() for future in futures):
            left = LOOK if until is None else min(LOOK, until - perf_counter())
            if left <= 0.0:
                raise TimeUp
            try:
                self._call(distributed().wait, futures, timeout=left)
                return
            except TimeoutError:
                pass
            now = perf_counter()
            if self.client.status in ("closed", "closing"):
                raise WorkersLost("the client has lost its scheduler; connect again and fit again")
            if self.client.status == "running" and self._workers():
                dead_since = None
            else:
                dead_since = dead_since or now
                if now - dead_since > PATIENCE:
                    raise WorkersLost(f"no worker has been there for {PATIENCE:g} seconds; start workers and fit again")

    def _workers(self) -> int:
        try:
            return len(self._call(self.client.scheduler_info)["workers"])
        except Exception:  # a scheduler that does not answer has none
            return 0

    def _call(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """A call of the client that blocks, whether the client is asynchronous or not."""
        if not self.client.asynchronous:
            return function(*arguments, **options)

        async def awaited() -> Any:
            found = function(*arguments, **options)
            return await found if hasattr(found, "__await__") else found

        return self.client.sync(awaited, asynchronous=False)

    def _named(self, error: Exception, futures: list[Any]) -> Exception:
        """The error of a task, with the part or shard that it is about."""
        failed = [k for k, future in enumerate(futures) if future.status == "error"]
        where = f"{self.name} {self.labels[failed[0]]}" if len(futures) == self.shards and failed else f"a {self.name}"
        return InvalidInput(f"{where} cannot be computed: {type(error).__name__}: {error}")


def _same(thing: Any) -> Any:
    """What a round sends, as the result of a task."""
    return thing
