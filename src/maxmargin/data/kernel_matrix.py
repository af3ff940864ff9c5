"""Kernel values in data files: a matrix of any format, or LIBSVM's lines ``label 0:serial 1:K(x,x₁) 2:K(x,x₂) ...``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from maxmargin.data.dataset import Data
from maxmargin.errors import InvalidInput


def square(rows: Data) -> Data:
    """Training data as a dense matrix of kernel values, one column for each row.

    Parameters
    ----------
    rows : Data
        What was read. Where the indices of an svmlight file begin at 0, entry 0 is the number of the row.

    Returns
    -------
    Data
        The same with X of shape (n, n).
    """
    X, n = rows.X, rows.n
    if sp.issparse(X):
        if rows.zero_based:
            wrong = np.flatnonzero(_serials(X) != np.arange(1, n + 1))
            if wrong.size:
                raise InvalidInput(
                    f"{rows.source}: row {wrong[0] + 1} should have the entry 0:{wrong[0] + 1}; number the rows of a"
                    " precomputed kernel from 1, in their order"
                )
            X = X[:, 1:]
            if X.shape[1] < n:  # values that are 0 may be left out, also the last ones
                X = sp.csr_array((X.data, X.indices, X.indptr), shape=(n, n))
        X = X.toarray() if X.shape[1] == n else X
    if X.shape[1] != n:
        raise InvalidInput(
            f"{rows.source} has {n} rows and {X.shape[1]} columns; a precomputed kernel has one column for each row"
        )
    return replace(rows, X=X)


def against_training_rows(parts: Iterable[Data]) -> Iterator[Data]:
    """Rows of kernel values to predict with, in LIBSVM's lines: entry 0, a number that nothing depends on, goes."""
    for part in parts:
        if not _serials(part.X).all():
            raise InvalidInput(
                f"{part.source}: every line of a precomputed kernel needs an entry 0:serial, as in training"
            )
        yield replace(part, X=part.X[:, 1:])


def _serials(X: sp.csr_array) -> np.ndarray:
    return X[:, [0]].toarray().ravel()
