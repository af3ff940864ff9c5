"""Scaling of features, learnt on the training rows and stored with the model: x ← (x − shift)·factor by column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInput, bytes_text
from maxmargin.numeric.sparse_columns import check_width

Kind = Literal["standard", "min-max", "max-abs"]

#: A sparse matrix may become a dense one that is so many bytes, or so many times larger than itself.
SMALL, LARGER = 2**26, 4.0


@dataclass(frozen=True, eq=False)
class Scaling:
    """Standard: mean 0 and deviation 1; min-max: onto [0, 1]; max-abs: into [−1, 1], zeros stay zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.data import scaling
    >>> learnt = scaling("min-max", np.array([[1.0], [3.0]]))
    >>> learnt.kind, learnt.apply(np.array([[2.0]]))
    ('min-max', array([[0.5]]))
    """

    kind: Kind
    #: What is taken off each column; None where zeros must stay zeros.
    shift: np.ndarray | None
    factor: np.ndarray

    def apply(self, X: Any) -> Any:
        """The scaled rows; X itself stays as it is."""
        if X.shape[1] != len(self.factor):
            raise InvalidInput(f"the rows have {X.shape[1]} columns; the scaling was learnt on {len(self.factor)}")
        if sp.issparse(X):
            if self.shift is not None:
                X = X.toarray()
            else:
                data = X.data * self.factor[X.indices]
                return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)
        return (X if self.shift is None else X - self.shift) * self.factor


def scaling(kind: str, X: Any) -> Scaling:
    """Learn a scaling from the training rows; a constant column is left with factor 1.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.data import scaling
    >>> scaling("standard", np.array([[1.0], [3.0]])).apply(np.array([[5.0]]))
    array([[3.]])
    """
    if kind not in get_args(Kind):
        raise InvalidInput(f"there is no scaling {kind!r}; there are: {', '.join(get_args(Kind))}")
    if sp.issparse(X):
        check_width(X.shape[1], 1, X.nnz, "a scaling")
    if kind == "max-abs":
        return Scaling("max-abs", None, _inverse(_largest(X)))
    if sp.issparse(X):
        dense, stored = 8.0 * X.shape[0] * X.shape[1], 12.0 * X.nnz
        if dense > max(SMALL, LARGER * stored):
            raise InvalidInput(
                f"scaling {kind!r} would fill a sparse matrix with non-zeros, {bytes_text(dense)} instead of"
                f" {bytes_text(stored)}: use max-abs"
            )
        X = X.toarray()  # what is absent is the 0 that it stands for
    if kind == "standard":
        with np.errstate(over="ignore", invalid="ignore"):  # `_inverse` says where
            mean, deviation = X.mean(axis=0), X.std(axis=0)
        # A constant column's deviation is rounding, not spread.
        deviation[deviation <= 1e-14 * np.abs(mean)] = 0.0
        return Scaling("standard", mean, _inverse(deviation))
    low = X.min(axis=0)
    with np.errstate(over="ignore"):
        spread = X.max(axis=0) - low
    return Scaling("min-max", low, _inverse(spread))


def _largest(X: Any) -> np.ndarray:
    """The largest |x| of each column."""
    if not sp.issparse(X):
        return np.maximum(X.max(axis=0), -X.min(axis=0))
    largest = np.zeros(X.shape[1])
    np.maximum.at(largest, X.indices, np.abs(X.data))
    return largest


def _inverse(spread: np.ndarray) -> np.ndarray:
    if not np.isfinite(spread).all():
        column = int(np.argmin(np.isfinite(spread)))
        raise InvalidInput(f"the spread of column {column + 1} overflows: divide its values by a constant")
    return np.divide(1.0, spread, out=np.ones(len(spread)), where=spread > 0)
