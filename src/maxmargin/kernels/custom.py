"""Any function k(A, B) of two matrices as a kernel; whether it is positive semi-definite is not known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInput
from maxmargin.kernels.base import Kernel, slice_rows
from maxmargin.numeric.parallel import blocks


@dataclass(frozen=True)
class Custom(Kernel):
    """Any function of two matrices of rows; ``Problem(kernel=function)`` makes one.

    Parameters
    ----------
    function : callable
        ``function(A, B)`` gives the matrix of k between the rows of A and the rows of B.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Custom
    >>> Custom(lambda A, B: A @ B.T + 1.0).block(np.array([[1.0]]), np.array([[2.0]]))
    array([[3.]])
    """

    name: ClassVar[str] = "custom"
    symmetric: ClassVar[bool] = False
    converts: ClassVar[bool] = False

    function: Callable

    @property
    def positive(self):
        return None

    def block(self, A, B, a2=None, b2=None):
        K = self.function(A, B)
        K = np.array(K.toarray() if sp.issparse(K) else K, dtype=np.result_type(A.dtype, B.dtype))
        if K.shape != (A.shape[0], B.shape[0]):
            raise InvalidInput(
                f"the kernel function returned shape {K.shape} for {A.shape[0]} rows against {B.shape[0]};"
                f" it must return one value per pair"
            )
        if not np.isfinite(K).all():
            row, column = np.argwhere(~np.isfinite(K))[0]
            raise InvalidInput(f"the kernel function returned {K[row, column]} for the pair ({row}, {column})")
        return K

    def diag(self, A):
        pieces = [slice_rows(A, start, stop) for start, stop in blocks(A.shape[0], 32)]
        return np.concatenate([np.diagonal(self.block(piece, piece)) for piece in pieces]).astype(np.float64)
