"""Inner products of rows with twice the working precision, for kernels that are made of them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from maxmargin.numeric.compiled import strictly_compiled
from maxmargin.numeric.rows import Matrix
from maxmargin.numeric.sparse_columns import narrowed


def exact_dot(A: Matrix, B: Matrix) -> np.ndarray:
    """⟨a, b⟩ for all rows, each rounded once (Ogita, Rump & Oishi, SIAM J. Scientific Computing 26, 2005)."""
    if sp.issparse(A) and sp.issparse(B):  # a column that one of them does not have adds nothing
        columns = np.intersect1d(A.indices, B.indices)
        A, B = (narrowed(Z, columns if columns.size else np.zeros(1, np.int64)) for Z in (A, B))
    dense = [np.ascontiguousarray(Z.toarray() if sp.issparse(Z) else Z, dtype=np.float64) for Z in (A, B)]
    out = np.empty((A.shape[0], B.shape[0]))
    _dots(dense[0], dense[1], out)
    return out


@strictly_compiled
def two_sum(a, b):
    """A + b and its rounding error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@strictly_compiled
def two_product(a, b):
    """A · b and its rounding error, by splitting both numbers into halves of 26 bits."""
    product = a * b
    scaled = 134217729.0 * a
    a_high = scaled - (scaled - a)
    a_low = a - a_high
    scaled = 134217729.0 * b
    b_high = scaled - (scaled - b)
    b_low = b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@strictly_compiled
def _dots(A, B, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total, lost = 0.0, 0.0
            for k in range(A.shape[1]):
                product, error = two_product(A[i, k], B[j, k])
                total, more = two_sum(total, product)
                lost += error + more
            out[i, j] = total + lost
