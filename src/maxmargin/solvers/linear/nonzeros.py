"""The non-zeros of a dense array, where they are few: a pass over them is cheaper than one over all of it."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.parallel import over_blocks
from maxmargin.numeric.rows import CSR
from maxmargin.problem.space import LinearSpace
from maxmargin.solvers.linear.settings import NonZerosSettings

settings = NonZerosSettings()


def thinned(space: LinearSpace) -> LinearSpace:
    """The same space with its rows as non-zeros, if they are few; X itself stays as it is."""
    if not space.in_memory or sp.issparse(space.X) or space.n * space.d >= 2**31:
        return space
    looked = space.X[:: -(-space.n // settings.looked)]
    if np.count_nonzero(looked) > settings.few * looked.size:
        return space
    other = LinearSpace(space.X, space.constant)
    other.rows = nonzeros(space.X)
    other.work = len(other.rows.data)
    return other


def nonzeros(X: np.ndarray) -> CSR:
    """The compressed rows of an array."""
    n = X.shape[0]
    indptr = np.zeros(n + 1, np.int32)
    over_blocks(lambda start, stop: count(X, start, stop, indptr), n, settings.block)
    np.cumsum(indptr, out=indptr)
    indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], X.dtype)
    over_blocks(lambda start, stop: gather(X, start, stop, indptr, indices, data), n, settings.block)
    return CSR(indptr, indices, data)


@compiled
def count(X, start, stop, indptr):
    """The number of non-zeros of each row, one place further on."""
    for i in range(start, stop):
        found = 0
        for j in range(X.shape[1]):
            if X[i, j] != 0.0:
                found += 1
        indptr[i + 1] = found


@compiled
def gather(X, start, stop, indptr, indices, data):
    """Columns and values of the non-zeros."""
    for i in range(start, stop):
        p = indptr[i]
        for j in range(X.shape[1]):
            if X[i, j] != 0.0:
                indices[p] = j
                data[p] = X[i, j]
                p += 1
