"""Cholesky's factors of a small matrix, in place, inside a compiled call."""

from __future__ import annotations

import numpy as np

from maxmargin.numeric.compiled import compiled

#: The least pivot, relative to its diagonal entry: what rounding has made negative is replaced by it.
LEAST = 1e-14


@compiled
def factor(H):
    """L with LLᵀ = H in the lower triangle, of which alone H is read."""
    n = len(H)
    for j in range(n):
        pivot = H[j, j] - _product(H, j, j)
        if not pivot > LEAST * H[j, j]:
            pivot = LEAST * max(H[j, j], 1e-300)
        H[j, j] = np.sqrt(pivot)
        for i in range(j + 1, n):
            H[i, j] = (H[i, j] - _product(H, i, j)) / H[j, j]


@compiled
def _product(H, i, j):
    """⟨H_i, H_j⟩ over the first j columns; BLAS would take longer to call than most of these are."""
    total = 0.0
    for k in range(j):
        total += H[i, k] * H[j, k]
    return total


@compiled
def substitute(L, x):
    """X ← (LLᵀ)⁻¹x."""
    n = len(x)
    for i in range(n):
        total = 0.0
        for j in range(i):
            total += L[i, j] * x[j]
        x[i] = (x[i] - total) / L[i, i]
    for i in range(n - 1, -1, -1):
        x[i] /= L[i, i]
        for j in range(i):
            x[j] -= L[i, j] * x[i]
