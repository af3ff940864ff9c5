"""Stochastic gradient ascent on the dual: one coordinate's gradient at a time, with one step size for all.

Problem:  max_β  targetᵀβ − Σ tube_i|β_i| − ½ βᵀ(K + diag(ridge))β   s.t.  lower ≤ β ≤ upper

    1. β ← 0 (or the warm start); η ← 1 / max_i (K_ii + ridge_i), which is safe for every coordinate.
    2. Draw i at random:
    3.     g ← target_i − (Kβ)_i − ridge_i β_i
    4.     β_i ← clip(β_i + η g) to [lower_i, upper_i]

With η_i = 1/(K_ii + ridge_i) instead, step 4 is the exact maximiser: that is coordinate ascent, whose loops run here.

Zaki & Meira, Data Mining and Analysis, Cambridge University Press 2014, chapter 21.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.problem import Problem
from maxmargin.result import Iterate
from maxmargin.solvers.base import Solver, refuse_bias, refuse_indefinite, refuse_without_form, registry
from maxmargin.solvers.textbook.coordinate_ascent import epochs


@dataclass(frozen=True)
class StochasticAscent(Solver):
    """Clipped gradient steps on randomly drawn dual variables."""

    name: ClassVar[str] = "stochastic-ascent"
    paper: ClassVar[str] = "Zaki & Meira 2014, chapter 21"

    #: The step size η; None is 1 / max_i (K_ii + ridge_i). Above twice that it may not converge.
    step: float | None = None

    def __post_init__(self) -> None:
        if self.step is not None and not 0.0 < self.step < np.inf:
            raise InvalidInput(f"step is {self.step}; it must be a finite number > 0, or None")

    def accepts(self, problem: Problem) -> str | None:
        return refuse_bias(problem, "none", "augmented") or refuse_without_form(problem) or refuse_indefinite(problem)

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        assert problem.form is not None
        largest = float((problem.space.diag() + problem.form.ridge).max())
        q = largest if self.step is None else 1.0 / self.step
        return epochs(problem, start, np.full(problem.n, q), "sampled", rng)


registry.register(StochasticAscent.name, StochasticAscent())
