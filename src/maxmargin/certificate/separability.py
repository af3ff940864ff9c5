"""The proof that a hard margin does not exist: one point in both convex hulls.

Classes are separable by a hyperplane exactly when their convex hulls do not meet. So α ≥ 0 with
Σ_{+}α = Σ_{−}α = 1 and ‖Σ α_i y_i φ(x_i)‖ = r proves that no hyperplane has a margin above r/2, and r = 0 proves that
none separates. (Without a free bias the hyperplane passes through the origin of the space; then Σα = 1 over all
samples, and the margin is at most r.)

    1. Take the samples of each class with the largest |β|: a dual ascent that diverges piles its weight on such a
       point.
    2. Solve the non-negative least squares problem  Σ α_i y_i φ(x_i) = 0, Σ_{+}α = Σ_{−}α = 1  over them.
    3. If r is tiny, solve the same equations for the few samples with α > 0 once more, in rational numbers: float64
       data are rational, so that this is exact. A solution with α ≥ 0 is a proof; r is then 0, not nearly 0.
    4. Where there is none (or w has no coordinates), only the bound on the margin is left, and it is called that.

Lawson & Hanson, Solving Least Squares Problems, chapter 23 (the active set method behind step 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from maxmargin.problem import Problem

#: Samples that step 2 looks at; a point in both hulls needs at most d + 2 of them.
MOST = 500


#: Unknowns of the largest rational system that is solved: its numbers grow to thousands of digits.
MOST_RATIONAL = 40


@dataclass(frozen=True, eq=False)
class Inseparable:
    """One point in both convex hulls: α with Σ_{+}α = Σ_{−}α = 1 and ‖Σ α y φ(x)‖ = distance, 0 or nearly."""

    alpha: np.ndarray
    distance: float
    #: No hyperplane has a larger margin than this.
    margin_bound: float
    #: The largest norm of a sample, to judge the distance by.
    radius: float
    #: Whether it was solved in rational numbers: then no hyperplane separates. Otherwise a margin may exist that is
    #: smaller than the bound.
    proved: bool = False

    def __str__(self) -> str:
        if not self.proved:
            return (
                f"if a margin exists, it is below {self.margin_bound:.2g} (the data have a radius of {self.radius:.2g})"
            )
        return (
            f"the classes are not separable: {np.count_nonzero(self.alpha)} samples make a point of both convex hulls,"
            f" in exact arithmetic"
        )


def prove_inseparable(problem: Problem, beta: np.ndarray, near: float = 1e-7) -> Inseparable | None:
    """A proof that the hard margin does not exist, or a bound on it, or None if β points to neither."""
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
    reached = sums @ alpha
    if (reached <= 0.5).any():
        return None
    alpha = alpha / (reached @ sums)
    full = np.zeros(problem.n)
    full[chosen] = alpha
    distance = float(np.linalg.norm((full[chosen] * y[chosen]) @ features))
    if distance > near * radius:
        return None
    # 3. and 4.
    exact = _rational(problem, chosen, features, alpha)
    if exact is not None:
        full[chosen] = exact
        return Inseparable(full, 0.0, 0.0, radius, proved=True)
    # What rounding can hide of the distance: a sum of so many products.
    distance += (features.shape[1] + chosen.size) * float(np.finfo(np.float64).eps) * radius
    return Inseparable(full, distance, distance / 2 if problem.bias == "free" else distance, radius)


def _rational(problem: Problem, chosen: np.ndarray, features: np.ndarray, alpha: np.ndarray) -> np.ndarray | None:
    """The weights of a common point in exact arithmetic, rounded for show; None where there is no proof."""
    y = problem.target[chosen]
    if not problem.linear:
        return _equal_rows(problem, chosen, y)
    support = np.flatnonzero(alpha)
    if features.shape[1] + 2 > MOST_RATIONAL or support.size > MOST_RATIONAL:
        return _equal_rows(problem, chosen, y)
    support = support[np.argsort(-alpha[support], kind="stable")]
    if problem.bias == "free":
        sums = [[Fraction(int(y[i] == sign)) for i in support] for sign in (1.0, -1.0)]
    else:
        sums = [[Fraction(1)] * support.size]
    rows = [
        [Fraction(float(y[i])) * Fraction(float(features[i, j])) for i in support] for j in range(features.shape[1])
    ]
    right = [Fraction(0)] * len(rows) + [Fraction(1)] * len(sums)
    solved = solve_rational(rows + sums, right, [Fraction(float(alpha[i])) for i in support])
    if solved is None or min(solved) < 0:
        return None
    exact = np.zeros(len(chosen))
    exact[support] = [float(value) for value in solved]
    return exact


def _equal_rows(problem: Problem, chosen: np.ndarray, y: np.ndarray) -> np.ndarray | None:
    """A row that two samples of different classes share is a common point, in the space of any kernel."""
    if problem.kernel.given:
        return None
    rows = problem.X[chosen]
    rows = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
    seen: dict[bytes, int] = {}
    for place in np.flatnonzero(y > 0):
        seen.setdefault((rows[place] + 0.0).tobytes(), int(place))
    for place in np.flatnonzero(y < 0):
        other = seen.get((rows[place] + 0.0).tobytes())
        if other is not None:
            exact = np.zeros(len(chosen))
            exact[other] = exact[place] = 1.0 if problem.bias == "free" else 0.5
            return exact
    return None


def solve_rational(rows: list[list[Fraction]], right: list[Fraction], guess: list[Fraction]) -> list[Fraction] | None:
    """A solution of the equations in rational numbers, near the guess; None where there is none.

    Gauss and Jordan: each equation is solved for the first of its variables that is not taken yet, so that the
    variables that come first (the largest) are determined by the others, which keep their guess.
    """
    table = [[*row, value] for row, value in zip(rows, right, strict=True)]
    count = len(guess)
    pivots: list[int] = []
    for row in table:
        for done, column in enumerate(pivots):
            factor = row[column]
            if factor:
                row[:] = [entry - factor * other for entry, other in zip(row, table[done], strict=True)]
        column = next((k for k in range(count) if row[k]), -1)
        if column < 0:
            if row[-1]:
                return None  # 0 = something else
            pivots.append(count)  # an equation that says nothing new
            continue
        scale = row[column]
        row[:] = [entry / scale for entry in row]
        for other in table[: len(pivots)]:
            factor = other[column]
            if factor:
                other[:] = [entry - factor * mine for entry, mine in zip(other, row, strict=True)]
        pivots.append(column)
    solution = list(guess)
    basic = {column for column in pivots if column < count}
    for row, column in zip(table, pivots, strict=True):
        if column < count:
            solution[column] = row[-1] - sum(row[k] * guess[k] for k in range(count) if k not in basic)
    return solution


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
