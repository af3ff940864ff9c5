"""The primal objective over the plane of its weights: what contours and the studio's landscape are drawn from.

The plane is that of (w₁, w₂) for two features, with the bias (where there is one) at its best for each w; for one
feature it is that of (w, b).
"""

from __future__ import annotations

import numpy as np

from maxmargin.problem.problem import Problem

#: Halvings of the interval of the bias: float64 has no more to give.
HALVINGS = 60
#: Decision values looked at together, so that they stay small beside the caches.
TOGETHER = 2**17


def primal_at(problem: Problem, points: np.ndarray, halvings: int = HALVINGS) -> np.ndarray:
    """P at points of the plane, one in each row; the best bias of each is found by so many halvings."""
    X = np.asarray(problem.X.toarray() if hasattr(problem.X, "toarray") else problem.X, dtype=np.float64)
    size = max(1, TOGETHER // problem.n)
    parts = [_primal(problem, X, points[k : k + size], halvings) for k in range(0, len(points), size)]
    return np.concatenate(parts) if parts else np.zeros(0)


def _primal(problem: Problem, X: np.ndarray, points: np.ndarray, halvings: int) -> np.ndarray:
    one = X.shape[1] == 1
    w = points[:, :1] if one else points
    scores = w @ X.T
    b = points[:, 1] if one else _best_bias(problem, scores, halvings)
    penalty = 0.5 * (b / problem.bias_scale) ** 2 if problem.bias == "augmented" else 0.0
    target = np.tile(problem.target, len(scores))
    losses = problem.loss.value((scores + b[:, None]).ravel(), target).reshape(scores.shape) @ problem.C
    value = problem.regularizer.value
    size = 0.5 * np.square(w).sum(axis=1) if problem.regularizer.quadratic else np.array([value(row) for row in w])
    return size + penalty + losses + (problem.total or 0.0) * b


def _best_bias(problem: Problem, scores: np.ndarray, halvings: int) -> np.ndarray:
    """The best b for each row of scores, by halving the interval in which the slope changes its sign."""
    if problem.bias == "none":
        return np.zeros(len(scores))
    reach = np.abs(scores).max(axis=1) + 3.0 + np.abs(problem.target).max()
    low, high = -reach, reach
    target = np.tile(problem.target, len(scores))
    for _ in range(halvings):
        b = (low + high) / 2
        slope = problem.loss.slope((scores + b[:, None]).ravel(), target).reshape(scores.shape) @ problem.C
        slope = slope + (problem.total or 0.0) + (b / problem.bias_scale**2 if problem.bias == "augmented" else 0.0)
        low, high = np.where(slope < 0, b, low), np.where(slope < 0, high, b)
    return (low + high) / 2
