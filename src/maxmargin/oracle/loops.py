"""Compiled loops of the oracle: Σ_j c_j k(x, v_j) in float64 for large kernel matrices, with a bound of the rounding.

Distances are sums over differences; a sum of d positive terms has a relative error of at most (d + 2) units, in any
order. Products and sums over j are compensated (Neumaier), so that their error does not grow with the number of
vectors. No arithmetic here is shared with the kernels of the package.
"""

from __future__ import annotations

from math import exp, tanh
from typing import Any, NamedTuple

import numpy as np

from maxmargin.numeric.compiled import compiled_with

#: The unit roundoff of float64.
UNIT = 2.0**-53


class KernelNumbers(NamedTuple):
    """A kernel: its kind (0 RBF, 1 Laplacian, 2 polynomial, 3 sigmoid) and its parameters."""

    kind: int
    gamma: float
    coef0: float
    degree: int


class SparseRows(NamedTuple):
    """CSR rows with sorted columns."""

    data: np.ndarray
    columns: np.ndarray
    ends: np.ndarray


class Sums(NamedTuple):
    """A compensated sum per row, s + carried, and a bound of its error; changed in place."""

    s: np.ndarray
    carried: np.ndarray
    error: np.ndarray


def _loop(any_order: bool = False) -> Any:
    """Compile a loop; sums are reordered only where the bound holds for any order."""
    return compiled_with({"reassoc"} if any_order else False)


@_loop(any_order=True)
def _squares(a, b):
    total = 0.0
    for j in range(len(a)):
        total += (a[j] - b[j]) * (a[j] - b[j])
    return total


@_loop(any_order=True)
def _city_block(a, b):
    total = 0.0
    for j in range(len(a)):
        total += abs(a[j] - b[j])
    return total


@_loop(any_order=True)
def _dot(a, b):
    total = size = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
        size += abs(a[j] * b[j])
    return total, size


@_loop()
def _merged(kind, a, a_columns, b, b_columns):
    """The same three over two sparse rows with sorted columns: (distance, 0) or (dot product, Σ|terms|)."""
    total = size = 0.0
    p = q = 0
    while p < len(a) or q < len(b):
        left, right = 0.0, 0.0
        take = p < len(a) and (q >= len(b) or a_columns[p] <= b_columns[q])
        both = p < len(a) and q < len(b) and a_columns[p] == b_columns[q]
        if take:
            left = a[p]
            p += 1
        if both or not take:
            right = b[q]
            q += 1
        if kind == 0:
            total += (left - right) * (left - right)
        elif kind == 1:
            total += abs(left - right)
        else:
            total += left * right
            size += abs(left * right)
    return total, size


@_loop()
def _value(kernel, total, size, terms):
    """A kernel value and a bound of its rounding, from a distance or a dot product of this number of terms."""
    kind, gamma, coef0, degree = kernel
    if kind < 2:
        far = gamma * total
        k = exp(-far)
        return k, UNIT * ((terms + 5) * far + 4.0) * k
    base = gamma * total + coef0
    slip = UNIT * (terms + 4) * (gamma * size + abs(coef0))
    if kind == 3:
        return tanh(base), slip + 4.0 * UNIT
    k = power = 1.0
    for p in range(degree):
        k *= base
        if p > 0:
            power *= abs(base) + slip
    return k, degree * power * slip + 2.0 * degree * UNIT * abs(k)


@_loop()
def _add(i, c, k, slip, sums):
    """One more term c·k of the sum, with what its rounding leaves."""
    s, carried, error = sums
    term = c * k
    new = s[i] + term
    carried[i] += (s[i] - new) + term if abs(s[i]) >= abs(term) else (term - new) + s[i]
    s[i] = new
    error[i] += abs(c) * slip + 2.0 * UNIT * abs(term)


@_loop()
def add_dense(kernel, A, B, coef, sums):
    """Add Σ_j coef_j k(a_i, b_j) to the sum of each row a_i."""
    for i in range(len(A)):
        for j in range(len(B)):
            size = 0.0
            if kernel.kind == 0:
                total = _squares(A[i], B[j])
            elif kernel.kind == 1:
                total = _city_block(A[i], B[j])
            else:
                total, size = _dot(A[i], B[j])
            k, slip = _value(kernel, total, size, A.shape[1])
            _add(i, coef[j], k, slip, sums)


@_loop()
def add_sparse(kernel, A, B, coef, sums):
    """The same for sparse rows."""
    for i in range(len(A.ends) - 1):
        first, last = A.ends[i], A.ends[i + 1]
        a, a_columns = A.data[first:last], A.columns[first:last]
        for j in range(len(B.ends) - 1):
            start, stop = B.ends[j], B.ends[j + 1]
            total, size = _merged(kernel.kind, a, a_columns, B.data[start:stop], B.columns[start:stop])
            k, slip = _value(kernel, total, size, last - first + stop - start)
            _add(i, coef[j], k, slip, sums)
