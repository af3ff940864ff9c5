"""Rows of the oracle: dense arrays or CSR, and the products that linear problems need."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def rows_of(X: Any, index: Any) -> Any:
    """Some of the rows."""
    return X[np.asarray(index)]


def equal(A: Any, B: Any) -> bool:
    """Whether both hold the same rows."""
    if A.shape != B.shape or sp.issparse(A) != sp.issparse(B):
        return False
    return (A != B).nnz == 0 if sp.issparse(A) else np.array_equal(A, B)


def with_sorted_indices(X: Any) -> Any:
    """The same rows, the entries of each in the order of their columns."""
    return X.sorted_indices() if sp.issparse(X) and not X.has_sorted_indices else X


def columns_in_use(A: Any, B: Any) -> tuple[np.ndarray, np.ndarray]:
    """Dense rows without the columns that are 0 in both, which add nothing to any kernel."""
    if not sp.issparse(A):
        return A, B.toarray() if sp.issparse(B) else B
    if not sp.issparse(B):
        return A.toarray(), B
    used = np.unique(np.concatenate([A.indices, B.indices]))
    few = (
        sp.csr_array((Z.data, np.searchsorted(used, Z.indices), Z.indptr), shape=(Z.shape[0], len(used)))
        for Z in (A, B)
    )
    return tuple(Z.toarray() for Z in few)


def scored(numbers: Any, rows: Any, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """⟨w, x⟩ for all rows, and a bound of the rounding."""
    if not sp.issparse(rows):
        A = numbers.of(rows)
        return A @ w, (A.shape[1] + 2) * numbers.unit * (np.abs(A) @ np.abs(w))
    terms = numbers.of(rows.data) * w[rows.indices]
    counts = np.diff(rows.indptr)
    s, size = (by_row(numbers, values, rows.indptr) for values in (terms, np.abs(terms)))
    return s, (int(counts.max(initial=0)) + 2) * numbers.unit * size


def by_row(numbers: Any, values: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """The sum of each row's entries."""
    out = numbers.of(np.zeros(len(indptr) - 1))
    filled = np.flatnonzero(np.diff(indptr))
    if filled.size:
        out[filled] = np.add.reduceat(values, indptr[filled])
    return out


def combined(numbers: Any, rows: Any, u: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Σ u_i x_i, and Σ |u_i||x_i| to bound its rounding by."""
    if not sp.issparse(rows):
        A = numbers.of(rows)
        return u @ A, np.abs(u) @ np.abs(A)
    terms = numbers.of(rows.data) * np.repeat(u, np.diff(rows.indptr))
    order = np.argsort(rows.indices, kind="stable")
    indptr = np.searchsorted(rows.indices[order], np.arange(d + 1))
    total, size = (by_row(numbers, values[order], indptr) for values in (terms, np.abs(terms)))
    return total, size
