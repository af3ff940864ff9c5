"""SGD: plain stochastic sub-gradient descent on the primal, with a step size of one's own.

Problem:  min_w  P(w) = ½‖w‖² + Σ C_i ℓ_i(⟨w, φ(x_i)⟩)

    1. w ← 0 or the start.
    2. For t = 1, 2, ...: draw a sample i, or a mini-batch.
    3.     u_i ← −C_i ℓ'_i(z_i), the pull of the sample (0 beyond the margin).
    4.     g ← w − n u_i φ(x_i), a sub-gradient of P on average.
    5.     w ← w − η_t g = (1 − η_t) w + η_t n u_i φ(x_i).

With η_t = 1/t the iterate is the plain average of n u_i φ(x_i) over all steps so far. After epochs in which every
sample came once, it is w(β) with a feasible β: then it has a certificate of its own. Otherwise the dual point is the
nearest one in the box to the coefficients of w.

As source 003 asks for it, on Σ hinge + (λ/2)‖w‖² with steps 1/(λt): Problem(lam=λ) and SGD(order="random"), as a step
of 1/(λt) there is one of 1/t here. `pegasos` averages the same steps with growing weights.

Robbins & Monro 1951; Bottou, "Large-scale machine learning with stochastic gradient descent", COMPSTAT 2010 (w is kept
as a number times a vector, so that a step on a sparse row touches only its entries).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np

from maxmargin.numeric.compiled import compiled
from maxmargin.problem import Problem
from maxmargin.result import Iterate
from maxmargin.solvers.base import (
    Solver,
    Starts,
    refuse_bias,
    refuse_indefinite,
    refuse_unbounded,
    refuse_without_form,
    registry,
    rows_or_matrix,
)
from maxmargin.solvers.steps import Objective, Step, check_positive, check_step, lam_of, refuse_objective, schedule
from maxmargin.solvers.textbook.coordinate_ascent import Order, order_of, pull
from maxmargin.solvers.textbook.pegasos import event_of
from maxmargin.solvers.textbook.sample_sum import SampleSum, add_sample, score


@dataclass(frozen=True)
class SGD(Solver):
    """Plain stochastic sub-gradient descent; the last iterate is the answer.

    Parameters
    ----------
    step : "1/t", "1/sqrt(t)", "constant", number or function of t, default "1/t"
        The step η_t of step t. A step that is too long is allowed, and the run diverges.
    order : "shuffled", "random" or "cyclic", default "shuffled"
        The order of the samples within an epoch; "random" draws n of them uniformly, with replacement.
    batch : int, default 1
        Samples per step.
    objective : "C" or "lam", default "C"
        Whose steps a number or a function gives: of ½‖w‖² + C Σℓ, or of Σℓ + (λ/2)‖w‖² with λ = 1/C. A rule by name
        is the same for both: "1/t" is 1/(λt) on the second.
    grain : int, default None
        Yield after this many steps instead of after an epoch, and count steps instead of epochs; with ``grain=1`` every
        step is an `Event`.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import SGD
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], bias="augmented")
    >>> result = solve(problem, SGD(step="1/t", batch=2), tol=0.1, max_iter=500)
    >>> result.converged
    True
    """

    name: ClassVar[str] = "sgd"
    paper: ClassVar[str] = "Robbins & Monro 1951; Bottou 2010"
    starts: ClassVar[Starts] = ("beta", "w")

    step: Step = "1/t"
    order: Order = "shuffled"
    batch: int = 1
    objective: Objective = "C"
    grain: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_step(self.step)
        check_positive("batch", self.batch, whole=True)
        if self.grain is not None:
            check_positive("grain", self.grain, whole=True)

    def accepts(self, problem: Problem) -> str | None:
        return (
            refuse_bias(problem, "none", "augmented")
            or refuse_without_form(problem)
            or refuse_unbounded(problem)
            or refuse_indefinite(problem)
            or refuse_objective(self.objective, problem)
        )

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        form, space, n = problem.form, problem.space, problem.n
        assert form is not None
        rows, work = rows_or_matrix(problem, "sgd with a kernel")
        coef = np.zeros(n) if start.beta is None else problem.feasible(start.beta)  # 1.
        own = start.w is None or (start.beta is not None and start.linked)  # w is made of these coefficients
        w = space.combine(coef) if own or start.w is None else start.w.copy()
        made = SampleSum(w, coef, space.constant, problem.linear)
        eta = schedule(self.step)
        factor = lam_of(problem) if self.objective == "lam" and not isinstance(self.step, str) else 1.0
        batch = int(self.batch)
        size = n if self.grain is None else int(self.grain * batch)
        t = k = 0
        for _ in count(1):
            order = order_of(self.order, n, rng)
            for first in range(0, n, size):  # 2.
                part = order[first : first + size]
                steps = -(-len(part) // batch)
                etas = np.array([factor * eta(t + 1 + s) for s in range(steps)])
                before = coef[part]
                _steps(rows, part, batch, etas, n, form.arrays, made)
                t += steps
                k += 1 if self.grain is None else steps
                beta = np.clip(coef, form.lower, form.upper)
                linked = own and bool(np.abs(coef - beta).max() <= 1e-12 * np.abs(coef).max())
                event = event_of(part, before, coef[part]) if self.grain == 1 else None
                yield Iterate(k, w=w, beta=beta, linked=linked, work=2.0 * work * len(part) / n, event=event)

    def step_size(self, problem: Problem, t: int) -> float | None:
        return schedule(self.step)(t if self.grain is not None else t * -(-problem.n // int(self.batch)))

    def longest_step(self, problem: Problem) -> float:
        longest = 2.0
        if problem.loss.smooth:
            largest = float(problem.space.diag().max())
            longest = 2.0 / (1.0 + problem.loss.curvature * problem.n * float(problem.C.max()) * largest)
        scaled = self.objective == "lam" and not isinstance(self.step, str)
        return longest / lam_of(problem) if scaled else longest


@compiled
def _steps(X, order, batch, etas, n, dual, made):
    """Steps 3 to 5 on the samples in their order; w and the coefficients are kept as `scale` times an array."""
    target, ridge, tube, lower, upper = dual
    w, coef, _, _ = made
    scale = 1.0
    pulls = np.empty(batch)
    for t in range(len(etas)):
        first, last = t * batch, min((t + 1) * batch, len(order))
        for p in range(first, last):  # 3.
            i = order[p]
            z = scale * score(X, i, made)
            pulls[p - first] = pull(target[i] - z, ridge[i], tube[i], lower[i], upper[i])
        scale *= 1.0 - etas[t]  # 5.
        if not 1e-9 < abs(scale) < 1e9:  # also where a step of 1 forgets everything
            w *= scale
            coef *= scale
            scale = 1.0
        for p in range(first, last):
            i = order[p]
            u = etas[t] * n / (last - first) * pulls[p - first] / scale
            if u != 0.0:
                add_sample(X, i, u, made)
    w *= scale
    coef *= scale


registry.register(SGD.name, SGD())
