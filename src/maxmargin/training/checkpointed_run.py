"""A training in legs, so that it can be stopped at any moment and taken up again to the same bits.

    1. A leg is an amount of counted work from the best point so far, with random numbers of its own; the first one has
       those of a run without checkpoints.
    2. After each leg the best point, and the number of the leg, are all that the next one depends on: they are saved.
    3. A leg that gained less than a tenth of the gap makes the next one twice as long (some solvers begin afresh).
    4. It ends when the gap is proved, a budget is used up, or eight legs in a row gained nothing.

Whoever resumes from what was saved walks the same legs as if nothing had happened: the same bits, whenever the run was
killed. What this costs is the restarts. A solver that begins again at a point has lost its rows of K, its scores and
its active samples, and the point had to be proved: with n rows and m support vectors that is 2·m·n kernel values for
the scores and the proof, and the rows of K: as many as a good solver evaluates in all. So a leg is as long as WORK and
as 20 restarts from where it stands, whichever is more; both are counted, not timed, so that the legs are the same on
any machine. Restarts then take about a twentieth of the run, and a run that is killed loses at most one leg. A solver
that cannot start from a point has one leg only.
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

#: The least work of a leg, in multiply-adds: a second or two.
WORK = 2e9
#: A restart, with the proof before it, may take this share of a leg.
SHARE = 0.05
#: What a restart takes of a linear problem, in passes over the data: w, sweeps or a matrix, the proof.
PASSES = 20.0
#: What a kernel value takes besides its row, in multiply-adds: an exponential is as long as a hundred of them, which
#: run side by side in the loops that most work is counted in.
VALUE = 100.0
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
        """Whether the solver goes on for ever; what ends here is the leg."""
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
    progress: bool = False,
    pays: bool = True,
) -> tuple[Solved, Result]:
    """Train from a standing. Gives the best point and the result that has it or follows it.

    Parameters
    ----------
    problem, tol, max_time, max_iter, progress
        As in `solve`.
    seed : tuple of int
        The random state of the first leg, which is that of a run without checkpoints, and what else tells this run from
        others of the same training.
    standing : Standing
        Where to begin.
    rest : function of a Standing
        Called after each leg but the last.
    pays : bool, default True
        Whether legs are so long that restarts cost next to nothing; else they are as long as the standing says.
    """
    until = None if max_time is None else perf_counter() + max_time
    with Progress(progress, solver.name, tol) as display:
        while True:
            began = perf_counter()
            leg = Leg(solver, standing.work if solver.starts else np.inf, pays)
            leg.told = _told(display, standing) if progress else None
            # 1.
            result = solve(
                problem,
                leg,
                tol,
                max_time=None if until is None else max(1e-9, until - began),
                max_iter=None if max_iter is None else max(1, max_iter - standing.iterations),
                random_state=np.random.default_rng([*seed, standing.leg]) if standing.leg else seed[0],
                start=None if standing.best is None else standing.best.start(),
                callbacks=[_shown(display, standing)] if progress else (),
            )
            result = replace(result, solver=solver.inner, trace=joined(standing, result.trace))
            # 2. and 3.
            standing = _further(standing, result, leg.k)
            assert standing.best is not None
            # 4.
            if not (result.status.reason is Reason.FINISHED and leg.exhausted):
                break
            rest(standing)
            reason = _enough(standing, solver, began, until)
            if reason is not None:
                text = f"relative gap {standing.best.relative_gap:.2g} after {standing.leg} legs, asked for {tol:g}"
                result = replace(result, status=Status(reason, text))
                break
    return replace(standing.best, reason=result.status.reason, status=str(result.status)), result


def _enough(standing: Standing, solver: Stoppable, began: float, until: float | None) -> Reason | None:
    """Why no other leg follows the last one, which began at that moment; None where one does."""
    if solver.stop.is_set():
        return Reason.INTERRUPTED
    if standing.idle >= PATIENCE:
        return Reason.STALLED
    now = perf_counter()
    if until is not None and until - now <= SHARE * (now - began):  # less than a restart takes
        return Reason.MAX_TIME
    return None


def _shown(display: Progress, standing: Standing) -> Callable[[Look], None]:
    """Show a look of a leg, counted from the beginning of the run."""
    seconds = standing.trace.solver_seconds
    return lambda look: display.show(
        replace(look, iteration=look.iteration + standing.iterations, seconds=look.seconds + seconds)
    )


def _told(display: Progress, standing: Standing) -> Callable[[Iterate], None]:
    """Show an iterate of a leg that nobody has looked at yet."""
    began = perf_counter() - standing.trace.solver_seconds
    return lambda iterate: display.step(iterate, iterate.k + standing.iterations, perf_counter() - began)


def _further(standing: Standing, result: Result, iterations: int) -> Standing:
    """The standing after one more leg of so many iterations."""
    before = np.inf if standing.best is None else standing.best.relative_gap
    solved = replace(Solved.of(result), iterations=standing.iterations + result.iterations)
    better = standing.best is None or solved.relative_gap < before
    return Standing(
        work=standing.work if solved.relative_gap <= 0.9 * before else 2.0 * standing.work,
        leg=standing.leg + 1,
        idle=0 if better else standing.idle + 1,
        iterations=standing.iterations + iterations,
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
