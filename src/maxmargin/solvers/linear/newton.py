"""Newton's method on the augmented Lagrangian: the second phase of `coordinate_newton.py`.

With the multipliers β and a weight σ the primal becomes smooth, a proximal step on the dual seen from the other side:

    φ(w, b) = ½‖w‖² + total·b + Σ_i max_u [ r_i u − tube_i|u| − ½ ridge_i u² − (u − β_i)²/2σ ],   r = target − Xw − b

over lower ≤ u ≤ upper. Its maximisers u_i(w) are feasible duals, ∇φ = w − Σ u_i x_i, and its second derivative is
I + Σ_J x_i x_iᵀ/(ridge_i + 1/σ) over the samples J whose u_i is strictly inside its bounds: few, near the optimum.

    1. Newton's direction: d + 1 equations, which are factored, so that d must not be large.
    2. An exact search along it. It needs Xp once; each trial step is one pass over n-vectors, not over the data.
    3. When ∇φ is small beside what u has moved, β ← u and σ grows: the next problem is nearer to the true one.

Cost: a pass over the data per step (Xp), the rows whose u changes, and |J| rows for the matrix. The loss is piecewise
quadratic, so that the last steps are exact.

Rockafellar, Math. of Operations Research 1, 1976 (augmented Lagrangian as proximal point); Li, Sun & Toh, SIAM J.
Optimization 28, 2018 (semismooth Newton inside it); Yan & Li, Asia-Pacific J. of Operational Research 37, 2020 (for
support vector machines).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from maxmargin.losses import DualArrays, DualForm
from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.parallel import blocks, over_blocks
from maxmargin.problem.space import LinearSpace
from maxmargin.solvers.linear.newton_step import normal_matrix, passes_of_matrix, solve_positive, step_length
from maxmargin.solvers.linear.settings import NewtonSettings
from maxmargin.solvers.textbook.coordinate_ascent import maximiser, shortfall

settings = NewtonSettings()

#: What a search along a direction reads of the samples: their scores z, those of the direction, β, and the dual.
Line = tuple[np.ndarray, np.ndarray, np.ndarray, DualArrays]


class AugmentedLagrangian:
    """The two sides: w (with the constant's weight behind it) and b; β, u and Σ u_i x_i."""

    def __init__(self, space: LinearSpace, form: DualForm, beta: np.ndarray, w: np.ndarray, b: float, sigma: float):
        self.space, self.form, self.sigma = space, form, sigma
        self.free_bias = form.total is not None
        self.total = form.total or 0.0
        self.beta, self.w, self.b = beta, w.copy(), b
        self.z = space.scores(w) + b
        self.u, self.change = beta.copy(), np.empty(space.n)
        self.combined = space.combine(self.u)
        self.steps = 0
        self.scale = float(np.abs(form.target).max())
        #: The work so far, in passes over the data.
        self.passes = 2.0
        self._refresh()

    def step(self) -> None:
        """One Newton step (1. and 2.)."""
        gradient = self._gradient()
        p = -self._solve(gradient)  # 1.
        dw, db = (p[:-1], float(p[-1])) if self.free_bias else (p, 0.0)
        along = self.space.scores(dw) + db
        first = float(gradient @ p)
        step = self._search(along, first, float(self.w @ dw) + self.total * db, float(dw @ dw))
        self.w += step * dw
        self.b += step * db
        self.z += step * along
        self.passes += 1.0 + settings.vector_work * self.space.n / max(1, self.space.work)
        self.steps += 1
        self._refresh()

    def settled(self) -> bool:
        """Whether ∇φ is small enough beside the move of u to go on to the next problem (3.)."""
        gradient = self._gradient()
        return float(gradient @ gradient) <= settings.settled_share * self.moved / self.sigma

    def multiply(self) -> None:
        """β ← u, and σ grows (3.)."""
        self.beta = self.u.copy()
        self.combined = self.space.combine(self.u)  # anew, without the rounding of many changes
        self.passes += 1.0
        self.sigma *= settings.growth if self.steps <= settings.few_steps else settings.slow_growth
        self.steps = 0
        self._refresh()

    def relative_gap(self) -> float:
        """The gap in units of the larger of the two values."""
        gap, reached = self.gap()
        return gap / max(abs(reached + gap), abs(reached), np.finfo(np.float64).tiny)

    def gap(self) -> tuple[float, float]:
        """P(w, b) − D(u), which is what each sample misses and what w and Σ u_i x_i differ by; and D(u)."""
        dual = self.form.arrays
        missed, value = sums(lambda start, stop: shortfalls(start, stop, self.z, self.u, dual), self.space.n)
        reached = value - 0.5 * float(self.combined @ self.combined)
        apart = 0.5 * float((self.w - self.combined) @ (self.w - self.combined))
        gap = missed + apart
        if self.free_bias:  # Σu is not what it must be; to make it so costs about the slope of a sample for each unit
            off = self.total - self.sum
            gap += off * self.b + self.scale * abs(off)
        return max(0.0, gap), reached

    def _refresh(self) -> None:
        """U and Σ u_i x_i at the present w."""
        inertia, dual = 1.0 / self.sigma, self.form.arrays
        #: Σ u_i and ‖u − β‖².
        self.sum, self.moved = sums(
            lambda start, stop: respond(start, stop, self.z, self.beta, inertia, dual, self.u, self.change),
            self.space.n,
        )
        self.combined += self.space.combine(self.change)  # reads the rows whose u has changed, and no others
        self.passes += np.count_nonzero(self.change) / self.space.n

    def _gradient(self) -> np.ndarray:
        gradient = self.w - self.combined
        return np.append(gradient, self.total - self.sum) if self.free_bias else gradient

    def _search(self, along: np.ndarray, first: float, linear: float, square: float) -> float:
        """The root of φ'(α) along the direction (2.); φ is convex, so that φ' rises."""
        inertia, whole = 1.0 / self.sigma, (self.z, along, self.beta, self.form.arrays)
        line, fixed = whole, 0.0

        def slope(alpha: float) -> float:
            nonlocal line, fixed
            if alpha != 1.0 and line is whole:
                line, fixed = self._moving(along)
            n = len(line[0])
            pulled, _ = sums(lambda start, stop: (slope_along(start, stop, alpha, inertia, *line), 0.0), n)
            return linear + alpha * square - fixed - pulled

        return step_length(slope, first)

    def _moving(self, along: np.ndarray) -> tuple[Line, float]:
        """The arrays of the samples whose u changes along the direction, and Σ u_i (Xp)_i of the others.

        Along a line u is monotone: where it is the same at both ends, it is the same all the way.
        """
        end, change = self.u.copy(), self.change
        z, inertia, dual = self.z + along, 1.0 / self.sigma, self.form.arrays
        sums(lambda start, stop: respond(start, stop, z, self.beta, inertia, dual, end, change), self.space.n)
        some = np.flatnonzero(change)
        fixed = float(self.u @ along) - float(self.u[some] @ along[some])
        return (self.z[some], along[some], self.beta[some], self.form.of(some).arrays), fixed

    # 1.

    def _solve(self, gradient: np.ndarray) -> np.ndarray:
        form = self.form
        inside = np.flatnonzero((self.u > form.lower) & (self.u < form.upper) & ((self.u != 0.0) | (form.tube == 0.0)))
        matrix = normal_matrix(self.space, self.free_bias, inside, 1.0 / (form.ridge[inside] + 1.0 / self.sigma))
        self.passes += passes_of_matrix(self.space, len(inside))
        return solve_positive(matrix, gradient)


def sums(function: Callable[[int, int], tuple[float, float]], n: int) -> tuple[float, float]:
    """Two sums over n samples, in parts that do not depend on the number of threads."""
    parts = np.zeros((len(blocks(max(1, n), settings.block)), 2))

    def fill(start: int, stop: int) -> None:
        parts[start // settings.block] = function(start, stop)

    over_blocks(fill, n, settings.block)
    first, second = parts.sum(axis=0)
    return float(first), float(second)


@compiled
def respond(start, stop, z, beta, inertia, dual, u, change):
    """u_i(w): the dual that answers the score z_i, with 1/σ as inertia; returns Σ u_i and ‖u − β‖²."""
    target, ridge, tube, lower, upper = dual
    for i in range(start, stop):
        slope = target[i] - z[i] - ridge[i] * beta[i]
        v = maximiser(slope, ridge[i] + inertia, beta[i], tube[i], lower[i], upper[i])
        change[i] = v - u[i]
        u[i] = v
    # Not in the loop that writes: it is compiled for arrays that overlap, too, and addresses would decide the bits.
    total, moved = 0.0, 0.0
    for i in range(start, stop):
        total += u[i]
        moved += (u[i] - beta[i]) ** 2
    return total, moved


@compiled
def slope_along(start, stop, alpha, inertia, z, along, beta, dual):
    """Σ u_i(w + αp) (Xp)_i."""
    target, ridge, tube, lower, upper = dual
    total = 0.0
    for i in range(start, stop):
        slope = target[i] - z[i] - alpha * along[i] - ridge[i] * beta[i]
        total += along[i] * maximiser(slope, ridge[i] + inertia, beta[i], tube[i], lower[i], upper[i])
    return total


@compiled
def shortfalls(start, stop, z, u, dual):
    """The part of the gap that belongs to the samples, and the dual without ‖w(u)‖²."""
    target, ridge, tube, lower, upper = dual
    total, value = 0.0, 0.0
    for i in range(start, stop):
        total += shortfall(target[i] - z[i], ridge[i], tube[i], u[i], lower[i], upper[i])[0]
        value += target[i] * u[i] - tube[i] * abs(u[i]) - 0.5 * ridge[i] * u[i] * u[i]
    return total, value
