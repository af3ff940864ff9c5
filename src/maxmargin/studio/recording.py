"""A run that is pulled: the library's own loop looks at each iterate of a solver, and each look is recorded.

What is recorded is what ``solve(problem, solver, every=..., snapshots=True)`` keeps in its trace, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from maxmargin.loop.progress import Progress
from maxmargin.loop.run import Look, Run
from maxmargin.loop.start import start_of
from maxmargin.numeric.parallel import one_blas_thread
from maxmargin.problem import Problem
from maxmargin.result import Iterate, Reason, Result, Snapshot
from maxmargin.result.trace import COLUMNS as TRACE_COLUMNS
from maxmargin.solvers import Solver
from maxmargin.studio.arguments import LIMITS, TooMuch
from maxmargin.studio.pseudocode import Pseudocode, lines_that_ran, pseudocode_of

#: The columns of the trace as the page gets it.
COLUMNS = ("iteration", "seconds", "work", "primal", "dual", "relative_gap", "beta_sum", "support")


@dataclass(frozen=True, eq=False)
class Frame:
    """One recorded look: the point, copied, what was proved of the run so far, and what had run."""

    point: Iterate
    seconds: float
    work: float
    #: A row of the trace: what the run had proved by then.
    row: dict[str, float]
    lines: list[int]

    @property
    def bytes(self) -> int:
        """The memory that it takes."""
        sides = (self.point.w, self.point.beta, self.point.raw)
        return 500 + sum(side.nbytes for side in sides if side is not None)


class Recording:
    """One solver on one machine's problem, advanced by as many iterates as are asked for."""

    def __init__(
        self, problem: Problem, solver: Solver, tol: float, start: object = None, seed: int = 0, every: int = 1
    ) -> None:
        self.problem, self.solver, self.tol = problem, solver, tol
        #: Where it was told to start, and whether its looks are recorded (a run that was solved at once has none).
        self.given, self.watched = start, True
        self.begin = start_of(problem, solver, start)
        self.frames: list[Frame] = []
        self.result: Result | None = None
        self.every = every
        self._looks: list[Look] = []
        self._run = Run(
            problem, solver, tol, every, False, (self._looks.append,), True, Progress(False, solver.name, tol)
        )
        self._iterates: Iterator[Iterate] = solver.iterates(problem, self.begin, np.random.default_rng(seed))
        self._work = 0.0
        self._bytes = 0

    @property
    def pseudocode(self) -> Pseudocode:
        """That of the algorithm which really runs."""
        return pseudocode_of(self._iterates, type(self.solver))

    @property
    def ended(self) -> bool:
        """Whether there is nothing more to come."""
        return self.result is not None

    @property
    def bytes(self) -> int:
        """The memory that the recorded frames take."""
        return self._bytes

    def advance(self, count: int, seconds: float, room: float = LIMITS["recorded"]) -> int:
        """Record up to `count` more frames, for at most about so many seconds; tells how many came."""
        began, before = perf_counter(), len(self.frames)
        with one_blas_thread():
            while not self.ended and len(self.frames) - before < count:
                if self._bytes > room:
                    raise TooMuch(
                        f"the run has recorded {len(self.frames)} frames, and there is no memory for more;"
                        " record fewer of them (every), or start it again"
                    )
                self._once()
                if perf_counter() - began >= seconds:
                    break
        return len(self.frames) - before

    def _once(self) -> None:
        """One iterate; and the end, where that was the last one."""
        reason = self._run.advance(self._iterates)
        if self._run.iterate is not None and reason not in (Reason.FINISHED,):
            self._work += self._run.iterate.work
        self._keep()
        if reason is not None:
            self.result = self._run.end(reason, self.begin)
            self._keep()

    def _keep(self) -> None:
        """Record the look that was just taken, if one was."""
        if not self._looks:
            return
        look = self._looks.pop()
        row = dict(zip(TRACE_COLUMNS, self._run.trace.rows[-1], strict=True))
        lines = lines_that_ran(self._iterates, type(self.solver), not self.frames)
        frame = Frame(look.point.kept(), look.seconds, self._work, row, lines)
        self._bytes += frame.bytes
        self.frames.append(frame)

    def so_far(self) -> Result:
        """The result, or what it would be if the run were stopped here."""
        if self.result is not None:
            return self.result
        result = self._run.end(Reason.CALLBACK, self.begin)
        self._looks.clear()
        return result

    def with_snapshots(self) -> Result:
        """The same with a snapshot of each recorded frame in its trace, as figures want it."""
        result = self.so_far()
        rows = [tuple(frame.row[name] for name in TRACE_COLUMNS) for frame in self.frames]
        trace = replace(result.trace, rows=rows, snapshots=[self._snapshot(frame) for frame in self.frames])
        return replace(result, trace=trace)

    def _snapshot(self, frame: Frame) -> Snapshot:
        problem, point = self.problem, frame.point
        assert point.w is not None and point.beta is not None
        w = point.w[: problem.X.shape[1]] if problem.linear else point.w
        raw = point.beta if point.raw is None else point.raw
        b = problem.space.bias(point.w) + (point.b or 0.0)
        return Snapshot(point.k, frame.seconds, w, b, point.beta, raw, point.event)

    def trace(self, first: int, last: int) -> np.ndarray:
        """The rows of the trace for some frames, as the page gets them."""
        rows = [
            [*(frame.row[name] for name in ("iteration", "seconds")), frame.work]
            + [frame.row[name] for name in ("primal", "dual", "relative_gap", "beta_sum", "support")]
            for frame in self.frames[first : last + 1]
        ]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(COLUMNS))


