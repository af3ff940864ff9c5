"""ActiveSquare: the square of K over the active samples, all of it at hand; and scores from any samples to any others.

The square is symmetric, so half of it is computed and written twice. It is float32 unless the whole K is small:
what rounding leaves is removed by recomputing the scores in float64 (see `solvers/kernel/working_set_scores.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import MemoryLimit, bytes_text
from maxmargin.kernels.base import Kernel, block_width, sqnorms
from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.parallel import over_blocks

#: A block of K that is computed at once: it stays in the processor's cache while exp runs over it. Its width is no
#: power of two: the numbers of a column would all fall into the same few places of the cache.
ROWS, COLUMNS = 512, 2032
#: Rows of a block on the diagonal, of which only one half is needed; and rows that are moved at once.
FEWER = 256
#: A whole matrix up to this size is kept in float64.
SMALL = 2.0**27


class ActiveSquare:
    """K + offset over the samples `index`, as `K[:m, :m]`.

    Its rows lie close together, and move apart when it grows: memory that is not touched yet is not taken yet.
    """

    def __init__(self, kernel: Kernel, X: Any, offset: float, cache_bytes: float) -> None:
        self.kernel = kernel
        self.offset = offset
        n = X.shape[0]
        double = n * n * 8 <= min(cache_bytes, SMALL)
        self.dtype = np.dtype(np.float64 if double else np.float32)
        self.a2 = sqnorms(X)
        self.width = block_width(X, COLUMNS // 8, COLUMNS)
        self.X = X.astype(self.dtype, copy=False) if kernel.converts else X
        copied = 0 if self.X is X else self.dtype.itemsize * (X.nnz if sp.issparse(X) else X.size)
        self.room = cache_bytes - copied
        self.K = np.empty((0, 0), self.dtype)
        self.capacity = self._fitting(n)
        if self.capacity < min(n, 64):
            raise MemoryLimit(
                f"the kernel values of 64 active samples do not fit the cap of {bytes_text(cache_bytes)};"
                f" raise cache_bytes, or use solver='smo'"
            )
        self._numbers = np.empty(self.capacity * _row_length(self.capacity), self.dtype)
        self.index = np.empty(0, np.int64)
        self.evaluated = 0

    def _fitting(self, most: int) -> int:
        numbers = max(0, int(self.room) // self.dtype.itemsize)
        return min(most, isqrt(numbers), numbers // max(1, self.K.shape[1]))

    def leave(self, share: float) -> int:
        """Give up a share of the memory that is not in use, for another cache; returns it in bytes."""
        left = int(share * max(0.0, self.room - self.dtype.itemsize * self.size * self.K.shape[1]))
        self.room -= left
        self.capacity = self._fitting(self.capacity)
        return left

    @property
    def size(self) -> int:
        """The number of active samples."""
        return len(self.index)

    def extend(self, samples: np.ndarray) -> None:
        """Make samples active: their rows and columns are computed, side by side."""
        if not samples.size:
            return
        old, self.index = self.size, np.concatenate([self.index, samples])
        if self.size > self.K.shape[1]:
            length = _row_length(min(self.size + self.size // 8, self.capacity))
            wider = self._numbers[: self.capacity * length].reshape(self.capacity, length)
            _spread(self.K, wider, old)
            self.K = wider
        for start in range(0, self.size, self.width):
            self._fill(old, start, min(start + self.width, self.size))
        self.evaluated += self.size * len(samples)

    def _fill(self, old: int, start: int, stop: int) -> None:
        """The columns from start to stop of all new rows down from the diagonal, and their mirror images."""
        top = max(old, start)
        below = self.against(self.index[start:stop]) if self.size > stop else None

        def fill(first: int, last: int) -> None:
            first, last = top + first, top + last
            if below is not None and first >= stop:
                block = below(self.index[first:last])
            else:  # on the diagonal
                block = self.between(self.index[first:last], self.index[start : min(stop, last)])
            _write(block, self.K, first, start)

        over_blocks(fill, self.size - top, FEWER)

    def keep(self, mask: np.ndarray) -> None:
        """Let go of the active samples where the mask is False; the last of those that stay move to their places."""
        staying = np.flatnonzero(mask)
        gaps = np.flatnonzero(~mask[: staying.size])
        last = staying[staying.size - gaps.size :]
        over_blocks(lambda i, j: _move_columns(self.K, staying[i:j], last, gaps), staying.size, FEWER)
        over_blocks(lambda i, j: _move_rows(self.K, last[i:j], gaps[i:j], staying.size), gaps.size, FEWER)
        index = self.index[: staying.size].copy()
        index[gaps] = self.index[last]
        self.index = index

    def between(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Any rows and columns of K + offset."""
        return self._with_offset(self.kernel.between(self.X, rows, columns, self.a2))

    def against(self, columns: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """Blocks of K + offset with these columns, for any rows."""
        values = self.kernel.against(self.X, columns, self.a2, self.X.dtype)
        return lambda rows: self._with_offset(values(rows))

    def _with_offset(self, block: np.ndarray) -> np.ndarray:
        if self.offset:
            block += block.dtype.type(self.offset)
        return block

    def scores(self, rows: np.ndarray, columns: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Σ_j K_ij weights_j for the given rows: products in the square's precision, their sums in float64."""
        out = np.zeros(len(rows))
        for first in range(0, len(columns), self.width):
            part = slice(first, first + self.width)
            self._add_scores(rows, columns[part], weights[part], out)
        self.evaluated += len(rows) * len(columns)
        return out

    def _add_scores(self, rows: np.ndarray, columns: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
        values = self.against(columns)

        def add(start: int, stop: int) -> None:
            block = values(rows[start:stop])
            out[start:stop] += block @ weights.astype(block.dtype)

        over_blocks(add, len(rows), ROWS)


def _row_length(size: int) -> int:
    """The length of a row with room for `size` numbers; no power of two, as for COLUMNS."""
    return size // 32 * 32 + 48


@compiled
def _spread(K, wider, m):
    """Move the first m rows and columns of K to `wider`, which begins where K does: from the last one on."""
    for i in range(m - 1, -1, -1):
        source, row = K[i], wider[i]
        for j in range(m - 1, -1, -1):
            row[j] = source[j]


@compiled
def _write(block, K, first, start):
    """A block of rows from `first` and columns from `start`, and its mirror image: each column is a row there."""
    for i in range(block.shape[0]):
        K[first + i, start : start + block.shape[1]] = block[i]
    for j in range(block.shape[1]):
        image = K[start + j]
        for i in range(block.shape[0]):
            image[first + i] = block[i, j]


@compiled
def _move_columns(K, rows, sources, targets):
    """In these rows of K: what is in the columns `sources` goes to the columns `targets`."""
    for i in rows:
        row = K[i]
        for a in range(len(sources)):
            row[targets[a]] = row[sources[a]]


@compiled
def _move_rows(K, sources, targets, length):
    """The first `length` numbers of the rows `sources` go to the rows `targets`."""
    for a in range(len(sources)):
        K[targets[a], :length] = K[sources[a], :length]
