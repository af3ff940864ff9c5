"""A data file as blocks on disk in binary form: parsed once, read again and again, a few blocks in memory at a time.

A block is some rows, as a CSR matrix or a dense one. The cache is a temporary file without a name of its own, so that
nothing is left behind whatever happens. A block that is asked for is mapped into memory: what the page cache still
has of it is not copied, and of a block of which few rows are needed only those are read.
"""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from maxmargin.data.dataset import Data
from maxmargin.errors import InvalidInput
from maxmargin.numeric.row_blocks import Place, RowBlocks
from maxmargin.problem.validation import check_rows

#: A block is as many rows as fill so many bytes.
BLOCK_BYTES = 2**23


@dataclass(frozen=True)
class Stored(Place):
    """Where a block is in the file."""

    offset: int
    columns: int
    #: The number of stored values of a sparse block; −1 for a dense one.
    stored: int
    dtype: np.dtype

    @property
    def shape_of_arrays(self) -> tuple[tuple[np.dtype, int], ...]:
        """The arrays of the block, one behind the other, those of the longest numbers first."""
        if self.stored < 0:
            return ((self.dtype, self.rows * self.columns),)
        index = np.dtype(np.int32)
        return (self.dtype, self.stored), (index, self.stored), (index, self.rows + 1)

    @property
    def size(self) -> int:
        """The bytes of the block."""
        return sum(dtype.itemsize * count for dtype, count in self.shape_of_arrays)


class Cache(RowBlocks):
    """The blocks of a data file, in their order."""

    def __init__(
        self, folder: str | None = None, watch: Callable[[], None] = lambda: None, widened: bool = False
    ) -> None:
        """`watch` is called before each block that is read: it may raise to break off whoever reads.

        float32 stays float32 unless it is to be `widened`, as blocks that will be scaled must be.
        """
        try:
            self._folder = folder or tempfile.gettempdir()
            self._file: IO[bytes] = tempfile.TemporaryFile(buffering=0, dir=self._folder)
        except OSError as error:
            raise _full(folder, error) from None
        self.watch, self.widened = watch, widened
        self.places: list[Stored] = []
        self.n = self.columns = self.entries = 0
        self.sparse, self.dtype = False, np.dtype(np.float32)

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """The rows and columns of all blocks."""
        return self.n, self.columns

    def close(self) -> None:
        """Give the disk back."""
        self._file.close()

    def fill(self, parts: Iterable[Data]) -> Iterator[np.ndarray | None]:
        """Write all parts, and give the labels of each as it is written."""
        waiting: list[Any] = []
        size, n = 0.0, 0
        for part in parts:
            yield part.y
            X = check_rows(part.X, f"X[{n}:]") if part.n else part.X
            waiting.append(X)
            n += part.n
            size += 12.0 * X.nnz + 16.0 * part.n if sp.issparse(X) else 8.0 * X.size
            if size >= BLOCK_BYTES:
                self._write(waiting)
                waiting, size = [], 0.0
        if waiting:
            self._write(waiting)

    def _write(self, parts: list[Any]) -> None:
        rows, width = sum(X.shape[0] for X in parts), max(X.shape[1] for X in parts)
        dtype = np.result_type(*(X.dtype for X in parts), np.float64 if self.widened else np.float32)
        self.sparse = sp.issparse(parts[0])
        stored = sum(X.nnz for X in parts) if self.sparse else -1
        place = Stored(self.n, rows, self._aligned(), width, stored, dtype)
        if self.sparse:
            lengths = np.concatenate([[0], *(np.diff(X.indptr) for X in parts)])
            self._put(np.concatenate([X.data for X in parts]).astype(dtype, copy=False))
            self._put(np.concatenate([X.indices for X in parts]).astype(np.int32, copy=False))
            self._put(np.cumsum(lengths).astype(np.int32))
        else:
            for X in parts:
                self._put(np.ascontiguousarray(X, dtype=dtype))
        self.places.append(place)
        self.n += rows
        self.columns = max(self.columns, width)
        self.entries += stored if self.sparse else rows * width
        self.dtype = np.result_type(self.dtype, dtype)

    def _aligned(self) -> int:
        """The end of the file, moved on to where a mapping may begin."""
        end = self._file.seek(0, os.SEEK_END)
        return self._file.seek(-(-end // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY)

    def _put(self, array: np.ndarray) -> None:
        try:
            rest = memoryview(array.data.cast("B") if array.size else b"")
            while len(rest):
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            raise _full(self._folder, error) from None

    def scale(self, factor: np.ndarray) -> None:
        """Multiply each column by its factor, for good."""
        assert self.dtype == np.float64, "scaled rows are float64, as in memory"
        for place in self.places:
            X = self.block(place)
            self._file.seek(place.offset)
            self._put(X.data * factor[X.indices] if self.sparse else X * factor[: place.columns])
        for known in ("sqnorms", "largest"):
            self.__dict__.pop(known, None)

    def block(self, place: Place) -> Any:
        """The rows of one block."""
        self.watch()
        assert isinstance(place, Stored)
        arrays = self._arrays(place)
        if place.stored < 0:
            return arrays[0].reshape(place.rows, place.columns)
        data, indices, indptr = arrays
        return sp.csr_array((data, indices, indptr), shape=(place.rows, self.columns), copy=False)

    def _arrays(self, place: Stored) -> list[np.ndarray]:
        try:
            if os.fstat(self._file.fileno()).st_size < place.offset + place.size:
                raise OSError(errno.EIO, "it was cut short")
            # Private, so that the arrays are of the kind that compiled code knows: they can be written to.
            mapped = mmap.mmap(self._file.fileno(), place.size, access=mmap.ACCESS_COPY, offset=place.offset)
        except OSError as error:
            raise _full(self._folder, error) from None
        found, offset = [], 0
        for dtype, count in place.shape_of_arrays:
            found.append(np.frombuffer(mapped, dtype, count, offset))
            offset += dtype.itemsize * count
        return found


def _full(folder: str | None, error: OSError) -> InvalidInput:
    """The sentence for a cache that cannot be written."""
    where = "" if folder is None else f" in {folder}"
    return InvalidInput(
        f"the parsed data cannot be kept{where}: {error.strerror or error};"
        f" set TMPDIR to a folder with as much room as the data file needs"
    )
