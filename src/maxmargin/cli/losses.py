"""`maxmargin losses`: what there is, and what each is for."""

from __future__ import annotations


def losses() -> None:
    """List the losses with their formulas, parameters and tasks.

    Example: maxmargin losses
    """
    from maxmargin.cli.listing import described, show
    from maxmargin.losses.base import registry

    rows = [[*described(name, registry[name]), registry[name].task] for name in registry]
    show(["loss", "what it is", "parameters", "task"], rows)
