"""The judge: primal and dual values of what a solver returned, in float64, with none of maxmargin's code.

    P(w, b) = ½‖w‖² [+ ½b² for the augmented bias] + C Σ max(0, 1 − y_i (⟨w, φ(x_i)⟩ + b))
    D(β)    = Σ y_i β_i − ½‖Σ β_i φ(x_i)‖² [− ½(Σβ)² augmented],    0 ≤ y_i β_i ≤ C,    Σβ = 0 if the bias is free

A free bias is chosen best for everybody: it is no part of the contest. A β that is not feasible is made so first
(clipped to its box, then the heavier class scaled down until Σβ = 0), for only then does D bound anything.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

#: The largest block of kernel values held at once, in numbers.
BLOCK = 2**22


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


def kernel_scores(task: Task, beta: np.ndarray, threads: int = 2) -> np.ndarray:
    """Kβ, from exp(−γ‖a − b‖²) for all rows a and the support vectors b, a block of rows at a time."""
    assert task.gamma is not None
    gamma, X, used = task.gamma, dense_if_cheaper(task.X), np.flatnonzero(beta)
    squares, vectors, weights = square_norms(X), X[used], beta[used]
    rows = max(1, BLOCK // max(1, len(used)))
    scores = np.empty(len(task.y))

    def fill(start: int) -> None:
        part = slice(start, start + rows)
        values = X[part] @ vectors.T
        values = values.toarray() if sp.issparse(values) else values
        values *= 2.0
        values -= squares[part, None]
        values -= squares[used]
        np.minimum(values, 0.0, out=values)
        values *= gamma
        scores[part] = np.exp(values, out=values) @ weights

    # One thread of BLAS in each of ours: two that wait for each other crawl on a busy machine.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        list(pool.map(fill, range(0, len(scores), rows)))
    return scores


def dense_if_cheaper(X: Any) -> Any:
    """A dense copy of sparse rows of which a thirtieth is not 0: that is where BLAS overtakes sparse products."""
    if not sp.issparse(X) or 30 * X.nnz < X.shape[0] * X.shape[1]:
        return X
    return X.toarray()


def square_norms(A: Any) -> np.ndarray:
    """‖a‖² of every row."""
    return A.multiply(A).sum(axis=1).A1 if sp.issparse(A) else np.einsum("ij,ij->i", A, A)
