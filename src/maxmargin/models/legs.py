"""A training in legs, so that it can be stopped at any moment and taken up again to the same bits.

    1. A leg is a fixed amount of counted work from the best point so far, with random numbers of its own.
    2. After each leg the best point, and the number of the leg, are all that the next one depends on: they are saved.
    3. A leg that gained less than a tenth of the gap makes the next one twice as long (some solvers begin afresh).
    4. It ends when the gap is proved, a budget is used up, or eight legs in a row gained nothing.

Whoever resumes from what was saved walks the same legs as if nothing had happened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from threading import Event
from time import perf_counter
from typing import Any

import numpy as np

from maxmargin.loop import solve
from maxmargin.models.solved import Solved
from maxmargin.problem import Problem
from maxmargin.result import Iterate, Reason, Result, Status, Trace
from maxmargin.schedule import STEP_OVERHEAD
from maxmargin.solvers import Solver
from maxmargin.solvers.base import Starts

#: The work of a leg, in multiply-adds: a second or two.
WORK = 2e9
#: Legs in a row without progress before it is given up.
PATIENCE = 8


@dataclass(frozen=True, eq=False)
class Standing:
    """Where a training in legs stands."""

    #: How much work the next leg is.
    work: float
    #: How many legs have been walked, and how many of the last ones gained nothing.
    leg: int = 0
    idle: int = 0
    iterations: int = 0
    best: Solved | None = None
    trace: Trace = field(default_factory=Trace)


class Wrapped(Solver):
    """A solver that is the one inside in everything but when it ends."""

    def __init__(self, inner: Solver) -> None:
        self.inner = inner

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the solver itself."""
        return self.inner.name

    @property
    def paper(self) -> str:  # type: ignore[override]
        """Where the solver comes from."""
        return self.inner.paper

    @property
    def starts(self) -> Starts:  # type: ignore[override]
        """What the solver can start from."""
        return self.inner.starts

    @property
    def endless(self) -> bool:  # type: ignore[override]
        """Whether the solver goes on for ever."""
        return self.inner.endless

    @property
    def streams(self) -> bool:  # type: ignore[override]
        """Whether the solver takes rows in blocks."""
        return self.inner.streams

    def accepts(self, problem: Problem) -> str | None:
        return self.inner.accepts(problem)

    def step_size(self, problem: Problem, t: int) -> float | None:
        return self.inner.step_size(problem, t)

    def longest_step(self, problem: Problem) -> float:
        return self.inner.longest_step(problem)


class Stoppable(Wrapped):
    """A solver that is interrupted between two of its steps, and not before the first: there is always a model.

    Whatever takes long inside a step can ask `check`, too.
    """

    def __init__(self, inner: Solver, stop: Event) -> None:
        super().__init__(inner)
        self.stop = stop
        #: Whether a step is under way, and not the first.
        self.stepping = False

    def check(self) -> None:
        """Break off the step that is under way, if somebody wants the training to end."""
        if self.stepping and self.stop.is_set():
            raise KeyboardInterrupt

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        try:
            for iterate in self.inner.iterates(problem, start, rng):
                self.stepping = False
                yield iterate
                self.stepping = True
                self.check()
        finally:
            self.stepping = False


class Leg(Wrapped):
    """A solver that ends after a fixed amount of counted work."""

    def __init__(self, inner: Solver, work: float) -> None:
        super().__init__(inner)
        self.work = work
        self.exhausted = False

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        done = 0.0
        for iterate in self.inner.iterates(problem, start, rng):
            yield iterate
            done += iterate.work + STEP_OVERHEAD
            if done >= self.work:
                self.exhausted = True
                return


def in_legs(
    problem: Problem,
    seed: tuple[int, ...],
    standing: Standing,
    rest: Callable[[Standing], None],
    *,
    solver: Stoppable,
    tol: float,
    max_time: float | None = None,
    max_iter: int | None = None,
    **options: Any,
) -> tuple[Solved, Result]:
    """Train from a standing; `rest` is called with the new one after each leg. Gives the best point and its result."""
    until = None if max_time is None else perf_counter() + max_time
    going_on = True
    while going_on:
        # 1.
        leg = Leg(solver, standing.work)
        result = solve(
            problem,
            leg,
            tol,
            max_time=None if until is None else max(1e-9, until - perf_counter()),
            max_iter=None if max_iter is None else max(1, max_iter - standing.iterations),
            random_state=np.random.default_rng([*seed, standing.leg]),
            start=standing.best.start() if standing.best is not None and solver.starts else None,
            **options,
        )
        result = replace(result, solver=solver.inner, trace=joined(standing, result.trace))
        # 2. and 3.
        standing = _further(standing, result)
        # 4.
        going_on = result.status.reason is Reason.FINISHED and leg.exhausted
        if going_on and standing.idle >= PATIENCE:
            assert standing.best is not None
            text = f"relative gap {standing.best.relative_gap:.2g} after {standing.leg} legs, asked for {tol:g}"
            result = replace(result, status=Status(Reason.STALLED, text))
            going_on = False
        if going_on:
            rest(standing)
    assert standing.best is not None
    return replace(standing.best, reason=result.status.reason, status=str(result.status)), result


def _further(standing: Standing, result: Result) -> Standing:
    """The standing after one more leg."""
    before = np.inf if standing.best is None else standing.best.relative_gap
    solved = replace(Solved.of(result), iterations=standing.iterations + result.iterations)
    better = standing.best is None or solved.relative_gap < before
    return Standing(
        work=standing.work if solved.relative_gap <= 0.9 * before else 2.0 * standing.work,
        leg=standing.leg + 1,
        idle=0 if better else standing.idle + 1,
        iterations=solved.iterations,
        best=solved if better else standing.best,
        trace=result.trace,
    )


def joined(standing: Standing, trace: Trace) -> Trace:
    """The trace of a leg behind that of the legs before it, in iterations and seconds."""
    before = standing.trace
    rows = [(row[0] + standing.iterations, row[1] + before.solver_seconds, *row[2:]) for row in trace.rows]
    seconds = before.solver_seconds + trace.solver_seconds
    return Trace(
        before.rows + rows, before.snapshots + trace.snapshots, seconds, before.look_seconds + trace.look_seconds
    )
