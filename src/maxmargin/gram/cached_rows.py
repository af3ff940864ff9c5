"""Gram: rows of K on demand, kept in a cache under a cap in bytes; K @ β without ever holding K.

Compiled loops read the cache directly (`CachedRows`): row i of K is `cache[slot[i]]`, and −1 says that it must be
fetched first. Setting ``stamp[slot[i]]`` to a growing number marks a use; `fetch` evicts the least recently used row.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from maxmargin.errors import MemoryLimit, bytes_text
from maxmargin.kernels.base import Kernel, block_width, sqnorms, take_rows
from maxmargin.numeric.parallel import over_blocks
from maxmargin.numeric.rows import Matrix, scores_of_rows

#: Columns computed at once: a block of the product stays in the processor's cache while exp runs over it.
COLUMNS = 4096
#: The size of a block in products in float64: rows, columns (a multiple of the rows), and numbers. Where there are
#: fewer columns, a block has more rows, up to that many numbers.
HEIGHT, WIDTH, BLOCK = 254, 2032, 2**18
#: Sums that are kept apart while a product is under way.
PARTS = 16


class CachedRows(NamedTuple):
    """The rows of K that are in the cache, as compiled loops take them."""

    #: The rows, in the order in which they came.
    cache: np.ndarray
    #: Where in the cache the row of each sample is; −1 where it must be fetched first.
    slot: np.ndarray
    #: When each row of the cache was last used.
    stamp: np.ndarray


def whole_rows(K: np.ndarray) -> CachedRows:
    """A matrix that is there in whole, as cached rows."""
    return CachedRows(K, np.arange(len(K)), np.zeros(len(K), np.int64))


class Gram:
    """The matrix K + offset over the rows of X, a few rows at a time."""

    def __init__(self, kernel: Kernel, X: Matrix, offset: float = 0.0, cache_bytes: float = 2.0**30) -> None:
        self.kernel = kernel
        self.X = X
        self.offset = offset
        self.cache_bytes = cache_bytes
        self.n = X.shape[0]
        self.dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
        self.diag = kernel.diag(X) + offset
        #: Whether X is the matrix itself: then it is the cache, and nothing is copied or computed.
        self.given = kernel.given and offset == 0.0
        if self.given:
            self.capacity, self.cache, self.fetched, self.whole = self.n, X, self.n, True
            self.slot = np.arange(self.n)
            self.owner = np.arange(self.n)
            self.stamp = np.zeros(self.n, np.int64)
            return
        self._sqnorms = sqnorms(X)
        self._width = block_width(X, HEIGHT, WIDTH)
        self.capacity = int(min(self.n, cache_bytes // (self.n * self.dtype.itemsize)))
        if self.capacity < min(2, self.n):
            raise MemoryLimit(
                f"two rows of the kernel matrix need {bytes_text(2 * self.n * self.dtype.itemsize)}, more than the cap"
                f" of {bytes_text(cache_bytes)}; raise cache_bytes"
            )
        # np.empty reserves addresses, not memory: pages are taken as rows arrive.
        self.cache = np.empty((self.capacity, self.n), self.dtype)
        self.slot = np.full(self.n, -1, np.int64)
        self.owner = np.full(self.capacity, -1, np.int64)
        self.stamp = np.full(self.capacity, -1, np.int64)
        self.fetched = 0
        #: Whether the cache is the whole matrix, in order.
        self.whole = False

    @property
    def rows(self) -> CachedRows:
        """The cache, for compiled loops."""
        return CachedRows(self.cache, self.slot, self.stamp)

    def fetch(self, index: np.ndarray, now: int) -> None:
        """Bring rows into the cache (at most `capacity`), over the least recently used ones."""
        self.stamp[self.slot[index[self.slot[index] >= 0]]] = now  # those that are there already must stay
        index = np.unique(index[self.slot[index] < 0])
        if index.size == 0:
            return
        slots = np.argpartition(self.stamp, index.size - 1)[: index.size]
        evicted = self.owner[slots]
        self.slot[evicted[evicted >= 0]] = -1
        if slots.size == 1:
            self._compute(index, self.cache[slots[0]][None])
        else:
            rows = np.empty((index.size, self.n), self.dtype)
            self._compute(index, rows)
            self.cache[slots] = rows
        self.slot[index] = slots
        self.owner[slots] = index
        self.stamp[slots] = now
        self.fetched += index.size

    def full(self, who: str = "this solver", instead: str = "smo") -> np.ndarray:
        """The whole matrix, if it fits the cap."""
        if self.capacity < self.n:
            needed = self.n**2 * self.dtype.itemsize
            raise MemoryLimit(
                f"{who} needs the whole kernel matrix: {bytes_text(needed)} for n={self.n}, and the cap is"
                f" {bytes_text(self.cache_bytes)}; raise cache_bytes, or use solver={instead!r}, which needs no matrix"
            )
        if not self.whole:
            self.slot[:] = self.owner[:] = np.arange(self.n)
            for start in range(0, self.n, 512):
                stop = min(start + 512, self.n)
                self._compute(np.arange(start, stop), self.cache[start:stop])
            self.stamp[:] = 0
            self.fetched = self.n
            self.whole = True
        return self.cache

    def product(self, v: np.ndarray) -> np.ndarray:
        """(K + offset) v in float64, block by block over the non-zeros of v, straight from the data."""
        out = np.empty(self.n)
        if self.kernel.given:
            over_blocks(lambda start, stop: scores_of_rows(self.X, v, start, stop, out), self.n, 2048)
            return out + self.offset * float(v.sum())
        support, others = np.flatnonzero(v), np.flatnonzero(v == 0.0)
        if not self.kernel.symmetric:
            support, others = np.empty(0, np.int64), np.arange(self.n)
        out[support] = self._square_product(support, v[support])
        out[others] = self._rows_product(others, v)
        return out + self.offset * float(v.sum())

    def product_of(self, rows: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The same for some rows only."""
        sums = self.X[rows] @ v if self.kernel.given else self._rows_product(rows, v)
        return sums + self.offset * float(v.sum())

    def product_among(self, support: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The rows `support` of it, which are the only ones that v has numbers for: half the kernel values suffice."""
        if self.kernel.given or not self.kernel.symmetric:
            return self.product_of(support, v)
        return self._square_product(support, v[support]) + self.offset * float(v.sum())

    def _rows_product(self, rows: np.ndarray, v: np.ndarray) -> np.ndarray:
        out, columns = np.zeros(rows.size), np.flatnonzero(v)
        for first in range(0, columns.size, self._width):
            part = columns[first : first + self._width]
            values = self.kernel.against(self.X, part, self._sqnorms, np.float64)
            height = max(HEIGHT, BLOCK // part.size)
            over_blocks(partial(_add_product, values, rows, v[part], out), rows.size, height)
        return out

    def _square_product(self, index: np.ndarray, v: np.ndarray) -> np.ndarray:
        """K[index, index] v: a block above the diagonal serves its mirror image too, so half of them are computed."""
        sums = np.zeros((PARTS, index.size))  # a fixed share of the blocks adds to each, whatever the number of threads

        def add_columns(start: int, stop: int) -> None:
            above = self.kernel.against(self.X, index[start:stop], self._sqnorms, np.float64) if start else None

            def add(part: int, _: int) -> None:
                for first in range(part * HEIGHT, stop, PARTS * HEIGHT):
                    last, left = min(first + HEIGHT, stop), max(first, start)
                    if above is not None and last <= start:
                        block = above(index[first:last])
                    else:  # on the diagonal
                        block = self._block(index[first:last], index[left:stop])
                    sums[part, first:last] += block @ v[left:stop]
                    beyond = max(left, last)
                    sums[part, beyond:stop] += v[first:last] @ block[:, beyond - left :]

            over_blocks(add, PARTS, 1)

        for start in range(0, index.size, self._width):
            add_columns(start, min(start + self._width, index.size))
        return sums.sum(axis=0)

    def _block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        A, B = (take_rows(self.X, index).astype(np.float64, copy=False) for index in (rows, columns))
        return self.kernel.block(A, B, self._sqnorms[rows], self._sqnorms[columns])

    def _compute(self, index: np.ndarray, out: np.ndarray) -> None:
        def fill(start: int, stop: int) -> None:
            out[:, start:stop] = self.kernel.rows(self.X, index, self._sqnorms, start, stop)

        over_blocks(fill, self.n, COLUMNS)
        if self.offset:
            out += self.offset


def _add_product(
    values: Callable[[np.ndarray], np.ndarray],
    rows: np.ndarray,
    weights: np.ndarray,
    out: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """Add the product of some columns of K with their weights, for rows[start:stop]."""
    out[start:stop] += values(rows[start:stop]) @ weights
