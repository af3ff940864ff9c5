"""The penalty method: gradient descent on the dual with (c/2)(Σβ)² in place of the constraint Σβ = 0.

Problem:  max_β  targetᵀβ − Σ tube_i|β_i| − ½ βᵀ(K + diag(ridge))β − (c/2)(Σβ)²   s.t.  lower ≤ β ≤ upper

    1. Compute K once. β ← 0 (or the start), c ← the weight that is given, or the average K_ii.
    2. g ← target − (K + ridge)β − c Σβ
    3. β ← clip(β + ηg): the only constraint left is the box. η = 1/λ_max(K + ridge + c) with momentum, or as given.
    4. Where c was not given: when the penalised problem is solved better than the constraint is kept, c ← 10c, until
       c is so large that float64 cannot tell K + c from c.

As source 002 writes it, λ ← max(0, λ − η ∂L/∂λ) with λ = yβ:  Penalty(c=…, step=η, momentum=False). Its other variant
has no clipping but an extra term d Σ max(−λ_i, 0) in the loss: Penalty(c=…, step=η, d=…); with a finite C there is a
second such term, d Σ max(λ_i − C, 0).

The penalty is the augmented bias in disguise: K + c is a constant feature s = √c, so each c has an exact certificate
of its own, which the result carries as `related`; and the point, projected onto Σβ = 0 and given the best bias, has
one for the problem with a free bias, which it solves as c grows. The β before that projection is `raw_beta`: its Σβ
falls like 1/c. On a problem whose bias is augmented already, c = s² stays.

Bertsekas, Nonlinear Programming, section 4.2 (penalty methods).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import ClassVar

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.gram import Gram
from maxmargin.losses import DualForm
from maxmargin.problem import Problem
from maxmargin.problem.projection import project
from maxmargin.result import Iterate, Related
from maxmargin.solvers.base import (
    Solver,
    Starts,
    largest_eigenvalue,
    longest_dual_step,
    refuse_bias,
    refuse_indefinite,
    refuse_without_form,
    registry,
    reliable,
    start_beta,
    whole_matrix,
)
from maxmargin.solvers.steps import Schedule, Step, check_positive, check_step, schedule
from maxmargin.solvers.textbook.projected_gradient import Product, ascend, ascend_by


@dataclass(frozen=True)
class Penalty(Solver):
    """Clipped gradient steps on the penalised dual; c grows unless it is given.

    Parameters
    ----------
    c : number, default None
        The weight of the penalty, kept as it is; None starts low and raises it.
    step : None, number, function of t, "constant", "1/t" or "1/sqrt(t)", default None
        The step η_t, which goes with a c of your own; None is 1/λ_max, found by itself. A step that is too long is
        allowed, and the run diverges.
    momentum : bool, default None
        Nesterov's momentum; None has it, except with a step or a d of your own.
    d : number, default None
        The weight of an extra term d Σ max(−λ_i, 0) instead of clipping; goes with a c of your own.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import Penalty
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1])
    >>> result = solve(problem, Penalty(c=100.0), tol=1e-3)
    >>> result.converged
    True
    """

    name: ClassVar[str] = "penalty"
    paper: ClassVar[str] = "Courant 1943; Bertsekas, Nonlinear Programming, section 4.2"
    endless: ClassVar[bool] = True
    starts: ClassVar[Starts] = ("beta",)

    c: float | None = None
    step: Step | None = None
    momentum: bool | None = None
    d: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.c is not None:
            check_positive("c", self.c)
        if self.step is not None:
            check_step(self.step)
        if self.d is not None:
            check_positive("d", self.d)
            if self.momentum:
                raise InvalidInput("momentum and d exclude each other: the term with d has no gradient to accelerate")
        if self.c is None and (self.step is not None or self.d is not None):
            raise InvalidInput("step and d go with a weight c of your own; give c too")

    def accepts(self, problem: Problem) -> str | None:
        refusal = (
            refuse_bias(problem, "augmented", "free") or refuse_without_form(problem) or refuse_indefinite(problem)
        )
        if refusal is None and problem.total:
            return "Σβ must be a number other than 0 here, which the penalty does not know; use solver='smo'"
        if refusal is None and self.c is not None and problem.bias == "augmented" and self.c != problem.bias_scale**2:
            return f"the augmented bias fixes c = {problem.bias_scale**2:g}; drop c, or use bias='free'"
        if refusal is None and self.d is not None and problem.form is not None and problem.form.tube.any():
            return "the term with d is for classes, whose dual has no tube; drop d"
        return refusal

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        gram = Gram(problem.kernel, problem.X, 0.0, problem.cache_bytes)
        K = whole_matrix(gram, "the penalty method", reliable(problem))  # 1.
        assert problem.form is not None
        form = replace(problem.form, total=None)
        beta = start_beta(problem, start)
        c = self.c or (problem.bias_scale**2 if problem.bias == "augmented" else float(np.mean(np.diagonal(K))) or 1.0)
        grows = self.c is None and problem.bias == "free"
        eigenvalue = largest_eigenvalue(lambda v: K @ v, problem.n, rng) + float(form.ridge.max())
        most = max(eigenvalue, c) / np.finfo(np.float64).eps  # beyond, K is lost in the rounding of K + c
        k = 0
        while True:
            name, penalised = f"penalised, c={c:g}", problem.with_augmented_bias(np.sqrt(c))

            def product(v: np.ndarray, c: float = c) -> np.ndarray:
                return K @ v + c * v.sum()

            L = eigenvalue + c * problem.n
            steps = self._steps(form, product, beta, L)
            for beta, scores in steps:  # 2. and 3.
                k += 1
                if problem.bias == "augmented":
                    yield Iterate(k, beta=beta, scores=scores, work=float(K.size))
                else:
                    yield Iterate(k, beta=beta, work=float(K.size), related=Related(name, penalised, beta))
                if grows and k % 10 == 0 and _unsolved(form, beta, scores, L) <= c * float(beta.sum()) ** 2:
                    break
            c *= 10.0  # 4.
            if c > most:
                return

    def _steps(
        self, form: DualForm, product: Product, beta: np.ndarray, L: float
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The pairs (β, (K + c)β) for one c."""
        if self.d is not None:
            return _descend_with_d(form, product, beta, schedule(1.0 / L if self.step is None else self.step), self.d)
        momentum = self.step is None if self.momentum is None else self.momentum
        if self.step is None:
            return ascend(form, product, beta, L, accelerated=momentum)
        return ascend_by(form, product, beta, schedule(self.step), accelerated=momentum)

    def step_size(self, problem: Problem, t: int) -> float | None:
        return None if self.step is None else schedule(self.step)(t)

    def longest_step(self, problem: Problem) -> float:
        inside = problem.bias == "augmented"  # then K has the penalty in it
        longest = longest_dual_step(problem, 0.0 if inside else self.c or 0.0)
        return longest * (0.5 if self.momentum else 1.0)


def _descend_with_d(
    form: DualForm, product: Product, beta: np.ndarray, eta: Schedule, d: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Gradient steps without clipping: what is outside the box is pushed back with the force d."""
    scores = product(beta)
    for t in count(1):
        g = form.target - scores - form.ridge * beta
        outside = (beta < form.lower).astype(float) - (beta > form.upper)
        beta = beta + eta(t) * (g + d * outside)
        scores = product(beta)
        yield beta, scores


def _unsolved(form: DualForm, beta: np.ndarray, scores: np.ndarray, L: float) -> float:
    """How far the penalised problem is from solved, like a gap: its largest projected gradient times Σ|β|."""
    g = form.target - scores - form.ridge * beta
    step = project(beta + g / L, form.lower, form.upper, None, form.tube / L) - beta
    return L * float(np.abs(step).max()) * float(np.abs(beta).sum())


registry.register(Penalty.name, Penalty())
