"""`maxmargin kernels`: what there is, with its parameters."""

from __future__ import annotations


def kernels() -> None:
    """List the kernels with their formulas and parameters.

    Example: maxmargin kernels
    """
    from maxmargin.cli.listing import described, show
    from maxmargin.kernels.base import registry

    show(["kernel", "what it is", "parameters"], [described(name, registry[name]) for name in registry])
