"""Budget: how a fit may run. One for the whole of it, shared by its problems, folds and calibration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.loop import solve
from maxmargin.problem import Problem
from maxmargin.result import Reason, Result, Status
from maxmargin.run import Callback
from maxmargin.solvers import clock
from maxmargin.solvers import solver as solver_by_name
from maxmargin.validation import is_number

if TYPE_CHECKING:
    from maxmargin.solvers import Solver

#: What is left of a budget that is spent: enough for a solver's first step, which every model needs.
SPENT = 1e-9


@dataclass
class Budget:
    """How a fit may run: its solver, tolerance and time, which all of its problems share."""

    solver: str | Solver
    tol: float
    max_iter: int
    max_time: float | None
    seed: int
    progress: bool
    began: float = field(default_factory=perf_counter)
    #: Whether somebody asked to stop, and whether that was Ctrl-C.
    stopped: bool = False
    interrupted: bool = False

    def __post_init__(self) -> None:
        if not is_number(self.tol) or not self.tol >= 0:
            raise InvalidInput(f"tol is {self.tol!r}; it must be a number ≥ 0: the relative duality gap to reach")
        if not isinstance(self.max_iter, (int, np.integer)) or not (self.max_iter == -1 or self.max_iter > 0):
            raise InvalidInput(f"max_iter is {self.max_iter!r}; it must be a whole number > 0, or -1 for no limit")
        if self.max_time is not None and not (is_number(self.max_time) and self.max_time > 0):
            raise InvalidInput(f"max_time is {self.max_time!r}; it must be a number of seconds > 0, or None")

    @property
    def spent(self) -> bool:
        """Whether there is nothing left to run on."""
        return self.stopped or (self.max_time is not None and perf_counter() - self.began >= self.max_time)

    def stop(self) -> None:
        """End the fits that are under way at their next look, and those to come after a step."""
        self.stopped = True

    def interrupt(self) -> None:
        """Stop, because of Ctrl-C: whatever comes of the parts, the whole was broken off."""
        self.stopped = self.interrupted = True

    @property
    def until(self) -> float | None:
        """The moment of `perf_counter` at which the time is over."""
        return None if self.max_time is None else self.began + self.max_time

    def judged(self, status: Status) -> Status:
        """The status of the whole: a fit that was broken off has not converged, whatever its parts have done."""
        if not self.interrupted or status.reason is Reason.INTERRUPTED:
            return status
        return Status(Reason.INTERRUPTED, f"the last of what was done: {status.text}")

    def share(self, problems: float) -> float | None:
        """The seconds for the next of so many problems; None where time does not matter."""
        if self.stopped:
            return SPENT
        if self.max_time is None:
            return None
        return max(SPENT, (self.max_time - (perf_counter() - self.began)) / max(1.0, problems))

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
        with clock.stopping(lambda: self.interrupted):
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
        if result.status.reason is Reason.INTERRUPTED:
            self.interrupt()
        elif result.status.reason is Reason.CALLBACK:
            self.stop()
        return result
