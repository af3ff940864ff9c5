"""What a solver is: fields for its hyperparameters, what it accepts, and a stream of iterates.

A solver never prints, times, stops or certifies itself: `solve` does all that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from maxmargin.problem import Problem
from maxmargin.registry import Registry
from maxmargin.result import Iterate

registry: Registry[Solver] = Registry("solver", "maxmargin.solvers.textbook")


class Solver(ABC):
    """An algorithm; subclasses are frozen dataclasses whose fields are its hyperparameters."""

    #: The name it is registered under (with default hyperparameters).
    name: ClassVar[str]
    #: Where it comes from.
    paper: ClassVar[str]

    @abstractmethod
    def accepts(self, problem: Problem) -> str | None:
        """None, or the reason for a refusal in one sentence that names a solver that would do."""

    @abstractmethod
    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield where it stands, for ever or until there is nothing left to do.

        `start` holds a feasible β or a w to begin with; both are None for a cold start.
        """


def refuse_bias(problem: Problem, *modes: str, instead: str) -> str | None:
    """The refusal of a bias mode."""
    if problem.bias in modes:
        return None
    return f"it cannot do bias={problem.bias!r} (only {', '.join(modes)}); use solver={instead!r}"


def refuse_indefinite(problem: Problem) -> str | None:
    """The refusal of a kernel that is known to be indefinite."""
    if problem.kernel.positive is False:
        return f"the kernel {problem.kernel.name!r} is indefinite, its dual not concave; use solver='smo'"
    return None


def refuse_without_form(problem: Problem) -> str | None:
    """The refusal of a loss whose dual is not quadratic."""
    if problem.form is None:
        return f"the dual of loss={problem.loss.name!r} is not quadratic; use solver='subgradient'"
    return None


def refuse_hard(problem: Problem, instead: str) -> str | None:
    """The refusal of a hard margin."""
    if problem.hard:
        return f"a hard margin (C=inf) gives it no bounded set to work on; use solver={instead!r}"
    return None


def start_beta(problem: Problem, start: Iterate) -> np.ndarray:
    """A feasible β to begin with: the warm start's, what its w gives, or the point nearest to 0."""
    if start.beta is not None:
        return problem.feasible(start.beta)
    if start.w is not None:
        scores = problem.space.scores(start.w)
        b = problem.best_bias(scores) if start.b is None else start.b
        return problem.feasible(problem.dual_point(scores, b))
    return problem.feasible(np.zeros(problem.n))
