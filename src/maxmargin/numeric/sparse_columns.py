"""The columns of sparse rows: memory goes by the number of entries, never by the largest index.

A kernel sees only columns that rows have, so the others can be left out. A linear model has a weight for every column:
where there would be far more weights than entries, it is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInput, bytes_text

#: So many columns are no burden, however few entries there are.
FEW = 2**20
#: Numbers that may be allocated for empty columns: 128 MB, and this many more per entry of the data.
MOST_WEIGHTS, WEIGHTS_PER_ENTRY = 2**24, 10


def check_width(columns: int, machines: int, entries: int, what: str = "a linear model") -> None:
    """Refuse what has a number for every column where that is out of all proportion to the entries of the data."""
    if machines * columns > MOST_WEIGHTS + WEIGHTS_PER_ENTRY * entries:
        raise InvalidInput(
            f"{what} of {columns} columns needs {bytes_text(8.0 * machines * columns)}, but there are only {entries}"
            f" entries: number the features from 1 without large gaps"
        )


def mostly_empty(width: int, entries: int) -> bool:
    """Whether there are so few entries that the columns with entries are better numbered anew."""
    return width > FEW and width > 4 * entries


def occurring(X: Any) -> np.ndarray:
    """The columns that have entries, in their order; the first one where there are none at all."""
    columns = np.unique(X.indices)
    return columns if columns.size else np.zeros(1, np.int64)


def narrowed(X: Any, columns: np.ndarray) -> Any:
    """The same rows with these columns only (sorted); entries of other columns become zeros."""
    place = np.searchsorted(columns, X.indices)
    place[place == len(columns)] = 0
    known = columns[place] == X.indices
    data = X.data
    if not known.all():
        data, place = np.where(known, data, 0).astype(data.dtype), np.where(known, place, 0)
    return sp.csr_array((data, place.astype(np.int32), X.indptr), shape=(X.shape[0], len(columns)), copy=False)
