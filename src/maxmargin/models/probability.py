"""Probabilities from decision values.

A model that was calibrated here has one number, the temperature T:

    p(class k | x) = exp(d_k/T) / Σ_j exp(d_j/T)        two classes: 1 / (1 + exp(−d/T))

with d the decision values, one a class. One positive number cannot change their order, so that labels and probabilities
always agree. The logistic loss has a model of its own: T = 1. Models of LIBSVM bring a sigmoid for each machine,
P(positive | z) = 1/(1 + exp(Az + B)): one against the rest, the values are divided by their sum; in pairs, the p that
minimises Σ_i Σ_{j≠i} (r_ji p_i − r_ij p_j)² with Σp = 1, one linear system a row.

Platt, "Probabilistic outputs for support vector machines", 1999; Wu, Lin & Weng, "Probability estimates for multi-class
classification by pairwise coupling", JMLR 5, 2004 (second method).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import softmax

from maxmargin.errors import InvalidInput
from maxmargin.models.classes import pairs

if TYPE_CHECKING:
    from maxmargin.models.model import Model


def probabilities(model: Model, scores: np.ndarray) -> np.ndarray:
    """The probability of each class, one column a class; refused where the model has none."""
    if model.classes is None:
        raise InvalidInput(f"a model for {model.task} has no classes and no probabilities")
    if model.temperature is not None:
        return softened(by_class(model.by_class(scores)), model.temperature)
    sigmoids = model.sigmoids
    if sigmoids is None:
        if model.training is None or model.training.loss != "logistic":
            raise InvalidInput("the model has no probabilities: train with --probability, or with --loss logistic")
        sigmoids = np.tile([-1.0, 0.0], (model.machines, 1))
    positive = sigmoid(scores, sigmoids[:, 0], sigmoids[:, 1])
    if model.scheme == "binary":
        return np.column_stack([1.0 - positive[:, 0], positive[:, 0]])
    if model.scheme != "ovo":
        positive = np.maximum(positive, 1e-300)
        return positive / positive.sum(axis=1, keepdims=True)
    return coupled(positive, len(model.classes))


def by_class(decision: np.ndarray) -> np.ndarray:
    """One column a class: the value of two classes is shared between them."""
    return np.column_stack([-0.5 * decision, 0.5 * decision]) if decision.ndim == 1 else decision


def softened(decision: np.ndarray, temperature: float) -> np.ndarray:
    """The probabilities of the classes from their decision values, in the order of these."""
    return softmax(decision / temperature, axis=1)


def sigmoid(z: np.ndarray, A: np.ndarray | float, B: np.ndarray | float) -> np.ndarray:
    """1/(1 + exp(Az + B)) without overflow."""
    f = A * z + B
    small = np.exp(-np.abs(f))
    return np.where(f >= 0, small, 1.0) / (1.0 + small)


def coupled(positive: np.ndarray, classes: int) -> np.ndarray:
    """One probability a class from those of all pairs (positive speaks for the first)."""
    n = len(positive)
    r = np.zeros((n, classes, classes))
    bounded = np.clip(positive, 1e-7, 1.0 - 1e-7)
    for k, (i, j) in enumerate(pairs(classes)):
        r[:, i, j], r[:, j, i] = bounded[:, k], 1.0 - bounded[:, k]
    # Q_ii = Σ_j r_ji², Q_ij = −r_ji r_ij; the minimum on Σp = 1 solves [Q 1; 1ᵀ 0][p; b] = [0; 1].
    system = np.zeros((n, classes + 1, classes + 1))
    system[:, :classes, :classes] = -np.swapaxes(r, 1, 2) * r
    for i in range(classes):
        system[:, i, i] = (r[:, :, i] ** 2).sum(axis=1)
    system[:, :classes, classes] = system[:, classes, :classes] = 1.0
    right = np.zeros((n, classes + 1, 1))
    right[:, classes] = 1.0
    p = np.maximum(np.linalg.solve(system, right)[:, :classes, 0], 0.0)
    return p / p.sum(axis=1, keepdims=True)
