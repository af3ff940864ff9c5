"""The solvers: one file per algorithm; `list_solvers()` names them, `solver("smo", problem)` makes one.

Every class of the folder can be imported from here: ``from maxmargin.solvers import SMO, Subgradient``. Its
hyperparameters are its fields: ``solve(problem, Subgradient(rate=0.1))``.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from maxmargin.errors import InvalidInput
from maxmargin.problem import Problem
from maxmargin.solvers.base import Solver, registry
from maxmargin.solvers.choose import candidates, choose, refusal

__all__ = ["Solver", "candidates", "choose", "list_solvers", "refusal", "solver"]


def list_solvers() -> list[str]:
    """The names of all registered solvers.

    Returns
    -------
    list of str
        The names that ``solve(problem, name)`` takes, sorted; "auto" chooses among them.

    Examples
    --------
    >>> from maxmargin import list_solvers
    >>> "smo" in list_solvers()
    True
    """
    return registry.names()


def solver(which: str | Solver, problem: Problem, **options: Any) -> Solver:
    """A solver by name ("auto": see `choose`) or the solver itself, with some of its fields changed."""
    if not isinstance(which, str | Solver):
        raise InvalidInput(f"solver is {which!r}; it must be a name or a Solver")
    if which == "auto" and options:
        raise InvalidInput(f"solver='auto' has no field {next(iter(options))!r}; name the solver that has")
    made = which if isinstance(which, Solver) else registry[choose(problem) if which == "auto" else which]
    return with_options(made, options)


def with_options(made: Solver, options: dict[str, Any]) -> Solver:
    """The solver with some of its fields changed; a field that it does not have is refused with those that it has."""
    if not options:
        return made
    known: list[str] = [field.name for field in fields(made)] if is_dataclass(made) else []
    for name in options:
        if name not in known:
            there = f"its fields are: {', '.join(known)}" if known else "it has no fields"
            raise InvalidInput(f"{made.name} has no field {name!r}; {there}")
    return replace(made, **options)  # type: ignore[type-var]


def __getattr__(name: str) -> Any:
    return registry.class_of(__name__, name)


def __dir__() -> list[str]:
    return sorted([*__all__, *registry.classes()])
