"""Three row primitives hide the storage: ``row_dot``, ``row_axpy``, ``row_sqnorm`` on a dense array or a CSR.

Inner loops are written once with these three and compile to the storage at hand. Data may be float32;
every sum is float64. Two more, ``row_prefetch`` and ``prefetch_numbers``, ask the memory for what a shuffled loop will
soon need.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from maxmargin.numeric.compiled import compiled, extensions

extensions.append("maxmargin.numeric.rows_compiled")

#: How many samples ahead the memory is asked for.
AHEAD = 6


class CSR(NamedTuple):
    """The three arrays of a compressed sparse row matrix, as compiled code sees it."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


#: The rows of X as users give them and as files hold them, once they are checked: a float array or a SciPy CSR array,
#: float32 or float64. SciPy has no types, so that no checker could tell the two apart.
Matrix: TypeAlias = Any
#: The same rows as compiled code takes them.
Rows: TypeAlias = np.ndarray | CSR


def rows_of(X: Matrix) -> Rows:
    """The view of X that compiled code takes: the array itself, or its CSR arrays. Nothing is copied."""
    return CSR(X.indptr, X.indices, X.data) if sp.issparse(X) else X


def prefetch(array: np.ndarray, i: int) -> None:
    """Ask for the cache line of array[i]; means nothing in plain Python."""


def _dense_prefetch(X, i):
    row = X[i]
    for j in range(0, min(len(row), 128), 8):
        prefetch(row, j)


def _csr_prefetch(X, i):
    first = X.indptr[i]
    if first + 32 < len(X.data):
        prefetch(X.indices, first)
        prefetch(X.indices, first + 16)
        for p in range(0, 32, 8):
            prefetch(X.data, first + p)


def _dense_dot(X, i, w):
    total = 0.0
    for j in range(X.shape[1]):
        total += np.float64(X[i, j]) * w[j]
    return total


def _csr_dot(X, i, w):
    total = 0.0
    for p in range(np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])):
        total += np.float64(X.data[p]) * w[np.uint64(X.indices[p])]
    return total


def _dense_axpy(X, i, step, w):
    for j in range(X.shape[1]):
        w[j] += step * X[i, j]


def _csr_axpy(X, i, step, w):
    for p in range(np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])):
        w[np.uint64(X.indices[p])] += step * X.data[p]


def _dense_sqnorm(X, i):
    total = 0.0
    for j in range(X.shape[1]):
        total += np.float64(X[i, j]) * np.float64(X[i, j])
    return total


def _csr_sqnorm(X, i):
    total = 0.0
    for p in range(np.uint64(X.indptr[i]), np.uint64(X.indptr[i + 1])):
        total += np.float64(X.data[p]) * np.float64(X.data[p])
    return total


def row_dot(X: Rows, i: int, w: np.ndarray) -> float:
    """⟨x_i, w⟩."""
    return _csr_dot(X, i, w) if isinstance(X, CSR) else _dense_dot(X, i, w)


def row_axpy(X: Rows, i: int, step: float, w: np.ndarray) -> None:
    """Add step·x_i to w."""
    _csr_axpy(X, i, step, w) if isinstance(X, CSR) else _dense_axpy(X, i, step, w)


def row_sqnorm(X: Rows, i: int) -> float:
    """‖x_i‖²."""
    return _csr_sqnorm(X, i) if isinstance(X, CSR) else _dense_sqnorm(X, i)


def row_prefetch(X: Rows, i: int) -> None:
    """Ask for x_i ahead of its use."""


def prefetch_numbers(i, target, ridge, tube, lower, upper, q, beta):  # type: ignore[no-untyped-def]
    """Ask for the numbers of sample i ahead of their use: in a shuffled order each is a cache miss.

    The arrays come one by one: in a tuple, each of them is counted in every step, which takes a third of the time.
    """


#: Values that are compared side by side.
LANES = 128


@compiled
def place_of_largest(values, lanes):
    """The place of the largest value: first the largest of each lane (every LANES-th value), side by side."""
    n = len(values)
    lanes[:] = -np.inf
    for start in range(0, n, LANES):
        part = values[start : min(start + LANES, n)]
        for p in range(len(part)):
            lanes[p] = part[p] if part[p] > lanes[p] else lanes[p]
    best = 0
    for p in range(min(n, LANES)):
        if lanes[p] > lanes[best]:
            best = p
    most = lanes[best]
    while best < n and values[best] != most:
        best += LANES
    return best if best < n else 0  # nothing but NaN


@compiled
def scores_of_rows(X, w, start, stop, out):
    """out[i] = ⟨x_i, w⟩ for start ≤ i < stop."""
    for i in range(start, stop):
        out[i] = row_dot(X, i, w)


@compiled
def combine_rows(X, u, start, stop, out):
    """Out += Σ_i u_i x_i over start ≤ i < stop."""
    for i in range(start, stop):
        if u[i] != 0.0:
            row_axpy(X, i, u[i], out)


@compiled
def sqnorms_of_rows(X, start, stop, out):
    """out[i] = ‖x_i‖² for start ≤ i < stop."""
    for i in range(start, stop):
        out[i] = row_sqnorm(X, i)


@compiled
def scores_of_some(X, some, w, start, stop, out):
    """out[a] = ⟨x_i, w⟩ for i = some[a], start ≤ a < stop."""
    for a in range(start, stop):
        out[a] = row_dot(X, some[a], w)


@compiled
def combine_some(X, some, u, start, stop, out):
    """Out += Σ_a u_a x_i with i = some[a] over start ≤ a < stop."""
    for a in range(start, stop):
        row_axpy(X, some[a], u[a], out)
