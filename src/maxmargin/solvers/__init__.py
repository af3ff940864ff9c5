"""The solvers: one file an algorithm; `solvers()` lists them, `solver("smo")` makes one."""

from __future__ import annotations

from maxmargin.errors import InvalidInput
from maxmargin.problem import Problem
from maxmargin.solvers.base import Solver, registry, reliable

__all__ = ["Solver", "solver", "solvers"]


def solvers() -> list[str]:
    """The names of all registered solvers."""
    return registry.names()


def solver(which: str | Solver, problem: Problem) -> Solver:
    """A solver by name ("auto" is the one that does for this problem), or the solver itself."""
    if isinstance(which, Solver):
        return which
    if not isinstance(which, str):
        raise InvalidInput(f"solver is {which!r}; it must be a name or a Solver")
    return registry[reliable(problem) if which == "auto" else which]
