"""Stochastic gradient ascent on the dual: one coordinate's gradient at a time, with one step size for all.

Problem:  max_β  targetᵀβ − Σ tube_i|β_i| − ½ βᵀ(K + diag(ridge))β   s.t.  lower ≤ β ≤ upper

    1. β ← 0 (or the start); η_t ← as given, or 1 / max_i (K_ii + ridge_i), which is safe for every coordinate.
    2. In each epoch t draw i at random, n times (or go through the samples in turn, or shuffled):
    3.     g ← target_i − (Kβ)_i − ridge_i β_i
    4.     β_i ← clip(β_i + η_t g) to [lower_i, upper_i]

This is the stochastic gradient ascent of source 001, with the clipping that it leaves out. With
η_i = 1/(K_ii + ridge_i) instead, step 4 is the exact maximiser: that is coordinate ascent, whose loops run here.

Zaki & Meira, Data Mining and Analysis, Cambridge University Press 2014, chapter 21.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.problem import Problem
from maxmargin.result import Iterate
from maxmargin.solvers.base import Solver, Starts, refuse_bias, refuse_indefinite, refuse_without_form, registry
from maxmargin.solvers.steps import Step, check_positive, check_step, schedule
from maxmargin.solvers.textbook.coordinate_ascent import Order, updates


@dataclass(frozen=True)
class StochasticAscent(Solver):
    """Clipped gradient steps on randomly drawn dual variables.

    Parameters
    ----------
    step : None, number, function of t, "constant", "1/t" or "1/sqrt(t)", default None
        The step η_t of epoch t; None is 1 / max_i (K_ii + ridge_i). A step that is too long is allowed, and the run
        diverges.
    order : "random", "shuffled" or "cyclic", default "random"
        The order of the samples within an epoch; "random" draws n of them uniformly, with replacement.
    grain : int, default None
        Yield after this many single updates instead of after an epoch, and count updates instead of epochs; with
        ``grain=1`` every update is an `Event`.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import StochasticAscent
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], bias="augmented")
    >>> result = solve(problem, StochasticAscent(step=0.1), tol=1e-2)
    >>> result.converged
    True
    """

    name: ClassVar[str] = "stochastic-ascent"
    paper: ClassVar[str] = "Zaki & Meira 2014, chapter 21"
    starts: ClassVar[Starts] = ("beta",)

    step: Step | None = None
    order: Order = "random"
    grain: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.step is not None:
            check_step(self.step)
        if self.grain is not None:
            check_positive("grain", self.grain, whole=True)

    def accepts(self, problem: Problem) -> str | None:
        return refuse_bias(problem, "none", "augmented") or refuse_without_form(problem) or refuse_indefinite(problem)

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        eta = schedule(0.5 * self.longest_step(problem) if self.step is None else self.step)

        def q(epoch: int) -> np.ndarray:
            return np.full(problem.n, 1.0 / eta(epoch))

        return updates(problem, start, q, self.order, self.grain, rng)

    def step_size(self, problem: Problem, t: int) -> float | None:
        return None if self.step is None else schedule(self.step)(t)

    def longest_step(self, problem: Problem) -> float:
        assert problem.form is not None
        largest = float((problem.space.diag() + problem.form.ridge).max())
        return 2.0 / largest if largest > 0.0 else np.inf


registry.register(StochasticAscent.name, StochasticAscent())
