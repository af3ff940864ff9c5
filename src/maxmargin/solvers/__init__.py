"""The solvers: one file an algorithm; `solvers()` lists them, `solver("smo")` makes one."""

from __future__ import annotations

from maxmargin.errors import InvalidInput
from maxmargin.problem import Problem
from maxmargin.solvers.base import Solver, registry, reliable

__all__ = ["Solver", "choose", "solver", "solvers"]


def solvers() -> list[str]:
    """The names of all registered solvers."""
    return registry.names()


def solver(which: str | Solver, problem: Problem) -> Solver:
    """A solver by name ("auto": see `choose`), or the solver itself."""
    if isinstance(which, Solver):
        return which
    if not isinstance(which, str):
        raise InvalidInput(f"solver is {which!r}; it must be a name or a Solver")
    return registry[choose(problem) if which == "auto" else which]


def choose(problem: Problem) -> str:
    """What "auto" means: coordinate-newton for linear problems, working-set for kernels.

    What they do not accept goes to the solvers that accept any problem of their kind; and so does a linear one-class
    problem, whose optimum is 0 where the origin is among the samples: no relative gap can tell that it is reached.
    """
    fast = "coordinate-newton" if problem.linear else "working-set"
    pointless = problem.linear and problem.task == "novelty"
    return fast if not pointless and registry[fast].accepts(problem) is None else reliable(problem)
