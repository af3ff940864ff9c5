"""Sub-gradient descent on the primal, full batch.

Problem:  min_{w,b}  P(w,b) = ½‖w‖² + Σ C_i ℓ_i(⟨w, φ(x_i)⟩ + b)

    1. w ← 0 (or the warm start), β ← 0.
    2. For t = 1, 2, ...:  z ← scores of w; b ← the best bias for them, where it is free.
    3.     u_i ← −C_i ℓ'_i(z_i): how hard sample i pulls (0 beyond the margin); with a free bias Σu = total.
    4.     g ← w − Σ u_i φ(x_i), a sub-gradient of P.
    5.     w ← w − η_t g = (1 − η_t) w + η_t Σ u_i φ(x_i).
    6.     β ← (1 − η_t) β + η_t u: the same average of the pulls is a feasible dual point, and w = w(β).

Steps: 2/(t+1) for a kinked loss, 1/(1 + curvature) for a smooth one ("auto"); or "1/t", "1/sqrt(t)", "constant".
It is not a descent method; the loop remembers the best iterate. Step 6 is why a sub-gradient method has a
certificate at all (Bach, "Duality between subgradient and conditional gradient methods", SIAM J. Optimization 25,
2015).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.problem import Problem
from maxmargin.result import Iterate
from maxmargin.solvers.base import (
    Solver,
    largest_eigenvalue,
    product_with_K,
    refuse_indefinite,
    registry,
    reliable,
    start_beta,
)
from maxmargin.space import LinearSpace


@dataclass(frozen=True)
class Subgradient(Solver):
    """Sub-gradient descent with a step size that needs no tuning, or one of the classical rules."""

    name: ClassVar[str] = "subgradient"
    paper: ClassVar[str] = "Shor 1985; Bach, SIAM J. Optimization 2015"

    step: Literal["auto", "1/t", "1/sqrt(t)", "constant"] = "auto"
    #: The factor of "1/sqrt(t)" and the step of "constant"; at most 1.
    rate: float = 0.1

    def __post_init__(self) -> None:
        if not 0.0 < self.rate <= 1.0:
            raise InvalidInput(f"rate is {self.rate}; it must lie in (0, 1]")

    def accepts(self, problem: Problem) -> str | None:
        if problem.hard:
            return f"a hard margin (C=inf) is no function to descend on; use solver={reliable(problem)!r}"
        return refuse_indefinite(problem)

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        space = problem.space
        product, work = product_with_K(problem)
        steps = self._steps(problem, rng)
        beta = start_beta(problem, start)  # 1.
        w = space.combine(beta)
        for t, eta in enumerate(steps, 1):
            scores = space.scores(w) if isinstance(space, LinearSpace) else product(w)  # 2.
            u = problem.pulls(scores)  # 3.
            w = (1.0 - eta) * w + eta * space.combine(u)  # 4. and 5.
            beta = (1.0 - eta) * beta + eta * u  # 6.
            yield Iterate(t, w=w, beta=beta, work=work)

    def _steps(self, problem: Problem, rng: np.random.Generator) -> Iterator[float]:
        """η_1, η_2, ..."""
        t = 0
        constant = self.rate
        if self.step == "auto" and problem.loss.smooth:
            product, _ = product_with_K(problem)
            curvature = problem.loss.curvature * float(problem.C.max())
            constant = 1.0 / (1.0 + 1.1 * curvature * largest_eigenvalue(product, problem.n, rng))
        while True:
            t += 1
            if self.step == "constant" or (self.step == "auto" and problem.loss.smooth):
                yield constant
            elif self.step == "auto":
                yield 2.0 / (t + 1)
            else:
                yield 1.0 / t if self.step == "1/t" else self.rate / np.sqrt(t)


registry.register(Subgradient.name, Subgradient())
