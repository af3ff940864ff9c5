"""Gradient ascent on the dual, full gradients: with steps η_t of one's own, or read off the last two gradients.

Problem:  max_β  targetᵀβ − Σ tube_i|β_i| − ½ βᵀ(K + diag(ridge))β   s.t.  lower ≤ β ≤ upper [, Σβ = total]

With steps η_t that are given (source 001: α ← α + η_t ∇J(α), and back into the feasible set):

    1. β ← Π[β + η_t (target − (K + ridge)β)] for t = 1, 2, ...

With spectral steps:

    1. β ← a feasible point; g ← target − (K + ridge)β.
    2. d ← Π[β + ηg] − β, a direction that stays feasible up to its end.
    3. t ← the exact maximiser along d, at most 1:  (gᵀd − change of the tube) / dᵀ(K + ridge)d.
    4. β ← β + t d,  g ← g − t (K + ridge)d: one product with K.
    5. η ← dᵀd / dᵀ(K + ridge)d, the inverse curvature just met (Barzilai & Borwein).

Zaki & Meira 2014, chapter 21 (gradient ascent on the SVM dual); Birgin, Martínez & Raydan, SIAM J. Optimization 10,
2000 (spectral projected gradients); Dai & Fletcher, Mathematical Programming 106, 2006 (one linear constraint and
a box).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np

from maxmargin.losses import DualForm
from maxmargin.problem import Problem
from maxmargin.problem.projection import project
from maxmargin.result import Iterate
from maxmargin.solvers.base import (
    Solver,
    Starts,
    longest_dual_step,
    product_with_K,
    refuse_indefinite,
    refuse_without_form,
    registry,
    start_beta,
)
from maxmargin.solvers.steps import Step, check_step, schedule
from maxmargin.solvers.textbook.projected_gradient import Product, ascend_by


@dataclass(frozen=True)
class GradientAscent(Solver):
    """Full-gradient ascent, projected onto box and hyperplane.

    Parameters
    ----------
    step : "spectral", number, function of t, "constant", "1/t" or "1/sqrt(t)", default "spectral"
        The step η_t; "spectral" reads it off the last two gradients. A step that is too long is allowed, and the run
        diverges.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import GradientAscent
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], bias="augmented")
    >>> result = solve(problem, GradientAscent(step=0.05), tol=1e-3)
    >>> result.converged
    True
    """

    name: ClassVar[str] = "gradient-ascent"
    paper: ClassVar[str] = "Zaki & Meira 2014; Birgin, Martínez & Raydan 2000; Dai & Fletcher 2006"
    starts: ClassVar[Starts] = ("beta",)

    step: Step = "spectral"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_step(self.step, ["spectral"])

    def accepts(self, problem: Problem) -> str | None:
        return refuse_without_form(problem) or refuse_indefinite(problem)

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        assert problem.form is not None
        product, work = product_with_K(problem)
        beta = start_beta(problem, start)  # 1.
        if self.step == "spectral":
            first = 1.0 / max(float((problem.space.diag() + problem.form.ridge).max()), np.finfo(np.float64).tiny)
            pairs = _spectral(problem.form, product, beta, first)
        else:
            pairs = ascend_by(problem.form, product, beta, schedule(self.step), accelerated=False)
        for k, (beta, scores) in enumerate(pairs, 1):
            yield Iterate(k, beta=beta, scores=scores, work=work)

    def step_size(self, problem: Problem, t: int) -> float | None:
        return None if self.step == "spectral" else schedule(self.step)(t)

    def longest_step(self, problem: Problem) -> float:
        return longest_dual_step(problem)


def _spectral(
    form: DualForm, product: Product, beta: np.ndarray, eta: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The pairs (β, Kβ) of the ascent with spectral steps, of which η is the first."""
    scores = product(beta)
    for k in count(1):
        g = form.target - scores - form.ridge * beta
        d = project(beta + eta * g, form.lower, form.upper, form.total, eta * form.tube) - beta  # 2.
        image = product(d)
        length, curvature = float(d @ d), float(d @ (image + form.ridge * d))
        slope = float(g @ d - form.tube @ (np.abs(beta + d) - np.abs(beta)))  # 3.
        t = min(1.0, slope / curvature) if curvature > 0.0 else 1.0
        if slope <= 0.0:  # no direction is left that rises
            yield beta, scores
            return
        beta = beta + t * d  # 4.
        np.clip(beta, form.lower, form.upper, out=beta)
        scores = scores + t * image
        if k % 100 == 0:
            scores = product(beta)  # keeps the rounding of a long run out of the gradient
        eta = length / curvature if curvature > 0.0 else eta  # 5.
        yield beta, scores


registry.register(GradientAscent.name, GradientAscent())
