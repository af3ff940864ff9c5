"""Calibration: the temperature of a classifier, from decision values of rows that their model has not seen.

    1. Split the rows into folds: stratified and never shuffled, so that the same data gives the same probabilities.
    2. For each fold, train on the other folds; the decision values of its own rows are those of unseen rows.
    3. T is the maximiser of the likelihood of all of them (`models/probability.py`).

Platt, "Probabilistic outputs for support vector machines", 1999 (cross-fitting, the prior that keeps T finite); Guo,
Pleiss, Sun & Weinberger, "On calibration of modern neural networks", ICML 2017 (the temperature).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from maxmargin.models.probability import by_class
from maxmargin.training.budget import Budget

FOLDS = 5

#: The decision values of the rows `test` (of two classes, or one column a class) by a model of the rows `train`; the
#: last argument is the budget of that model.
Decide = Callable[[np.ndarray, np.ndarray, Budget], np.ndarray]


def calibrated(decide: Decide, codes: np.ndarray, weights: np.ndarray, budget: Budget) -> float:
    """The temperature, from rows that were left out; all folds together may take half of the time."""
    smallest = int(np.bincount(codes).min())
    if smallest < 2:
        warnings.warn(
            "a class has a single row, so that none is left to calibrate on: the probabilities are uncalibrated",
            UserWarning,
            stacklevel=4,
        )
        return 1.0
    decision = np.full((len(codes), int(codes.max()) + 1), np.nan)
    folds = min(FOLDS, smallest)
    fold = stratified_folds(codes, folds)  # 1.
    for k in range(folds):
        if budget.spent:  # of the time or of the user's patience; a model with a rough temperature is better than none
            break
        test = np.flatnonzero(fold == k)
        values = decide(np.flatnonzero(fold != k), test, budget.part(2.0 * (folds - k)))  # 2.
        decision[test] = by_class(values)
    known = np.isfinite(decision).all(axis=1)
    if not known.any():
        warnings.warn("no time was left to calibrate: the probabilities are uncalibrated", UserWarning, stacklevel=4)
        return 1.0
    return temperature(decision[known], codes[known], weights[known])  # 3.


def stratified_folds(codes: np.ndarray, folds: int) -> np.ndarray:
    """The fold of each row, in the order of the rows: every class is spread evenly, and the folds are of one size."""
    ordered = np.sort(codes)
    classes = int(codes.max()) + 1
    fold = np.empty(len(codes), np.intp)
    counts = np.array([np.bincount(ordered[k::folds], minlength=classes) for k in range(folds)])
    for label in range(classes):
        fold[codes == label] = np.repeat(np.arange(folds), counts[:, label])
    return fold


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
