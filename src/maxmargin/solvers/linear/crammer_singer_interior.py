"""Crammer–Singer by an interior point: a few dozen steps whatever the scale of the features, for few weights.

Problem:  min ½‖W‖² + Σ C_i ξ_i   s.t.  s_im = ξ_i − ⟨w_m − w_{y_i}, x_i⟩ − e_im ≥ 0,   with multipliers a_im ≥ 0:
          W = w(α) for α_im = C_i [m = y_i] − a_im,   Σ_m a_im = C_i,   a_im s_im = 0

    1. W ← 0, a_im ← C_i/k, ξ ← 2, so that all s > 0.
    2. With D = a/s and M_i = diag(D_i) − D_i D_iᵀ/Σ_m D_im, solve (I + Σ M_i ⊗ x_i x_iᵀ) ΔW = right side, once to see
       how far a step could go (Mehrotra's predictor), and once more with what that tells; in coordinates in which the
       rows are about their mean and of size 1, where rounding does least.
    3. Step, as far as a and s stay positive; the gap is near Σ a s.

Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J. Optimization 2, 1992.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from maxmargin.problem import CrammerSingerProblem
from maxmargin.result import Iterate

#: The most weights (classes × features), and multiply-adds of one step.
MOST_WEIGHTS, MOST_WORK = 800, 3e9
#: A step goes so far towards where something becomes 0.
SHORT = 0.995
#: A variable below this share of C, per unit of its slack, is about to vanish.
GONE = 1e-3
#: So many steps in a row without a better dual point are the end of what rounding allows.
IDLE = 15
#: A step does its multiply-adds in BLAS, so many times as fast as a pass reads the rows.
BLAS = 20.0


def too_large(problem: CrammerSingerProblem) -> str | None:
    """The refusal of a problem with too many weights."""
    weights = problem.space.size
    if weights <= MOST_WEIGHTS and float(problem.n) * weights * weights <= MOST_WORK:
        return None
    return (
        f"it factors a matrix of the size of the {weights} weights of all classes, {MOST_WEIGHTS} at most, in"
        f" {MOST_WORK:.0e} multiply-adds; use solver='coordinate-ascent'"
    )


def interior_iterates(problem: CrammerSingerProblem) -> Iterator[Iterate]:
    """The iterates of the method: a feasible α, and the W of its own; they end where rounding leaves nothing to gain.

    Rows without a weight have α = 0, and take no part.
    """
    used = np.flatnonzero(problem.C > 0)
    if used.size == problem.n:
        yield from _iterates(problem)
        return
    assert problem.classes is not None
    some = CrammerSingerProblem.of_codes(
        problem.X[used], problem.target[used], problem.C[used], problem.classes, problem.bias, problem.bias_scale
    )
    for iterate in _iterates(some):
        alpha = np.zeros((problem.n, problem.k))
        assert iterate.beta is not None
        alpha[used] = some.by_class(iterate.beta)
        yield replace(iterate, beta=alpha.ravel())


def _iterates(problem: CrammerSingerProblem) -> Iterator[Iterate]:
    from scipy.linalg import cho_factor, cho_solve  # a tenth of a second, for a program that starts

    X, space, C, mine, k = problem.X, problem.space, problem.C, problem.mine, problem.k
    dense = X.toarray() if sp.issparse(X) else X
    rows = np.column_stack([dense.astype(np.float64), np.full(problem.n, space.constant)])
    A = _about_the_mean(rows, space.constant)
    R, G = rows @ A, A.T @ A
    work = float(problem.n) * space.size * space.size / BLAS + 6.0 * space.work
    e = np.ones((problem.n, k))
    e[mine] = 0.0
    # 1.
    W, a = np.zeros((k, R.shape[1])), np.repeat(C[:, None] / k, k, axis=1)
    s = 2.0 - e
    highest, idle, step = -np.inf, 0, 0
    while idle <= IDLE:
        gap = float((a * s).sum())
        beta = problem.feasible(-np.where(e > 0.0, a, 0.0))
        V, dual = _weights_and_dual(problem, beta, rows)
        # Variables that vanish are 0 at the optimum: at the point that is yielded, where that costs next to nothing.
        sharp = problem.feasible(-np.where((e > 0.0) & (a > GONE * C[:, None] * s), a, 0.0))
        sharp_V, sharp_dual = _weights_and_dual(problem, sharp, rows)
        if sharp_dual >= dual - 0.1 * abs(gap):
            beta, V, dual = sharp, sharp_V, sharp_dual
        highest, idle = (dual, 0) if dual > highest else (highest, idle + 1)
        apart = float(np.square(W @ A.T - V).sum())
        size = max(abs(dual), np.finfo(float).tiny)
        w = (W @ A.T).ravel()
        yield Iterate(step, w=w, beta=beta, linked=False, work=work, estimate=(abs(gap) + apart) / size)
        step += 1
        # 2.
        D = a / s
        sums = D.sum(axis=1, keepdims=True)
        try:
            factor = cho_factor(_matrix(R, D, sums, G))
        except (np.linalg.LinAlgError, ValueError):
            return
        right = W @ G - problem.by_class(beta).T @ R
        target = np.zeros_like(a)
        mu = gap / a.size
        for corrected in (False, True):
            q = (target - a * s) / s
            mean = q.sum(axis=1, keepdims=True) / sums
            dW = cho_solve(factor, (-right - (q - D * mean).T @ R).ravel()).reshape(W.shape)
            dF = R @ dW.T
            ds = mean + (D * dF).sum(axis=1, keepdims=True) / sums - dF
            da = q - D * ds
            longest = min(1.0, SHORT * _room(a, da), SHORT * _room(s, ds))
            if not corrected:
                left = float(((a + longest * da) * (s + longest * ds)).sum()) / a.size
                target = mu * (left / mu) ** 3 - da * ds
        # 3.
        if not longest > 1e-12 or not np.isfinite(dW).all():
            return
        W, a, s = W + longest * dW, a + longest * da, s + longest * ds


def _weights_and_dual(problem: CrammerSingerProblem, beta: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, float]:
    """W(α) and D(α)."""
    V = problem.by_class(beta).T @ rows
    return V, problem.dual_terms(beta) - 0.5 * float(np.square(V).sum())


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
