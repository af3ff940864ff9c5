"""Probabilities from decision values, by one number: the temperature.

    p(class k | x) = exp(d_k/T) / Σ_j exp(d_j/T)        two classes: 1 / (1 + exp(−d/T))

with d the decision values, one a class. One positive number cannot change their order, so that `predict` and
`predict_proba` always agree: in the class that comes first, and in how sure of it they are. T is the maximiser of the
likelihood on decision values that were made for rows which their model had not seen (cross-fitting): the folds are
stratified and never shuffled, so that the same data gives the same probabilities.

Platt, "Probabilistic outputs for support vector machines", 1999 (cross-fitting, the prior that keeps T finite); Guo,
Pleiss, Sun & Weinberger, "On calibration of modern neural networks", ICML 2017 (the temperature).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from maxmargin.kernels import Kernel, Precomputed
from maxmargin.result import Reason
from maxmargin.training.budget import Budget

FOLDS = 5


def cross_fitted(
    machine: Any, kernel: Kernel, X: Any, codes: np.ndarray, weights: np.ndarray, budget: Budget
) -> np.ndarray:
    """Decision values, one column a class, for every row by a model that has not seen it; NaN where none was made.

    The kernel is that of all rows, with its numbers; the weights include those of the classes. All folds together may
    take half of `max_time`.
    """
    out = np.full((len(codes), int(codes.max()) + 1), np.nan)
    pairwise = isinstance(kernel, Precomputed)
    folds = min(FOLDS, int(np.bincount(codes).min()))
    model = clone(machine).set_params(
        kernel="precomputed" if pairwise else kernel,
        probability=False,
        class_weight=None,
        decision_function_shape="ovr",
        warm_start=False,
        max_time=None if machine.max_time is None else 0.5 * machine.max_time / folds,
    )
    if hasattr(model, "set_callbacks"):
        model.set_callbacks()  # they are about the fit to all rows
    for train, test in StratifiedKFold(folds).split(np.zeros(len(codes)), codes):
        if budget.spent:  # of the time or of the user's patience; a model with a rough temperature is better than none
            break
        fitted = model.fit(X[np.ix_(train, train)] if pairwise else X[train], codes[train], weights[train])
        if fitted.status_.reason is Reason.INTERRUPTED:
            budget.interrupt()
        out[test] = by_class(fitted.decision_function(X[np.ix_(test, train)] if pairwise else X[test]))
    return out


def calibrated(machine: Any, kernel: Kernel, X: Any, codes: np.ndarray, weights: np.ndarray, budget: Budget) -> float:
    """The temperature of a machine, from rows that were left out."""
    if np.bincount(codes).min() < 2:
        warnings.warn(
            "a class has a single row, so that none is left to calibrate on: the probabilities are uncalibrated",
            UserWarning,
            stacklevel=4,
        )
        return 1.0
    decision = cross_fitted(machine, kernel, X, codes, weights, budget)
    known = np.isfinite(decision).all(axis=1)
    if not known.any():
        warnings.warn("no time was left to calibrate: the probabilities are uncalibrated", UserWarning, stacklevel=4)
        return 1.0
    return temperature(decision[known], codes[known], weights[known])


def by_class(decision: np.ndarray) -> np.ndarray:
    """One column a class: the value of two classes is shared between them."""
    return np.column_stack([-0.5 * decision, 0.5 * decision]) if decision.ndim == 1 else decision


def temperature(decision: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> float:
    """The T of the largest likelihood, on a logarithmic scale."""
    classes = decision.shape[1]
    counts = np.bincount(codes, weights, minlength=classes)
    # Platt's prior: a target a little short of 1, so that separable rows do not ask for T = 0.
    share = (counts / (counts + 1.0))[codes]
    target = np.repeat(((1.0 - share) / (classes - 1))[:, None], classes, axis=1)
    target[np.arange(len(codes)), codes] = share
    size = float(np.abs(decision).max()) or 1.0

    def loss(exponent: float) -> float:
        return -float(weights @ (target * log_softmax(decision / (size * np.exp(exponent)), axis=1)).sum(axis=1))

    found = minimize_scalar(loss, bounds=(-12.0, 12.0), method="bounded", options={"xatol": 1e-6})
    return size * float(np.exp(found.x))


def probabilities(decision: np.ndarray, temperature: float) -> np.ndarray:
    """One column a class, in the order of the decision values."""
    return softmax(by_class(decision) / temperature, axis=1)
