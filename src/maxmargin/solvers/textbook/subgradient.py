"""Sub-gradient descent on the primal, full batch.

Problem:  min_{w,b}  P(w,b) = ½‖w‖² + Σ C_i ℓ_i(⟨w, φ(x_i)⟩ + b)

    1. w ← 0 or the start; β ← 0, or the start's dual point with w = w(β).
    2. For t = 1, 2, ...:  z ← scores of w; b ← the best bias for them, where it is free.
    3.     u_i ← −C_i ℓ'_i(z_i): the pull of sample i (0 beyond the margin); with a free bias Σu = total.
    4.     g ← w − Σ u_i φ(x_i), a sub-gradient of P.
    5.     w ← w − η_t g = (1 − η_t) w + η_t Σ u_i φ(x_i).
    6.     β ← (1 − η_t) β + η_t u: while η_t ≤ 1 this average of pulls is a feasible dual point.

Sub-gradient descent is not a descent method; the loop remembers the best iterate. Step 6 is why it has a certificate at
all (Bach, "Duality between subgradient and conditional gradient methods", SIAM J. Optimization 25, 2015). With w = w(β)
at the start, w stays w(β). A step above 1 takes β out of its box; then the dual point is read off w.

Steps: "auto" takes 2/(t + 1) for a kinked loss and 1/(1 + curvature) for a smooth one. As source 000 writes it
(algorithm 1), min Σ hinge + (c/2)‖a‖² by a ← a − η(c a − Xᵀ(y∘mask)):  Problem(lam=c, bias="none") and
Subgradient(step=η, objective="lam"), with start=(a, 0) for its initial weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.problem import Problem
from maxmargin.problem.space import LinearSpace
from maxmargin.result import Iterate
from maxmargin.solvers.base import (
    Solver,
    Starts,
    largest_eigenvalue,
    product_with_K,
    refuse_indefinite,
    registry,
    reliable,
    start_beta,
)
from maxmargin.solvers.steps import Objective, Schedule, Step, check_positive, check_step, lam_of, refuse_objective
from maxmargin.solvers.steps import schedule as schedule_of


@dataclass(frozen=True)
class Subgradient(Solver):
    """Sub-gradient descent with a step size that needs no tuning, or with one of your own.

    Parameters
    ----------
    step : "auto", "constant", "1/t", "1/sqrt(t)", number or function of t, default "auto"
        The step η_t; a number is a constant step. A step that is too long is allowed, and the run diverges.
    rate : number, default None
        The factor of a rule that is named (None: 1 for "1/t", 0.1 for the others); given alone, a constant step.
    objective : "C" or "lam", default "C"
        Whose steps these are: of ½‖w‖² + C Σℓ, or of Σℓ + (λ/2)‖w‖² with λ = 1/C.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import Subgradient
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], bias="augmented")
    >>> result = solve(problem, Subgradient(step="auto"), tol=0.1, max_iter=500)
    >>> result.converged
    True
    """

    name: ClassVar[str] = "subgradient"
    paper: ClassVar[str] = "Shor 1985; Bach, SIAM J. Optimization 2015"
    starts: ClassVar[Starts] = ("beta", "w")

    step: Step = "auto"
    rate: float | None = None
    objective: Objective = "C"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_step(self.step, ["auto"])
        if self.rate is not None:
            check_positive("rate", self.rate)
            if not isinstance(self.step, str):
                raise InvalidInput(f"rate is {self.rate}; it goes with a rule by name, and step is {self.step!r}")

    def accepts(self, problem: Problem) -> str | None:
        if problem.hard:
            return f"a hard margin (C=inf) has no sub-gradient to follow; use solver={reliable(problem)!r}"
        return refuse_indefinite(problem) or refuse_objective(self.objective, problem)

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        space = problem.space
        product, work = product_with_K(problem)
        steps = self._steps(problem, rng)
        beta = start_beta(problem, start)  # 1.
        linked = start.w is None or (start.beta is not None and start.linked)
        w = space.combine(beta) if linked or start.w is None else start.w.copy()
        inside = True
        for t in count(1):
            eta = steps(t)
            scores = space.scores(w) if isinstance(space, LinearSpace) else product(w)  # 2.
            u = problem.pulls(scores)  # 3.
            w = (1.0 - eta) * w + eta * space.combine(u)  # 4. and 5.
            inside = inside and eta <= 1.0
            beta = (1.0 - eta) * beta + eta * u  # 6.
            yield Iterate(t, w=w, beta=beta if inside else None, linked=linked and inside, work=work)

    def step_size(self, problem: Problem, t: int) -> float | None:
        chosen = self._chosen()
        return None if chosen is None else chosen(t)

    def longest_step(self, problem: Problem) -> float:
        longest = 2.0
        if problem.loss.smooth:
            product, _ = product_with_K(problem)
            eigenvalue = largest_eigenvalue(product, problem.n, np.random.default_rng(0), rounds=100)
            longest = 2.0 / (1.0 + problem.loss.curvature * float(problem.C.max()) * eigenvalue)
        return longest / lam_of(problem) if self.objective == "lam" else longest

    def _chosen(self) -> Schedule | None:
        """The steps that the user chose, in the user's units."""
        if self.step == "auto":
            return None if self.rate is None else schedule_of(self.rate)
        usual = 1.0 if self.step == "1/t" else 0.1
        return schedule_of(self.step, usual if self.rate is None else self.rate)

    def _steps(self, problem: Problem, rng: np.random.Generator) -> Schedule:
        """η_1, η_2, ... on our objective."""
        chosen = self._chosen()
        if chosen is not None:
            factor = lam_of(problem) if self.objective == "lam" else 1.0
            return lambda t: factor * chosen(t)
        if not problem.loss.smooth:
            return lambda t: 2.0 / (t + 1)
        product, _ = product_with_K(problem)
        curvature = problem.loss.curvature * float(problem.C.max())
        return schedule_of(1.0 / (1.0 + 1.1 * curvature * largest_eigenvalue(product, problem.n, rng)))


registry.register(Subgradient.name, Subgradient())
