"""From the options of a command to a recipe; options that do not go together are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from maxmargin.models.recipe import Recipe


def recipe_of(
    loss: str, loss_parameters: dict[str, Any], kernel: str, kernel_parameters: dict[str, Any], **more: Any
) -> Recipe:
    """The recipe that the options describe."""
    from maxmargin.kernels.base import registry as kernels
    from maxmargin.losses.base import registry as losses
    from maxmargin.models.recipe import Recipe
    from maxmargin.solvers.base import registry as solvers

    if more["solver"] != "auto":
        solvers[more["solver"]]
    if kernel in ("custom", "precomputed"):
        refuse_if(True, f"the kernel {kernel!r} is for Python; a data file has features")
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
