"""Linear problems on the same rows, such as each class against the rest: the rows are centred and scaled once.

Each problem is solved in one compiled call (`small_linear.py`), on all cores; those that do not get there, and rows
that are too large, are left to the general loop.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from maxmargin.losses import Loss
from maxmargin.numeric.parallel import one_blas_thread, over_tasks
from maxmargin.problem import Bias
from maxmargin.problem.validation import HARDEST, SMALLEST, is_number
from maxmargin.result import Reason, Status
from maxmargin.small.linear import LinearFit, is_small_loss, run, small_rows
from maxmargin.small.proof import converged_text
from maxmargin.training.budget import Budget
from maxmargin.training.samples import Samples
from maxmargin.training.train import Solution

#: Numbers of all problems together from which on threads pay.
THREADED = 2e5


def solve_on_same_rows(
    samples: Samples,
    targets: Sequence[np.ndarray],
    loss: Loss,
    C: float,
    bias: Bias,
    constant: float,
    budget: Budget,
) -> dict[int, Solution]:
    """The solutions of those problems that are solved here, by their place among the targets."""
    if not (budget.plain and is_number(C) and 0.0 < C < np.inf):
        return {}
    weights = C * samples.weights
    forms = [loss.dual_form(target, weights) for target in targets]
    rows = small_rows(samples.X, bias == "free") if forms[0] is not None else None
    if (
        rows is None
        or not is_small_loss(forms[0], rows)
        or float(weights.max()) * rows.largest > HARDEST
        or rows.largest < SMALLEST
    ):
        return {}
    found: dict[int, Solution] = {}

    def solve(k: int) -> None:
        form = forms[k]
        if form is None or budget.spent:
            return
        fit = run(rows, form, weights, bias == "free", constant if bias == "augmented" else 0.0, budget.tol)
        if fit.done:
            b = constant * (fit.proved.b / constant) if bias == "augmented" else fit.proved.b  # as a weight times it
            found[k] = _solution(fit, b, samples, loss.task == "classification", budget.tol)

    with one_blas_thread():
        try:
            if len(targets) * rows.X.size < THREADED:
                for k in range(len(targets)):
                    solve(k)
            else:
                over_tasks(solve, len(targets), budget.stop.set)
        except KeyboardInterrupt:  # the general loop takes one step for each of the others: a model needs them all
            budget.interrupt()
    return found


def _solution(fit: LinearFit, b: float, samples: Samples, classes: bool, tol: float) -> Solution:
    certificate = fit.certificate(samples.X.dtype)
    status = Status(Reason.CONVERGED, converged_text(certificate, tol))
    trace = fit.trace(certificate, classes)
    return Solution(fit.beta, fit.w, b, certificate, status, trace, max(1, fit.proved.steps))
