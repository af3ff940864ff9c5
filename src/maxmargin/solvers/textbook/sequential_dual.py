"""The sequential dual method: coordinate ascent on Crammer and Singer's problem, all variables of a sample at a time.

Problem:  max_α  −½ Σ_m ‖w_m(α)‖² − Σ_i Σ_m e_im α_im   s.t.  Σ_m α_im = 0,  α_im ≤ C_i [m = y_i]
          (`problem/crammer_singer.py`)

    1. α ← 0 (or the warm start); keep W = W(α).
    2. For each epoch, for each i in order:
    3.     g_m ← ⟨w_m, x_i⟩ + e_im, and b_m ← g_m − ‖x_i‖² α_im
    4.     α_i ← the exact maximiser: α_im = min(C_i [m = y_i], (β − b_m)/‖x_i‖²), where β makes Σ_m α_im = 0 (one sort)
    5.     w_m ← w_m + (change of α_im) x_i.

Keerthi, Sundararajan, Chang, Hsieh & Lin, "A sequential dual method for large scale multi-class linear SVMs", KDD 2008.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.rows import row_axpy, row_dot, row_sqnorm
from maxmargin.problem import CrammerSingerProblem
from maxmargin.result import Iterate
from maxmargin.solvers.base import start_beta

#: Each class of each sample is a product with a row, and a step back.
PASSES = 2.0


def sequential_iterates(
    problem: CrammerSingerProblem, start: Iterate, turns: Iterator[tuple[int, int, np.ndarray, bool]]
) -> Iterator[Iterate]:
    """The iterates of the method, for samples in the order of their turns."""
    space = problem.space
    beta = start_beta(problem, start)  # 1.
    w = space.combine(beta)
    alpha, W = problem.by_class(beta), space.planes(w)
    for k, _, turn, _ in turns:
        epoch(space.one.rows, turn, problem.target, problem.C, space.constant, alpha, W)  # 2.
        yield Iterate(k, w=w, beta=beta, work=PASSES * space.work * len(turn) / problem.n)


@compiled
def epoch(X, order, y, C, s, alpha, W):
    """One pass over samples in the given order; W has the weights of the constant feature last."""
    classes, last = W.shape[0], W.shape[1] - 1
    b = np.empty(classes)
    new = np.empty(classes)
    for i in order:
        A = row_sqnorm(X, i) + s * s
        # 3.
        for m in range(classes):
            b[m] = row_dot(X, i, W[m]) + s * W[m, last] - A * alpha[i, m]
            if m != y[i]:
                b[m] += 1.0
        # 4.
        if A <= 0.0:  # no feature at all: every hyperplane gives the same score, the loss is e and its dual at the end
            for m in range(classes):
                new[m] = -C[i] / (classes - 1)
        else:
            _maximiser(b, y[i], C[i], A, new)
        _feasible(y[i], C[i], new)
        # 5.
        for m in range(classes):
            change = new[m] - alpha[i, m]
            if change != 0.0:
                row_axpy(X, i, change, W[m])
                W[m, last] += change * s
                alpha[i, m] = new[m]


@compiled
def _maximiser(b, y, C, A, new):
    """4. The exact solution for one sample: β by going down the sorted b until the sum fits."""
    classes = len(b)
    for m in range(classes):
        new[m] = b[m]
    new[y] += A * C
    ordered = np.sort(new)[::-1]
    beta = ordered[0] - A * C
    r = 1
    while r < classes and beta < r * ordered[r]:
        beta += ordered[r]
        r += 1
    beta /= r
    for m in range(classes):
        new[m] = min(0.0, (beta - b[m]) / A)


@compiled
def _feasible(y, C, new):
    """The own class's variable makes up for the others, whatever their rounding."""
    total = 0.0
    for m in range(len(new)):
        if m != y:
            total -= new[m]
    if total > C:
        for m in range(len(new)):
            new[m] *= C / total
        total = C
    new[y] = total
