"""The kernels: one file each; `list_kernels()` names them, `kernel("rbf")` makes one."""

from __future__ import annotations

from collections.abc import Callable

from maxmargin.errors import InvalidInput
from maxmargin.kernels.base import Kernel, registry
from maxmargin.kernels.custom import Custom
from maxmargin.kernels.laplacian import Laplacian
from maxmargin.kernels.linear import Linear
from maxmargin.kernels.polynomial import Polynomial
from maxmargin.kernels.precomputed import Precomputed
from maxmargin.kernels.rbf import RBF
from maxmargin.kernels.sigmoid import Sigmoid

__all__ = [
    "RBF",
    "Custom",
    "Kernel",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Sigmoid",
    "kernel",
    "list_kernels",
]


def list_kernels() -> list[str]:
    """The names of all registered kernels.

    Returns
    -------
    list of str
        The names that ``Problem(kernel=...)`` takes, sorted.

    Examples
    --------
    >>> from maxmargin import list_kernels
    >>> "rbf" in list_kernels()
    True
    """
    return registry.names()


def kernel(which: str | Kernel | Callable) -> Kernel:
    """A kernel by name, with its default parameters; the kernel itself; or a function k(A, B) as a kernel."""
    if isinstance(which, Kernel):
        return which
    if isinstance(which, str):
        made = registry[which]
        if made is Custom:
            raise InvalidInput("the kernel 'custom' needs its function: pass the function itself as kernel=")
        return made()
    if callable(which):
        return Custom(which)
    raise InvalidInput(f"kernel is {which!r}; it must be a name, a Kernel or a function of two matrices")
