"""Primal-dual interior point for linear problems with many more rows than columns.

Problem:  min_β  ½ βᵀ(XXᵀ + diag(ridge))β − targetᵀβ   s.t.  lower ≤ β ≤ upper [, Σβ = total]

With slacks s = β − lower, r = upper − β and their multipliers y, z ≥ 0, and with the bias b as the multiplier of
Σβ = total, a point is optimal when

    Xw + ridge β + b − target − y + z = 0,      w = Xᵀβ,      Σβ = total,      s y = 0,      r z = 0.

Newton's method, aiming at s y = r z = μ > 0, has n unknowns Δβ. But Θ = ridge + y/s + z/r is diagonal, so that
Δβ = −Θ⁻¹(c + XΔw + Δb), and only the d + 1 unknowns Δw, Δb are left (Sherman–Morrison–Woodbury):

    (I + XᵀΘ⁻¹X) Δw + XᵀΘ⁻¹1 Δb = Xᵀβ − w − XᵀΘ⁻¹c,      1ᵀΘ⁻¹X Δw + 1ᵀΘ⁻¹1 Δb = Σβ − total − 1ᵀΘ⁻¹c.

    0. With a tube, −Σ tube_i|β_i|, each sample comes twice: β_i = β_i⁺ + β_i⁻, where 0 ≤ β_i⁺ ≤ upper_i has the target
       target_i − tube_i and lower_i ≤ β_i⁻ ≤ 0 has target_i + tube_i.
    1. Start in the middle of the box with w = 0: slacks and multipliers are balanced, w = Xᵀβ is still to come.
    2. One pass over the rows for the matrix and the right-hand side of the predictor, which aims at μ = 0.
    3. One pass for its Δβ; how much of μ it would leave says where the corrector should aim.
    4. Two passes for the corrector's right-hand side and its Δβ; step as far as all signs allow.
    5. What is yielded is rounded to the bounds: a variable whose slack has fallen below its multiplier is put on its
       bound, and the others make up for it, so that w stays where it was: Δβ = Θ⁻¹Xλ on them, with the matrix of the
       round.
    6. At the end the free variables, about d of them, solve the optimality conditions on their face exactly. On small
       data that is tried on the way, too: once the right ones are free, nothing is left to do.
    7. Where that does not close the gap, w is looked at as it stands, beside β: it has digits that Xᵀβ may have lost.

All classes in one problem have a method of the same kind (`crammer_singer_interior.py`).

Blocks of rows go through BLAS in float64, whatever the data's precision; memory beyond the data is a few dozen
n-vectors. Some twenty rounds reach a relative gap of 1e−8, whatever C is.

Mehrotra, SIAM J. Optimization 2, 1992 (predictor-corrector); Ferris & Munson, SIAM J. Optimization 13, 2002 (this
elimination for massive linear SVMs).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from maxmargin.kernels.base import slice_rows
from maxmargin.losses import DualForm
from maxmargin.numeric.parallel import blocks, over_blocks
from maxmargin.numeric.rows import Matrix
from maxmargin.problem import CrammerSingerProblem, Problem
from maxmargin.problem.projection import balanced
from maxmargin.problem.space import LinearSpace
from maxmargin.result import Iterate
from maxmargin.solvers.base import Solver, refuse_without_form, registry, reliable
from maxmargin.solvers.linear.crammer_singer_interior import interior_iterates, too_large
from maxmargin.solvers.linear.newton_step import factored, solve_factored
from maxmargin.solvers.linear.settings import InteriorPointSettings
from maxmargin.solvers.textbook.qp import crossover
from maxmargin.solvers.translation import about_the_mean

settings = InteriorPointSettings()


@dataclass(frozen=True)
class InteriorPoint(Solver):
    """Mehrotra's predictor-corrector method on the dual, in the space of w.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import InteriorPoint
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1])
    >>> result = solve(problem, InteriorPoint(), tol=1e-6)
    >>> result.certificate.relative_gap < 1e-6, result.w.round(3)
    (True, array([1.]))
    """

    name: ClassVar[str] = "interior-point"
    paper: ClassVar[str] = "Mehrotra 1992; Ferris & Munson 2002"
    families: ClassVar[tuple[str, ...]] = ("ordinary", "crammer-singer")

    def accepts(self, problem: Problem) -> str | None:
        if isinstance(problem, CrammerSingerProblem):
            return too_large(problem)
        if not problem.linear:
            return f"w has no coordinates with the kernel {problem.kernel.name!r}; use solver={reliable(problem)!r}"
        refusal = refuse_without_form(problem)
        if refusal is not None:
            return refusal
        assert problem.form is not None
        if problem.hard:
            return f"a hard margin (C=inf) may have no solution for it to converge to; use solver={reliable(problem)!r}"
        if problem.X.shape[1] > settings.most_features:
            return (
                f"it factors a matrix of the size of the {problem.X.shape[1]} features,"
                f" {settings.most_features} at most; use solver={reliable(problem)!r}"
            )
        return None

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        if isinstance(problem, CrammerSingerProblem):
            return interior_iterates(problem)
        return self._rounds(problem, start, rng)

    @about_the_mean
    def _rounds(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        assert problem.form is not None and isinstance(problem.space, LinearSpace)
        form, space = problem.form, problem.space
        if form.tube.any():  # 0.
            form, space = _two_sides(form), LinearSpace(_twice(problem.X), space.constant)
        return _Rounds(problem, form, space).run()


class _Rounds:
    """The state of the method, in the letters of the header; v is w with b (or the constant's weight) behind it."""

    def __init__(self, problem: Problem, form: DualForm, space: LinearSpace) -> None:
        self.problem, self.form, self.space = problem, form, space
        self.free = form.total is not None
        self.constant = 1.0 if self.free else space.constant
        # Equal bounds (a sample of weight 0) leave no room: such a variable takes no part.
        self.pinned = form.lower == form.upper
        self.has_lower = np.isfinite(form.lower) & ~self.pinned
        self.has_upper = np.isfinite(form.upper) & ~self.pinned
        #: The matrix of the last round, factored; None before the first.
        self.factor: tuple[np.ndarray, bool] | None = None
        self.v = np.zeros(space.size)  # 1.
        self.scores = np.zeros(space.n)
        self.beta = _middle(form)
        self.combined = self._transposed_times(self.beta)
        # Slacks of bounds that are there; 1 stands for the others, whose multipliers stay 0. They are kept by
        # themselves, not as differences: near a bound, β has no digits left for them.
        self.s = np.where(self.has_lower, self.beta - form.lower, 1.0)
        self.r = np.where(self.has_upper, form.upper - self.beta, 1.0)
        residual = form.ridge * self.beta - form.target
        size = float(np.abs(form.target).mean()) or 1.0
        self.y = np.where(self.has_lower, np.maximum(residual, 0.0) + size, 0.0)
        self.z = np.where(self.has_upper, np.maximum(-residual, 0.0) + size, 0.0)

    def run(self) -> Iterator[Iterate]:
        """Rounds without end; the loop decides when it is enough."""
        # BLAS does the multiply-adds of the matrix some twenty times faster than a pass reads the rows.
        work = self.space.work * (self.space.d / settings.blas_speed + 6.0) + settings.vector_work * self.space.n
        goals = list(settings.guesses) if self.space.n * self.space.d <= settings.small else []
        for k in count(1):
            going = self._round()
            gap = self._relative_gap()
            if goals and gap < goals[0]:
                goals = [goal for goal in goals if goal <= gap]
                yield crossover(self.problem, self._folded(self.beta), k, estimate=0.0)
            beta = self._rounded() if gap < 0.1 and self.factor else self.beta
            yield Iterate(k, beta=self._folded(beta), work=work, estimate=gap)
            if not going or gap < 1e-10 or self._mu() < 1e-16:  # beyond this, slacks have no digits left
                cleaned = crossover(self.problem, self._folded(self.beta), k)  # 6.
                yield cleaned
                assert cleaned.beta is not None
                if self._gap_of(cleaned.beta) > settings.clean_gap:
                    yield self._pair(k)
                return

    def _gap_of(self, beta: np.ndarray) -> float:
        """The relative gap of β and its own w(β)."""
        problem = self.problem
        w = problem.space.combine(beta)
        scores = problem.space.scores(w)
        b = problem.best_bias(scores) if self.free else 0.0
        half = 0.5 * problem.space.sqnorm(w, scores)
        primal = half + problem.loss_sum(scores + b) + (problem.total or 0.0) * b
        dual = problem.dual_terms(beta) - half
        return max(0.0, primal - dual) / max(abs(primal), abs(dual), np.finfo(np.float64).tiny)

    def _pair(self, k: int) -> Iterate:
        """Both sides as they stand: where a feature is huge, the digits of Xᵀβ do not suffice for its w (7.)."""
        w = np.zeros(self.space.size)
        w[: self._size()] = self.v[: self._size()]
        if self.free:
            w[-1] = 0.0
        beta = self._folded(self._rounded() if self.factor else self.beta)
        return Iterate(k, w=w, b=float(self.v[-1]) if self.free else None, beta=beta, linked=False)

    def _folded(self, beta: np.ndarray) -> np.ndarray:
        """The β of the problem itself: the two sides of a tube together (0.)."""
        n = self.problem.n
        return beta if len(beta) == n else beta[:n] + beta[n:]

    def _round(self) -> bool:
        form, s, r, y, z = self.form, self.s, self.r, self.y, self.z
        c = self.scores + form.ridge * self.beta - form.target
        theta = form.ridge + y / s + z / r
        inverse = np.divide(1.0, theta, out=np.zeros(len(theta)), where=~self.pinned & (theta > 0))
        # What w = Xᵀβ and Σβ = total still lack, as the right-hand side knows it.
        lack = self.combined - self.v[: self._size()]
        if self.free:
            lack[-1] = float(self.beta.sum()) - (form.total or 0.0)
        # 2.
        try:
            factor = factored(self._matrix(inverse))
        except np.linalg.LinAlgError:
            return False  # the last digits are reached
        mu = self._mu()
        change, _, _ = self._direction(factor, inverse, c, lack)
        dy, dz = -y - y / s * change, -z + z / r * change
        # 3.
        reach = self._reach(change, dy, dz)
        there = self._mu(reach * change, reach * dy, reach * dz)
        aim = mu * (there / mu) ** 3 if mu > 0 else 0.0
        toward_lower = np.where(self.has_lower, (aim - change * dy) / s, 0.0)
        toward_upper = np.where(self.has_upper, (aim + change * dz) / r, 0.0)
        # 4.
        change, dv, moved = self._direction(factor, inverse, c - toward_lower + toward_upper, lack)
        dy, dz = -y + toward_lower - y / s * change, -z + toward_upper + z / r * change
        step = min(1.0, settings.back_off * self._reach(change, dy, dz))
        self.beta += step * change
        self.y += step * dy
        self.z += step * dz
        self.v += step * dv
        self.scores += step * moved
        self.combined = self._transposed_times(self.beta)
        self.factor, self.inverse = factor, inverse
        self.s[self.has_lower] += step * change[self.has_lower]
        self.r[self.has_upper] -= step * change[self.has_upper]
        return step > 1e-8

    def _direction(
        self, factor: tuple[np.ndarray, bool], inverse: np.ndarray, c: np.ndarray, lack: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Δβ, Δv and XΔw + Δb for a right-hand side."""
        dv = np.zeros(self.space.size)
        right = lack - self._transposed_times(inverse * c)
        dv[: self._size()] = solve_factored(factor, right)
        moved = self._times(dv)
        return -inverse * (c + moved), dv, moved

    def _mu(
        self, change: np.ndarray | float = 0.0, dy: np.ndarray | float = 0.0, dz: np.ndarray | float = 0.0
    ) -> float:
        """The average of s y and r z, after a step."""
        bounds = int(np.count_nonzero(self.has_lower) + np.count_nonzero(self.has_upper))
        low = ((self.s + change) * (self.y + dy))[self.has_lower].sum()
        high = ((self.r - change) * (self.z + dz))[self.has_upper].sum()
        return float(low + high) / max(1, bounds)

    def _reach(self, change: np.ndarray, dy: np.ndarray, dz: np.ndarray) -> float:
        """The longest step, 1 at most (and a little), that keeps slacks and multipliers from falling below 0."""
        steepest = settings.back_off
        with np.errstate(divide="ignore", invalid="ignore"):
            for there, value, move in (
                (self.has_lower, self.s, change),
                (self.has_upper, self.r, -change),
                (self.has_lower, self.y, dy),
                (self.has_upper, self.z, dz),
            ):
                steepest = max(steepest, float(np.max(-move / value, where=there, initial=0.0)))
        return 1.0 / steepest

    def _rounded(self) -> np.ndarray:
        """β with the variables whose slack is below their multiplier on that bound, and w kept by the others (5.)."""
        form = self.form
        low, high = self.has_lower & (self.s < self.y), self.has_upper & (self.r < self.z)
        beta = np.where(low, form.lower, np.where(high, form.upper, self.beta))
        lost = self._transposed_times(self.beta - beta)
        multiplier = np.zeros(self.space.size)
        multiplier[: self._size()] = solve_factored(self.factor, lost)
        corrected = beta + self.inverse * self._times(multiplier)
        return np.where(low | high, beta, np.clip(corrected, form.lower, form.upper))

    def _relative_gap(self) -> float:
        d = self.space.d
        bias = float(self.v[-1])
        penalised = self.v[:d] if self.free else self.v
        half = 0.5 * float(penalised @ penalised)
        losses = self.problem.loss_sum(self.scores[: self.problem.n])
        primal = half + losses + (self.form.total or 0.0) * (bias if self.free else 0.0)
        combined = self.combined[:d] if self.free else self.combined
        dual = self.form.value(self.beta) - 0.5 * float(combined @ combined)
        return max(0.0, primal - dual) / max(abs(primal), abs(dual), np.finfo(np.float64).tiny)

    def _size(self) -> int:
        return self.space.d + (1 if self.constant else 0)

    # The passes over the rows: in parts that are summed in one order, whatever the number of threads.

    def _rows(self, start: int, stop: int) -> np.ndarray:
        rows = slice_rows(self.space.X, start, stop)
        return (rows.toarray() if sp.issparse(rows) else rows).astype(np.float64, copy=False)

    def _times(self, v: np.ndarray) -> np.ndarray:
        """X v, and the constant column."""
        out = np.empty(self.space.n)
        d = self.space.d

        def fill(start: int, stop: int) -> None:
            for first, last in blocks(stop - start, settings.block):
                out[start + first : start + last] = self._rows(start + first, start + last) @ v[:d]

        over_blocks(fill, self.space.n, self._part())
        return out + self.constant * v[-1]

    def _transposed_times(self, u: np.ndarray) -> np.ndarray:
        """Xᵀu, and its last place for the constant column."""
        sums = self._summed(lambda rows, start, stop: u[start:stop] @ rows, (self.space.d,))
        return np.append(sums, self.constant * u.sum()) if self.constant else sums

    def _matrix(self, inverse: np.ndarray) -> np.ndarray:
        """XᵀΘ⁻¹X with the constant column, plus 1 for every penalised weight."""
        d = self.space.d

        def gram(rows: np.ndarray, start: int, stop: int) -> np.ndarray:
            weighted = rows * inverse[start:stop, None]
            product = np.empty((d + 1, d))
            np.matmul(weighted.T, rows, out=product[:d])
            weighted.sum(axis=0, out=product[d])
            return product

        sums = self._summed(gram, (d + 1, d))
        size = d + 1 if self.constant else d
        matrix = np.empty((size, size))
        matrix[:d, :d] = sums[:d]
        if self.constant:
            matrix[d, :d] = matrix[:d, d] = self.constant * sums[d]
            matrix[d, d] = self.constant**2 * inverse.sum()
        diagonal = np.arange(size)
        matrix[diagonal[:d], diagonal[:d]] += 1.0
        if self.constant and not self.free:
            matrix[d, d] += 1.0
        # Columns that depend on each other leave it singular to rounding; the next round corrects what this changes.
        matrix[diagonal, diagonal] *= 1.0 + 1e-13
        return matrix

    def _summed(self, function: Callable[[np.ndarray, int, int], np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
        part = self._part()
        sums = np.zeros((len(blocks(self.space.n, part)), *shape))

        def add(start: int, stop: int) -> None:
            for first, last in blocks(stop - start, settings.block):
                rows = self._rows(start + first, start + last)
                sums[start // part] += function(rows, start + first, start + last)

        over_blocks(add, self.space.n, part)
        return sums.sum(axis=0)

    def _part(self) -> int:
        return max(settings.block, -(-self.space.n // settings.parts))


def _two_sides(form: DualForm) -> DualForm:
    """The dual of a tube without one: the samples that pull up, then the same that pull down (0.)."""
    return replace(
        form,
        target=np.r_[form.target - form.tube, form.target + form.tube],
        ridge=np.r_[form.ridge, form.ridge],
        tube=np.zeros(2 * len(form.tube)),
        lower=np.r_[np.maximum(form.lower, 0.0), np.minimum(form.lower, 0.0)],
        upper=np.r_[np.maximum(form.upper, 0.0), np.minimum(form.upper, 0.0)],
    )


def _twice(X: Matrix) -> Matrix:
    return sp.vstack([X, X], format="csr") if sp.issparse(X) else np.vstack([X, X])


def _middle(form: DualForm) -> np.ndarray:
    """A point well inside the box with the right sum."""
    low, high = form.lower, form.upper
    reach = np.where(np.isfinite(high - low), high - low, 2.0)
    base = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2.0, -1.0))
    if form.total is None:
        return base + 0.5 * reach
    if form.total != 0.0:  # all at the same share of their way up
        return base + reach * ((form.total - float(base.sum())) / float(reach.sum()))
    return balanced(base + 0.5 * reach)  # the class with the larger sum starts nearer to 0


registry.register(InteriorPoint.name, InteriorPoint())
