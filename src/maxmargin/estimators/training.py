"""Training the binary problems of one fit, one after the other, within one budget.

1. Each problem is made when its turn comes, so that only one block of the kernel matrix is there at a time.
2. It gets an equal share of the time that is left; what it does not use passes on to those after it.
3. After Ctrl-C, or when a callback asks to stop, the rest take one step each: a model needs them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.certificate import Certificate
from maxmargin.errors import InvalidInput
from maxmargin.loop import solve
from maxmargin.problem import Problem
from maxmargin.result import Iterate, Reason, Result, Status, Trace
from maxmargin.run import Look
from maxmargin.solvers import solver as solver_by_name
from maxmargin.validation import is_number

if TYPE_CHECKING:
    from maxmargin.estimators.callbacks import Monitor, Watch
    from maxmargin.solvers import Solver

#: What is left of a budget that is spent: enough for a solver's first step, which every model needs.
SPENT = 1e-9


@dataclass(frozen=True, eq=False)
class Solution:
    """What an estimator takes from a solved problem; the problem itself, with its data, can go."""

    #: The coefficients of w = Σ coef_i φ(x_i); the certified dual point where a primal solver does not know them.
    coef: np.ndarray
    #: The normal of the hyperplane, None where it has no coordinates.
    w: np.ndarray | None
    b: float
    certificate: Certificate
    status: Status
    trace: Trace
    iterations: int

    @classmethod
    def of(cls, result: Result) -> Solution:
        """Take what is needed from a result."""
        coef = result.beta if result.coef is None else result.coef
        return cls(coef, result.w, result.b, result.certificate, result.status, result.trace, max(1, result.iterations))

    @classmethod
    def at(cls, problem: Problem, point: Iterate, certificate: Certificate) -> Solution:
        """What a point half-way stands for, as if the run had ended there."""
        kept = point.kept()
        assert kept.w is not None and kept.beta is not None
        w = kept.w[: problem.X.shape[1]] if problem.linear else None
        coef = kept.w if not problem.linear else kept.beta
        b = problem.space.bias(kept.w) + (kept.b or 0.0)
        status = Status(Reason.CALLBACK, "a look half-way")
        return cls(coef, w, b, certificate, status, Trace(), max(1, kept.k))


def scaled_start(coef: np.ndarray, bound: np.ndarray, ratio: float) -> np.ndarray:
    """A dual point for another C: the samples at their bound follow it, the free ones stay where they are."""
    return np.where(bound & np.isfinite(ratio), coef * ratio, coef)


@dataclass(frozen=True, eq=False)
class Task:
    """One binary problem of a fit: the label or labels that it is about, its rows, how to make it, where to start."""

    name: object
    rows: np.ndarray
    make: Callable[[], Problem]
    start: np.ndarray | None = None


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
        watch: Iterable[Callable[[Look], object]] = (),
        tol: float | None = None,
        solver: str | Solver | None = None,
    ) -> Result:
        """Solve a problem with a share of what is left."""
        solver = self.solver if solver is None else solver
        starts = solver == "auto" or solver_by_name(solver, problem).starts
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


#: How one problem becomes a solution: where to start, the budget, the number of problems left, callbacks.
Method = Callable[["Problem", "np.ndarray | None", "Budget", int, "tuple[Watch, ...]"], "Solution"]


def by_solve(
    problem: Problem, start: np.ndarray | None, budget: Budget, problems: int, watch: tuple[Watch, ...]
) -> Solution:
    """The usual method: hand the problem to solve()."""
    return Solution.of(budget.solve(problem, problems, start, watch))


def train(
    tasks: Sequence[Task],
    method: Method,
    budget: Budget,
    monitor: Monitor,
    fitted: Callable[[list[Solution]], dict[str, Any]],
) -> list[Solution]:
    """The solutions of all tasks; `fitted` gives the attributes of a model from them, for callbacks half-way."""
    solutions: list[Solution] = []
    for k, task in enumerate(tasks):
        problem = task.make()

        def half_way(look: Look, problem: Problem = problem) -> dict[str, Any]:
            return fitted([Solution.at(problem, look.point, look.certificate)])

        with monitor.problem(half_way if len(tasks) == 1 else None) as watch:
            solutions.append(method(problem, task.start, budget, len(tasks) - k, watch))
    return solutions
