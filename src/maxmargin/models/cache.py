"""A data file as blocks on disk in binary form: parsed once, read again and again, one block in memory at a time.

A block is some rows: their targets, and a CSR matrix or a dense one. The cache is a temporary file without a name of
its own, so that nothing is left behind whatever happens.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from maxmargin.data.dataset import Data
from maxmargin.errors import InvalidInput

#: A block is as many rows as fill so many bytes.
BLOCK_BYTES = 2**25


@dataclass(frozen=True)
class Place:
    """Where a block is in the cache, and which rows it holds."""

    offset: int
    first: int
    rows: int
    columns: int
    #: The number of stored values of a sparse block; −1 for a dense one.
    stored: int


class Cache:
    """The blocks of a data file, in their order."""

    def __init__(self, folder: str | None = None) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)
        self.places: list[Place] = []
        self.n = self.columns = 0
        #: The largest |x| of each column.
        self.largest = np.zeros(0)

    def close(self) -> None:
        """Give the disk back."""
        self._file.close()

    def fill(self, parts: Iterable[Data]) -> Iterator[np.ndarray | None]:
        """Write all parts, and give the labels of each as it is written."""
        waiting: list[Data] = []
        size = 0.0
        for part in parts:
            yield part.y
            waiting.append(part)
            size += 12.0 * part.X.nnz + 16.0 * part.n if sp.issparse(part.X) else 8.0 * part.X.size
            if size >= BLOCK_BYTES:
                self._write(waiting)
                waiting, size = [], 0.0
        if waiting:
            self._write(waiting)

    def _write(self, parts: list[Data]) -> None:
        width = max(part.X.shape[1] for part in parts)
        self.columns = max(self.columns, width)
        self.largest = np.pad(self.largest, (0, self.columns - len(self.largest)))
        offset = self._file.tell()
        rows = sum(part.n for part in parts)
        stored = -1
        if sp.issparse(parts[0].X):
            stored = sum(part.X.nnz for part in parts)
            lengths = np.concatenate([np.diff(part.X.indptr) for part in parts])
            np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).tofile(self._file)
            for part in parts:
                part.X.indices.astype(np.int32).tofile(self._file)
                np.maximum.at(self.largest, part.X.indices, np.abs(part.X.data))
            for part in parts:
                part.X.data.astype(np.float64).tofile(self._file)
        else:
            for part in parts:
                np.ascontiguousarray(part.X, dtype=np.float64).tofile(self._file)
                np.maximum(self.largest, np.abs(part.X).max(axis=0), out=self.largest)
        self.places.append(Place(offset, self.n, rows, width, stored))
        self.n += rows

    def block(self, place: Place, factor: np.ndarray | None = None) -> Any:
        """The rows of one block, scaled by `factor` where it is given."""
        self._file.seek(place.offset)
        if place.stored < 0:
            X = self._read(np.float64, place.rows * place.columns).reshape(place.rows, place.columns)
            return X if factor is None else X * factor
        indptr = self._read(np.int64, place.rows + 1)
        indices = self._read(np.int32, place.stored)
        data = self._read(np.float64, place.stored)
        if factor is not None:
            data *= factor[indices]
        return sp.csr_array((data, indices, indptr), shape=(place.rows, self.columns), copy=False)

    def _read(self, dtype: type, count: int) -> np.ndarray:
        found: np.ndarray = np.fromfile(self._file, dtype, count)
        if len(found) != count:
            raise InvalidInput("the cache of the data was cut short: is the disk full?")
        return found
