"""A point that can be certified in hardly any time, for a run that ends before it can prove anything else.

Where the duals have a prescribed sum νΣC, as in a one-class problem, even the first feasible β has so many samples that
its proof takes n²/2 kernel values, which on large data is many times as long as the time that a user may have given.
Then

    1. w is the mean of a few φ(x_j), times the multiple that makes the primal objective least (the objective along a
       ray, with the best bias, is ½t²‖w‖² + t·l): the density estimate of Parzen with a threshold.
    2. The dual value is bounded, not computed: ‖w(β)‖ ≤ Σ|β_i|√k(x_i, x_i), by Cauchy and Schwarz. (`certify.examine`
       does so where it is told that β is only to be bounded.)

The certificate is true and weak: it says how little is known.
"""

from __future__ import annotations

import numpy as np

from maxmargin.problem import Problem
from maxmargin.problem.space import KernelSpace
from maxmargin.result import Iterate

#: Samples of the mean: their kernel values with all others take some hundredths of a second for 100,000 rows.
FEW = 200


def last_resort(problem: Problem) -> Iterate | None:
    """The point, with w and β that do not belong together; None where β = 0 is feasible, which proves itself."""
    if not problem.total or not isinstance(problem.space, KernelSpace) or problem.kernel.positive is not True:
        return None
    n = problem.n
    some = np.random.default_rng(0).permutation(n)[:FEW]
    w = np.zeros(n)
    w[some] = problem.total / len(some)
    scores = problem.space.scores(w)
    b = problem.best_bias(scores)
    slope = problem.loss_sum(scores + b) + problem.total * b
    square = float(w @ scores)
    multiple = -slope / square if slope < 0.0 < square else 1.0
    return Iterate(w=multiple * w, b=multiple * b, beta=problem.feasible(np.zeros(n)), linked=False)
