"""`maxmargin solvers`: what there is, what each accepts, and where it comes from; or the fields of one of them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from maxmargin.problem import Problem

#: What a solver may be asked to accept, as the words for it and the parameters of a small problem.
TRIALS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("free bias", {"bias": "free"}),
    ("other bias", {"bias": "augmented"}),
    ("kernels", {"kernel": "rbf"}),
    ("logistic", {"loss": "logistic"}),
    ("hard margin", {"C": float("inf")}),
    ("l1", {"regularizer": "l1", "loss": "squared-hinge"}),
)


def solvers(
    name: str | None = typer.Argument(
        None, help="One of them, to see its algorithm and its fields.", show_default=False
    ),
) -> None:
    """List the solvers: what each does and accepts, and its paper; or tell all about one of them.

    Example: maxmargin solvers

    Example: maxmargin solvers subgradient
    """
    from maxmargin.cli.listing import show
    from maxmargin.numeric.compiled import interpreted
    from maxmargin.solvers.base import registry

    if name is not None:
        _tell(registry[name])
        return
    rows = []
    for each in registry:
        solver = registry[each]
        with interpreted(True):  # the problems have four rows
            accepted = ", ".join(words for words, parameters in TRIALS if _accepts(solver, parameters))
        rows.append([each, f"{(type(solver).__doc__ or '').splitlines()[0]}\n{solver.paper}", accepted])
    show(["solver", "what it does, and its paper", "accepts"], rows)


def _tell(solver: Any) -> None:
    """The algorithm as its file opens, what it starts from, and its fields."""
    import sys

    from maxmargin.cli.listing import show
    from maxmargin.registry import documented

    kind = type(solver)
    print(f"{solver.name}: {(sys.modules[kind.__module__].__doc__ or '').strip()}\n")
    starts = {"beta": "a dual point β", "w": "a hyperplane (w, b)"}
    print(f"Starts from: {' or '.join(starts[one] for one in solver.starts) or 'its own start only'}.")
    print(f"In Python: from maxmargin.solvers import {kind.__name__}")
    described = documented(kind)
    if not described:
        print("It has no fields.")
        return
    print(f"On the command line: --solver {solver.name} --solver-option {next(iter(described))}=...\n")
    show(["field", "values", "what it means"], [[field, *texts] for field, texts in described.items()])


def _accepts(solver: Any, parameters: dict[str, Any]) -> bool:
    """Whether a solver takes such a problem, with one bias or the other unless one is asked for."""
    choices = [parameters] if "bias" in parameters else [{**parameters, "bias": bias} for bias in ("free", "augmented")]
    from maxmargin.solvers import refusal

    return any(refusal(solver, _problem(**choice)) is None for choice in choices)


@cache
def _problem(**parameters: Any) -> Problem:
    """A small problem, made once for all solvers."""
    import numpy as np

    from maxmargin.problem import Problem

    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]]), np.array([-1, 1, 1, 1])
    return Problem(X, y, **parameters)
