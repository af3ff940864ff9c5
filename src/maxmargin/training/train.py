"""Training the binary problems of one fit, one after the other, within one budget.

1. Each problem is made when its turn comes, so that only one block of the kernel matrix is there at a time.
2. It gets an equal share of the time that is left; what it does not use passes on to those after it.
3. After Ctrl-C, or when a callback asks to stop, the rest take one step each: a model needs them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from maxmargin.certificate import Certificate
from maxmargin.loop.run import Callback, Look
from maxmargin.models.solved import Solved
from maxmargin.problem import Problem
from maxmargin.result import Iterate, Reason, Result, Status, Trace
from maxmargin.solvers.base import registry as solvers
from maxmargin.solvers.base import reliable
from maxmargin.training.budget import Budget


@dataclass(frozen=True, eq=False)
class Solution:
    """What an estimator takes from a solved problem; the problem itself, with its data, can go."""

    #: The coefficients of w = Σ coef_i φ(x_i); the certified dual point where a primal solver does not know them.
    #: One row a sample and one column a class, one normal and one bias a class, where all are in one problem.
    coef: np.ndarray
    #: The normal of the hyperplane, None where it has no coordinates.
    w: np.ndarray | None
    b: Any
    certificate: Certificate
    status: Status
    trace: Trace
    iterations: int
    #: The certified dual point; None where it is `coef`, too.
    beta: np.ndarray | None = None
    solver: str = "smo"
    #: Of a ν-problem: the margin or the tube that it has found, and the certificate of its ordinary problem with that.
    tau: float | None = None
    ordinary: Certificate | None = None

    @classmethod
    def of(cls, result: Result) -> Solution:
        """Take what is needed from a result."""
        tau, certificate, result = result.point.tau, result.certificate, result.ordinary
        coef = result.beta if result.coef is None else result.coef
        return cls(
            coef,
            result.w,
            result.b,
            certificate,
            result.status,
            result.trace,
            max(1, result.iterations),
            None if coef is result.beta else result.beta,
            result.solver.name,
            tau,
            None if tau is None else result.certificate,
        )

    def solved(self) -> Solved:
        """The same as a file keeps it, where w is w(β); a linear one has a place for the constant feature."""
        one = self.ordinary or self.certificate
        together = self.coef.ndim == 2
        w = self.coef if self.w is None else np.append(self.w, 0.0)
        return Solved(
            w=np.column_stack([self.w, self.b]).ravel() if together and self.w is not None else w,
            b=None if together else self.b,
            beta=(self.coef if self.beta is None else self.beta).ravel(),
            linked=True,
            reason=self.status.reason,
            status=str(self.status),
            solver=self.solver,
            primal=one.primal,
            dual=one.dual,
            relative_gap=one.relative_gap,
            iterations=self.iterations,
            tau=self.tau,
        )

    @classmethod
    def at(cls, problem: Problem, point: Iterate, certificate: Certificate) -> Solution:
        """What a point half-way stands for, as if the run had ended there."""
        status, solver = Status(Reason.CALLBACK, "a look half-way"), solvers[reliable(problem)]
        return cls.of(Result(problem, solver, status, point.kept(), certificate, Trace(), 0.0))

    def planes(self) -> list[Solution]:
        """A solution for each hyperplane."""
        if self.coef.ndim == 1 or self.w is None:
            return [self]
        each = zip(self.coef.T, self.w, self.b.tolist(), strict=True)
        return [replace(self, coef=coef, w=w, b=b, beta=None) for coef, w, b in each]


def scaled_start(coef: np.ndarray, bound: np.ndarray, ratio: float) -> np.ndarray:
    """A dual point for another C: the samples at their bound follow it, the free ones stay where they are."""
    bound = bound.reshape(-1, *[1] * (coef.ndim - 1))
    return np.where(bound & np.isfinite(ratio), coef * ratio, coef)


@dataclass(frozen=True, eq=False)
class Task:
    """One binary problem of a fit: the label or labels that it is about, its rows, how to make it, where to start."""

    name: object
    rows: np.ndarray
    make: Callable[[], Problem]
    start: Any = None


#: What solves some of the problems of a fit together: their solutions, by their places.
Together = Callable[[], "dict[int, Solution]"]


class Monitor(Protocol):
    """Somebody who watches a training: tells which callbacks a problem has."""

    @property
    def watching(self) -> bool:
        """Whether there are any."""
        ...

    def problem(self, fitted: Callable[[Look], dict[str, Any]] | None) -> AbstractContextManager[tuple[Callback, ...]]:
        """The callbacks while the next problem is solved; `fitted` gives the attributes that a look stands for."""
        ...


def train(
    tasks: Sequence[Task],
    budget: Budget,
    monitor: Monitor,
    fitted: Callable[[list[Solution]], dict[str, Any]],
    together: Together | None = None,
) -> list[Solution]:
    """The solutions of all tasks; `fitted` gives the attributes of a model from them, for callbacks half-way.

    What `together` solves is taken from there, where nobody watches and all begin anew.
    """
    alone = together is None or monitor.watching or any(task.start is not None for task in tasks)
    known = {} if together is None or alone else together()
    solutions: list[Solution] = []
    left = len(tasks) - len(known)
    for k, task in enumerate(tasks):
        if k in known:
            solutions.append(known[k])
            continue
        problem = task.make()

        def half_way(look: Look, problem: Problem = problem) -> dict[str, Any]:
            return fitted([Solution.at(problem, look.point, look.certificate)])

        with monitor.problem(half_way if len(tasks) == 1 else None) as watch:
            solutions.append(Solution.of(budget.solve(problem, left, task.start, watch)))
        left -= 1
    return solutions
