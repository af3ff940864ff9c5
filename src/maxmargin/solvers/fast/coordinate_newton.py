"""Coordinate sweeps, then Newton's method on the samples inside their bounds: the solver for linear problems.

Problem:  max_β  targetᵀβ − Σ tube_i|β_i| − ½‖Σ β_i x_i‖² − ½ βᵀ ridge β   s.t.  lower ≤ β ≤ upper  (and Σβ = total)

    1. Sweeps of coordinate ascent with shrinking (`sweeps.py`). When the samples that are left agree to ε, or after a
       few sweeps, all are looked at again: nothing stays out unchecked. Then ε is divided by 4.
    2. A free bias is the limit of augmented ones (method of multipliers): the constant feature s has its bias
       centred at b, which moves by s²(Σβ − total) after every sweep, until that is 0.
    3. Where the sweeps slow down and there are few features, Newton's method on the augmented Lagrangian
       (`newton.py`) goes on from their β: its matrix has only the samples strictly inside their bounds, about d + 1
       of them at the optimum. With many features the sweeps go on: that has been the faster way.

Cost: a sweep is at most a pass over the data, a Newton step about two. Memory: a few n-vectors.

Hsieh et al., ICML 2008 (coordinates, shrinking); Bertsekas, "Constrained optimization and Lagrange multiplier methods",
1982 (method of multipliers); Yan & Li, Asia-Pacific J. of Operational Research 37, 2020 (Newton).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.problem import Problem
from maxmargin.result import Iterate
from maxmargin.solvers.base import Solver, refuse_without_form, registry, reliable, start_beta
from maxmargin.solvers.fast.newton import AugmentedLagrangian
from maxmargin.solvers.fast.sweeps import sweep
from maxmargin.space import LinearSpace

#: Newton's matrix is factored in every step: up to so many features that is a good trade.
MOST_FEATURES = 1000
#: Passes over the data that the sweeps get before Newton is thought of.
PATIENCE = 4
#: A sweep that leaves more than this share of the gap for each pass is slow.
SLOW = 0.5
#: All samples are looked at again after so many sweeps, whatever ε says.
RECHECK = 8
#: σ begins at so many times the width of the box over the largest slope.
FIRST = 10.0
#: σ grows so many times from one problem to the next; less if the last took more than a few Newton steps.
GROWTH, LESS_GROWTH, FEW = 5.0, 2.0, 4
#: Newton steps between two iterates.
OFTEN = 10


@dataclass(frozen=True)
class CoordinateNewton(Solver):
    """Coordinate ascent with shrinking, finished by Newton's method."""

    name: ClassVar[str] = "coordinate-newton"
    paper: ClassVar[str] = "Hsieh et al., ICML 2008; Yan & Li 2020"

    def accepts(self, problem: Problem) -> str | None:
        if not problem.linear:
            return f"w has no coordinates with the kernel {problem.kernel.name!r}; use solver={reliable(problem)!r}"
        return refuse_without_form(problem)

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        run = _Run(problem, start, rng)
        yield from run.sweeps()
        yield from run.newton()


class _Run:
    """β, w = w(β) with the constant's weight behind it, and the centre b of a free bias."""

    def __init__(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> None:
        assert problem.form is not None and isinstance(problem.space, LinearSpace)
        self.form, self.space = problem.form, problem.space
        self.free_bias = self.form.total is not None
        self.total = self.form.total or 0.0
        self.diag = self.space.diag()
        self.constant, self.b = self.space.constant, 0.0
        if self.free_bias:
            self.constant = float(np.sqrt(self.diag.mean())) or 1.0  # as long as a row
        self.beta = start_beta(problem, start)
        self.w = self.space.combine(self.beta)
        scale = float(np.abs(self.form.target).max()) or float(np.abs(self.space.scores(self.w)).max()) or 1.0
        self.epsilon = 0.1 * scale
        self.least = 1e-12 * scale
        #: The largest slope that the last sweep saw.
        self.worst = scale
        self.state = rng.integers(1, 2**63, 1).astype(np.uint64)
        self.k = 0

    def sweeps(self) -> Iterator[Iterate]:
        """Sweep after sweep (1. and 2.), until Newton's method can do better, if it can at all."""
        form, n = self.form, self.space.n
        q = self.diag + form.ridge
        if self.free_bias:
            q = q + self.constant**2
            self.w[-1] = self.constant * (float(self.beta.sum()) - self.total)
        few_features = self.space.d <= MOST_FEATURES
        order = np.arange(n, dtype=np.uint32)
        active, low, high = n, -np.inf, np.inf
        passes, before = 0.0, np.inf
        while True:
            active, visited, gap, low, high, self.worst = sweep(
                self.space.rows, order, active, n, self.epsilon, self.state,
                *form.arrays, q, self.beta, self.w, self.constant, self.b, low, high,
            )  # fmt: skip
            off = 0.0
            if self.free_bias:
                off = self.constant * float(self.w[-1])
                self.b += off
            self.k += 1
            share = visited / n
            passes += share
            yield self._swept(gap, share)
            agreed = self.worst + abs(off) <= self.epsilon
            if agreed:
                self.epsilon = max(self.epsilon / 4.0, self.least)
            if agreed or self.k % RECHECK == 0:
                active, low, high = n, -np.inf, np.inf
            if few_features and passes > PATIENCE and gap > SLOW**share * before:
                return
            before = gap

    def _swept(self, gap: float, passes: float) -> Iterate:
        dual = self.form.value(self.beta) - 0.5 * float(self.w @ self.w)
        estimate = gap / (dual + gap) if dual + gap > 0 else None
        w = None if self.free_bias else self.w
        return Iterate(self.k, w=w, beta=self.beta, work=3.0 * passes * self.space.work, estimate=estimate)

    def newton(self) -> Iterator[Iterate]:
        """Newton's method, σ after σ (3.)."""
        bias = self.b + self.constant * float(self.w[-1]) if self.free_bias else 0.0
        sigma = FIRST * self._width() / max(self.worst, self.least)
        lagrangian = AugmentedLagrangian(self.space, self.form, self.beta, self.space.combine(self.beta), bias, sigma)
        steps = 0
        while lagrangian.sigma < 1e12 * sigma:
            lagrangian.step()
            self.k, steps = self.k + 1, steps + 1
            settled = lagrangian.settled()
            if settled or steps % OFTEN == 0:
                yield Iterate(
                    self.k,
                    w=lagrangian.w,
                    b=lagrangian.b if self.free_bias else None,
                    beta=lagrangian.u,
                    linked=False,
                    work=lagrangian.passes * self.space.work,
                    estimate=lagrangian.relative_gap(),
                )
                lagrangian.passes = 0.0
            if settled:
                lagrangian.multiply(GROWTH if steps <= FEW else LESS_GROWTH)
                steps = 0

    def _width(self) -> float:
        """How far a dual can go: the width of its box, or what the curvature of the loss makes of it."""
        reach = self.form.upper - self.form.lower
        bounded = np.isfinite(reach) & (reach > 0)
        if bounded.any():
            return float(np.median(reach[bounded]))
        return 1.0 / float(np.median(self.form.ridge)) if self.form.ridge.any() else 1.0


registry.register(CoordinateNewton.name, CoordinateNewton())
