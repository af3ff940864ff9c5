"""The regularisers: one file each; `list_regularizers()` names them, `regularizer("l1")` makes one.

Every class of the folder can be imported from here: ``from maxmargin.regularizers import L1``.
"""

from __future__ import annotations

from typing import Any

from maxmargin.regularizers.base import Regularizer, registry

__all__ = ["Regularizer", "list_regularizers", "regularizer"]


def list_regularizers() -> list[str]:
    """The names of all registered regularisers.

    Returns
    -------
    list of str
        The names that ``Problem(regularizer=...)`` takes, sorted.

    Examples
    --------
    >>> from maxmargin import list_regularizers
    >>> list_regularizers()
    ['l1', 'l2']
    """
    return registry.names()


def regularizer(which: str | Regularizer) -> Regularizer:
    """A regulariser by name, or the regulariser itself."""
    return which if isinstance(which, Regularizer) else registry[which]()


def __getattr__(name: str) -> Any:
    return registry.class_of(__name__, name)


def __dir__() -> list[str]:
    return sorted([*__all__, *registry.classes()])
