"""Products with the rows of X in twice the working precision: for certificates that plain float64 cannot give.

A sum of products a_i b_i is kept as a number and what it lost so far: two_product and two_sum give the rounding error
of a product and of a sum exactly, and the errors are summed up beside the result. Its error is then that of one last
rounding, plus (n eps)² Σ|a_i b_i|, which is next to nothing even where the terms cancel to their last digits.

Dekker, Numerische Mathematik 18, 1971; Ogita, Rump & Oishi, "Accurate sum and dot product", SIAM J. Scientific
Computing 26, 2005.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.gram.cached_rows import COLUMNS
from maxmargin.kernels.base import slice_rows, take_rows
from maxmargin.numeric.compiled import strictly_compiled
from maxmargin.numeric.double_double import two_product, two_sum
from maxmargin.numeric.parallel import over_blocks
from maxmargin.numeric.rows import CSR
from maxmargin.problem.space import KernelSpace, LinearSpace


def decisions(space: LinearSpace, w: np.ndarray, b: float) -> np.ndarray:
    """z_i = ⟨w, φ(x_i)⟩ + b, each with the error of one rounding."""
    out = np.empty(space.n)
    constant, last = space.constant, float(w[-1])

    def decide(rows: Any, start: int, stop: int, first: int) -> None:
        compute = _sparse_decisions if isinstance(rows, CSR) else _dense_decisions
        compute(rows, w, b, constant, last, start, stop, out[first:])

    space.over_rows(decide)
    return out


def kernel_scores(space: KernelSpace, w: np.ndarray, least: bool) -> tuple[np.ndarray, np.ndarray]:
    """Kw, each sum with the error of one rounding, and |K||w|, which bounds what the rounding of K can do to it.

    `least` asks for the kernel itself with the least rounding that there is, however long that takes.
    """
    support = np.flatnonzero(w)
    high, low, size = np.zeros(space.n), np.zeros(space.n), np.zeros(space.n)
    kernel, X = space.source() if least else (space.kernel, space.X)
    block = kernel.exact_block if least else kernel.block

    def add(start: int, stop: int) -> None:
        rows = slice_rows(X, start, stop).astype(np.float64, copy=False)
        for first in range(0, support.size, COLUMNS):
            part = support[first : first + COLUMNS]
            if kernel.given:
                values = np.asarray(rows)[:, part]
            else:
                values = block(rows, take_rows(X, part).astype(np.float64, copy=False))
            values = np.ascontiguousarray(values) + space.constant**2
            _add_products(values, w[part], high[start:stop], low[start:stop], size[start:stop])

    over_blocks(add, space.n, 256)
    return high + low, size


def combination(space: LinearSpace, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """W = Σ u_i φ(x_i) as a vector and what its numbers lost to rounding."""

    def add(rows: Any, start: int, stop: int, first: int, part: np.ndarray) -> None:
        compute = _sparse_combination if isinstance(rows, CSR) else _dense_combination
        compute(rows, u[first:], start, stop, *part)

    (high, low), *others = space.parts_over_rows(add, (2, space.size), u)
    for other_high, other_low in others:
        _add(high, low, other_high, other_low)
    if space.constant:
        high[-1], low[-1] = _constant_part(u, space.constant)
    return high, low


def square(high: np.ndarray, low: np.ndarray) -> float:
    """‖high + low‖²."""
    whole = high + low  # what was lost may be more than what is left, where terms have cancelled
    return float(whole @ whole)


def sum_of(values: Any) -> tuple[float, float]:
    """Σ values and a bound on its error."""
    total, lost = compensated_sum(np.ascontiguousarray(values, dtype=np.float64))
    eps = np.finfo(np.float64).eps
    return float(total + lost), float(eps * abs(total) + (len(values) * eps) ** 2 * np.abs(values).sum())


@strictly_compiled
def _dense_decisions(X, w, b, constant, last, start, stop, out):
    for i in range(start, stop):
        total, lost = two_product(constant, last)
        total, error = two_sum(total, b)
        lost += error
        for j in range(X.shape[1]):
            product, error = two_product(np.float64(X[i, j]), w[j])
            total, more = two_sum(total, product)
            lost += error + more
        out[i] = total + lost


@strictly_compiled
def _sparse_decisions(X, w, b, constant, last, start, stop, out):
    for i in range(start, stop):
        total, lost = two_product(constant, last)
        total, error = two_sum(total, b)
        lost += error
        for p in range(X.indptr[i], X.indptr[i + 1]):
            product, error = two_product(np.float64(X.data[p]), w[X.indices[p]])
            total, more = two_sum(total, product)
            lost += error + more
        out[i] = total + lost


@strictly_compiled
def _dense_combination(X, u, start, stop, high, low):
    for i in range(start, stop):
        if u[i] != 0.0:
            for j in range(X.shape[1]):
                product, error = two_product(np.float64(X[i, j]), u[i])
                high[j], more = two_sum(high[j], product)
                low[j] += error + more


@strictly_compiled
def _sparse_combination(X, u, start, stop, high, low):
    for i in range(start, stop):
        if u[i] != 0.0:
            for p in range(X.indptr[i], X.indptr[i + 1]):
                j = X.indices[p]
                product, error = two_product(np.float64(X.data[p]), u[i])
                high[j], more = two_sum(high[j], product)
                low[j] += error + more


@strictly_compiled
def _add_products(K, w, high, low, size):
    for i in range(K.shape[0]):
        total, lost, sizes = high[i], low[i], size[i]
        for j in range(K.shape[1]):
            product, error = two_product(K[i, j], w[j])
            total, more = two_sum(total, product)
            lost += error + more
            sizes += abs(product)
        high[i], low[i], size[i] = total, lost, sizes


@strictly_compiled
def _add(high, low, other_high, other_low):
    for j in range(len(high)):
        high[j], error = two_sum(high[j], other_high[j])
        low[j] += error + other_low[j]


@strictly_compiled
def _constant_part(u, constant):
    total, lost = 0.0, 0.0
    for i in range(len(u)):
        product, error = two_product(u[i], constant)
        total, more = two_sum(total, product)
        lost += error + more
    return total, lost


@strictly_compiled
def compensated_sum(values):
    """A sum, and what its rounding lost."""
    total, lost = 0.0, 0.0
    for i in range(len(values)):
        total, error = two_sum(total, values[i])
        lost += error
    return total, lost
