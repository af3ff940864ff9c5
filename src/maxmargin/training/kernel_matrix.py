"""The kernel matrix that the problems of a fit or a search share, and the blocks of it that they work on."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInput
from maxmargin.gram import Gram
from maxmargin.kernels import Kernel, Precomputed
from maxmargin.kernels.base import sqnorms
from maxmargin.numeric.compiled import compiled
from maxmargin.solvers.base import whole_matrix


def shared_matrix(kernel: Kernel, X: Any, cache_bytes: float) -> np.ndarray:
    """The kernel matrix of all rows in float64: what is proved of its problems must hold for the rows."""
    matrix = whole_matrix(Gram(kernel, X.astype(np.float64, copy=False), cache_bytes=cache_bytes))
    if not np.isfinite(matrix.min()) or not np.isfinite(matrix.max()):
        raise InvalidInput(f"the kernel {kernel.name!r} overflows on this data: scale the features down")
    return matrix


def shared_kernel(kernel: Kernel, X: Any) -> Precomputed:
    """The matrix of these rows as a kernel, with a bound on the rounding of its values."""
    longest = float(sqnorms(X).max(initial=0.0))
    width = int(np.diff(X.indptr).max(initial=0)) if sp.issparse(X) else X.shape[1]
    return Precomputed(source=kernel, error=kernel.rounding(width, longest)[0])


def block_of(matrix: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The given rows and columns of a matrix, copied without holding up other threads."""
    block = np.empty((len(rows), len(columns)), matrix.dtype)
    _copy(matrix, rows, columns, block)
    return block


@compiled
def _copy(matrix, rows, columns, block):
    for a in range(len(rows)):
        row = matrix[rows[a]]
        for b in range(len(columns)):
            block[a, b] = row[columns[b]]
