"""A step on the free block: all samples strictly inside their bounds at once, by conjugate gradients.

Where sweeps have found which samples are free (F), what is left is a system of equations among them,

    (K_FF + diag(ridge_F)) p = slope_F,         K_FF v = X_F (X_Fᵀ v)

which one sample at a time solves slowly if the rows are alike.

    1. A few steps of conjugate gradients from p = 0, with the diagonal as preconditioner. They read X_F from a copy,
       by rows and by columns, in float32 and without the columns that one free sample alone has: these link
       it to no other, and only add to its place on the diagonal.
    2. β_F + p, cut off at the bounds; if the dual does not rise, a shorter step.

Cost: two passes over the rows of F per step. Memory: that copy, and a few vectors.

Moré & Toraldo, SIAM J. Optimization 1, 1991 (conjugate gradients on a face, projected search).
"""

from __future__ import annotations

import numpy as np

from maxmargin.losses import DualForm
from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.parallel import over_blocks
from maxmargin.numeric.rows import CSR, combine_some, scores_of_rows, scores_of_some
from maxmargin.problem.space import LinearSpace
from maxmargin.solvers.linear.settings import FreeBlockSettings

settings = FreeBlockSettings()


class FreeBlock:
    """The rows of the free samples, with the constant s behind each."""

    def __init__(self, space: LinearSpace, form: DualForm, beta: np.ndarray, constant: float) -> None:
        inside = (beta > form.lower) & (beta < form.upper) & ((beta != 0.0) | (form.tube == 0.0))
        self.some = np.flatnonzero(inside)
        self.size = len(self.some)
        self.space, self.form, self.constant = space, form.of(self.some), constant
        #: Multiply-adds so far.
        self.work = 0.0
        self.pass_over = space.work * self.size / space.n

    def ascend(self, q: np.ndarray, beta: np.ndarray, w: np.ndarray, b: float, steps: int) -> float:
        """Move the free samples of β towards their common optimum, and w = w(β) along; by how much the dual rises."""
        form, old = self.form, beta[self.some]
        slope = form.target - b - self._scores(w) - form.ridge * old - form.tube * np.sign(old)
        p = self._conjugate_gradients(slope, q[self.some], steps)  # 1.
        # With a tube, 0 is as good as a bound.
        lower = np.where((form.tube > 0.0) & (old > 0.0), 0.0, form.lower)
        upper = np.where((form.tube > 0.0) & (old < 0.0), 0.0, form.upper)
        for trial in range(settings.trials):  # 2.
            move = np.clip(old + settings.shorter**trial * p, lower, upper) - old
            v = self._combine(move)
            rise = float(slope @ move) - 0.5 * float(v @ v) - 0.5 * float((form.ridge * move) @ move)
            if rise > 0.0:
                beta[self.some] = np.clip(old + move, lower, upper)
                w += v
                return rise
        return 0.0

    def _conjugate_gradients(self, slope: np.ndarray, q: np.ndarray, steps: int) -> np.ndarray:
        """(K_FF + ridge)⁻¹ slope, roughly."""
        rows, columns, diagonal = self.linked()
        diagonal += self.form.ridge
        weight = 1.0 / np.where(q > 0.0, q, 1.0)
        p, left = np.zeros(self.size), slope.copy()
        scaled = weight * left
        along, product = scaled.copy(), float(left @ scaled)
        enough = settings.slope_share**2 * float(slope @ slope)
        for _ in range(steps):
            image = times(rows, times(columns, along)) + diagonal * along + self.constant**2 * along.sum()
            self.work += 2.0 * self.pass_over
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

    def linked(self) -> tuple[Matrix, Matrix, np.ndarray]:
        """X_F by rows and by columns, those that link samples; and what the others add to the diagonal of K_FF."""
        self.work += settings.copy_passes * self.pass_over
        if not isinstance(self.space.rows, CSR):
            rows = self.space.rows[self.some].astype(np.float32)
            return rows, np.ascontiguousarray(rows.T), np.zeros(self.size)
        return _linked(self.space.rows, self.some, self.space.d)

    def _combine(self, u: np.ndarray) -> np.ndarray:
        """Σ u_i x_i over the free samples."""
        v = np.zeros(self.space.size)
        combine_some(self.space.rows, self.some, u, 0, self.size, v)
        self.work += self.pass_over
        v[-1] = self.constant * u.sum()
        return v

    def _scores(self, w: np.ndarray) -> np.ndarray:
        out = np.empty(self.size)
        rows = self.space.rows
        over_blocks(lambda start, stop: scores_of_some(rows, self.some, w, start, stop, out), self.size, settings.rows)
        self.work += self.pass_over
        return out + self.constant * w[-1]


Matrix = np.ndarray | CSR


def times(rows: Matrix, v: np.ndarray) -> np.ndarray:
    """⟨row, v⟩ for all rows."""
    out = np.empty(len(rows.indptr) - 1 if isinstance(rows, CSR) else len(rows))
    size = max(settings.rows, -(-len(out) // settings.parts))
    over_blocks(lambda start, stop: scores_of_rows(rows, v, start, stop, out), len(out), size)
    return out


@compiled
def _linked(X, some, d):
    """The columns that two or more of these sparse rows have: as rows, as columns, and Σ x_ij² of the other columns."""
    count = np.zeros(d, np.int32)
    for i in some:
        for p in range(X.indptr[i], X.indptr[i + 1]):
            count[X.indices[p]] += 1
    number, linking, size = np.empty(d, np.int32), 0, 0
    for j in range(d):
        number[j] = linking if count[j] > 1 else -1
        if count[j] > 1:
            linking += 1
            size += count[j]
    rows, ends = np.zeros(len(some) + 1, np.int64), np.zeros(linking + 1, np.int64)
    for j in range(d):
        if count[j] > 1:
            ends[number[j] + 1] = count[j]
    starts = np.cumsum(ends)
    columns = starts.copy()
    row_columns, row_values = np.empty(size, np.int32), np.empty(size, np.float32)
    column_rows, column_values = np.empty(size, np.int32), np.empty(size, np.float32)
    diagonal, q = np.zeros(len(some)), 0
    for a in range(len(some)):
        for p in range(X.indptr[some[a]], X.indptr[some[a] + 1]):
            j, value = number[X.indices[p]], X.data[p]
            if j < 0:
                diagonal[a] += value * value
                continue
            row_columns[q], row_values[q] = j, value
            column_rows[columns[j]], column_values[columns[j]] = a, value
            columns[j] += 1
            q += 1
        rows[a + 1] = q
    return CSR(rows, row_columns, row_values), CSR(starts, column_rows, column_values), diagonal
