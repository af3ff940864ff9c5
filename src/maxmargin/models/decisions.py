"""Decision values of new rows: ⟨w, φ(x)⟩ + b for every machine of a model, block by block on all cores."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.kernels import Kernel
from maxmargin.models.classes import pack_pairs, pairs, unpack_pairs
from maxmargin.numeric.parallel import one_blas_thread, over_blocks

#: Kernel values, or values of features, that are looked at together.
VALUES = 2**21
#: A sparse matrix with a larger share of non-zeros is faster as a dense one.
FULL = 0.3


def decision_values(
    Z: Any,
    kernel: Kernel,
    b: np.ndarray,
    w: np.ndarray | None,
    vectors: Any = None,
    coef: np.ndarray | None = None,
    codes: np.ndarray | None = None,
    scale: Callable[[Any], Any] | None = None,
) -> np.ndarray:
    """One column a machine: by the normals w, or by the vectors, their coefficients and (for pairs) their classes."""
    machines = len(b)
    out = np.empty((Z.shape[0], machines))
    summed = None if coef is None else _sums(coef, codes, machines)
    if vectors is not None and Z.shape[1] > vectors.shape[1]:
        vectors = widened(vectors, Z.shape[1])
    # Sparse rows that are mostly full meet dense vectors quicker as dense ones.
    full = sp.issparse(Z) and isinstance(vectors, np.ndarray) and Z.nnz > FULL * Z.shape[0] * Z.shape[1]

    def fill(start: int, stop: int) -> None:
        rows = Z[start:stop].toarray() if full else Z[start:stop]
        rows = rows.astype(np.float64, copy=False)
        if scale is not None:
            rows = scale(rows)
        if summed is None:
            assert w is not None
            out[start:stop] = rows @ w.T
        else:
            out[start:stop] = summed(kernel.block(rows, vectors))

    # A block of kernel values is as wide as there are vectors, and may hold its rows as a dense block.
    wide = max(1, machines, 0 if vectors is None else vectors.shape[0], Z.shape[1] // 8)
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        over_blocks(fill, Z.shape[0], max(1, VALUES // wide))
        out += b
    return out


def _sums(coef: np.ndarray, codes: np.ndarray | None, machines: int) -> Callable[[np.ndarray], np.ndarray]:
    """How a block of kernel values (rows × vectors) becomes Σ coef_i k(x_i, x), one column a machine.

    In pairs a vector counts only against the other classes: with k classes that is k − 1 of k(k − 1)/2 products.
    """
    columns = coef.T.copy()
    if codes is None or (np.diff(codes) < 0).any():
        return lambda K: K @ columns
    classes = round((1.0 + np.sqrt(1.0 + 8.0 * machines)) / 2.0)
    counts = np.bincount(codes, minlength=classes)
    table = pack_pairs(coef, counts)
    if not np.array_equal(unpack_pairs(table, counts), coef):  # a vector that counts in a pair not its own
        return lambda K: K @ columns
    ends = np.concatenate([[0], np.cumsum(counts)])
    parts = [(slice(a, b), table[:, a:b].T.copy()) for a, b in pairwise(ends)]
    first, second = np.array(pairs(classes)).T

    def summed(K: np.ndarray) -> np.ndarray:
        sums = np.stack([K[:, own] @ against for own, against in parts])
        return sums[first, :, second - 1].T + sums[second, :, first].T

    return summed


def widened(X: Any, width: int) -> Any:
    """The same rows with more columns, all of them 0."""
    if sp.issparse(X):
        return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
    return np.hstack([X, np.zeros((X.shape[0], width - X.shape[1]))])
