"""The cards of the solvers: a page for each, from its class and its file, with what it refuses and a run of it."""

from __future__ import annotations

import inspect
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from maxmargin import Problem, Result, solve, solvers
from maxmargin.cli.solvers import TRIALS
from maxmargin.data import toys
from maxmargin.numeric.compiled import interpreted
from maxmargin.registry import documented
from maxmargin.solvers import refusal
from maxmargin.solvers.base import Solver, registry
from maxmargin.studio.tape import tape_of
from site_parts.text import plain, table

STARTS = {"beta": "a dual point", "w": "a hyperplane (w, b)"}
#: The words of `maxmargin solvers` for what is asked of a solver, with more room.
ASKED = {
    "free bias": "a free bias",
    "other bias": "a penalised bias",
    "kernels": "a kernel",
    "logistic": "the logistic loss",
    "hard margin": "a hard margin",
    "l1": "‖w‖₁ in place of ½‖w‖²",
}
#: What the recorded runs are about: a solver gets the first problem that it accepts.
SHOWN: tuple[tuple[str, Any, dict[str, Any]], ...] = (
    ("two overlapping clouds, free bias", toys.overlapping, {}),
    ("two overlapping clouds, penalised bias", toys.overlapping, {"bias": "augmented"}),
    ("two separable clouds, hard margin", toys.separable, {"C": float("inf")}),
    ("two overlapping clouds, logistic loss", toys.overlapping, {"loss": "logistic"}),
    ("two overlapping clouds, ‖w‖₁", toys.overlapping, {"loss": "squared-hinge", "regularizer": "l1"}),
    ("two moons, RBF kernel", toys.moons, {"kernel": "rbf"}),
)


def overview() -> str:
    """The table of all solvers, and the list of their pages."""
    rows = []
    for name in solvers.list_solvers():
        solver = registry[name]
        takes = [words for words, said in answers(solver).items() if said is None]
        rows.append(
            (f"[`{name}`](solvers/{name}.md)", first_line(solver), ", ".join(takes) or "the linear kernel only")
        )
    pages = "\n".join(f"solvers/{name}" for name in solvers.list_solvers())
    return (
        "# Solvers\n\nEvery place that takes a solver takes these names: `solve(problem, solver=...)`, "
        "`SVC(solver=...)`, `--solver`. `auto` chooses one of them; "
        "[the performance page](../performance.md#what-auto-takes) says which.\n\n"
        f"{table(('solver', 'what it does', 'takes'), rows)}\n\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"
    )


def card(name: str) -> str:
    """One solver: its algorithm as its file has it, what it refuses, its fields, a run to step through."""
    solver = registry[name]
    kind = type(solver)
    begins = " or ".join(STARTS[one] for one in solver.starts) or "its own start only"
    algorithm = inspect.cleandoc(sys.modules[kind.__module__].__doc__ or "")
    described = documented(kind)
    chosen = table(
        ("field", "values", "what it means"),
        [(f"`{field}`", plain(values), plain(words)) for field, (values, words) in described.items()],
    )
    said = [
        (ASKED.get(words, words), "yes" if no is None else f"no: {plain(no)}") for words, no in answers(solver).items()
    ]
    about, _ = shown_problem(solver)
    return "\n\n".join(
        [
            f"# `{name}`",
            first_line(solver),
            f"- Class: {{py:obj}}`maxmargin.solvers.{kind.__name__}`\n- Starts from: {begins}\n- Paper: {solver.paper}",
            "## Problem and algorithm",
            "The code carries the same numbers.",
            f"```text\n{algorithm}\n```",
            "## What it takes and what it refuses",
            table(("problem", "answer"), said),
            "## Fields",
            chosen if described else "It has none.",
            "## A run to step through",
            f"On {about}.",
            f'<iframe class="tape" src="../../tapes/solver-{name}.html" title="A run of {name}"></iframe>',
        ]
    )


def answers(solver: Solver) -> dict[str, str | None]:
    """What a solver says to each of the problems of `maxmargin solvers`: nothing, or why not."""
    X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]], [-1, 1, 1, 1]
    said: dict[str, str | None] = {}
    with interpreted(True):  # four rows are not worth compiling anything
        for words, asked in TRIALS:
            biases = [asked] if "bias" in asked else [{**asked, "bias": bias} for bias in ("free", "augmented")]
            refusals = [refusal(solver, Problem(X, y, **one)) for one in biases]
            said[words] = None if None in refusals else refusals[0]
    return said


def shown_problem(solver: Solver) -> tuple[str, Problem]:
    """What the recorded run of a solver is about."""
    for about, data, asked in SHOWN:
        problem = Problem(*data(), **asked)
        if refusal(solver, problem) is None:
            return about, problem
    raise LookupError(f"no problem of the cards is for {solver.name}; add one to SHOWN")


def recorded(name: str) -> Result:
    """The recorded run of a solver, one update at a time where it can."""
    solver = registry[name]
    if any(one.name == "grain" for one in fields(solver)):
        solver = replace(solver, grain=1)
    return solve(shown_problem(solver)[1], solver, tol=1e-6, max_iter=200, every=1, snapshots=True)


def write_tapes(folder: Path) -> None:
    """The recorded runs, those that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in solvers.list_solvers():
        path = folder / f"solver-{name}.html"
        if not path.exists():
            path.write_bytes(tape_of(recorded(name), name))


def first_line(solver: Solver) -> str:
    """What it does, in a sentence."""
    return (type(solver).__doc__ or "").splitlines()[0]
