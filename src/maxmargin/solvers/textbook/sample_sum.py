"""w as a sum over samples, w = Σ_i coef_i φ(x_i), which stochastic steps change by one sample at a time.

With the linear kernel w is a vector, the weight of the constant feature last. With any other, w are the coefficients
themselves and the rows are those of K: a step adds to one coefficient, not a row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.rows import row_axpy, row_dot


class SampleSum(NamedTuple):
    """The two sides of the sum, changed in place, and the constant feature of an augmented bias (0 without one)."""

    w: np.ndarray
    coef: np.ndarray
    constant: float
    linear: bool


@compiled
def score(X, i, made):
    """⟨w, φ(x_i)⟩."""
    last = made.constant * made.w[len(made.w) - 1] if made.linear else 0.0
    return row_dot(X, i, made.w) + last


@compiled
def add_sample(X, i, u, made):
    """Add u to the coefficient of sample i, and uφ(x_i) to w."""
    made.coef[i] += u
    if made.linear:
        row_axpy(X, i, u, made.w)
        made.w[len(made.w) - 1] += u * made.constant
    else:
        made.w[i] += u
