"""Crammer–Singer by an interior point: a few dozen steps whatever the scale of the features, for few weights.

Problem:  min ½‖W‖² + Σ C_i ξ_i   s.t.  s_im = ξ_i − ⟨w_m − w_{y_i}, x_i⟩ − e_im ≥ 0,   with multipliers a_im ≥ 0:
          W = w(α) for α_im = C_i [m = y_i] − a_im,   Σ_m a_im = C_i,   a_im s_im = 0

    1. W ← 0, a_im ← C_i/k, ξ ← 2, so that all s > 0.
    2. With D = a/s and M_i = diag(D_i) − D_i D_iᵀ/Σ_m D_im, solve (I + Σ M_i ⊗ x_i x_iᵀ) ΔW = right side, once to see
       how far a step could go (Mehrotra's predictor), and once more with what that tells; in coordinates in which the
       rows are about their mean and of size 1, where rounding does least.
    3. Step, as far as a and s stay positive; stop when Σ a s, which is the gap, is small beside the objective.

Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J. Optimization 2, 1992.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve

#: The most weights (classes × features), and multiply-adds of one step.
MOST_WEIGHTS, MOST_WORK = 800, 3e9
#: Steps; twenty to forty are usual. A step goes so far towards where something becomes 0.
STEPS, SHORT = 100, 0.995
#: So many steps in a row without a better dual point are the end of what rounding allows.
IDLE = 15


def fits(n: int, classes: int, features: int) -> bool:
    """Whether a problem is small enough."""
    weights = classes * (features + 1)
    return weights <= MOST_WEIGHTS and float(n) * weights * weights <= MOST_WORK


def interior(
    X: Any, codes: np.ndarray, C: np.ndarray, constant: float, classes: int, tol: float
) -> tuple[np.ndarray, np.ndarray]:
    """The α and the W that it comes to; α is feasible, whether or not it got there."""
    dense = X.toarray() if sp.issparse(X) else X
    rows = np.column_stack([dense.astype(np.float64), np.full(len(codes), constant)])
    n = len(rows)
    A = _about_the_mean(rows, constant)
    R, G = rows @ A, A.T @ A
    mine = np.arange(n), codes
    e = np.ones((n, classes))
    e[mine] = 0.0
    # 1.
    W, a, xi = np.zeros((classes, R.shape[1])), np.repeat(C[:, None] / classes, classes, axis=1), np.full(n, 2.0)
    s = xi[:, None] - e
    best, highest, idle = (np.zeros_like(a), np.zeros((classes, R.shape[1]))), -np.inf, 0
    for _ in range(STEPS):
        alpha = _feasible(a, C, mine)
        V = alpha.T @ rows
        WG = W @ G
        dual = -0.5 * float(np.square(V).sum()) - float((e * alpha).sum())
        best, highest, idle = ((alpha, W @ A.T), dual, 0) if dual > highest else (best, highest, idle + 1)
        if idle > IDLE:
            break
        apart = WG - alpha.T @ R
        primal = 0.5 * float((W * WG).sum()) + float(C @ xi)
        gap = float((a * s).sum())
        if gap <= 0.01 * tol * primal and float(np.square(W @ A.T - V).sum()) <= 0.01 * tol * primal:
            break
        # 2.
        D = a / s
        sums = D.sum(axis=1, keepdims=True)
        try:
            factor = cho_factor(_matrix(R, D, sums, G))
        except (LinAlgError, ValueError):
            break
        target = np.zeros_like(a)
        mu = gap / a.size
        for corrected in (False, True):
            q = (target - a * s) / s
            mean = q.sum(axis=1, keepdims=True) / sums
            right = -apart - (q - D * mean).T @ R
            dW = cho_solve(factor, right.ravel()).reshape(W.shape)
            dF = R @ dW.T
            ds = mean + (D * dF).sum(axis=1, keepdims=True) / sums - dF
            da = q - D * ds
            step = min(1.0, SHORT * _room(a, da), SHORT * _room(s, ds))
            if not corrected:
                left = float(((a + step * da) * (s + step * ds)).sum()) / a.size
                target = mu * (left / mu) ** 3 - da * ds
        # 3.
        if not step > 1e-12 or not np.isfinite(dW).all():
            break
        W, a = W + step * dW, a + step * da
        s = s + step * ds
        F = R @ W.T
        xi = (s + F - F[mine][:, None] + e).mean(axis=1)
    return best


def _feasible(a: np.ndarray, C: np.ndarray, mine: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """The α of multipliers a > 0, whose sums are C but for rounding."""
    alpha = -a * (C[:, None] / a.sum(axis=1, keepdims=True))
    alpha[mine] = 0.0
    alpha[mine] = np.minimum(-alpha.sum(axis=1), C)
    return alpha


def _about_the_mean(rows: np.ndarray, constant: float) -> np.ndarray:
    """What turns the rows into ones about their mean, as far as the constant feature can take that up, of size 1."""
    mean, size = rows[:, :-1].mean(axis=0), rows[:, :-1].std(axis=0)
    if constant == 0.0:
        mean, size = np.zeros_like(mean), np.sqrt(np.square(rows[:, :-1]).mean(axis=0))
    size[size == 0.0] = 1.0
    A = np.diag(np.append(1.0 / size, 1.0 / constant if constant else 1.0))
    if constant:
        A[-1, :-1] = -mean / size / constant
    return A


def _matrix(rows: np.ndarray, D: np.ndarray, sums: np.ndarray, G: np.ndarray) -> np.ndarray:
    """G for each class + Σ M_i ⊗ x_i x_iᵀ, class by class."""
    d, classes = rows.shape[1], D.shape[1]
    H = np.zeros((classes * d, classes * d))
    places = [slice(m * d, (m + 1) * d) for m in range(classes)]
    for m in range(classes):
        for other in range(m):  # M_i is a sum over pairs of classes, which cancels nothing
            block = rows.T @ (rows * (D[:, m] * D[:, other] / sums[:, 0])[:, None])
            for one, two in ((m, m), (other, other)):
                H[places[one], places[two]] += block
            for one, two in ((m, other), (other, m)):
                H[places[one], places[two]] -= block
    for place in places:
        H[place, place] += G
    H[np.diag_indices_from(H)] *= 1.0 + 1e-14  # so that rounding leaves it positive definite
    return H


def _room(values: np.ndarray, change: np.ndarray) -> float:
    """How far a step may go until a value is 0."""
    falls = change < 0.0
    return float((-values[falls] / change[falls]).min(initial=np.inf))
