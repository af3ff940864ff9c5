"""Budget: how a fit may run. One for the whole of it, shared by its problems, folds and calibration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.loop import solve
from maxmargin.loop.run import Callback
from maxmargin.numeric.stopwatch import now
from maxmargin.problem import Problem
from maxmargin.problem.validation import is_number
from maxmargin.result import Reason, Result, Status
from maxmargin.small.proof import SHORTEST
from maxmargin.solvers import clock
from maxmargin.solvers import solver as solver_by_name
from maxmargin.solvers.base import registry

if TYPE_CHECKING:
    from maxmargin.solvers import Solver

#: What is left of a budget that is spent: enough for a solver's first step, which every model needs.
SPENT = 1e-9


@dataclass
class Budget:
    """How long a fit may take, whether it says how it goes, where it keeps its checkpoints, and how it solves."""

    max_time: float | None = None
    progress: bool = False
    #: The file of the checkpoints, whether to go on from it, and the counted work between two of them; None for as much
    #: as makes them cost next to nothing.
    checkpoint: str | None = None
    resume: bool = False
    work: float | None = None
    solver: str | Solver = "auto"
    tol: float = 1e-4
    #: The solver's own iterations for each problem; −1 for no limit.
    max_iter: int = -1
    seed: int = 0
    began: float = field(default_factory=now)
    #: Set by whoever wants the training to end soon with the best model so far, and by Ctrl-C. Parts share them.
    stop: Event = field(default_factory=Event)
    pressed: Event = field(default_factory=Event)
    #: Whether Ctrl-C ends more than this training, so that what has come of it is not wanted.
    leaving: bool = False

    def __post_init__(self) -> None:
        if not is_number(self.tol) or not self.tol >= 0:
            raise InvalidInput(f"tol is {self.tol!r}; it must be a number ≥ 0: the relative duality gap to reach")
        if not isinstance(self.max_iter, (int, np.integer)) or not (self.max_iter == -1 or self.max_iter > 0):
            raise InvalidInput(f"max_iter is {self.max_iter!r}; it must be a whole number > 0, or -1 for no limit")
        if self.max_time is not None and not (is_number(self.max_time) and self.max_time > 0):
            raise InvalidInput(f"max_time is {self.max_time!r}; it must be a number of seconds > 0, or None")

    @property
    def plain(self) -> bool:
        """Whether nobody watches the solver, limits its steps or chooses it, and time is not short."""
        unlimited = self.max_time is None or self.max_time >= SHORTEST
        return self.solver == "auto" and self.max_iter == -1 and not (self.progress or self.checkpoint) and unlimited

    @property
    def few_values(self) -> bool:
        """Whether the solver computes so few kernel values that a matrix of all would be a waste."""
        if isinstance(self.solver, str):
            return self.solver != "auto" and registry[self.solver].few_values
        return self.solver.few_values

    @property
    def stopped(self) -> bool:
        """Whether somebody asked to stop."""
        return self.stop.is_set()

    @property
    def interrupted(self) -> bool:
        """Whether that was Ctrl-C."""
        return self.pressed.is_set()

    @property
    def spent(self) -> bool:
        """Whether there is nothing left to run on."""
        return self.stopped or (self.max_time is not None and now() - self.began >= self.max_time)

    @property
    def until(self) -> float | None:
        """The moment of `now` at which the time is over."""
        return None if self.max_time is None else self.began + self.max_time

    def interrupt(self) -> None:
        """Stop, because of Ctrl-C: whatever comes of the parts, the whole was broken off."""
        self.pressed.set()
        self.stop.set()
        if self.leaving:
            raise KeyboardInterrupt

    def judged(self, status: Status) -> Status:
        """The status of the whole: a fit that was broken off has not converged, whatever its parts have done."""
        if not self.interrupted or status.reason is Reason.INTERRUPTED:
            return status
        return Status(Reason.INTERRUPTED, f"the last of what was done: {status.text}")

    def part(self, problems: float) -> Budget:
        """The budget of the next of so many trainings, which ends with this one."""
        return replace(self, max_time=self.share(problems), began=now(), progress=False, checkpoint=None)

    def share(self, problems: float) -> float | None:
        """The seconds for the next of so many problems; None where time does not matter."""
        if self.stopped:
            return SPENT
        if self.max_time is None:
            return None
        return max(SPENT, (self.max_time - (now() - self.began)) / max(1.0, problems))

    def solve(
        self,
        problem: Problem,
        problems: float = 1,
        start: Any = None,
        watch: Iterable[Callback] = (),
        tol: float | None = None,
        solver: str | Solver | None = None,
    ) -> Result:
        """Solve a problem with a share of what is left."""
        solver = self.solver if solver is None else solver
        starts = solver == "auto" or solver_by_name(solver, problem).starts
        if isinstance(start, np.ndarray) and not problem.regularizer.quadratic:
            starts = ()  # a dual point says nothing of w
        stopped = self.stopped  # then there is no time at all: that is not the end of a time budget
        with clock.stopping(self.pressed.is_set):
            result = solve(
                problem,
                solver=solver,
                tol=self.tol if tol is None else tol,
                max_time=self.share(problems),
                max_iter=None if self.max_iter == -1 else int(self.max_iter),
                random_state=self.seed,
                start=start if starts else None,  # one that takes no start begins anew
                callbacks=watch,
                progress=self.progress,
            )
        reason = result.status.reason
        if reason is Reason.INTERRUPTED:
            self.interrupt()
        elif reason is Reason.CALLBACK:
            self.stop.set()
        elif reason is Reason.MAX_TIME and stopped and self.interrupted:
            gap = f"relative gap {result.certificate.relative_gap:.2g} at the best point so far"
            result = replace(result, status=Status(Reason.INTERRUPTED, gap))
        return result
