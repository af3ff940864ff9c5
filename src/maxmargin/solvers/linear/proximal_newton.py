"""Proximal Newton on a growing set of features: the solver for ‖w‖₁ and a smooth loss.

Problem:  min_{w,b}  P(w,b) = ‖w‖₁ + Σ C_i ℓ_i(z_i),   z_i = ⟨w, x_i⟩ + b,   ℓ with a continuous slope

    1. b ← the best bias for the scores, where it is free. u_i ← −C_i ℓ'_i(z_i) and v = Σ u_i x_i, for all features.
       u, scaled until |v_j| ≤ 1, is feasible for the dual, and the gap follows.
    2. W ← the features with w_j ≠ 0, and those with the largest |v_j|: as many again, and at least some. Most of the
       others never get a weight; all of them are asked again in the next round.
    3. On W, until its own gap is a share of the whole one: with h_i = C_i ℓ''_i(z_i) and H = Aᵀ diag(h) A for the
       columns A of W (about their mean by h for a free bias), minimise the model ½xᵀHx − qᵀx + ‖x‖₁ of P, with
       q = Hw + v_W, by coordinate descent and Newton's steps on faces (`lasso_steps.py`).
    4. w ← w + α(x − w), with α near the root of the slope along the step.

Cost: a round takes one pass over the data, the rest is on W. Memory: the columns of W, and all columns of sparse data.

Friedman, Hastie & Tibshirani, J. Statistical Software 33, 2010; Yuan, Ho & Lin, JMLR 13, 2012 (newGLMNET); Johnson &
Guestrin, ICML 2015 (working sets); Perkins, Lacker & Theiler, JMLR 3, 2003 (grafting).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.problem import Problem
from maxmargin.problem.space import LinearSpace
from maxmargin.result import Iterate
from maxmargin.solvers import clock
from maxmargin.solvers.base import Solver, Starts, registry
from maxmargin.solvers.linear.columns import Chosen, Columns
from maxmargin.solvers.linear.lasso_steps import ByColumn, Model, solve_model, sweep_columns
from maxmargin.solvers.linear.newton_step import step_length
from maxmargin.solvers.linear.settings import ProximalNewtonSettings
from maxmargin.solvers.translation import about_the_mean

settings = ProximalNewtonSettings()


@dataclass(frozen=True)
class ProximalNewton(Solver):
    """Newton's method for ‖w‖₁ and a smooth loss, on the features that may have a weight.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import ProximalNewton
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], loss="squared-hinge", regularizer="l1")
    >>> result = solve(problem, ProximalNewton(), tol=1e-6)
    >>> result.certificate.relative_gap < 1e-6, result.w.round(3)
    (True, array([0.75]))
    """

    name: ClassVar[str] = "proximal-newton"
    paper: ClassVar[str] = "Yuan, Ho & Lin, JMLR 2012; Johnson & Guestrin, ICML 2015"
    starts: ClassVar[Starts] = ("w",)
    endless: ClassVar[bool] = True
    regularizers: ClassVar[tuple[str, ...]] = ("l1",)

    def accepts(self, problem: Problem) -> str | None:
        if problem.regularizer.name not in self.regularizers:
            return f"it is for regularizer='l1', not {problem.regularizer.name!r}; use solver='auto'"
        if not problem.loss.smooth:
            return (
                f"the slope of loss={problem.loss.name!r} jumps, so that it has no Newton step;"
                f" with regularizer='l1' use a smooth loss, such as loss={_smooth_like(problem)!r}"
            )
        return None

    @about_the_mean
    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        run = _Run(problem, start)
        k, fruitless, best_gap, best_primal = 0, 0, np.inf, np.inf
        while fruitless < settings.patience:
            run.look_around()  # 1.
            k += 1
            beta = run.u * run.reach
            yield Iterate(
                k,
                w=run.w,
                b=run.b if problem.bias == "free" else None,
                beta=beta if problem.is_feasible(beta) else problem.feasible(beta),
                linked=False,
                scores=run.s,
                work=run.work,
                estimate=run.gap / max(run.primal, np.finfo(np.float64).tiny),
            )
            gained = run.gap < best_gap or run.primal < best_primal
            fruitless = 0 if gained else fruitless + 1
            best_gap, best_primal = min(best_gap, run.gap), min(best_primal, run.primal)
            run.work = 0.0
            run.improve(settings.inner_share * run.gap)


def _smooth_like(problem: Problem) -> str:
    """A smooth loss for the same task."""
    return "squared-hinge" if problem.task == "classification" else "squared-epsilon-insensitive"


class _Run:
    """Where it stands: w, its scores s, b, z = s + b; u and h there, and v = Σ u_i x_i over all features."""

    def __init__(self, problem: Problem, start: Iterate) -> None:
        self.problem = problem
        space = problem.space
        assert isinstance(space, LinearSpace)
        self.space, self.columns, self.free = space, Columns(space), problem.bias == "free"
        self.w = np.zeros(space.size) if start.w is None else start.w.copy()
        self.s = space.scores(self.w) if self.w.any() else np.zeros(problem.n)
        #: The features of W, and their columns.
        self.chosen = np.zeros(0, dtype=np.intp)
        self.A: Chosen | None = None
        self.work = float(space.work)

    # 1.

    def look_around(self) -> None:
        """The best bias, u, v and the gap."""
        problem = self.problem
        self._respond()
        self.v = self.space.combine(self.u)
        self.reach = min(1.0, problem.regularizer.reach(self.v))
        self.primal = problem.regularizer.value(self.w) + problem.loss_sum(self.z)
        self.gap = max(0.0, self.primal - problem.dual_terms(self.u * self.reach))
        self.work += self.space.work

    def _respond(self) -> None:
        """The best bias, z and u at s."""
        problem = self.problem
        self.b = problem.best_bias(self.s)
        self.z = self.s + self.b
        self.u = -problem.C * problem.loss.slope(self.z, problem.target)
        if self.free:  # what rounding has left of Σu is spread over the samples that have a part of it
            size = float(np.abs(self.u).sum())
            self.u -= np.abs(self.u) * (float(self.u.sum()) / size if size > 0.0 else 0.0)
        self.work += settings.evaluation_work * problem.n

    # 2.

    def _choose(self) -> None:
        used = np.flatnonzero(self.w)
        size = min(self.space.size, max(settings.least_features, 2 * used.size))
        if size >= settings.all_share * self.space.size:
            chosen = np.arange(self.space.size)
        else:
            sizes = np.abs(self.v)
            sizes[used] = np.inf
            chosen = np.sort(np.argpartition(-sizes, size - 1)[:size])
        if not self.space.constant:
            chosen = chosen[chosen != self.space.d]
        if self.A is None or not np.array_equal(chosen, self.chosen):
            self.chosen, self.A = chosen, self.columns.of(chosen)
            self.work += self.A.entries

    # 3.

    def improve(self, goal: float) -> None:
        """Proximal Newton steps on W until its own gap is at most the goal."""
        self._choose()
        A, problem = self.A, self.problem
        assert A is not None
        few = A.few()
        arrays = None if few else A.arrays()
        v = self.v[self.chosen]
        before = np.inf
        for _ in range(settings.most_steps):
            clock.check()
            off = self._off(v)
            x = self.w[self.chosen]
            h = problem.C * problem.loss.second_derivative(self.z, problem.target)
            if few:
                H = A.squares(h, self.free)
                q = H @ x + v
                solve_model(H, q, x, settings.model_share * off)
                self.work += 0.1 * A.entries * A.size + 20.0 * A.size**2
            else:
                assert arrays is not None
                self._sweep(A, arrays, h, v, x, settings.model_share * off)
            if not self._step(A, x - self.w[self.chosen], v):
                return
            v = A.combine(self.u)
            self.work += 2.0 * A.entries + settings.overhead
            gap = self._gap_on(v)
            if gap <= goal or not gap < before:
                return
            before = gap

    def _off(self, v: np.ndarray) -> float:
        """How far 0 is from the slopes of P, at most."""
        w = self.w[self.chosen]
        return float(np.where(w == 0.0, np.maximum(np.abs(v) - 1.0, 0.0), np.abs(v - np.sign(w))).max(initial=0.0))

    def _gap_on(self, v: np.ndarray) -> float:
        """The gap of the problem that has no other features than W."""
        problem = self.problem
        primal = problem.regularizer.value(self.w) + problem.loss_sum(self.z)
        return primal - problem.dual_terms(self.u * min(1.0, problem.regularizer.reach(v)))

    def _sweep(
        self,
        A: Chosen,
        arrays: ByColumn,
        h: np.ndarray,
        v: np.ndarray,
        x: np.ndarray,
        goal: float,
    ) -> None:
        """Minimise the model by its columns: all of them, then those with a weight until they rest, and again."""
        moments = A.combine(h)
        weight = float(h.sum()) if self.free else 0.0
        curvatures = weighted_squares(arrays, h) - (moments * moments / weight if weight > 0.0 else 0.0)
        model = Model(h, weight, moments, curvatures, -v)
        t, sums, everything = np.zeros(A.n), np.zeros(1), np.arange(A.size)
        for _ in range(settings.sweeps):
            clock.check()
            off = sweep_columns(arrays, model, everything, x, t, sums)
            self.work += 2.0 * A.entries
            if off <= goal:
                return
            active = np.flatnonzero(x)
            for _ in range(settings.sweeps):
                some = sweep_columns(arrays, model, active, x, t, sums)
                self.work += 2.0 * A.entries * len(active) / max(1, A.size)
                if some <= 0.3 * max(off, goal):
                    break

    # 4.

    def _step(self, A: Chosen, step: np.ndarray, v: np.ndarray) -> bool:
        """As far along the step as its slope says; False where there is nothing to gain."""
        problem, w = self.problem, self.w[self.chosen]
        t = A.scores(step)
        b0, s0 = self.b, self.s
        h = problem.C * problem.loss.second_derivative(self.z, problem.target)
        total = float(h.sum()) if self.free else 0.0
        bias = -float(h @ t) / total if total > 0.0 else 0.0
        along = t + bias

        def slope(alpha: float) -> float:
            """The slope from the left: a weight that is just 0 has the sign it came with."""
            there = w + alpha * step
            signs = np.where(there == 0.0, -np.sign(step), np.sign(there))
            pulls = -problem.C * problem.loss.slope(s0 + b0 + alpha * along, problem.target)
            self.work += settings.evaluation_work * problem.n
            return float(signs @ step) - float(pulls @ along)

        first = float(np.where(w == 0.0, np.sign(step), np.sign(w)) @ step) - float(v @ step)
        if not first < 0.0:
            return False
        alpha = step_length(slope, first)
        self.w[self.chosen] = w + alpha * step if alpha < 1.0 else w + step
        if alpha == 1.0:  # what the step brings to 0 is there exactly
            self.w[self.chosen[w == -step]] = 0.0
        self.s = s0 + alpha * t
        self._respond()
        return True


def weighted_squares(columns: ByColumn, h: np.ndarray) -> np.ndarray:
    """Σ_i h_i a_i² of each column."""
    data, rows, ends = columns
    products = np.append(data * data * h[rows], 0.0)
    sums = np.add.reduceat(products, np.minimum(ends[:-1], len(data)))
    return np.where(np.diff(ends) > 0, sums, 0.0)


registry.register(ProximalNewton.name, ProximalNewton())
