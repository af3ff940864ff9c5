"""Linear: k(a, b) = ⟨a, b⟩; φ is the identity, and w is an ordinary vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from maxmargin.kernels.base import Kernel, dot, sqnorms
from maxmargin.numeric.row_blocks import RowBlocks


@dataclass(frozen=True)
class Linear(Kernel):
    """⟨a, b⟩: φ is the identity, and w is a vector.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Linear
    >>> Linear().block(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[11.]])
    """

    name: ClassVar[str] = "linear"
    linear: ClassVar[bool] = True

    def block(self, A, B, a2=None, b2=None):
        return dot(A, B)

    def diag(self, A):
        return A.sqnorms if isinstance(A, RowBlocks) else sqnorms(A)
