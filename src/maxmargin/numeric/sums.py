"""Sums, products and copies of arrays for compiled loops, as loops of our own.

Numba's own array methods (`a.sum()`, `a.mean()`, `np.flatnonzero`) bring in its compiler when cached code that uses
them is loaded: a third of a second at every start. What it makes of `np.dot`, of `a[:] = b` and of expressions of whole
arrays takes seconds to compile on a machine where nothing is compiled yet: a copy that may fail comes with all that
writes its message. On small arrays a loop is no slower.
"""

from __future__ import annotations

import numpy as np

from maxmargin.numeric.compiled import compiled


@compiled
def sum_of(values):
    """Σ values."""
    total = 0.0
    for value in values:
        total += value
    return total


@compiled
def mean_size(values):
    """The mean of |values|; 0 where there are none."""
    total = 0.0
    for value in values:
        total += abs(value)
    return total / max(len(values), 1)


@compiled
def places_of(chosen):
    """The places at which a Boolean array is true."""
    places, count = np.empty(len(chosen), np.int64), 0
    for k in range(len(chosen)):
        if chosen[k]:
            places[count] = k
            count += 1
    return places[:count]


@compiled
def product(A, x):
    """A x; x may be longer than A has columns."""
    out = np.empty(A.shape[0])
    for i in range(A.shape[0]):
        total = 0.0
        for j in range(A.shape[1]):
            total += A[i, j] * x[j]
        out[i] = total
    return out


@compiled
def combination(x, A):
    """Σ_i x_i A_i, the rows of A."""
    out = np.zeros(A.shape[1])
    for i in range(A.shape[0]):
        if x[i] != 0.0:
            for j in range(A.shape[1]):
                out[j] += x[i] * A[i, j]
    return out


@compiled
def inner(x, y):
    """⟨x, y⟩, of as many numbers as x has."""
    total = 0.0
    for j in range(len(x)):
        total += x[j] * y[j]
    return total


@compiled
def copy_to(out, values):
    """Copy all values to the first places of out."""
    for k in range(len(values)):
        out[k] = values[k]


@compiled
def copy_lower(out, values):
    """Copy the lower triangle of a matrix to the first rows and columns of out."""
    for i in range(len(values)):
        for j in range(i + 1):
            out[i, j] = values[i, j]
