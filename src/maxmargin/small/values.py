"""The kernel values of a small problem, in one block or in those of two classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.numeric.compiled import compiled


class Values(NamedTuple):
    """Kernel values of the samples of a class A and then of a class B, in blocks; B is empty where all are in A.

    The rows of `ba` are columns of `ab`, copied when they are first needed.
    """

    aa: np.ndarray
    ab: np.ndarray
    ba: np.ndarray
    bb: np.ndarray
    #: Which rows of `ba` are there.
    copied: np.ndarray


def values_of(aa: np.ndarray, ab: np.ndarray | None = None, bb: np.ndarray | None = None) -> Values:
    """The values of one matrix, or of the blocks of two classes."""
    if ab is None or bb is None:
        ab, bb = np.empty((len(aa), 0)), np.empty((0, 0))
    return Values(aa, ab, np.empty(ab.shape[::-1]), bb, np.zeros(len(bb), np.bool_))


@compiled
def row_of(values, i):
    """Row i of K, in two parts."""
    a = values.aa.shape[0]
    if i < a:
        return values.aa[i], values.ab[i]
    i -= a
    if not values.copied[i]:
        for p in range(a):
            values.ba[i, p] = values.ab[p, i]
        values.copied[i] = True
    return values.ba[i], values.bb[i]


@compiled
def add_row(values, i, factor, out):
    """Out += factor · K_i."""
    left, right = row_of(values, i)
    a = len(left)
    for p in range(a):
        out[p] += factor * left[p]
    for p in range(len(right)):
        out[a + p] += factor * right[p]


@compiled
def diagonal_of(values):
    """k(x, x) of all samples."""
    a, b = values.aa.shape[0], values.bb.shape[0]
    diag = np.empty(a + b)
    for p in range(a):
        diag[p] = values.aa[p, p]
    for p in range(b):
        diag[a + p] = values.bb[p, p]
    return diag


@compiled
def square_of(K, rows):
    """The given rows and columns of a symmetric matrix."""
    n = len(rows)
    own = np.empty((n, n))
    for p in range(n):
        row = K[rows[p]]
        for q in range(n):
            own[p, q] = row[rows[q]]
    return own
