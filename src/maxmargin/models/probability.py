"""Probabilities from decision values.

Two classes: P(positive | z) = 1/(1 + exp(Az + B)); for the logistic loss that is the loss's own model, A = −1, B = 0;
otherwise A and B are fitted to decision values that the machine did not train on (`fit_sigmoid`).

    maximise  Σ t_i log p_i + (1 − t_i) log(1 − p_i),  t = (N₊+1)/(N₊+2) or 1/(N₋+2),  by Newton's method with halving

Several classes: one against the rest, the values are divided by their sum; in pairs, the p that minimises
Σ_i Σ_{j≠i} (r_ji p_i − r_ij p_j)² with Σp = 1, one linear system a row.

Platt, "Probabilistic outputs for support vector machines", 1999; Lin, Lin & Weng, Machine Learning 68, 2007; Wu, Lin
& Weng, "Probability estimates for multi-class classification by pairwise coupling", JMLR 5, 2004 (second method).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.models.classes import pairs

if TYPE_CHECKING:
    from maxmargin.models.model import Model


def probabilities(model: Model, scores: np.ndarray) -> np.ndarray:
    """The probability of each class, one column a class; refused where the model has none."""
    if model.classes is None:
        raise InvalidInput(f"a model for {model.task} has no classes and no probabilities")
    sigmoids = model.sigmoids
    if sigmoids is None:
        if model.training is None or model.training.loss != "logistic":
            raise InvalidInput("the model has no probabilities: train with --probability, or with --loss logistic")
        sigmoids = np.tile([-1.0, 0.0], (model.machines, 1))
    positive = sigmoid(scores, sigmoids[:, 0], sigmoids[:, 1])
    if model.scheme == "binary":
        return np.column_stack([1.0 - positive[:, 0], positive[:, 0]])
    if model.scheme == "ovr":
        positive = np.maximum(positive, 1e-300)
        return positive / positive.sum(axis=1, keepdims=True)
    return coupled(positive, len(model.classes))


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


def fit_sigmoid(z: np.ndarray, positive: np.ndarray) -> tuple[float, float]:
    """A and B for decision values z of samples that are positive or not."""
    n_positive, n_negative = int(positive.sum()), int((~positive).sum())
    t = np.where(positive, (n_positive + 1.0) / (n_positive + 2.0), 1.0 / (n_negative + 2.0))

    def loss(A: float, B: float) -> float:
        f = A * z + B
        return float(np.sum(t * f + np.logaddexp(0.0, -f)))

    A, B = 0.0, float(np.log((n_negative + 1.0) / (n_positive + 1.0)))
    value = loss(A, B)
    for _ in range(100):
        p = sigmoid(z, A, B)
        d1, d2 = t - p, p * (1.0 - p)
        gradient = np.array([z @ d1, d1.sum()])
        if np.abs(gradient).max() < 1e-5:
            break
        hessian = np.array([[z @ (d2 * z), z @ d2], [z @ d2, d2.sum()]]) + 1e-12 * np.eye(2)
        step = -np.linalg.solve(hessian, gradient)
        slope, length = float(gradient @ step), 1.0
        while length > 1e-10:
            after = loss(A + length * step[0], B + length * step[1])
            if after < value + 1e-4 * length * slope:
                break
            length /= 2.0
        else:
            break
        A, B, value = A + length * float(step[0]), B + length * float(step[1]), after
    return A, B
