"""What a solver is: fields for its hyperparameters, what it accepts, and a stream of iterates.

A solver never prints, times, stops or certifies itself: `solve` does all that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from maxmargin.parallel import over_blocks
from maxmargin.problem import Problem
from maxmargin.registry import Registry
from maxmargin.result import Iterate
from maxmargin.rows import scores_of_rows
from maxmargin.space import LinearSpace

registry: Registry[Solver] = Registry("solver", "maxmargin.solvers.textbook", "maxmargin.solvers.fast")


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


def reliable(problem: Problem) -> str:
    """The name of a solver that would do, for any problem at all."""
    if problem.form is None:
        return "truncated-newton"
    return "smo" if problem.bias == "free" else "coordinate-ascent"


def refuse_bias(problem: Problem, *modes: str) -> str | None:
    """The refusal of a bias mode."""
    if problem.bias in modes:
        return None
    return f"it cannot do bias={problem.bias!r}, only {' or '.join(modes)}; use solver={reliable(problem)!r}"


def refuse_indefinite(problem: Problem) -> str | None:
    """The refusal of a kernel that is known to be indefinite."""
    if problem.kernel.positive is False:
        instead = "use solver='smo'" + ("" if problem.bias == "free" else " with bias='free'")
        return f"the kernel {problem.kernel.name!r} is indefinite, so the dual is not concave; {instead}"
    return None


def refuse_without_form(problem: Problem) -> str | None:
    """The refusal of a loss whose dual is not quadratic."""
    if problem.form is None:
        return f"the dual of loss={problem.loss.name!r} is not quadratic; use solver={reliable(problem)!r}"
    return None


def refuse_unbounded(problem: Problem) -> str | None:
    """The refusal of a dual without bounds: a hard margin, or a loss whose slope has no limit."""
    if problem.hard:
        return f"a hard margin (C=inf) gives it no bounded set to work on; use solver={reliable(problem)!r}"
    if np.isinf(problem.bounds[1]).any():
        return (
            f"the slope of loss={problem.loss.name!r} has no limit, so its dual has no bounds;"
            f" use solver={reliable(problem)!r}"
        )
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


def product_with_K(problem: Problem) -> tuple[Callable[[np.ndarray], np.ndarray], float]:
    """The map v ↦ Kv for a solver that needs it again and again, and its cost in multiply-adds.

    Linear: two passes over X. Kernel: the whole matrix where it fits the cap, else block by block from the data.
    """
    space = problem.space
    if isinstance(space, LinearSpace):
        return space.product, 2.0 * space.work
    gram = space.gram()
    if gram.capacity < gram.n:
        return gram.product, float(space.work)
    K = gram.full()

    def product(v: np.ndarray) -> np.ndarray:
        out = np.empty(len(v))
        over_blocks(lambda start, stop: scores_of_rows(K, v, start, stop, out), len(v), 2048)
        return out

    return product, float(K.size)


def largest_eigenvalue(
    product: Callable[[np.ndarray], np.ndarray], n: int, rng: np.random.Generator, rounds: int = 20
) -> float:
    """λ_max by a few power iterations: a little too low, so its users must watch their steps."""
    v = rng.normal(size=n)
    value = 0.0
    for _ in range(rounds):
        v /= np.linalg.norm(v)
        image = product(v)
        value = float(np.linalg.norm(image))
        if value == 0.0:
            return 0.0
        v = image
    return value


def rows_or_matrix(problem: Problem, who: str) -> tuple[Any, float]:
    """The rows whose product with w is the score: those of X, or of K for a kernel; and the cost of a pass over them.

    A kernel machine is a linear one on the rows of K, except that a step adds to one coefficient, not to a row.
    """
    space = problem.space
    if isinstance(space, LinearSpace):
        return space.rows, float(space.work)
    K = space.gram().full(who, reliable(problem))
    return K, float(K.size)
