"""Rows that are not in memory all at once: blocks of them, each of which can be had when it is needed.

A linear problem takes such rows as its X. Whoever needs no more than sums over the rows (Newton's method, the
certificate) goes over the blocks (`BlockedSpace` in `space.py`); rows drawn at random come into memory by ``X[rows]``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.numeric.rows import rows_of, sqnorms_of_rows


@dataclass(frozen=True)
class Place:
    """Which rows a block holds."""

    first: int
    rows: int

    @property
    def part(self) -> slice:
        """The block's samples among all."""
        return slice(self.first, self.first + self.rows)


class RowBlocks(ABC):
    """A matrix of n rows in blocks, dense or CSR, whose values have been checked."""

    #: The blocks in their order.
    places: Sequence[Place]
    shape: tuple[int, int]
    dtype: np.dtype
    #: Whether the blocks are CSR matrices.
    sparse: bool
    #: The number of stored values.
    entries: int

    @abstractmethod
    def block(self, place: Place) -> Any:
        """The rows of one block: an array or a CSR matrix. It may be asked for by several threads at once."""

    def __getitem__(self, rows: np.ndarray | slice) -> Any:
        """Some rows in memory, those of an array in its order, which must not fall."""
        some = np.arange(self.shape[0])[rows]
        found = []
        for place in self.places:
            start, stop = np.searchsorted(some, (place.first, place.first + place.rows))
            if start < stop:
                found.append(self.block(place)[some[start:stop] - place.first])
        if not found:
            return np.empty((0, self.shape[1]), self.dtype)
        return sp.vstack(found, format="csr") if self.sparse else np.concatenate(found)

    def mapped(self, function: Callable[[np.ndarray], np.ndarray]) -> RowBlocks:
        """The same blocks as dense float64 arrays, each with a function applied to it."""
        return _Mapped(self, function)

    @cached_property
    def sqnorms(self) -> np.ndarray:
        """‖x_i‖² of every row: one pass over the blocks."""
        out = np.empty(self.shape[0])
        for place in self.places:
            sqnorms_of_rows(rows_of(self.block(place)), 0, place.rows, out[place.part])
        return out

    @cached_property
    def width(self) -> int:
        """The most entries of a row."""
        if not self.sparse:
            return self.shape[1]
        return max(int(np.diff(self.block(place).indptr).max(initial=0)) for place in self.places)

    @cached_property
    def largest(self) -> np.ndarray:
        """The largest |x| of each column: one pass over the blocks."""
        found = np.zeros(self.shape[1])
        for place in self.places:
            X = self.block(place)
            if self.sparse:
                np.maximum.at(found, X.indices, np.abs(X.data))
            else:
                np.maximum(found, np.abs(X).max(axis=0), out=found)
        return found

    def mean(self) -> np.ndarray:
        """The mean row."""
        total = np.zeros(self.shape[1])
        for place in self.places:
            total += self.block(place).sum(axis=0, dtype=np.float64)
        return total / self.shape[0]


class _Mapped(RowBlocks):
    """Blocks with a function applied to each."""

    def __init__(self, blocks: RowBlocks, function: Callable[[np.ndarray], np.ndarray]) -> None:
        self.blocks, self.function = blocks, function
        self.places, self.shape = blocks.places, blocks.shape
        self.dtype, self.sparse = np.dtype(np.float64), False
        self.entries = self.shape[0] * self.shape[1]

    def block(self, place: Place) -> np.ndarray:
        X = self.blocks.block(place)
        dense = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
        return np.ascontiguousarray(self.function(dense))
