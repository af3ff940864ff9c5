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
        pivot = H[j, j] - np.dot(H[j, :j], H[j, :j])
        if not pivot > LEAST * H[j, j]:
            pivot = LEAST * max(H[j, j], 1e-300)
        H[j, j] = np.sqrt(pivot)
        for i in range(j + 1, n):
            H[i, j] = (H[i, j] - np.dot(H[i, :j], H[j, :j])) / H[j, j]


@compiled
def substitute(L, x):
    """X ← (LLᵀ)⁻¹x."""
    n = len(x)
    for i in range(n):
        x[i] = (x[i] - np.dot(L[i, :i], x[:i])) / L[i, i]
    for i in range(n - 1, -1, -1):
        x[i] /= L[i, i]
        for j in range(i):
            x[j] -= L[i, j] * x[i]
