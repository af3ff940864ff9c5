"""Pegasos: stochastic sub-gradient descent on the primal, in mini-batches, with averaging.

Problem:  min_w  P(w) = ½‖w‖² + Σ C_i ℓ_i(⟨w, φ(x_i)⟩)       (λ = 1 in this scale, so that η_t = 1/t)

    1. W ← 0, B ← 0, the sum of all weights S ← 0.
    2. For each epoch e = 1, 2, ..., for each mini-batch of the shuffled samples:
    3.     u_i ← −C_i ℓ'_i(z_i) for i in the batch, at the current w = W/S.
    4.     W ← W + e Σ u_i φ(x_i),  B_i ← B_i + e u_i,  S ← S + e |batch|/n: with e ≡ 1 this is the classical step
           w ← (1 − 1/t) w + (1/t) (n/|batch|) Σ u_i φ(x_i), which `sgd` takes; the factor e lets early steps count
           less, which is averaging with growing weights.
    5. After an epoch every sample was drawn once, so the same average of the pulls, β = B/S, lies in the dual's box and
       w = w(β): a certificate for a stochastic method.

Shalev-Shwartz, Singer, Srebro & Cotter, "Pegasos: primal estimated sub-gradient solver for SVM", Mathematical
Programming 127, 2011; Lacoste-Julien, Schmidt & Bach, "A simpler approach to obtaining an O(1/t) rate", 2012
(growing weights).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.numeric.compiled import compiled
from maxmargin.problem import Problem
from maxmargin.result import Event, Iterate
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
from maxmargin.solvers.steps import check_positive
from maxmargin.solvers.textbook.coordinate_ascent import order_of, pull
from maxmargin.solvers.textbook.sample_sum import SampleSum, add_sample, score


@dataclass(frozen=True)
class Pegasos(Solver):
    """Stochastic sub-gradient steps on mini-batches, averaged with growing weights.

    Parameters
    ----------
    batch : int, default 1
        Samples per step.
    grain : int, default None
        Yield after this many steps instead of after an epoch, and count steps instead of epochs; with ``grain=1`` every
        step is an `Event`.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import Pegasos
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], bias="augmented")
    >>> result = solve(problem, Pegasos(batch=2), tol=0.1)
    >>> result.converged
    True
    """

    name: ClassVar[str] = "pegasos"
    paper: ClassVar[str] = "Shalev-Shwartz et al., Mathematical Programming 2011"
    starts: ClassVar[Starts] = ("beta",)

    batch: int = 1
    grain: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("batch", self.batch, whole=True)
        if self.grain is not None:
            check_positive("grain", self.grain, whole=True)

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
        rows, work = rows_or_matrix(problem, "pegasos with a kernel")
        W, B, S = np.zeros(space.size), np.zeros(problem.n), 0.0  # 1.
        if start.beta is not None:  # a warm start counts as one epoch
            B, S = problem.feasible(start.beta), 1.0
            W = space.combine(B)
        n = problem.n
        sums = SampleSum(W, B, space.constant, problem.linear)
        size = n if self.grain is None else int(self.grain * self.batch)
        k = epoch = 0
        while True:
            epoch += 1
            order = order_of("shuffled", n, rng)
            for first in range(0, n, size):
                part = order[first : first + size]
                before = B[part] / S if S > 0.0 else np.zeros(len(part))
                S = _steps(rows, part, int(self.batch), float(epoch), n, form.arrays, sums, S)
                k += 1 if self.grain is None else -(-len(part) // self.batch)
                whole = first + size >= n
                beta = B / S if whole else np.clip(B / S, form.lower, form.upper)  # 5.
                event = event_of(part, before, B[part] / S) if self.grain == 1 else None
                share = 2.0 * work * len(part) / n
                yield Iterate(k, w=W / S, beta=beta, linked=whole, work=share, event=event)


def event_of(part: np.ndarray, before: np.ndarray, after: np.ndarray) -> Event:
    """One stochastic step: the coefficients of its samples in w, before and after."""
    moved = float(after[0] - before[0])
    return Event(tuple(map(int, part)), tuple(map(float, before)), tuple(map(float, after)), moved)


@compiled
def _steps(X, order, batch, e, n, dual, sums, S):
    """Steps 3 and 4 on the samples in their order; `sums` are W and B, and the new S is returned."""
    target, ridge, tube, lower, upper = dual
    pulls = np.empty(batch)
    for first in range(0, len(order), batch):  # 2.
        last = min(first + batch, len(order))
        for p in range(first, last):  # 3.
            i = order[p]
            z = score(X, i, sums) / S if S > 0.0 else 0.0
            pulls[p - first] = pull(target[i] - z, ridge[i], tube[i], lower[i], upper[i])
        # A short last batch counts for what it holds: every sample weighs the same after an epoch.
        S += e * (last - first) / n
        for p in range(first, last):  # 4.
            i = order[p]
            u = e * pulls[p - first]
            if u != 0.0:
                add_sample(X, i, u, sums)
    return S


registry.register(Pegasos.name, Pegasos())
