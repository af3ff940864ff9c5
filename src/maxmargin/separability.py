"""The proof that a hard margin does not exist: one point in both convex hulls.

Classes are separable by a hyperplane exactly when their convex hulls do not meet. So α ≥ 0 with
Σ_{+}α = Σ_{−}α = 1 and ‖Σ α_i y_i φ(x_i)‖ = r proves that no hyperplane has a margin above r/2; r ≈ 0 proves that
none separates. (Without a free bias the hyperplane passes through the origin of the space; then Σα = 1 over all
samples, and the margin is at most r.)

    1. Take the samples of each class with the largest |β|: a dual ascent that diverges piles its weight on such a
       point.
    2. Solve the non-negative least squares problem  Σ α_i y_i φ(x_i) = 0, Σ_{+}α = Σ_{−}α = 1  over them.
    3. Make the sums exact and measure r.

Lawson & Hanson, Solving Least Squares Problems, chapter 23 (the active set method behind step 2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from maxmargin.problem import Problem

#: Samples that step 2 looks at; a point in both hulls needs at most d + 2 of them.
MOST = 500


@dataclass(frozen=True, eq=False)
class Inseparable:
    """One point in both convex hulls: α with Σ_{+}α = Σ_{−}α = 1 and ‖Σ α y φ(x)‖ = distance ≈ 0."""

    alpha: np.ndarray
    distance: float
    #: No hyperplane has a larger margin than this.
    margin_bound: float
    #: The largest norm of a sample, to judge the distance by.
    radius: float

    def __str__(self) -> str:
        return (
            f"the classes are not separable: {np.count_nonzero(self.alpha)} samples make a point of both convex hulls"
            f" (distance {self.distance:.2g}, data radius {self.radius:.2g})"
        )


def prove_inseparable(problem: Problem, beta: np.ndarray, near: float = 1e-7) -> Inseparable | None:
    """A proof that the hard margin does not exist, or None if the samples that β points to give none."""
    used = problem.C > 0
    y = problem.target
    # 1.
    strongest = np.argsort(-np.abs(beta), kind="stable")
    sides = [strongest[used[strongest] & (y[strongest] == sign)][: MOST // 2] for sign in (1.0, -1.0)]
    chosen = np.concatenate(sides)
    features = _features(problem, chosen)
    radius = float(np.sqrt(np.einsum("ij,ij->i", features, features).max()))
    radius = radius or 1.0
    # 2.
    if problem.bias == "free":
        sums = np.stack([y[chosen] > 0, y[chosen] < 0]).astype(np.float64)
    else:
        sums = np.ones((1, chosen.size))
    matrix = np.vstack([(features * (y[chosen] / radius)[:, None]).T, sums])
    alpha = _nonnegative_least_squares(matrix, np.r_[np.zeros(features.shape[1]), np.ones(len(sums))])
    # 3.
    reached = sums @ alpha
    if (reached <= 0.5).any():
        return None
    alpha = alpha / (reached @ sums)
    full = np.zeros(problem.n)
    full[chosen] = alpha
    point = problem.space.combine(full * y)
    distance = float(np.sqrt(max(0.0, problem.space.sqnorm(point))))
    if distance > near * radius:
        return None
    return Inseparable(full, distance, distance / 2 if problem.bias == "free" else distance, radius)


def _features(problem: Problem, chosen: np.ndarray) -> np.ndarray:
    """Rows of φ for the chosen samples: the data itself, or a square root of their kernel matrix."""
    space = problem.space
    if problem.linear and problem.X.shape[1] <= 4 * MOST:
        rows = problem.X[chosen]
        rows = (rows.toarray() if sp.issparse(rows) else rows).astype(np.float64)
        return np.c_[rows, np.full(len(rows), space.constant)] if space.constant else rows
    K = problem.kernel.cross(problem.X[chosen].astype(np.float64), problem.X, chosen) + space.constant**2
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    kept = values > values.max(initial=0.0) * 1e-15
    return vectors[:, kept] * np.sqrt(values[kept])


def _nonnegative_least_squares(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    from scipy.optimize import nnls

    try:
        return nnls(matrix, right, maxiter=20 * matrix.shape[1])[0]
    except RuntimeError:  # it did not end within its steps: no proof this time
        return np.zeros(matrix.shape[1])
