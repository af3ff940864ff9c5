"""A step on the free block: all samples strictly inside their bounds at once, by conjugate gradients.

Where sweeps have found which samples are free (F), what is left is a system of equations among them,

    (K_FF + diag(ridge_F)) p = slope_F,         K_FF v = X_F (X_Fᵀ v)

which one sample at a time solves slowly if the rows are alike.

    1. A few steps of conjugate gradients from p = 0, with the diagonal as preconditioner.
    2. β_F + p, cut off at the bounds; if the dual does not rise, a shorter step.

Cost: two passes over the rows of F a step. Memory: a few vectors.

Moré & Toraldo, SIAM J. Optimization 1, 1991 (conjugate gradients on a face, projected search).
"""

from __future__ import annotations

import numpy as np

from maxmargin.losses import DualForm
from maxmargin.parallel import blocks, over_blocks
from maxmargin.rows import combine_some, scores_of_some
from maxmargin.space import LinearSpace

#: The share of the slope at which conjugate gradients end.
ENOUGH = 0.1
#: Shorter and shorter steps that are tried, and by how much.
TRIALS, SHORTER = 6, 0.35
#: Rows whose scores one thread computes at a time, and parts that Σ p_i x_i is summed in.
ROWS, PARTS = 512, 4


class FreeBlock:
    """The rows of the free samples, with the constant s behind each."""

    def __init__(self, space: LinearSpace, form: DualForm, beta: np.ndarray, constant: float) -> None:
        inside = (beta > form.lower) & (beta < form.upper) & ((beta != 0.0) | (form.tube == 0.0))
        self.some = np.flatnonzero(inside)
        self.size = len(self.some)
        self.space, self.form, self.constant = space, form.of(self.some), constant
        self.part = max(1, -(-self.size // PARTS))
        self.parts = np.empty((len(blocks(self.size, self.part)), space.size))
        #: Multiply-adds so far.
        self.work = 0.0
        self.pass_over = space.work * self.size / space.n + space.d * PARTS

    def ascend(self, q: np.ndarray, beta: np.ndarray, w: np.ndarray, b: float, steps: int) -> float:
        """Move the free samples of β towards their common optimum, and w = w(β) along; by how much the dual rises."""
        form, old = self.form, beta[self.some]
        slope = form.target - b - self._scores(w) - form.ridge * old - form.tube * np.sign(old)
        p = self._conjugate_gradients(slope, q[self.some], steps)  # 1.
        # With a tube, 0 is as good as a bound.
        lower = np.where((form.tube > 0.0) & (old > 0.0), 0.0, form.lower)
        upper = np.where((form.tube > 0.0) & (old < 0.0), 0.0, form.upper)
        for trial in range(TRIALS):  # 2.
            move = np.clip(old + SHORTER**trial * p, lower, upper) - old
            v = self._combine(move)
            rise = float(slope @ move) - 0.5 * float(v @ v) - 0.5 * float((form.ridge * move) @ move)
            if rise > 0.0:
                beta[self.some] = np.clip(old + move, lower, upper)
                w += v
                return rise
        return 0.0

    def _conjugate_gradients(self, slope: np.ndarray, q: np.ndarray, steps: int) -> np.ndarray:
        """(K_FF + ridge)⁻¹ slope, roughly."""
        weight = 1.0 / np.where(q > 0.0, q, 1.0)
        p, left = np.zeros(self.size), slope.copy()
        scaled = weight * left
        along, product = scaled.copy(), float(left @ scaled)
        enough = ENOUGH**2 * float(slope @ slope)
        for _ in range(steps):
            image = self._scores(self._combine(along)) + self.form.ridge * along
            curvature = float(along @ image)
            if curvature <= 0.0:
                break
            step = product / curvature
            p += step * along
            left -= step * image
            if float(left @ left) <= enough:
                break
            scaled = weight * left
            before, product = product, float(left @ scaled)
            along = scaled + (product / before) * along
        return p

    def _combine(self, u: np.ndarray) -> np.ndarray:
        """Σ u_i x_i over the free samples, in parts whose sums are added in order."""
        size, parts, rows = self.part, self.parts, self.space.rows
        parts[:] = 0.0
        over_blocks(
            lambda start, stop: combine_some(rows, self.some, u, start, stop, parts[start // size]), self.size, size
        )
        self.work += self.pass_over
        v = parts.sum(axis=0)
        v[-1] = self.constant * u.sum()
        return v

    def _scores(self, w: np.ndarray) -> np.ndarray:
        out = np.empty(self.size)
        rows = self.space.rows
        over_blocks(lambda start, stop: scores_of_some(rows, self.some, w, start, stop, out), self.size, ROWS)
        self.work += self.pass_over
        return out + self.constant * w[-1]
