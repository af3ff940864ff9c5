"""The penalty method: gradient descent on the dual with (c/2)(Σβ)² in place of the constraint Σβ = 0.

Problem:  max_β  targetᵀβ − Σ tube_i|β_i| − ½ βᵀ(K + diag(ridge))β − (c/2)(Σβ)²   s.t.  lower ≤ β ≤ upper

    1. Compute K once. β ← 0 (or the warm start), c ← the average K_ii.
    2. g ← target − (K + ridge)β − c Σβ
    3. β ← clip(β + g/L), L = λ_max(K + ridge + c): the only constraint left is the box. Momentum speeds it up.
    4. When the penalised problem is solved better than the constraint is kept, c ← 10c.

The penalty is the augmented bias in disguise: K + c is a constant feature s = √c, so each c has an exact certificate
of its own, which the result carries as `related`; and the point, projected onto Σβ = 0 and given the best bias, has
one for the problem with a free bias, which it solves as c grows. On a problem whose bias is augmented already, c = s²
stays.

Bertsekas, Nonlinear Programming, section 4.2 (penalty methods).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.kernels import Gram
from maxmargin.losses import DualForm
from maxmargin.problem import Problem
from maxmargin.projection import project
from maxmargin.result import Iterate, Related
from maxmargin.solvers.base import (
    Solver,
    largest_eigenvalue,
    refuse_bias,
    refuse_indefinite,
    refuse_without_form,
    registry,
    reliable,
    start_beta,
)
from maxmargin.solvers.textbook.projected_gradient import ascend


@dataclass(frozen=True)
class Penalty(Solver):
    """Clipped gradient steps on the penalised dual; c grows unless it is given."""

    name: ClassVar[str] = "penalty"
    paper: ClassVar[str] = "Courant 1943; Bertsekas, Nonlinear Programming, section 4.2"

    #: The weight of the penalty, kept as it is; None starts low and raises it.
    c: float | None = None

    def __post_init__(self) -> None:
        if self.c is not None and not 0.0 < self.c < np.inf:
            raise InvalidInput(f"c is {self.c}; it must be a finite number > 0, or None")

    def accepts(self, problem: Problem) -> str | None:
        refusal = (
            refuse_bias(problem, "augmented", "free") or refuse_without_form(problem) or refuse_indefinite(problem)
        )
        if refusal is None and problem.total:
            return "Σβ must be a number other than 0 here, which the penalty does not know; use solver='smo'"
        if refusal is None and self.c is not None and problem.bias == "augmented" and self.c != problem.bias_scale**2:
            return f"the augmented bias fixes c = {problem.bias_scale**2:g}; drop c, or use bias='free'"
        return refusal

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        K = Gram(problem.kernel, problem.X, 0.0, problem.cache_bytes).full(
            "the penalty method", reliable(problem)
        )  # 1.
        assert problem.form is not None
        form = replace(problem.form, total=None)
        beta = start_beta(problem, start)
        c = self.c or (problem.bias_scale**2 if problem.bias == "augmented" else float(np.mean(np.diagonal(K))) or 1.0)
        grows = self.c is None and problem.bias == "free"
        eigenvalue = largest_eigenvalue(lambda v: K @ v, problem.n, rng) + float(form.ridge.max())
        k = 0
        while True:
            name, penalised = f"penalised, c={c:g}", problem.with_augmented_bias(np.sqrt(c))

            def product(v: np.ndarray, c: float = c) -> np.ndarray:
                return K @ v + c * v.sum()

            L = eigenvalue + c * problem.n
            steps = ascend(form, product, beta, L, accelerated=True)
            for beta, scores in steps:  # 2. and 3.
                k += 1
                if problem.bias == "augmented":
                    yield Iterate(k, beta=beta, scores=scores, work=float(K.size))
                else:
                    yield Iterate(k, beta=beta, work=float(K.size), related=Related(name, penalised, beta))
                if grows and k % 10 == 0 and _unsolved(form, beta, scores, L) <= c * float(beta.sum()) ** 2:
                    break
            c *= 10.0  # 4.


def _unsolved(form: DualForm, beta: np.ndarray, scores: np.ndarray, L: float) -> float:
    """How far the penalised problem is from solved, like a gap: its largest projected gradient times Σ|β|."""
    g = form.target - scores - form.ridge * beta
    step = project(beta + g / L, form.lower, form.upper, None, form.tube / L) - beta
    return L * float(np.abs(step).max()) * float(np.abs(beta).sum())


registry.register(Penalty.name, Penalty())
