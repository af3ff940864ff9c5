"""`maxmargin solvers`: what there is, what each accepts, and where it comes from."""

from __future__ import annotations

from typing import Any

#: What a solver may be asked to accept, as the words for it and the parameters of a small problem.
TRIALS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("free bias", {"bias": "free"}),
    ("other bias", {"bias": "augmented"}),
    ("kernels", {"kernel": "rbf"}),
    ("logistic", {"loss": "logistic"}),
    ("hard margin", {"C": float("inf")}),
)


def solvers() -> None:
    """List the solvers: what each does and accepts, and its paper.

    Example: maxmargin solvers
    """
    from maxmargin.cli.listing import show
    from maxmargin.solvers.base import registry

    rows = []
    for name in registry:
        solver = registry[name]
        accepted = ", ".join(words for words, parameters in TRIALS if _accepts(solver, parameters))
        rows.append([name, f"{(type(solver).__doc__ or '').splitlines()[0]}\n{solver.paper}", accepted])
    show(["solver", "what it does, and its paper", "accepts"], rows)


def _accepts(solver: Any, parameters: dict[str, Any]) -> bool:
    """Whether a solver takes such a problem, with one bias or the other unless one is asked for."""
    import numpy as np

    from maxmargin.problem import Problem

    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]]), np.array([-1, 1, 1, 1])
    choices = [parameters] if "bias" in parameters else [{**parameters, "bias": bias} for bias in ("free", "augmented")]
    return any(solver.accepts(Problem(X, y, **choice)) is None for choice in choices)
