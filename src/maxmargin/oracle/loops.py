"""Compiled loops of the oracle: Σ_j c_j k(x, v_j) in float64 for large kernel matrices, with a bound of the rounding.

Distances are sums over differences; a sum of d positive terms has a relative error of at most (d + 2) units, in any
order. Products and sums over j are compensated (Neumaier), so that their error does not grow with the number of
vectors. No arithmetic here is shared with the kernels of the package.
"""

from __future__ import annotations

from math import exp, tanh
from typing import Any

from maxmargin.numeric.compiled import compiled_with

#: The unit roundoff of float64.
UNIT = 2.0**-53


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
def _value(kind, total, size, terms, gamma, coef0, degree):
    """A kernel value and a bound of its rounding, from a distance or a dot product of so many terms."""
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
def _add(i, c, k, slip, s, carried, error):
    """One more term c·k of the sum, with what its rounding leaves."""
    term = c * k
    new = s[i] + term
    carried[i] += (s[i] - new) + term if abs(s[i]) >= abs(term) else (term - new) + s[i]
    s[i] = new
    error[i] += abs(c) * slip + 2.0 * UNIT * abs(term)


@_loop()
def add_dense(kind, A, B, gamma, coef0, degree, coef, s, carried, error):
    """S[i] + carried[i] = Σ_j coef_j k(a_i, b_j), right up to error[i]."""
    for i in range(len(A)):
        for j in range(len(B)):
            size = 0.0
            if kind == 0:
                total = _squares(A[i], B[j])
            elif kind == 1:
                total = _city_block(A[i], B[j])
            else:
                total, size = _dot(A[i], B[j])
            k, slip = _value(kind, total, size, A.shape[1], gamma, coef0, degree)
            _add(i, coef[j], k, slip, s, carried, error)


@_loop()
def add_sparse(kind, a, a_columns, a_ends, b, b_columns, b_ends, gamma, coef0, degree, coef, s, carried, error):
    """The same for CSR rows with sorted columns."""
    for i in range(len(a_ends) - 1):
        first, last = a_ends[i], a_ends[i + 1]
        for j in range(len(b_ends) - 1):
            start, stop = b_ends[j], b_ends[j + 1]
            total, size = _merged(
                kind,
                a[first:last],
                a_columns[first:last],
                b[start:stop],
                b_columns[start:stop],
            )
            k, slip = _value(kind, total, size, last - first + stop - start, gamma, coef0, degree)
            _add(i, coef[j], k, slip, s, carried, error)
