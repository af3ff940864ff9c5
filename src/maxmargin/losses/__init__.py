"""The losses: one file each; `losses()` lists them, `loss("hinge")` makes one."""

from __future__ import annotations

from maxmargin.losses.base import DualForm, Loss, registry

__all__ = ["DualForm", "Loss", "loss", "losses"]


def losses() -> list[str]:
    """The names of all registered losses."""
    return registry.names()


def loss(which: str | Loss) -> Loss:
    """A loss by name, with its default parameters, or the loss itself."""
    return which if isinstance(which, Loss) else registry[which]()
