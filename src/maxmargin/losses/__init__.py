"""The losses: one file each; `list_losses()` names them, `loss("hinge")` makes one.

Every class of the folder can be imported from here: ``from maxmargin.losses import Hinge, EpsilonInsensitive``.
"""

from __future__ import annotations

from typing import Any

from maxmargin.losses.base import DualArrays, DualForm, Loss, registry

__all__ = ["DualArrays", "DualForm", "Loss", "list_losses", "loss"]


def list_losses() -> list[str]:
    """The names of all registered losses.

    Returns
    -------
    list of str
        The names that ``Problem(loss=...)`` takes, sorted.

    Examples
    --------
    >>> from maxmargin import list_losses
    >>> "hinge" in list_losses()
    True
    """
    return registry.names()


def loss(which: str | Loss) -> Loss:
    """A loss by name, with its default parameters, or the loss itself."""
    return which if isinstance(which, Loss) else registry[which]()


def __getattr__(name: str) -> Any:
    return registry.class_of(__name__, name)


def __dir__() -> list[str]:
    return sorted([*__all__, *registry.classes()])
