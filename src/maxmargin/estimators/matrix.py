"""The kernel matrix that the problems of a fit or a search share, and the blocks of it that they work on."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.compiled import compiled
from maxmargin.errors import InvalidInput
from maxmargin.kernels import Gram, Kernel


def shared_matrix(kernel: Kernel, X: Any, cache_bytes: float) -> np.ndarray:
    """The kernel matrix of all rows, in their precision."""
    matrix = Gram(kernel, X, cache_bytes=cache_bytes).full()
    if not np.isfinite(matrix.min()) or not np.isfinite(matrix.max()):
        raise InvalidInput(f"the kernel {kernel.name!r} overflows on this data: scale the features down")
    return matrix


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
