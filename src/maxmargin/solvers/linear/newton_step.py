"""What Newton's methods in the space of w share: the matrix of their equations, and the length of a step.

The matrix is I + Σ weights_i x_i x_iᵀ over some of the samples, with the constant feature or the free bias behind w. A
step is as long as the root of the slope along it says: by false position, and never longer than Newton's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.parallel import blocks
from maxmargin.numeric.row_blocks import RowBlocks
from maxmargin.numeric.rows import Matrix, rows_of
from maxmargin.problem.space import LinearSpace
from maxmargin.solvers.linear.settings import NewtonStepSettings

settings = NewtonStepSettings()

#: The spacing of numbers at 1.
EPSILON = float(np.finfo(np.float64).eps)


def normal_matrix(space: LinearSpace, free_bias: bool, inside: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """I + Σ weights_i x_i x_iᵀ with the constant column; a free bias has a tiny number instead of the 1."""
    d, constant = space.d, 1.0 if free_bias else space.constant
    by_entries = _by_entries(space)
    # Near the end few samples are inside, and float64 is affordable; before, float32 is twice as fast.
    dtype = np.float64 if len(inside) * d**2 <= settings.precise_work else np.float32

    def add(X: Matrix, some: np.ndarray, places: slice, part: np.ndarray) -> None:
        shares = weights[places]
        if by_entries:
            add_products(rows_of(X), some, shares, constant, part)
            return
        for first, last in blocks(len(some), settings.block):
            rows = X[some[first:last]]
            rows = (rows.toarray() if sp.issparse(rows) else rows).astype(dtype, copy=False)
            rows = np.column_stack([rows, np.full(len(rows), constant, dtype)])
            rows *= np.sqrt(shares[first:last]).astype(dtype)[:, None]
            part += rows.T @ rows  # NumPy sees that it is symmetric, and has half of it computed

    products = space.parts_over_some(add, (d + 1, d + 1), inside, settings.block).sum(axis=0)
    products = np.tril(products) + np.tril(products, -1).T if by_entries else products
    # The constant's place is the last one: of a free bias after w, of an augmented one at the end of w.
    places = np.r_[np.arange(d), space.size + free_bias - 1]
    matrix = np.eye(space.size + free_bias)
    if free_bias:
        matrix[-1, -1] = settings.bias_diagonal * float(weights.sum()) or 1.0
    matrix[np.ix_(places, places)] += products
    return matrix


def passes_of_matrix(space: LinearSpace, samples: int) -> float:
    """What the matrix of this number of samples costs, in passes over the data."""
    share = samples / space.n
    if _by_entries(space):
        return share * space.work / space.n
    return share * (1.0 + space.d / settings.features_per_pass) * space.n * space.d / max(1, space.work)


def _by_entries(space: LinearSpace) -> bool:
    sparse = sp.issparse(space.X) or (isinstance(space.X, RowBlocks) and space.X.sparse)
    return sparse and space.work < settings.sparse_share * space.n * space.d


def solve_positive(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution of equations with a matrix that is positive definite, or would be without rounding."""
    return solve_factored(factored(matrix), right)


def solve_factored(factor: Any, right: np.ndarray) -> np.ndarray:
    """The solution of equations with the matrix that has this Cholesky factor."""
    from scipy.linalg import cho_solve  # imported where it is needed: a tenth of a second when the program starts

    return cho_solve(factor, right, check_finite=False)


def factored(matrix: np.ndarray) -> tuple[np.ndarray, bool]:
    """The Cholesky factor; where rounding has made the matrix indefinite, with a little more on its diagonal.

    Features of different sizes leave diagonals of different sizes, so that each place gets its own share: as much as
    it takes, ten times as much at each trial. A matrix with NaN or infinity is refused: `LinAlgError`.
    """
    from scipy.linalg import cho_factor

    share = 0.0
    diagonal = np.maximum(matrix.diagonal(), 0.0)
    diagonal = np.maximum(diagonal, EPSILON * diagonal.max(initial=0.0))
    for _ in range(18):
        try:
            added = matrix + np.diag(share * diagonal) if share else matrix
            factor = cho_factor(added, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            share = 10.0 * share or EPSILON
        else:
            if np.isfinite(factor[0].diagonal()).all():
                return factor
            break
    raise np.linalg.LinAlgError("the matrix of Newton's equations has no Cholesky factor")


def step_length(slope: Callable[[float], float], first: float) -> float:
    """The root of a rising slope that is `first` < 0 at the step 0, to a tenth of that; at most 1."""
    low, high, at_low, at_high = 0.0, 1.0, first, slope(1.0)
    if at_high <= 0.0 or abs(at_high) <= 0.1 * abs(first):
        return 1.0
    best = 1.0
    for trial in range(settings.most_trials):
        share = min(max(at_low / (at_low - at_high), 0.1), 0.9)
        if (
            low == 0.0 and trial >= settings.false_position
        ):  # the direction is far too long: no curvature was known there
            share = 0.01
        best = low + (high - low) * share
        value = slope(best)
        if abs(value) <= 0.1 * abs(first):
            break
        if value < 0.0:
            low, at_low = best, value
        else:
            high, at_high = best, value
    return best


@compiled
def add_products(X, inside, weights, constant, out):
    """The lower half of Σ weights_i x_i x_iᵀ over sparse rows, the constant behind each."""
    last = out.shape[0] - 1
    for a in range(len(inside)):
        start, stop = X.indptr[inside[a]], X.indptr[inside[a] + 1]
        for p in range(start, stop):
            value = weights[a] * X.data[p]
            j = X.indices[p]
            for q in range(start, stop):
                if X.indices[q] <= j:
                    out[j, X.indices[q]] += value * X.data[q]
            out[last, j] += value * constant
        out[last, last] += weights[a] * constant * constant
