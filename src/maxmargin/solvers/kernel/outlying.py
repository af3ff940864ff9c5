"""Where a one-class problem begins: with the multipliers of the samples that lie furthest out at their bounds.

The duals of such a problem have a prescribed sum νΣC. The point of that sum nearest to 0 has every sample strictly
inside its bounds, and all of K would be needed to move them. At the optimum nearly all are at a bound, those of the
outliers at the upper one; and an outlier is a sample with a low mean k(x, x_j), which a few hundred x_j tell:

    1. Draw some samples, and compute the mean of k(x_i, ·) over them for every sample.
    2. In the order of these means, multipliers go to their upper bounds until the sum is reached; the last one takes
       the rest.
"""

from __future__ import annotations

import numpy as np

from maxmargin.problem import Problem
from maxmargin.problem.projection import repaired
from maxmargin.problem.space import KernelSpace
from maxmargin.solvers.kernel.settings import OutlyingSettings

settings = OutlyingSettings()


def outlying_start(problem: Problem, rng: np.random.Generator) -> np.ndarray:
    """A feasible β of the prescribed sum, of which at most one is strictly inside its bounds."""
    assert isinstance(problem.space, KernelSpace)
    some = np.zeros(problem.n)
    some[rng.permutation(problem.n)[: settings.drawn]] = 1.0 / min(problem.n, settings.drawn)  # 1.
    return lowest_first(problem, problem.space.scores(some))


def lowest_first(problem: Problem, closeness: np.ndarray) -> np.ndarray:
    """Multipliers at their upper bounds for the samples of least closeness (2.)."""
    assert problem.total is not None
    lower, upper = problem.bounds
    order = np.argsort(closeness, kind="stable")
    room = np.cumsum((upper - lower)[order]) - (problem.total - float(lower.sum()))
    beta = np.empty(problem.n)
    beta[order] = np.clip(upper[order] - np.maximum(room, 0.0), lower[order], upper[order])
    # What rounding leaves goes to the last one: the nearest feasible point would take all from their bounds.
    return beta if problem.is_feasible(beta) else repaired(beta, lower, upper, problem.total)
