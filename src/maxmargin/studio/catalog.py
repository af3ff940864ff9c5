"""What there is to choose from, as the page's menus need it: all of it read off the registries."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, get_args

from maxmargin.data.formats import SUFFIXES
from maxmargin.kernels.base import registry as kernels
from maxmargin.losses.base import registry as losses
from maxmargin.problem import Bias
from maxmargin.registry import documented
from maxmargin.regularizers.base import registry as regularizers
from maxmargin.solvers.base import registry as solvers
from maxmargin.studio.arguments import LIMITS
from maxmargin.studio.pseudocode import Pseudocode, pseudocode
from maxmargin.studio.toys import TOYS

PROTOCOL = 1
BIASES = {
    "free": "free: not penalised",
    "augmented": "augmented: a constant feature, penalised with w",
    "none": "none: through the origin",
}
REGULARIZERS = {"l1": "‖w‖₁: few weights", "l2": "½‖w‖²: the widest margin"}
SCHEMES = {"ovo": "in pairs", "ovr": "each against the rest", "crammer-singer": "all in one problem"}


@cache
def catalog() -> dict[str, Any]:
    """Everything that `hello` tells, the same for all sessions."""
    from maxmargin import __version__  # the package itself comes last: it only names what is public

    assert set(BIASES) == set(get_args(Bias))
    return {
        "version": __version__,
        "protocol": PROTOCOL,
        "losses": [_loss(name) for name in losses],
        "kernels": [_kernel(name) for name in kernels if usable(name)],
        "biases": [{"name": name, "title": title} for name, title in BIASES.items()],
        "regularizers": [{"name": name, "title": REGULARIZERS[name]} for name in regularizers],
        "solvers": [_solver(name) for name in solvers],
        "toys": [toy.told() for toy in TOYS.values()],
        "schemes": [{"name": name, "title": title} for name, title in SCHEMES.items()],
        "formats": list(SUFFIXES),
        "limits": LIMITS,
    }


def usable(name: str) -> bool:
    """Whether a kernel can be chosen by name: one that needs a matrix or a function cannot."""
    kind = kernels[name]
    return not kind.given and all(field.default is not MISSING for field in fields(kind))  # type: ignore[arg-type]


def _loss(name: str) -> dict[str, Any]:
    kind = losses[name]
    made = kind()
    return {**_told(name, kind), "tasks": made.tasks, "hard_margin": made.hard_margin, "margin": made.margin}


def _kernel(name: str) -> dict[str, Any]:
    return {**_told(name, kernels[name]), "linear": kernels[name].linear}


def _solver(name: str) -> dict[str, Any]:
    solver = solvers[name]
    kind = type(solver)
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    lines = pseudocode(kind)
    return {
        **_told(name, kind),
        "paper": solver.paper,
        "starts": solver.starts,
        **algorithm(lines),
        "grain": "grain" in known,
        "step": "step" in known,
    }


def algorithm(lines: Pseudocode) -> dict[str, Any]:
    """Pseudocode as the page gets it."""
    told = [{"number": number, "text": text} for number, text in lines.lines]
    return {"problem": lines.problem, "pseudocode": told}


def _told(name: str, kind: Any) -> dict[str, Any]:
    doc = inspect.cleandoc(kind.__doc__ or "").partition("\nParameters\n")[0].partition("\nExamples\n")[0].strip()
    return {"name": name, "title": title_of(name), "doc": doc, "fields": _fields(kind)}


def title_of(name: str) -> str:
    """A name as a menu shows it."""
    short = {"rbf": "RBF (Gaussian)", "smo": "SMO", "qp": "QP", "qp-primal": "QP, primal", "sgd": "SGD"}
    return short.get(name, name[:1].upper() + name[1:].replace("-", " "))


def _fields(kind: Any) -> list[dict[str, Any]]:
    described = documented(kind)
    return [
        _field(field.name, str(field.type), field.default, *described.get(field.name, ("", "")))
        for field in fields(kind)
        if not field.name.startswith("_")
    ]


def _field(name: str, annotation: str, default: Any, values: str, doc: str) -> dict[str, Any]:
    """One field: its most useful type, and the words that it also takes, as its docstring quotes them."""
    allowed = values.partition(", default")[0]
    words = re.findall(r'"([^"]+)"', allowed)
    if re.search(r"\b(number|float)\b", allowed + " " + annotation):
        kind = "number"
    elif re.search(r"\bint\b", allowed + " " + annotation):
        kind = "whole"
    elif re.search(r"\bbool\b", allowed + " " + annotation):
        kind = "flag"
    else:
        kind = "choice" if words else "text"
    optional = default is None or "None" in annotation
    told = {"name": name, "type": kind, "default": default, "choices": words, "optional": optional}
    return {**told, "doc": doc.replace("``", "").replace("`", "")}
