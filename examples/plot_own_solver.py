"""
A solver of your own, raced
===========================

Subgradient descent with Polyak's step, which needs the optimal value: here it is taken from a certificate.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin import Problem, Solver, plots, solve
from maxmargin.data import toys
from maxmargin.result import Iterate


@dataclass(frozen=True)
class Polyak(Solver):
    """w ← w − (P(w) − P*)/‖g‖² g, for linear problems without a bias."""

    name: ClassVar[str] = "polyak"
    paper: ClassVar[str] = "Polyak 1969"
    optimum: float = 0.0

    def accepts(self, problem):
        return None if problem.linear and problem.bias == "none" else "it takes linear problems with bias='none' only"

    def iterates(self, problem, start, rng):
        w, k = np.zeros(problem.space.size), 0
        while True:
            z = problem.space.scores(w)
            g = w - problem.space.combine(problem.pulls(z))
            value = 0.5 * float(w @ w) + problem.loss_sum(z)
            w = w - (value - self.optimum) / float(g @ g) * g
            k += 1
            yield Iterate(k, w=w.copy())


problem = Problem(*toys.overlapping(), bias="none", C=1.0)
best = solve(problem, tol=1e-10).certificate.dual
runs = [solve(problem, one, tol=1e-6, every=1, max_iter=300) for one in (Polyak(best), "subgradient", "pegasos")]
plots.race({run.solver.name: run for run in runs}, against="iterations")
