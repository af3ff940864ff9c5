"""A training in segments, so that it can be stopped at any moment and taken up again to the same bits.

    1. A segment is an amount of counted work from the best point so far, with random numbers of its own; the first one
       has those of a run without checkpoints.
    2. After each segment its number and the best point are saved: the next one depends on nothing else.
    3. A segment that gained less than a tenth of the gap makes the next one twice as long (some solvers begin afresh).
    4. It ends when the gap is proved, a budget is used up, or eight segments in a row gained nothing.

Whoever resumes from what was saved runs the same segments as if nothing had happened: the same bits, whenever the run
was killed. What this costs is the restarts. A solver that begins again at a point has lost its rows of K, its scores
and its active samples, and the point had to be proved: with n rows and m support vectors that is 2·m·n kernel values
for the scores and the proof, and the rows of K: as many as a good solver evaluates in all. So a segment is as long as
WORK and as 20 restarts from where it stands, whichever is more; both are counted, not timed, so that the segments are
the same on any machine. Restarts then take about a twentieth of the run, and a run that is killed loses at most one
segment. A solver that cannot start from a point has one segment only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from threading import Event
from time import perf_counter

import numpy as np

from maxmargin.loop import solve
from maxmargin.loop.progress import Progress
from maxmargin.loop.run import Look
from maxmargin.loop.schedule import STEP_OVERHEAD
from maxmargin.models.solved import Solved
from maxmargin.problem import Problem
from maxmargin.problem.space import KernelSpace
from maxmargin.result import Iterate, Reason, Result, Status, Trace
from maxmargin.solvers import Solver
from maxmargin.solvers.base import Starts

#: The least work of a segment, in multiply-adds: a second or two.
WORK = 2e9
#: A restart, with the proof before it, may take this share of a segment.
SHARE = 0.05
#: What a restart takes of a linear problem, in passes over the data: w, sweeps or a matrix, the proof.
PASSES = 20.0
#: What a kernel value takes besides its row, in multiply-adds: an exponential is as long as a hundred of them, which
#: run side by side in the loops that most work is counted in.
VALUE = 100.0
#: Segments in a row without progress before it is given up.
PATIENCE = 8


@dataclass(frozen=True, eq=False)
class State:
    """Where a training in segments stands."""

    #: How much work the next segment is.
    work: float
    #: How many segments have been run, and how many of the last ones gained nothing.
    segment: int = 0
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

    @property
    def regularizers(self) -> tuple[str, ...]:  # type: ignore[override]
        """The regularisers that the solver can do."""
        return self.inner.regularizers

    @property
    def families(self) -> tuple[str, ...]:  # type: ignore[override]
        """The families of problems that the solver takes."""
        return self.inner.families

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


class Segment(Wrapped):
    """A solver that ends after some counted work: as much as is given, or, if it `pays`, as makes a restart cheap."""

    def __init__(self, inner: Solver, work: float, pays: bool) -> None:
        super().__init__(inner)
        self.work, self.pays = work, pays
        self.exhausted = False
        #: The solver's own count of its iterations.
        self.k = 0
        #: Who is told of each iterate.
        self.told: Callable[[Iterate], None] | None = None

    @property
    def endless(self) -> bool:  # type: ignore[override]
        """Whether the solver goes on for ever; what ends here is the segment."""
        return self.inner.endless and not self.exhausted

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        done, due = 0.0, self.work
        for iterate in self.inner.iterates(problem, start, rng):
            self.k = iterate.k
            if self.told is not None:
                self.told(iterate)
            yield iterate
            done += iterate.work + STEP_OVERHEAD
            if done < due:
                continue
            due = restart_work(problem, iterate) / SHARE if self.pays else 0.0
            if done >= due:
                self.exhausted = True
                return


def restart_work(problem: Problem, iterate: Iterate) -> float:
    """What it takes to prove a point and to begin again there, in multiply-adds."""
    space = problem.space
    if not isinstance(space, KernelSpace):
        return PASSES * space.work
    n = float(space.n)
    support = n if iterate.beta is None else float(np.count_nonzero(iterate.beta))
    rows = n if 8.0 * n * n <= space.cache_bytes else support  # a K that fits may be filled anew
    return (2.0 * support + rows) * n * (space.work / (n * n) + VALUE)


def in_segments(
    problem: Problem,
    seed: tuple[int, ...],
    state: State,
    rest: Callable[[State], None],
    *,
    solver: Stoppable,
    tol: float,
    max_time: float | None = None,
    max_iter: int | None = None,
    progress: bool = False,
    pays: bool = True,
) -> tuple[Solved, Result]:
    """Train from a state. Gives the best point and the result that has it or follows it.

    Parameters
    ----------
    problem, tol, max_time, max_iter, progress
        As in `solve`.
    seed : tuple of int
        The random state of the first segment, which is that of a run without checkpoints, and what else tells this run
        from others of the same training.
    state : State
        Where to begin.
    rest : function of a State
        Called after each segment but the last.
    pays : bool, default True
        Whether segments are so long that restarts cost next to nothing; else they are as long as the state says.
    """
    until = None if max_time is None else perf_counter() + max_time
    with Progress(progress, solver.name, tol) as display:
        while True:
            began = perf_counter()
            segment = Segment(solver, state.work if solver.starts else np.inf, pays)
            segment.told = _told(display, state) if progress else None
            # 1.
            result = solve(
                problem,
                segment,
                tol,
                max_time=None if until is None else max(1e-9, until - began),
                max_iter=None if max_iter is None else max(1, max_iter - state.iterations),
                random_state=np.random.default_rng([*seed, state.segment]) if state.segment else seed[0],
                start=None if state.best is None else state.best.start(problem),
                callbacks=[_shown(display, state)] if progress else (),
            )
            result = replace(result, solver=solver.inner, trace=joined(state, result.trace))
            # 2. and 3.
            state = _further(state, result, segment.k)
            assert state.best is not None
            # 4.
            if not (result.status.reason is Reason.FINISHED and segment.exhausted):
                break
            rest(state)
            reason = _enough(state, solver, began, until)
            if reason is not None:
                text = f"relative gap {state.best.relative_gap:.2g} after {state.segment} segments, asked for {tol:g}"
                result = replace(result, status=Status(reason, text))
                break
    return replace(state.best, reason=result.status.reason, status=str(result.status)), result


def _enough(state: State, solver: Stoppable, began: float, until: float | None) -> Reason | None:
    """Why no other segment follows the last one, which began at that moment; None where one does."""
    if solver.stop.is_set():
        return Reason.INTERRUPTED
    if state.idle >= PATIENCE:
        return Reason.STALLED
    now = perf_counter()
    if until is not None and until - now <= SHARE * (now - began):  # less than a restart takes
        return Reason.MAX_TIME
    return None


def _shown(display: Progress, state: State) -> Callable[[Look], None]:
    """Show a look of a segment, counted from the beginning of the run."""
    seconds = state.trace.solver_seconds
    return lambda look: display.show(
        replace(look, iteration=look.iteration + state.iterations, seconds=look.seconds + seconds)
    )


def _told(display: Progress, state: State) -> Callable[[Iterate], None]:
    """Show an iterate of a segment that nobody has looked at yet."""
    began = perf_counter() - state.trace.solver_seconds
    return lambda iterate: display.step(iterate, iterate.k + state.iterations, perf_counter() - began)


def _further(state: State, result: Result, iterations: int) -> State:
    """The state after one more segment of so many iterations."""
    before = np.inf if state.best is None else state.best.relative_gap
    solved = replace(Solved.of(result), iterations=state.iterations + result.iterations)
    better = state.best is None or solved.relative_gap < before
    return State(
        work=state.work if solved.relative_gap <= 0.9 * before else 2.0 * state.work,
        segment=state.segment + 1,
        idle=0 if better else state.idle + 1,
        iterations=state.iterations + iterations,
        best=solved if better else state.best,
        trace=result.trace,
    )


def joined(state: State, trace: Trace) -> Trace:
    """The trace of a segment behind that of the segments before it, in iterations and seconds."""
    before = state.trace
    rows = [(row[0] + state.iterations, row[1] + before.solver_seconds, *row[2:]) for row in trace.rows]
    seconds = before.solver_seconds + trace.solver_seconds
    return Trace(
        before.rows + rows, before.snapshots + trace.snapshots, seconds, before.look_seconds + trace.look_seconds
    )
