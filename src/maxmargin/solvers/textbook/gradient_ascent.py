"""Gradient ascent on the dual, full gradients: the step size is read off the last two gradients.

Problem:  max_β  targetᵀβ − Σ tube_i|β_i| − ½ βᵀ(K + diag(ridge))β   s.t.  lower ≤ β ≤ upper [, Σβ = total]

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
from typing import ClassVar

import numpy as np

from maxmargin.problem import Problem
from maxmargin.projection import project
from maxmargin.result import Iterate
from maxmargin.solvers.base import (
    Solver,
    product_with_K,
    refuse_indefinite,
    refuse_without_form,
    registry,
    start_beta,
)


@dataclass(frozen=True)
class GradientAscent(Solver):
    """Full-gradient ascent, projected onto box and hyperplane, with spectral steps."""

    name: ClassVar[str] = "gradient-ascent"
    paper: ClassVar[str] = "Birgin, Martínez & Raydan 2000; Dai & Fletcher 2006"

    def accepts(self, problem: Problem) -> str | None:
        return refuse_without_form(problem) or refuse_indefinite(problem)

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        form = problem.form
        assert form is not None
        product, work = product_with_K(problem)
        beta = start_beta(problem, start)  # 1.
        scores = product(beta)
        eta = 1.0 / max(float((problem.space.diag() + form.ridge).max()), np.finfo(np.float64).tiny)
        k = 0
        while True:
            g = form.target - scores - form.ridge * beta
            d = project(beta + eta * g, form.lower, form.upper, form.total, eta * form.tube) - beta  # 2.
            image = product(d)
            length, curvature = float(d @ d), float(d @ (image + form.ridge * d))
            slope = float(g @ d - form.tube @ (np.abs(beta + d) - np.abs(beta)))  # 3.
            t = min(1.0, slope / curvature) if curvature > 0.0 else 1.0
            k += 1
            if slope <= 0.0:  # no direction is left that rises
                yield Iterate(k, beta=beta, scores=scores, work=work)
                return
            beta = beta + t * d  # 4.
            np.clip(beta, form.lower, form.upper, out=beta)
            scores = scores + t * image
            if k % 100 == 0:
                scores = product(beta)  # keeps the rounding of a long run out of the gradient
            eta = length / curvature if curvature > 0.0 else eta  # 5.
            yield Iterate(k, beta=beta, scores=scores, work=work)


registry.register(GradientAscent.name, GradientAscent())
