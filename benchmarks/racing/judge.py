"""The judge: primal and dual values of what a solver returned, in float64, with none of maxmargin's code.

    P(w, b) = ½‖w‖² [+ ½b² for the augmented bias] + C Σ max(0, 1 − y_i (⟨w, φ(x_i)⟩ + b))
    D(β)    = Σ y_i β_i − ½‖Σ β_i φ(x_i)‖² [− ½(Σβ)² augmented],    0 ≤ y_i β_i ≤ C,    Σβ = 0 if the bias is free

A free bias is chosen best for everybody: it is no part of the contest. A β that is not feasible is made so first
(clipped to its box, then the heavier class scaled down until Σβ = 0), for only then does D bound anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

#: The largest block of kernel values held at once, in numbers.
BLOCK = 2**23


@dataclass(frozen=True, eq=False)
class Task:
    """A problem as every solver gets it; gamma is None for the linear kernel, else that of exp(−γ‖x − x'‖²)."""

    X: Any
    y: np.ndarray
    C: float
    bias: str
    gamma: float | None = None

    def few(self, rows: int = 500) -> Task:
        """A small task of the same kind and storage, both classes in it, to warm up with."""
        drawn = np.random.default_rng(0).permutation(len(self.y))[:rows]
        for label in (-1.0, 1.0):
            drawn = np.union1d(drawn, np.flatnonzero(self.y == label)[:2])
        return replace(self, X=self.X[drawn], y=self.y[drawn])


@dataclass(frozen=True)
class Values:
    """Both objectives at a point; dual is None where the solver gave no dual point."""

    primal: float
    dual: float | None

    def relative_gap(self, best_dual: float | None = None) -> float:
        """(P − D)/max(|P|, |D|) with the point's own D or, where it has none, the best dual value known."""
        dual = best_dual if self.dual is None else self.dual
        if dual is None or not np.isfinite(self.primal):
            return np.inf
        scale = max(abs(self.primal), abs(dual))
        return max(0.0, self.primal - dual) / scale if scale else 0.0


def scale_gamma(X: Any) -> float:
    """1/(d · variance of X), which scikit-learn calls "scale"."""
    mean = X.mean()
    square = (X.multiply(X) if sp.issparse(X) else X * X).mean()
    return float(1.0 / (X.shape[1] * (square - mean * mean)))


def judge(task: Task, w: np.ndarray | None = None, b: float = 0.0, beta: np.ndarray | None = None) -> Values:
    """The values of a hyperplane (w, b), of a dual point β, or of both; without a w, it is w(β)."""
    if beta is not None:
        beta = feasible(task, beta)
    if task.gamma is not None:
        assert beta is not None, "w has no coordinates with a kernel"
        return _judge_kernel(task, beta)
    v = None if beta is None else task.X.T @ beta
    total = 0.0 if beta is None else float(beta.sum())
    if w is None:
        assert v is not None, "neither w nor β"
        w, b = v, total
    w = np.asarray(w, dtype=np.float64)
    primal = _primal(task, task.X @ w, float(w @ w), b)
    if v is None:
        return Values(primal, None)
    square = float(v @ v) + (total**2 if task.bias == "augmented" else 0.0)
    return Values(primal, float(task.y @ beta) - 0.5 * square)


def _judge_kernel(task: Task, beta: np.ndarray) -> Values:
    scores = kernel_scores(task, beta)
    square, b = float(beta @ scores), float(beta.sum())
    dual_square = square + (b**2 if task.bias == "augmented" else 0.0)
    return Values(_primal(task, scores, square, b), float(task.y @ beta) - 0.5 * dual_square)


def _primal(task: Task, scores: np.ndarray, square: float, b: float) -> float:
    if task.bias == "free":
        b = best_bias(task.y, scores)
    elif task.bias == "none":
        b = 0.0
    else:
        square += b**2
    return 0.5 * square + task.C * float(np.maximum(0.0, 1.0 - task.y * (scores + b)).sum())


def best_bias(y: np.ndarray, scores: np.ndarray) -> float:
    """The minimiser of Σ max(0, 1 − y_i (s_i + b)): its slope starts at −n₊ and gains 1 at each y_i − s_i."""
    positives = int((y > 0).sum())
    return float(np.partition(y - scores, positives - 1)[positives - 1])


def feasible(task: Task, beta: np.ndarray) -> np.ndarray:
    """A point of the dual's feasible set near β."""
    alpha = np.clip(task.y * np.asarray(beta, dtype=np.float64), 0.0, task.C)
    if task.bias == "free":
        positive = task.y > 0
        sums = {True: float(alpha[positive].sum()), False: float(alpha[~positive].sum())}
        heavier = sums[True] > sums[False]
        if sums[heavier] > 0:
            alpha[positive == heavier] *= sums[not heavier] / sums[heavier]
    return task.y * alpha


def kernel_scores(task: Task, beta: np.ndarray) -> np.ndarray:
    """Kβ, from the rows of the support vectors, a block of values at a time."""
    assert task.gamma is not None
    used = np.flatnonzero(beta)
    vectors, weights = task.X[used], beta[used]
    scores = np.empty(len(task.y))
    for part, values in kernel_blocks(task.X, vectors, task.gamma):
        scores[part] = values @ weights
    return scores


def kernel_blocks(A: Any, B: Any, gamma: float) -> Iterator[tuple[slice, np.ndarray]]:
    """The values of exp(−γ‖a − b‖²) for all rows of A and B, a block of rows of A at a time."""
    a, b = square_norms(A), square_norms(B)
    rows = max(1, BLOCK // max(1, B.shape[0]))
    for start in range(0, A.shape[0], rows):
        part = slice(start, start + rows)
        values = A[part] @ B.T
        values = values.toarray() if sp.issparse(values) else values
        values *= 2.0
        values -= a[part, None]
        values -= b
        np.minimum(values, 0.0, out=values)
        values *= gamma
        yield part, np.exp(values, out=values)


def square_norms(A: Any) -> np.ndarray:
    """‖a‖² of every row."""
    return A.multiply(A).sum(axis=1).A1 if sp.issparse(A) else np.einsum("ij,ij->i", A, A)
