"""From the options of a command to a recipe; options that do not go together are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from maxmargin.cli.problem_options import KERNEL_ALIASES
from maxmargin.errors import InvalidInput

if TYPE_CHECKING:
    from maxmargin.data import Data
    from maxmargin.training.recipe import Recipe


def recipe_of(
    loss: str, loss_parameters: dict[str, Any], kernel: str, kernel_parameters: dict[str, Any], **more: Any
) -> Recipe:
    """The recipe that the options describe."""
    from maxmargin.kernels.base import registry as kernels
    from maxmargin.losses.base import registry as losses
    from maxmargin.solvers.base import registry as solvers
    from maxmargin.training.recipe import Recipe

    if more["solver"] != "auto":
        solvers[more["solver"]]
    more["solver_options"] = dict(solver_option(text) for text in more["solver_options"])
    kernel = KERNEL_ALIASES.get(kernel, kernel)
    refuse_if(kernel == "custom", "the kernel 'custom' is for Python; a data file has features")
    if kernel == "precomputed":
        kernel_parameters = dict(kernel_parameters)
        given = [name for name, value in kernel_parameters.items() if value is not None]
        refuse_if(bool(given), f"a precomputed kernel has no --{' or --'.join(given)}")
        refuse_if(more["scaling"] is not None, "--scale is for features; a precomputed kernel has none")
    if kernel_parameters["gamma"] not in (None, "scale", "auto"):
        try:
            kernel_parameters["gamma"] = float(kernel_parameters["gamma"])
        except ValueError:
            refuse_if(True, f"--gamma is {kernel_parameters['gamma']!r}; it must be a number, scale or auto")
    return Recipe(
        loss=made(losses[loss], "loss", loss, loss_parameters),
        kernel=made(kernels[kernel], "kernel", kernel, kernel_parameters),
        **more,
    )


def made(kind: Any, what: str, name: str, parameters: dict[str, Any]) -> Any:
    """A loss or kernel with the parameters that were given; one that it does not have is refused."""
    from dataclasses import fields

    known = {field.name for field in fields(kind)}
    given = {key: value for key, value in parameters.items() if value is not None}
    for key in given:
        refuse_if(key not in known, f"the {what} {name!r} has no --{key}")
    return kind(**given)


def solver_option(text: str) -> tuple[str, Any]:
    """A field of a solver and its value, as they are written on the command line: rate=0.1."""
    name, mark, value = text.partition("=")
    refuse_if(not mark or not name.strip(), f"--solver-option is {text!r}; write field=value, such as rate=0.1")
    return name.strip(), _value(value.strip())


def with_fields(chosen: dict[str, Any], texts: list[str]) -> dict[str, Any]:
    """The solvers of a race with the fields that were given as solver.field=value."""
    from maxmargin.solvers import with_options

    for text in texts:
        which, dot, rest = text.partition(".")
        refuse_if(
            not dot or which not in chosen,
            f"--solver-option is {text!r}; write solver.field=value with a solver of the race, such as smo.grain=1",
        )
        chosen[which] = with_options(chosen[which], dict([solver_option(rest)]))
    return chosen


def _value(text: str) -> Any:
    """None, true or false, a whole number, a number, or the text itself."""
    words = {"none": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def cost_of(cost: float | None, lam: float | None) -> float:
    """C, from itself or from its inverse."""
    refuse_if(cost is not None and lam is not None, "give -C or --lam, not both: lam = 1/C")
    if lam is not None:
        refuse_if(not 0 <= lam < float("inf"), f"--lam is {lam}; it must be a finite number ≥ 0")
        return 1.0 / lam if lam > 0 else float("inf")
    return 1.0 if cost is None else cost


def class_weights_of(text: str | None) -> Any:
    """The weights of classes, as they are written on the command line."""
    if text is None or text == "balanced":
        return text
    found = {}
    for pair in text.split(","):
        label, mark, weight = pair.rpartition("=")
        try:
            found[label.strip()] = float(weight)
        except ValueError:
            mark = ""
        refuse_if(not mark or not label, f"--class-weight is {text!r}; write balanced, or label=weight,label=weight")
        refuse_if(not 0 < found[label.strip()] < float("inf"), f"the weight of {label!r} must be a finite number > 0")
    return found


def refuse_if(wrong: bool, sentence: str) -> None:
    """A mistake of usage, in one sentence."""
    if wrong:
        raise typer.BadParameter(sentence)


def refuse_values(rows: Data) -> None:
    """Refuse to take numbers for classes where they look like the targets of a regression.

    They do where they are not whole and more than 20, or so many that fewer than ten rows have the same one. Whoever
    means classes says so by --multiclass.
    """
    import numpy as np

    if rows.y is None or rows.y.dtype.kind == "U":
        return
    different = len(np.unique(rows.y))
    if different > (20 if rows.y.dtype.kind == "f" else max(100, rows.n // 10)):
        raise InvalidInput(
            f"{rows.source} has {different} different targets in {rows.n} rows, which looks like a regression: add"
            " --loss epsilon-insensitive (or name --multiclass, if they are classes)"
        )


def with_kernel_values(rows: Data, recipe: Recipe) -> Data:
    """The rows as a matrix of kernel values, where the kernel is precomputed; else as they are."""
    from maxmargin.data.kernel_matrix import square
    from maxmargin.kernels import Precomputed

    return square(rows) if isinstance(recipe.kernel, Precomputed) else rows