def whole(result: Result, seed: int = 0) -> Recording:
    """A run that has ended, as a recording of its last point alone."""
    made = Recording(result.problem, result.solver, result.tol, seed=seed)
    seconds = result.trace.solver_seconds
    row = dict.fromkeys(TRACE_COLUMNS, np.nan)
    certificate, raw = result.certificate, result.raw_beta
    counts = certificate.kinds.counts
    row |= {
        "iteration": float(result.point.k),
        "seconds": seconds,
        "primal": certificate.primal,
        "dual": certificate.dual,
        "gap": certificate.gap,
        "relative_gap": certificate.relative_gap,
        "beta_sum": float(raw.sum()),
        "support": float(counts["free"] + counts["bound"]),
    }
    made.frames.append(Frame(result.point, seconds, np.nan, row, []))
    made.result, made.watched = result, False
    return made


def played(result: Result, seconds: float = np.inf) -> Recording:
    """A run that was made with ``snapshots=True``, frame by frame: run again, where that gives the same frames.

    Then it is known what ran before each of them. A run with a start or a seed of its own, one of which not every
    iterate was recorded, or one that takes too long again has its snapshots alone.
    """
    snapshots = result.trace.snapshots
    again = Recording(result.problem, result.solver, result.tol)
    again.advance(len(snapshots), seconds)
    points = [frame.point.beta for frame in again.frames]
    if len(points) == len(snapshots) and all(
        beta is not None and np.array_equal(beta, one.beta) for beta, one in zip(points, snapshots, strict=True)
    ):
        again.result = result
        return again
    made = Recording(result.problem, result.solver, result.tol)
    for one, row in zip(snapshots, result.trace, strict=True):
        made.frames.append(Frame(_point(result.problem, one), one.seconds, np.nan, row, []))
    made.result = result
    return made


def _point(problem: Problem, one: Snapshot) -> Iterate:
    """The point that a snapshot was taken of; a snapshot of a linear model has its whole bias in b."""
    w, b, space = one.w, one.b, problem.space
    if problem.linear:
        w = np.append(w, b / problem.bias_scale if problem.bias == "augmented" else 0.0)
    free = b - space.bias(w) if problem.bias == "free" else None
    return Iterate(one.iteration, w=w, b=free, beta=one.beta, raw=one.raw_beta, event=one.event)
