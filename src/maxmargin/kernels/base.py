"""What a kernel is: blocks of k(a, b) between two sets of rows, dense or CSR, float32 or float64.

A block has the precision of its data: float32 rows give a float32 block, anything else float64.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInput
from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.parallel import over_blocks
from maxmargin.numeric.rows import Matrix, rows_of, sqnorms_of_rows
from maxmargin.numeric.sparse_columns import mostly_empty, narrowed, occurring
from maxmargin.registry import Registry

#: A column of a sparse block is rare where fewer than one row in 16 has it: then its values are added one by one.
RARE = 16
#: The most numbers that the frequent columns of a block may have.
FREQUENT = 2**23

registry: Registry[type[Kernel]] = Registry("kernel", "maxmargin.kernels")


class Kernel(ABC):
    """k(x, x') = ⟨φ(x), φ(x')⟩; subclasses are frozen dataclasses whose fields are the kernel's parameters.

    A new kernel is one new file in this folder; CONTRIBUTING.md tells what it holds.

    Examples
    --------
    >>> from maxmargin import list_kernels
    >>> list_kernels()[:3]
    ['custom', 'laplacian', 'linear']
    """

    name: ClassVar[str]
    #: Whether φ is the identity, so that w is an ordinary vector.
    linear: ClassVar[bool] = False
    #: Whether X is the matrix of kernel values itself, and there are no rows to compute them from.
    given: ClassVar[bool] = False
    #: Whether k(a, b) = k(b, a) is known; only then half of a square block is copied from its other half.
    symmetric: ClassVar[bool] = True
    #: Whether rows may be converted to another precision before they reach `block`.
    converts: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        registry.register(cls.name, cls)

    @abstractmethod
    def block(self, A: Matrix, B: Matrix, a2: np.ndarray | None = None, b2: np.ndarray | None = None) -> np.ndarray:
        """k(a, b) for all rows a of A and b of B; a2 and b2 are their squared norms, where known."""

    @abstractmethod
    def diag(self, A: Matrix) -> np.ndarray:
        """k(a, a) for all rows, float64."""

    def exact_block(self, A: Matrix, B: Matrix) -> np.ndarray:
        """The same in float64 with as little rounding as it takes, however long; for certificates that need it."""
        return self.block(A, B)

    def rounding(self, width: int, largest: float) -> tuple[float, float]:
        """Two bounds on the rounding of a value of `block` in float64: an absolute one, and one relative to the value.

        Two rows have entries in at most `width` columns together, and squared norms of at most `largest`.
        """
        return 0.0, 0.0

    def exact_rounding(self, width: int, largest: float) -> tuple[float, float]:
        """The same for `exact_block`."""
        return self.rounding(width, largest)

    @property
    def positive(self) -> bool | None:
        """Whether K is positive semi-definite for all data: True, False, or None where it is not known."""
        return True

    def fitted(self, X: Matrix, weights: np.ndarray | None = None) -> Self:
        """The kernel with parameters such as ``gamma="scale"`` replaced by their numbers for these (weighted) rows."""
        return self

    def rows(self, X: Matrix, index: np.ndarray, a2: np.ndarray, start: int, stop: int) -> np.ndarray:
        """Rows `index`, columns start..stop of K; a2 are the squared norms of all rows of X."""
        return self.block(X[index], slice_rows(X, start, stop), a2[index], a2[start:stop])

    def between(self, X: Matrix, rows: np.ndarray, columns: np.ndarray, a2: np.ndarray) -> np.ndarray:
        """Any rows and columns of K; a2 are the squared norms of all rows of X."""
        return self.block(take_rows(X, rows), take_rows(X, columns), a2[rows], a2[columns])

    def against(self, X: Matrix, columns: np.ndarray, a2: np.ndarray, dtype: Any) -> Callable[[np.ndarray], np.ndarray]:
        """Blocks of K with these columns, for any rows: what the blocks have in common is computed once."""
        B, b2 = with_columns(take_rows(X, columns).astype(dtype, copy=False)), a2[columns]
        return lambda rows: self.block(take_rows(X, rows).astype(dtype, copy=False), B, a2[rows], b2)

    def cross(self, Z: Matrix, X: Matrix, support: np.ndarray) -> np.ndarray:
        """k(z, x_i) for all rows of Z and the given rows of X."""
        return self.block(Z, X[support])


def slice_rows(X: Matrix, start: int, stop: int) -> Matrix:
    """Rows start..stop without copying the values (SciPy's own slice of a CSR copies them)."""
    if not sp.issparse(X):
        return X[start:stop]
    first, last = X.indptr[start], X.indptr[stop]
    parts = (X.data[first:last], X.indices[first:last], X.indptr[start : stop + 1] - first)
    return sp.csr_array(parts, shape=(stop - start, X.shape[1]), copy=False)


def take_rows(X: Matrix, rows: np.ndarray) -> Matrix:
    """X[rows], without the interpreter's lock where X is sparse: several threads take theirs at the same time."""
    if not sp.issparse(X):
        return X[rows]
    return sp.csr_array(_taken(X.indptr, X.indices, X.data, rows), shape=(len(rows), X.shape[1]), copy=False)


@compiled
def _taken(indptr, indices, data, rows):
    starts = np.zeros(len(rows) + 1, indptr.dtype)
    for a in range(len(rows)):
        starts[a + 1] = starts[a] + indptr[rows[a] + 1] - indptr[rows[a]]
    values, columns = np.empty(starts[-1], data.dtype), np.empty(starts[-1], indices.dtype)
    for a in range(len(rows)):
        first, last = indptr[rows[a]], indptr[rows[a] + 1]
        values[starts[a] : starts[a + 1]] = data[first:last]
        columns[starts[a] : starts[a + 1]] = indices[first:last]
    return values, columns, starts


def block_width(X: Matrix, step: int, widest: int) -> int:
    """How many rows of X to lay out by columns at once: a multiple of the step, fewer where sparse rows are long."""
    if not sp.issparse(X):
        return widest
    frequent = min(X.shape[1], RARE * X.nnz // max(1, X.shape[0])) + 1  # no more of its columns can be
    return min(widest, max(1, FREQUENT // (step * frequent)) * step)


class WithColumns(sp.csr_array):
    """Sparse rows that keep their columns at hand, for products with many others."""

    columns: tuple[np.ndarray, ...]
    #: The numbers of these columns, where most of all are empty; the others add nothing to a product.
    numbers: np.ndarray | None


def with_columns(B: Matrix) -> Matrix:
    """The same rows, ready for `dot` to multiply again and again."""
    if not sp.issparse(B):
        return B
    ready = WithColumns((B.data, B.indices, B.indptr), shape=B.shape, copy=False)
    ready.numbers = occurring(B) if mostly_empty(B.shape[1], B.nnz) else None
    few = B if ready.numbers is None else narrowed(B, ready.numbers)
    ready.columns = _columns(rows_of(few), *few.shape)
    return ready


def dot(A: Matrix, B: Matrix) -> np.ndarray:
    """⟨a, b⟩ for all rows, as a dense block (of either memory order)."""
    if sp.issparse(A) and sp.issparse(B):
        if isinstance(B, WithColumns):
            return _sparse_dot(A, B)
        return _sparse_dot(A, with_columns(B)) if A.shape[0] > B.shape[0] else _sparse_dot(B, with_columns(A)).T
    if sp.issparse(B):
        return (B @ A.T).T
    return A @ B.T


def _sparse_dot(A: Matrix, B: WithColumns) -> np.ndarray:
    """⟨a, b⟩: the frequent columns of B are dense, the rare ones are lists."""
    out = np.zeros((A.shape[0], B.shape[0]), np.result_type(A.dtype, B.dtype))
    A = A if B.numbers is None else narrowed(A, B.numbers)
    _add_columns(rows_of(A), *B.columns, out)
    return out


@compiled
def _columns(A, rows, d):
    """The columns of A: place[j] is 0 for an empty one, k + 1 for the k-th dense one, −k − 1 for the k-th list."""
    counts, place = np.zeros(d, np.int64), np.zeros(d, np.int32)
    for j in A.indices:
        counts[j] += 1
    frequent = rare = 0
    ends = np.zeros(d, np.int64)
    for j in range(d):
        if counts[j] * RARE > rows:
            frequent += 1
            place[j] = frequent
        elif counts[j] > 0:
            ends[rare] = counts[j] + (ends[rare - 1] if rare > 0 else 0)
            rare += 1
            place[j] = -rare
    dense = np.zeros((frequent, rows), A.data.dtype)
    total = ends[rare - 1] if rare > 0 else 0
    members, values, filled = np.empty(total, np.int32), np.empty(total, A.data.dtype), np.zeros(rare, np.int64)
    for a in range(rows):
        for p in range(A.indptr[a], A.indptr[a + 1]):
            k = place[A.indices[p]]
            if k > 0:
                dense[k - 1, a] += A.data[p]
            else:
                q = ends[-k - 1] - 1 - filled[-k - 1]
                filled[-k - 1] += 1
                members[q], values[q] = a, A.data[p]
    return place, dense, ends, filled, members, values


@compiled
def _add_columns(A, place, dense, ends, lengths, members, values, out):
    """out[a] = Σ_j A[a, j] column j of B; the dense ones four at a time, so that `out` is read and written less."""
    some, weights = np.empty(len(dense), np.int32), np.empty(len(dense), A.data.dtype)
    for a in range(out.shape[0]):
        row, found = out[a], 0
        for p in range(A.indptr[a], A.indptr[a + 1]):
            k, value = place[A.indices[p]], A.data[p]
            if k > 0:
                some[found], weights[found] = k - 1, value
                found += 1
                if found == len(some):  # full; a row may repeat its columns
                    _add_dense(dense, some, weights, found, row)
                    found = 0
            elif k < 0:
                for q in range(ends[-k - 1] - lengths[-k - 1], ends[-k - 1]):
                    row[members[q]] += value * values[q]
        _add_dense(dense, some, weights, found, row)


@compiled
def _add_dense(dense, some, weights, found, row):
    """Row += Σ weights_f dense[some_f]."""
    fours = found // 4 * 4
    for f in range(0, fours, 4):
        column_0, column_1, column_2, column_3 = (
            dense[some[f]], dense[some[f + 1]], dense[some[f + 2]], dense[some[f + 3]]
        )  # fmt: skip
        w_0, w_1, w_2, w_3 = weights[f], weights[f + 1], weights[f + 2], weights[f + 3]
        for b in range(len(row)):
            row[b] += w_0 * column_0[b] + w_1 * column_1[b] + w_2 * column_2[b] + w_3 * column_3[b]
    for f in range(fours, found):
        column = dense[some[f]]
        for b in range(len(row)):
            row[b] += weights[f] * column[b]


def sqnorms(A: Matrix) -> np.ndarray:
    """‖a‖² of every row, float64."""
    out = np.empty(A.shape[0])
    rows = rows_of(A)
    work = A.nnz if sp.issparse(A) else A.size
    over_blocks(lambda start, stop: sqnorms_of_rows(rows, start, stop, out), A.shape[0], 2**12, work)
    return out


def scale_gamma(gamma: float | str, X: Matrix, weights: np.ndarray | None = None) -> float:
    """Gamma as a number: "scale" is 1/(d·var(X)) and "auto" 1/d, as scikit-learn defines them.

    A row of weight 2 counts as the row written twice.
    """
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma != "scale":
        return float(gamma)
    with np.errstate(over="ignore", invalid="ignore"):
        if weights is None or weights.min() == weights.max():
            variance = _variance(X)
        else:
            variance = _weighted_variance(X, weights / weights.sum())
    if not np.isfinite(variance):
        raise InvalidInput("gamma='scale' overflows on values this large; scale the features or give gamma a number")
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def _variance(X: Matrix) -> float:
    """The variance of all entries; mean of squares − square of the mean would cancel: sum the squared deviations."""
    n = X.shape[0] * X.shape[1]
    values = X.data if sp.issparse(X) else X
    mean = float(values.sum(dtype=np.float64)) / n
    deviation = 0.0
    for part in np.array_split(values, max(1, values.size // 2**20)):
        deviation += float(np.square(part - mean, dtype=np.float64).sum())
    if sp.issparse(X):
        deviation += (n - X.nnz) * mean**2
    return deviation / n


def _weighted_variance(X: Matrix, share: np.ndarray) -> float:
    """The same where each row has its share of the whole."""
    mean = float(np.sum(share @ X)) / X.shape[1]
    if not sp.issparse(X):
        return float(np.sum(share @ np.square(X - mean, dtype=np.float64))) / X.shape[1]
    deviations = X.copy()
    deviations.data = np.square(X.data - mean, dtype=np.float64) - mean**2  # what a stored value adds to a zero's
    return float(np.sum(share @ deviations)) / X.shape[1] + mean**2


def exponential_rounding(width: int) -> tuple[float, float]:
    """Bounds on the rounding of exp(−t) for a sum t of `width` differences: absolute, and relative.

    The sum has a relative error of (width + 3)/2 eps, and exp itself one of at most 1 eps. As t·exp(−t) < 0.4, the
    first of them counts for 0.2 (width + 3) eps. Relative to exp(−t) it is t times as large: up to t = 40 it is told,
    and beyond that exp(−t) is below eps itself.
    """
    eps = float(np.finfo(np.float64).eps)
    return (0.2 * (width + 3) + 1.25) * eps, (20.0 * (width + 3) + 1.25) * eps


def check_constant(coef0: float) -> None:
    """Refuse a constant that is not finite."""
    if not np.isfinite(coef0):
        raise InvalidInput(f"coef0 is {coef0}; it must be finite")


def check_gamma(gamma: float | str) -> None:
    """Refuse a gamma that is not "scale", "auto" or a positive number."""
    if isinstance(gamma, str):
        if gamma not in ("scale", "auto"):
            raise InvalidInput(f"gamma is {gamma!r}; it must be 'scale', 'auto' or a number > 0")
    elif not 0.0 < gamma < np.inf:
        raise InvalidInput(f"gamma is {gamma}; it must be 'scale', 'auto' or a finite number > 0")
