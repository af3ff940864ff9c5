"""Projected gradient ascent on the dual, plain or accelerated.

Problem:  max_β  targetᵀβ − Σ tube_i|β_i| − ½ βᵀ(K + diag(ridge))β   s.t.  lower ≤ β ≤ upper [, Σβ = total]

    1. β ← a feasible point; v ← β; η ← the step that was chosen, or 1/λ_max(K + ridge) by a few power iterations.
    2. g ← target − (K + ridge) v
    3. β' ← Π[v + ηg]: shrink by η·tube, clip to the box, and meet Σβ = total where the bias is free.
    4. If η was not chosen by the user and the step shows a curvature above 1/η, shorten η and take it again.
    5. plain:        v ← β'
       accelerated:  v ← β' + m(β' − β), with Nesterov's m; start over when the step turns against the gradient.

As source 000 writes it (algorithm 2, with 1/c where it prints c), λ ← clip(λ + η(−1 − (1/c) YXXᵀYλ), −1, 0):
Problem(lam=c, bias="none") and ProjectedGradient(step=η, objective="lam"); λ = −yβ·c.

Beck & Teboulle, "A fast iterative shrinkage-thresholding algorithm", SIAM J. Imaging Sciences 2, 2009;
O'Donoghue & Candès, "Adaptive restart for accelerated gradient schemes", 2015.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
    largest_eigenvalue,
    longest_dual_step,
    product_with_K,
    refuse_indefinite,
    refuse_without_form,
    registry,
    start_beta,
)
from maxmargin.solvers.steps import Objective, Schedule, Step, check_step, lam_of, refuse_objective, schedule


@dataclass(frozen=True)
class ProjectedGradient(Solver):
    """Gradient steps on the dual, projected onto the feasible set.

    Parameters
    ----------
    step : None, number, function of t, "constant", "1/t" or "1/sqrt(t)", default None
        The step η_t; None is 1/λ_max(K), found by itself. A step that is too long is allowed, and the run diverges.
    objective : "C" or "lam", default "C"
        Whose steps these are: of the dual in β, or of the dual of Σℓ + (λ/2)‖w‖², whose variables are λ times ours.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import ProjectedGradient
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], bias="augmented")
    >>> result = solve(problem, ProjectedGradient(step=0.05), tol=1e-3)
    >>> result.converged
    True
    """

    name: ClassVar[str] = "projected-gradient"
    paper: ClassVar[str] = "Goldstein 1964; Levitin & Polyak 1966"
    starts: ClassVar[Starts] = ("beta",)
    accelerated: ClassVar[bool] = False

    step: Step | None = None
    objective: Objective = "C"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.step is not None:
            check_step(self.step)

    def accepts(self, problem: Problem) -> str | None:
        return refuse_without_form(problem) or refuse_indefinite(problem) or refuse_objective(self.objective, problem)

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        assert problem.form is not None
        product, work = product_with_K(problem)
        beta = start_beta(problem, start)
        if self.step is None:
            L = largest_eigenvalue(product, problem.n, rng) + float(problem.form.ridge.max())
            pairs = ascend(problem.form, product, beta, L, self.accelerated)
        else:
            chosen, factor = schedule(self.step), 1.0 / lam_of(problem) if self.objective == "lam" else 1.0
            pairs = ascend_by(problem.form, product, beta, lambda t: factor * chosen(t), self.accelerated)
        for k, (beta, scores) in enumerate(pairs, 1):
            yield Iterate(k, beta=beta, scores=scores, work=work)

    def step_size(self, problem: Problem, t: int) -> float | None:
        return None if self.step is None else schedule(self.step)(t)

    def longest_step(self, problem: Problem) -> float:
        longest = longest_dual_step(problem) * (0.5 if self.accelerated else 1.0)
        return longest * lam_of(problem) if self.objective == "lam" else longest


@dataclass(frozen=True)
class AcceleratedGradient(ProjectedGradient):
    """The same steps with Nesterov's momentum and restarts (FISTA).

    Parameters
    ----------
    step : None, number, function of t, "constant", "1/t" or "1/sqrt(t)", default None
        The step η_t; None is 1/λ_max(K), found by itself, which is also the longest that momentum stands.
    objective : "C" or "lam", default "C"
        Whose steps these are: of the dual in β, or of the dual of Σℓ + (λ/2)‖w‖², whose variables are λ times ours.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import AcceleratedGradient
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1])
    >>> result = solve(problem, AcceleratedGradient(), tol=1e-4)
    >>> result.converged
    True
    """

    name: ClassVar[str] = "accelerated-gradient"
    paper: ClassVar[str] = "Beck & Teboulle 2009; O'Donoghue & Candès 2015"
    accelerated: ClassVar[bool] = True


Product = Callable[[np.ndarray], np.ndarray]


def ascend(
    form: DualForm, product: Product, beta: np.ndarray, L: float, accelerated: bool
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The pairs (β, Kβ) of the ascent with steps 1/L, where L grows if it was too low; `product` is v ↦ Kv."""
    tiny = np.finfo(np.float64).tiny
    L = max(L, tiny)
    path = _Path(form, product, beta)  # 1.
    while True:
        while True:
            step, length, curvature = path.trial(1.0 / L)  # 2. and 3.
            if curvature <= L * length * (1 + 1e-9) + tiny:
                break
            if not np.isfinite(curvature):
                raise ArithmeticError("the curvature of the dual is not finite")
            L = 1.1 * curvature / length  # 4.
        yield path.accept(step, accelerated)  # 5.


def ascend_by(
    form: DualForm, product: Product, beta: np.ndarray, eta: Schedule, accelerated: bool
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The pairs (β, Kβ) of the ascent with the steps η_t as they are given, too long or not."""
    path = _Path(form, product, beta)  # 1.
    for t in count(1):
        step, _, _ = path.trial(eta(t))  # 2. and 3.
        yield path.accept(step, accelerated)  # 5.


class _Path:
    """Where the ascent stands: β and Kβ, and the point v that the next gradient is taken at."""

    def __init__(self, form: DualForm, product: Product, beta: np.ndarray) -> None:
        self.form, self.product = form, product
        self.beta, self.scores = beta, product(beta)
        self.v, self.v_scores = self.beta, self.scores
        self.momentum = 1.0

    def trial(self, eta: float) -> tuple[tuple[np.ndarray, np.ndarray], float, float]:
        """The projected step of length η from v, its squared length, and the curvature that it met."""
        form = self.form
        g = form.target - self.v_scores - form.ridge * self.v
        beta = project(self.v + eta * g, form.lower, form.upper, form.total, eta * form.tube)
        scores = self.product(beta)
        step = beta - self.v
        curvature = float(step @ (scores - self.v_scores + form.ridge * step))
        return (beta, scores), float(step @ step), curvature

    def accept(self, following: tuple[np.ndarray, np.ndarray], accelerated: bool) -> tuple[np.ndarray, np.ndarray]:
        """Go there; the momentum is dropped where it carries the wrong way."""
        beta, scores = following
        if not accelerated:
            self.v, self.v_scores = following
        elif float((self.v - beta) @ (beta - self.beta)) > 0.0:
            self.momentum = 1.0
            self.v, self.v_scores = following
        else:
            grown = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * self.momentum**2))
            m = (self.momentum - 1.0) / grown
            self.v = beta + m * (beta - self.beta)
            self.v_scores = scores + m * (scores - self.scores)
            self.momentum = grown
        self.beta, self.scores = following
        return following


registry.register(ProjectedGradient.name, ProjectedGradient())
registry.register(AcceleratedGradient.name, AcceleratedGradient())
