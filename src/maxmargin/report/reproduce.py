"""How to get the same fit again: versions, date, and the lines of code."""

from __future__ import annotations

import platform
from dataclasses import fields, is_dataclass
from datetime import datetime
from html import escape
from typing import Any

import numpy as np

from maxmargin.problem import Problem
from maxmargin.report.setting import parameters
from maxmargin.report.words import paragraph
from maxmargin.result import Reason, Result
from maxmargin.solvers import Solver


def reproduce(result: Result) -> str:
    """A paragraph and a snippet."""
    from maxmargin import __version__  # the package itself comes last: it only names what is public

    when = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")
    versions = f"maxmargin {__version__}, NumPy {np.__version__}, Python {platform.python_version()}"
    same = "The same data, parameters and random_state (0 unless you gave another) give the same bits."
    return paragraph(f"{versions}; written on {when}. {same}") + f"<pre><code>{escape(snippet(result))}</code></pre>\n"


def snippet(result: Result) -> str:
    """The code that makes this fit from the same X and y."""
    weights = ["# my_weights: C times the weight of each sample"] if is_weighted(result.problem) else []
    solver = None if result.chosen else result.solver
    return "\n".join(code(result.problem, solver, _end(result), weights))


def code(problem: Problem, solver: Solver | None, end: list[str], before: list[str]) -> list[str]:
    """The lines that pose a problem and solve it (None is "auto"); `before` comes after the imports."""
    kind = "CrammerSingerProblem" if problem.family == "crammer-singer" else "Problem"
    imports = [f"from maxmargin import {kind}, solve"]
    made = _call(kind, _data(problem) + _options(problem, imports))
    chosen = repr("auto") if solver is None else _expression(solver, "my_solver", imports)
    solved = _call("solve", ["problem", f"solver={chosen}", *end])
    return [*imports, "", *before, f"problem = {made}", f"result = {solved}", "print(result.certificate)"]


def is_weighted(problem: Problem) -> bool:
    """Whether the samples have different weights; only their products with C are known."""
    return np.unique(problem.C).size > 1


def _call(name: str, arguments: list[str]) -> str:
    line = f"{name}({', '.join(arguments)})"
    return line if len(line) <= 72 else f"{name}(\n" + "".join(f"    {each},\n" for each in arguments) + ")"


def _data(problem: Problem) -> list[str]:
    rows = "K" if problem.kernel.given else "X"
    return [rows] if problem.task == "novelty" else [rows, "y"]


def _options(problem: Problem, imports: list[str]) -> list[str]:
    """The arguments of the problem, without those that are as they would be anyway."""
    options = [
        f"loss={_expression(problem.loss, 'my_loss', imports)}",
        f"kernel={_expression(problem.kernel, 'my_kernel', imports)}",
    ]
    if problem.family == "crammer-singer":
        options = []  # it is what it is
    options.append(f"bias={problem.bias!r}")
    if problem.bias_scale != 1.0:
        options.append(f"bias_scale={problem.bias_scale!r}")
    if not problem.regularizer.quadratic:
        options.append(f"regularizer={problem.regularizer.name!r}")
    if problem.transform is not None:
        options.append("transform=my_transform")
    if problem.task != problem.loss.task:
        options.append(f"task={problem.task!r}")
    weighted = is_weighted(problem)  # the products of C and the weights go into the weights
    options.append('C=float("inf")' if problem.hard else f"C={1.0 if weighted else float(problem.C[0])!r}")
    return [*options, "sample_weight=my_weights"] if weighted else options


def _expression(thing: Any, own: str, imports: list[str]) -> str:
    """A loss, kernel or solver as code: its name if that is enough, `own` if it holds what cannot be written."""
    name, values = repr(thing.name), parameters(thing)
    if not is_dataclass(thing) or any(callable(value) for value in values.values()):
        return own
    if all(repr(field.default) == repr(values[field.name]) for field in fields(thing)):
        return name
    home = type(thing).__module__
    # maxmargin.solvers and its like offer all of their classes.
    home = ".".join(home.split(".")[:2]) if home.startswith("maxmargin.") else home
    imports.append(f"from {home} import {type(thing).__name__}")
    return repr(thing)


def _end(result: Result) -> list[str]:
    """When to stop."""
    stop = [f"tol={result.tol:g}"]
    if result.status.reason is Reason.MAX_ITER:
        stop.append(f"max_iter={int(result.trace['iteration'][-1])}")
    return stop
