"""A data file as blocks on disk in binary form: parsed once, read again and again, one block in memory at a time.

A block is some rows: their targets, and a CSR matrix or a dense one. The cache is a temporary file without a name of
its own, so that nothing is left behind whatever happens.
"""

from __future__ import annotations

import errno
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
        try:
            self._folder = folder or tempfile.gettempdir()
            self._file: IO[bytes] = tempfile.TemporaryFile(buffering=0, dir=self._folder)
        except OSError as error:
            raise _full(folder, error) from None
        self.places: list[Place] = []
        self.n = self.columns = 0
        #: The number of stored values; −1 for dense rows.
        self.entries = 0

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
        offset = self._file.tell()
        rows = sum(part.n for part in parts)
        stored = -1
        if sp.issparse(parts[0].X):
            stored = sum(part.X.nnz for part in parts)
            self.entries += stored
            lengths = np.concatenate([np.diff(part.X.indptr) for part in parts])
            self._put(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))
            for part in parts:
                self._put(part.X.indices.astype(np.int32))
            for part in parts:
                self._put(part.X.data.astype(np.float64))
        else:
            self.entries = -1
            for part in parts:
                self._put(np.ascontiguousarray(part.X, dtype=np.float64))
        self.places.append(Place(offset, self.n, rows, width, stored))
        self.n += rows

    def _put(self, array: np.ndarray) -> None:
        try:
            rest = memoryview(array.data.cast("B") if array.size else b"")
            while len(rest):
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            raise _full(self._folder, error) from None

    @property
    def largest(self) -> np.ndarray:
        """The largest |x| of each column: one pass over the blocks."""
        found = np.zeros(self.columns)
        for place in self.places:
            X = self.block(place)
            if sp.issparse(X):
                np.maximum.at(found, X.indices, np.abs(X.data))
            else:
                np.maximum(found[: X.shape[1]], np.abs(X).max(axis=0), out=found[: X.shape[1]])
        return found

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
            raise _full(self._folder, OSError(errno.EIO, "it was cut short"))
        return found


def _full(folder: str | None, error: OSError) -> InvalidInput:
    """The sentence for a cache that cannot be written."""
    where = "" if folder is None else f" in {folder}"
    return InvalidInput(
        f"the parsed data cannot be kept{where}: {error.strerror or error};"
        f" set TMPDIR to a folder with as much room as the data file needs"
    )
