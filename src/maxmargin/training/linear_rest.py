"""Linear problems on the same rows, such as each class against the rest: the rows are centred and scaled once.

Each problem is solved in one compiled call (`small/`), on all cores; those that do not get there, and rows
that are too large, are left to the general loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from maxmargin.kernels import Linear
from maxmargin.losses import Loss
from maxmargin.numeric.parallel import one_blas_thread, over_tasks
from maxmargin.problem import Bias
from maxmargin.problem.validation import HARDEST, SMALLEST, is_number
from maxmargin.result import Reason, Status
from maxmargin.small.kernel import MOST_WORK_WIDE, is_wide
from maxmargin.small.kernel import run as run_kernel
from maxmargin.small.linear import is_small_loss, run, small_rows
from maxmargin.small.proof import SmallFit, converged_text
from maxmargin.small.values import values_of
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
    if any(form is None for form in forms):
        return {}
    if bias == "free" and is_wide(samples.X):
        one = _by_products(samples, weights, budget.tol)
    else:
        one = _by_features(samples, weights, forms[0], bias, constant if bias == "augmented" else 0.0, budget.tol)
    if one is None:
        return {}
    found: dict[int, Solution] = {}

    def solve(k: int) -> None:
        if budget.spent:
            return
        fit, w = one(forms[k])
        if fit.done:
            b = constant * (fit.proved.b / constant) if bias == "augmented" else fit.proved.b  # as a weight times it
            found[k] = _solution(fit, w, b, samples, loss.task == "classification", budget.tol)

    with one_blas_thread():
        try:
            if len(targets) * samples.X.size < THREADED:
                for k in range(len(targets)):
                    solve(k)
            else:
                over_tasks(solve, len(targets), budget.stop.set)
        except KeyboardInterrupt:  # the general loop takes one step for each of the others: a model needs them all
            budget.interrupt()
    return found


#: What solves one problem: its fit, and w.
One = Callable[[Any], tuple[SmallFit, np.ndarray]]


def _by_features(
    samples: Samples, weights: np.ndarray, form: Any, bias: Bias, constant: float, tol: float
) -> One | None:
    """By systems of as many equations as there are features."""
    rows = small_rows(samples.X, bias == "free")
    if rows is None or not is_small_loss(form, rows) or not _in_range(rows.largest, weights):
        return None

    def solve(form: Any) -> tuple[SmallFit, np.ndarray]:
        fit = run(rows, form, weights, bias == "free", constant, tol)
        return fit, fit.w

    return solve


def _by_products(samples: Samples, weights: np.ndarray, tol: float) -> One | None:
    """On the matrix of the products of rows, which are fewer than the features."""
    X, kernel = samples.X.astype(np.float64, copy=False), Linear()
    with one_blas_thread():
        K = kernel.block(X, X)
    largest = float(K.diagonal().max())
    if not _in_range(largest, weights):
        return None
    error = kernel.rounding(X.shape[1], largest)[0]

    def solve(form: Any) -> tuple[SmallFit, np.ndarray]:
        fit = run_kernel(values_of(K), form, weights, error, tol, np.zeros(len(X)), MOST_WORK_WIDE)
        return fit, fit.beta @ X

    return solve


def _in_range(largest: float, weights: np.ndarray) -> bool:
    """Whether the sizes of rows and weights are such as floating point can do with."""
    return float(weights.max()) * largest <= HARDEST and largest >= SMALLEST


def _solution(fit: SmallFit, w: np.ndarray, b: float, samples: Samples, classes: bool, tol: float) -> Solution:
    certificate = fit.certificate(samples.X.dtype)
    status = Status(Reason.CONVERGED, converged_text(certificate, tol))
    trace = fit.trace(certificate, classes)
    return Solution(fit.beta, w, b, certificate, status, trace, max(1, fit.proved.steps))
