"""Projected gradient ascent on the dual, plain or accelerated.

Problem:  max_β  targetᵀβ − Σ tube_i|β_i| − ½ βᵀ(K + diag(ridge))β   s.t.  lower ≤ β ≤ upper [, Σβ = total]

    1. β ← a feasible point; L ← λ_max(K + ridge) by a few power iterations; v ← β.
    2. g ← target − (K + ridge) v
    3. β' ← Π[v + g/L]: shrink by tube/L, clip to the box, and meet Σβ = total where the bias is free.
    4. If the step shows a curvature above L, raise L and take it again.
    5. plain:        v ← β'
       accelerated:  v ← β' + m(β' − β), with Nesterov's m; start over when the step turns against the gradient.

Beck & Teboulle, "A fast iterative shrinkage-thresholding algorithm", SIAM J. Imaging Sciences 2, 2009;
O'Donoghue & Candès, "Adaptive restart for accelerated gradient schemes", 2015.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.losses import DualForm
from maxmargin.problem import Problem
from maxmargin.projection import project
from maxmargin.result import Iterate
from maxmargin.solvers.base import (
    Solver,
    largest_eigenvalue,
    product_with_K,
    refuse_indefinite,
    refuse_without_form,
    registry,
    start_beta,
)


@dataclass(frozen=True)
class ProjectedGradient(Solver):
    """Gradient steps of length 1/λ_max, projected onto the feasible set."""

    name: ClassVar[str] = "projected-gradient"
    paper: ClassVar[str] = "Goldstein 1964; Levitin & Polyak 1966"
    accelerated: ClassVar[bool] = False

    def accepts(self, problem: Problem) -> str | None:
        return refuse_without_form(problem) or refuse_indefinite(problem)

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        assert problem.form is not None
        product, work = product_with_K(problem)
        L = largest_eigenvalue(product, problem.n, rng) + float(problem.form.ridge.max())
        steps = ascend(problem.form, product, start_beta(problem, start), L, self.accelerated)
        for k, (beta, scores) in enumerate(steps, 1):
            yield Iterate(k, beta=beta, scores=scores, work=work)


@dataclass(frozen=True)
class AcceleratedGradient(ProjectedGradient):
    """The same steps with Nesterov's momentum and restarts (FISTA)."""

    name: ClassVar[str] = "accelerated-gradient"
    paper: ClassVar[str] = "Beck & Teboulle 2009; O'Donoghue & Candès 2015"
    accelerated: ClassVar[bool] = True


def ascend(
    form: DualForm,
    product: Callable[[np.ndarray], np.ndarray],
    beta: np.ndarray,
    L: float,
    accelerated: bool,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The pairs (β, Kβ) of the ascent; `product` is v ↦ Kv."""
    scores = product(beta)  # 1.
    v, v_scores = beta, scores
    momentum = 1.0
    tiny = np.finfo(np.float64).tiny
    L = max(L, tiny)
    while True:
        g = form.target - v_scores - form.ridge * v  # 2.
        while True:
            following = project(v + g / L, form.lower, form.upper, form.total, form.tube / L)  # 3.
            following_scores = product(following)
            step = following - v
            curvature = float(step @ (following_scores - v_scores + form.ridge * step))
            length = float(step @ step)
            if curvature <= L * length * (1 + 1e-9) + tiny:
                break
            L = 1.1 * curvature / length  # 4.
        if accelerated and float((v - following) @ (following - beta)) > 0.0:
            momentum = 1.0  # 5.: the momentum carries the wrong way
            v, v_scores = following, following_scores
        elif accelerated:
            grown = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
            m = (momentum - 1.0) / grown
            v = following + m * (following - beta)
            v_scores = following_scores + m * (following_scores - scores)
            momentum = grown
        else:
            v, v_scores = following, following_scores
        beta, scores = following, following_scores
        yield beta, scores


registry.register(ProjectedGradient.name, ProjectedGradient())
registry.register(AcceleratedGradient.name, AcceleratedGradient())
