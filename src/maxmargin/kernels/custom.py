"""Any function k(A, B) of two matrices as a kernel; nobody can say whether it is positive semi-definite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.kernels.base import Kernel, slice_rows


@dataclass(frozen=True)
class Custom(Kernel):
    """function(A, B): the matrix of k between the rows of A and the rows of B."""

    name: ClassVar[str] = "custom"

    function: Callable

    @property
    def positive(self):
        return None

    def block(self, A, B, a2=None, b2=None):
        K = np.array(self.function(A, B), dtype=np.result_type(A.dtype, B.dtype))
        if K.shape != (A.shape[0], B.shape[0]):
            raise InvalidInput(
                f"the kernel function returned shape {K.shape} for {A.shape[0]} rows against {B.shape[0]};"
                f" it must return one value a pair"
            )
        if not np.isfinite(K).all():
            row, column = np.argwhere(~np.isfinite(K))[0]
            raise InvalidInput(f"the kernel function returned {K[row, column]} for the pair ({row}, {column})")
        return K

    def diag(self, A):
        each = [self.block(slice_rows(A, i, i + 1), slice_rows(A, i, i + 1))[0, 0] for i in range(A.shape[0])]
        return np.array(each, dtype=np.float64)
