"""Shrinking SMO: pair steps on the whole matrix K, over the samples that may still move.

Problem:  max_β  targetᵀβ − Σ tube_i|β_i| − ½ βᵀ(K + diag(ridge))β   s.t.  lower ≤ β ≤ upper,  Σβ = total

    1. Active are all samples; keep g = target − (K + ridge)β.
    2. Take pair steps over the active samples, by second-order selection; see `textbook/smo.py`.
    3. Now and then put the settled samples aside: those at a bound, with a slope steeper than any that still moves.
       Where these are many, copy K among the others into a smaller matrix: a step costs less.
    4. When the violation over the active samples has halved, bring the slopes of the others up to date by the rows of
       K whose β changed; if one of them could move after all, make all samples active again.

Cost: one pass over the active samples per step. This is for many problems on one matrix that is there already, as in a
search.

Joachims, "Making large-scale SVM learning practical", 1999; Fan, Chen & Lin, JMLR 6, 2005.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.gram import Gram
from maxmargin.gram.cached_rows import whole_rows
from maxmargin.gram.row_store import add_rows
from maxmargin.losses import DualForm
from maxmargin.numeric.parallel import over_blocks
from maxmargin.problem import Problem
from maxmargin.result import Iterate
from maxmargin.solvers.base import (
    Solver,
    Starts,
    refuse_bias,
    refuse_indefinite,
    refuse_without_form,
    registry,
    start_beta,
    whole_matrix,
)
from maxmargin.solvers.kernel.settings import ShrinkingSettings
from maxmargin.solvers.kernel.working_set_steps import ranges, submatrix
from maxmargin.solvers.textbook.smo import gap_and_dual, pair_steps
from maxmargin.solvers.translation import about_the_mean

settings = ShrinkingSettings()


@dataclass(frozen=True)
class ShrinkingSMO(Solver):
    """SMO that sets settled samples aside, on the whole kernel matrix.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import ShrinkingSMO
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], kernel="rbf")
    >>> result = solve(problem, ShrinkingSMO(), tol=1e-6)
    >>> result.converged
    True
    """

    name: ClassVar[str] = "shrinking-smo"
    paper: ClassVar[str] = "Joachims 1999; Fan, Chen & Lin, JMLR 2005"
    starts: ClassVar[Starts] = ("beta",)

    def accepts(self, problem: Problem) -> str | None:
        return refuse_bias(problem, "free") or refuse_without_form(problem) or refuse_indefinite(problem)

    @about_the_mean
    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        assert problem.form is not None
        gram = Gram(problem.kernel, problem.X, 0.0, problem.cache_bytes)
        return _Run(problem.form, whole_matrix(gram, self.name), gram.diag, start_beta(problem, start)).iterates()


class _Run:
    """β and g of all samples, g of those set aside as of β = `known`; the active ones on a square of K of their own."""

    def __init__(self, form: DualForm, K: np.ndarray, diag: np.ndarray, beta: np.ndarray) -> None:
        self.form, self.K, self.diag, self.beta = form, K, diag, beta
        self.g = form.target - form.ridge * beta
        self.known = np.zeros(len(beta))
        self.active = np.empty(0, np.int64)
        self.dual = 0.0
        self._update_others()
        self._activate(np.arange(len(beta)))

    def iterates(self) -> Iterator[Iterate]:
        n = len(self.beta)
        k, level = 0, np.inf
        while True:
            active, m = self.active, len(self.active)
            beta, g, form = self.beta[active], self.g[active], self.form.of(active)
            chunk = max(10, min(m // 4, settings.steps))
            bounds = form.tube, form.lower, form.upper
            done, _ = pair_steps(self.rows, k, chunk, True, 0.0, self.diag[active], form.arrays, beta, g)  # 2.
            k += done
            self.beta[active], self.g[active] = beta, g
            rise, fall = ranges(*bounds, beta, g)
            high, low = float(rise.max()), float(fall.min())
            work, estimate = 1.5 * done * m, self._estimate(form, beta, g)
            known, settled = m == n, False
            if m < n and (done < chunk or high - low <= settings.fallen * level):  # 4.
                work += self._update_others()
                known, level = True, high - low
                settled = self._settled(high, low)
                if not settled:
                    self._activate(np.arange(n))
            elif done == chunk:  # 3.
                free = np.isfinite(rise) & np.isfinite(fall)
                keep = free | (rise > low) | (fall < high)
                if 2 <= np.count_nonzero(keep) <= settings.copied_share * m:
                    work += self._update_others() + float(m) ** 2
                    known, level = True, high - low
                    self._activate(active[keep])
            scores = self.form.target - self.form.ridge * self.beta - self.g if known else None
            yield Iterate(k, beta=self.beta, scores=scores, work=work, estimate=estimate)
            if done < chunk and (m == n or settled):
                return  # no pair is left that rises and falls

    def _activate(self, samples: np.ndarray) -> None:
        self.active, m = samples, len(samples)
        square = self.K
        if m < len(self.beta):
            square = np.empty((m, m), self.K.dtype)
            over_blocks(lambda start, stop: submatrix(self.K, samples, start, stop, square), m, 256)
        self.rows = whole_rows(square)

    def _update_others(self) -> float:
        """Bring the slopes of those set aside up to date; returns the work of it."""
        changed = np.flatnonzero(self.beta != self.known)
        moved, off = (self.beta - self.known)[changed], np.zeros(len(self.beta))
        over_blocks(lambda start, stop: add_rows(self.K, changed, moved, start, stop, off), len(off), 2048)
        off[self.active] = 0.0
        self.g -= off
        self.known[:] = self.beta
        return float(len(changed) * len(self.beta))

    def _settled(self, high: float, low: float) -> bool:
        """Whether none of those set aside is among the pairs that still move."""
        rise, fall = ranges(self.form.tube, self.form.lower, self.form.upper, self.beta, self.g)
        return float(rise.max()) <= high and float(fall.min()) >= low

    def _estimate(self, form: DualForm, beta: np.ndarray, g: np.ndarray) -> float | None:
        """The relative gap over the active samples, beside the dual as it was when all were active."""
        gap, dual = gap_and_dual(*form.arrays, beta, g)
        if len(beta) == len(self.beta):
            self.dual = dual
        scale = max(abs(self.dual), abs(self.dual + gap))
        return gap / scale if np.isfinite(gap) and scale > 0.0 else None


registry.register(ShrinkingSMO.name, ShrinkingSMO())
