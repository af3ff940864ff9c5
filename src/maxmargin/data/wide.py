"""Sparse rows as dense ones, for formats that write zeros out: some at a time, and not out of all proportion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import scipy.sparse as sp

from maxmargin.data.dataset import Data
from maxmargin.errors import InvalidInput, bytes_text
from maxmargin.numeric.sparse_columns import MOST_WEIGHTS, WEIGHTS_PER_ENTRY

#: A dense file may have up to 1 GB where it is asked for.
MOST_DENSE = 2**27


def check_dense(rows: int, columns: int, entries: int, instead: str) -> None:
    """Refuse to fill a sparse matrix up with zeros where that is out of all proportion to its entries."""
    if rows * columns > (MOST_WEIGHTS if rows == 1 else MOST_DENSE) + 10 * WEIGHTS_PER_ENTRY * entries:
        raise InvalidInput(
            f"{rows} rows of {columns} columns are {bytes_text(8.0 * rows * columns)} when zeros are written out, but"
            f" there are only {entries} entries: {instead}"
        )


def dense_parts(part: Data) -> Iterator[Data]:
    """The rows of a block as dense ones, as many at a time as fit some memory."""
    if not sp.issparse(part.X):
        yield part
        return
    rows, columns = part.X.shape
    check_dense(1, columns, part.X.nnz, "write svmlight or .npz, which keep it sparse")
    step = max(1, MOST_WEIGHTS // (2 * columns))
    for start in range(0, rows, step):
        some = slice(start, start + step)
        yield replace(part, X=part.X[some].toarray(), y=None if part.y is None else part.y[some])
