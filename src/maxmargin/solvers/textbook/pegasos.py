"""Pegasos: stochastic sub-gradient descent on the primal, in mini-batches, with averaging.

Problem:  min_w  P(w) = ½‖w‖² + Σ C_i ℓ_i(⟨w, φ(x_i)⟩)       (λ = 1 in this scale, so that η_t = 1/t)

    1. W ← 0, β ← 0, the sum of all weights S ← 0.
    2. For each epoch e = 1, 2, ..., for each mini-batch B of the shuffled samples:
    3.     u_i ← −C_i ℓ'_i(z_i) for i in B, at the current w = W/S.
    4.     W ← W + e Σ_B u_i φ(x_i),  S ← S + e |B|/n: with e ≡ 1 this is the classical step
           w ← (1 − 1/t) w + (1/t) (n/|B|) Σ_B u_i φ(x_i); the factor e lets early steps count less, which is
           averaging with growing weights.
    5. After an epoch every sample was drawn once, so the same average of the pulls, β = Σ e u / Σ e, lies in the dual's
       box and w = w(β): a certificate for a stochastic method.

Shalev-Shwartz, Singer, Srebro & Cotter, "Pegasos: primal estimated sub-gradient solver for SVM", Mathematical
Programming 127, 2011; Lacoste-Julien, Schmidt & Bach, "A simpler approach to obtaining an O(1/t) rate", 2012
(growing weights).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np

from maxmargin.compiled import compiled
from maxmargin.errors import InvalidInput
from maxmargin.problem import Problem
from maxmargin.result import Iterate
from maxmargin.rows import row_axpy, row_dot
from maxmargin.solvers.base import (
    Solver,
    refuse_bias,
    refuse_indefinite,
    refuse_unbounded,
    refuse_without_form,
    registry,
    rows_or_matrix,
)
from maxmargin.solvers.textbook.coordinate_ascent import pull
from maxmargin.space import LinearSpace


@dataclass(frozen=True)
class Pegasos(Solver):
    """Stochastic sub-gradient steps η_t = 1/(λt) on mini-batches."""

    name: ClassVar[str] = "pegasos"
    paper: ClassVar[str] = "Shalev-Shwartz et al., Mathematical Programming 2011"

    #: Samples a step.
    batch: int = 1

    def __post_init__(self) -> None:
        if self.batch != int(self.batch) or self.batch < 1:
            raise InvalidInput(f"batch is {self.batch}; it must be a whole number ≥ 1")

    def accepts(self, problem: Problem) -> str | None:
        return (
            refuse_bias(problem, "none", "augmented")
            or refuse_without_form(problem)
            or refuse_unbounded(problem)
            or refuse_indefinite(problem)
        )

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        form, space = problem.form, problem.space
        assert form is not None
        arrays = (form.target, form.ridge, form.tube, form.lower, form.upper)
        linear = isinstance(space, LinearSpace)
        rows, work = rows_or_matrix(problem, "pegasos with a kernel")
        W, beta, S = np.zeros(space.size), np.zeros(problem.n), 0.0  # 1.
        if start.beta is not None:  # a warm start counts as one epoch
            beta, S = problem.feasible(start.beta), 1.0
            W = space.combine(beta)
        order = np.arange(problem.n)
        for epoch in count(1):
            rng.shuffle(order)
            pulls = np.zeros(problem.n)
            before = S
            S = _epoch(rows, order, self.batch, float(epoch), *arrays, W, pulls, S, space.constant, linear)
            beta = (before * beta + (S - before) * pulls) / S  # 5.
            yield Iterate(epoch, w=W / S, beta=beta, work=2.0 * work)


@compiled
def _epoch(X, order, batch, e, target, ridge, tube, lower, upper, W, pulls, S, s, linear):
    n = len(order)
    d = len(W) - 1
    for first in range(0, n, batch):  # 2.
        last = min(first + batch, n)
        for p in range(first, last):  # 3.
            i = order[p]
            z = 0.0
            if S > 0.0:
                z = (row_dot(X, i, W) + (s * W[d] if linear else 0.0)) / S
            pulls[i] = pull(target[i] - z, ridge[i], tube[i], lower[i], upper[i])
        # A short last batch counts for what it holds: every sample weighs the same after an epoch.
        S += e * (last - first) / n
        for p in range(first, last):  # 4.
            i = order[p]
            if pulls[i] != 0.0:
                if linear:
                    row_axpy(X, i, e * pulls[i], W)
                    W[d] += e * pulls[i] * s
                else:
                    W[i] += e * pulls[i]
    return S


registry.register(Pegasos.name, Pegasos())
