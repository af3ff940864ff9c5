"""The kernels once more, from differences of rows, with bounds on their rounding.

Nothing here is shared with `maxmargin.kernels`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInput
from maxmargin.numeric.parallel import threads
from maxmargin.oracle.loops import KernelNumbers, SparseRows, Sums, add_dense, add_sparse
from maxmargin.oracle.rows import by_row, columns_in_use, with_sorted_indices
from maxmargin.oracle.setting import Setting

#: Numbers that are looked at together.
BLOCK = 2**18
#: Rows whose kernel values one thread makes at a time.
ROWS = 64


class Kernel:
    """A kernel between rows, in the oracle's numbers or in compiled float64 loops."""

    def __init__(self, setting: Setting, numbers: Any, compiled: bool) -> None:
        self.setting, self.numbers, self.compiled = setting, numbers, compiled

    def products(self, rows: Any, vectors: Any, coef: np.ndarray) -> tuple[np.ndarray, Any]:
        """Σ_j c_j k(x, v_j) for each row x, and a bound of the rounding."""
        if self.compiled and self.setting.kernel != "precomputed":
            return self._fast_products(rows, vectors, coef)
        number, unit = self.numbers.of, self.numbers.unit
        if coef.size == 0:
            return number(np.zeros(rows.shape[0])), number(np.zeros(rows.shape[0]))
        c = number(coef)
        if self.setting.kernel == "precomputed":
            K = number(rows)
            return K @ c, (len(coef) + 1) * unit * (np.abs(K) @ np.abs(c))
        A, B = columns_in_use(rows, vectors)
        A, B = number(A), number(B)
        s, error = [], []
        step = max(1, BLOCK // (4 * max(1, B.size)))
        for start in range(0, len(A), step):
            K, slip = self._block(A[start : start + step], B)
            s.append(K @ c)
            error.append(slip @ np.abs(c) + (len(coef) + 1) * unit * (np.abs(K) @ np.abs(c)))
        return np.concatenate(s), np.concatenate(error)

    def _block(self, A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """k(a, b) for all rows, and a bound of the rounding of each."""
        name, unit = self.setting.kernel, self.numbers.unit
        gamma, coef0, degree = _kernel_numbers(self.setting)
        d = A.shape[1]
        if name in ("rbf", "laplacian"):
            apart = A[:, None, :] - B[None, :, :]
            far = (apart * apart if name == "rbf" else np.abs(apart)).sum(axis=2) * self.numbers.of([gamma])[0]
            K = self.numbers.exp(-far)
            return K, unit * ((d + 6) * far + 6) * K
        if name in ("polynomial", "sigmoid"):
            g, c = self.numbers.of([gamma])[0], self.numbers.of([coef0])[0]
            base = g * (A @ B.T) + c
            slip = (d + 4) * unit * (g * (np.abs(A) @ np.abs(B).T) + abs(c))
            if name == "sigmoid":
                tail = self.numbers.exp(-2 * np.abs(base))
                return np.where(base < 0, -1, 1) * (1 - tail) / (1 + tail), slip + 8 * unit
            K = base**degree
            return K, degree * (np.abs(base) + slip) ** (degree - 1) * slip + 2 * degree * unit * np.abs(K)
        raise InvalidInput(f"the oracle does not know the kernel {name!r}")

    def _fast_products(self, rows: Any, vectors: Any, coef: np.ndarray) -> tuple[np.ndarray, Any]:
        """The same in compiled float64 loops, for many rows."""
        rows, vectors = (with_sorted_indices(part) for part in (rows, vectors))
        kind = ("rbf", "laplacian", "polynomial", "sigmoid").index(self.setting.kernel)
        kernel = KernelNumbers(kind, *_kernel_numbers(self.setting))
        n = rows.shape[0]
        s, carried, error = np.zeros(n), np.zeros(n), np.zeros(n)
        weights = np.ascontiguousarray(coef, dtype=np.float64)
        # Sparse rows that are not very sparse are quicker as dense ones.
        sparse = sp.issparse(rows) and rows.shape[1] > 16.0 * (vectors.nnz / max(1, vectors.shape[0]) + 1.0)

        def one(start: int) -> None:
            part, out = slice(start, start + ROWS), slice(start, start + ROWS)
            sums = Sums(s[out], carried[out], error[out])
            if sparse:
                add_sparse(kernel, _sparse(rows[part]), _sparse(vectors), weights, sums)
            else:
                a = rows[part].toarray() if sp.issparse(rows) else rows[part]
                add_dense(kernel, np.ascontiguousarray(a, np.float64), dense, weights, sums)

        dense = None if sparse else np.ascontiguousarray(vectors.toarray() if sp.issparse(vectors) else vectors, float)
        with ThreadPoolExecutor(threads()) as pool:
            list(pool.map(one, range(0, n, ROWS)))
        return self.numbers.of(s) + self.numbers.of(carried), self.numbers.of(error)

    def diagonal(self, rows: Any, vectors: Any) -> np.ndarray:
        """A bound on k(x, x) of each row; slight differences do not matter, as it is multiplied by (Σβ − total)²."""
        name, n = self.setting.kernel, rows.shape[0]
        if name in ("rbf", "laplacian", "sigmoid"):
            return self.numbers.of(np.ones(n))
        if name == "precomputed":
            return self.numbers.of(np.full(n, float(np.abs(vectors).max())))
        values = rows.data if sp.issparse(rows) else rows
        squares = self.numbers.of(values) ** 2
        square = by_row(self.numbers, squares, rows.indptr) if sp.issparse(rows) else squares.sum(axis=1)
        if name == "linear":
            return square
        gamma, coef0, degree = (self.numbers.of([float(one)])[0] for one in _kernel_numbers(self.setting))
        return (gamma * square + abs(coef0)) ** int(degree)


def _kernel_numbers(setting: Setting) -> tuple[float, float, int]:
    given = setting.kernel_parameters
    return float(given.get("gamma", 1.0)), float(given.get("coef0", 0.0)), int(given.get("degree", 3))


def _sparse(rows: Any) -> SparseRows:
    return SparseRows(rows.data, rows.indices, rows.indptr)


def work_of_value(setting: Setting, vectors: Any) -> float:
    """Numbers that one kernel value takes."""
    if setting.kernel == "precomputed":
        return 0.0
    return 2.0 * vectors.nnz / max(1, vectors.shape[0]) + 1.0 if sp.issparse(vectors) else float(vectors.shape[1])
