"""The compiled inner loops of the working-set solver: a small matrix out of the square, and single steps on it.

A variable may rise while β < upper and fall while β > lower; `up` and `down` turn its gradient into the slope of
doing so (a tube has a kink at 0), and are −∞ or +∞ where it may not.
"""

from __future__ import annotations

import numpy as np

from maxmargin.numeric.compiled import compiled
from maxmargin.solvers.textbook.smo import FLAT, kinks


def ranges(
    tube: np.ndarray, lower: np.ndarray, upper: np.ndarray, beta: np.ndarray, g: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The slopes of rising (−∞ where β is at its upper bound) and of falling (+∞ at its lower one)."""
    up, down = _slopes(tube, lower, upper, beta)
    return g + up, g + down


@compiled
def _slopes(tube, lower, upper, beta):
    up, down = np.empty(len(beta)), np.empty(len(beta))
    for p in range(len(beta)):
        up[p], down[p] = kinks(beta[p], tube[p], lower[p], upper[p])
    return up, down


@compiled
def single_steps(K, steps, enough, diag, dual, beta, g):
    """One variable at a time, the one whose exact step gains most: without a free bias nothing ties them together."""
    _, ridge, tube, lower, upper = dual
    n, curvature = len(g), diag + ridge
    up, down = _slopes(tube, lower, upper, beta)
    for k in range(steps):
        # 1. The steepest slopes, and the variable that gains most by following its own.
        i, most, worst = -1, 0.0, 0.0
        for p in range(n):
            slope = max(g[p] + up[p], -(g[p] + down[p]), 0.0)
            worst = max(worst, slope)
            gained = slope * slope / max(curvature[p], FLAT)
            if gained > most:
                i, most = p, gained
        if i < 0 or not worst > enough:
            return k
        # 2. Its exact step, as far as its bounds (or the kink at 0) allow.
        rising = g[i] + up[i] > 0.0
        slope = g[i] + up[i] if rising else g[i] + down[i]
        t = slope / max(curvature[i], FLAT)
        if rising:
            end = 0.0 if beta[i] < 0.0 and tube[i] > 0.0 else upper[i]
            value = min(beta[i] + t, end)
        else:
            end = 0.0 if beta[i] > 0.0 and tube[i] > 0.0 else lower[i]
            value = max(beta[i] + t, end)
        t = value - beta[i]
        if t == 0.0:
            return k
        beta[i] = value
        # 3. The gradient follows.
        up[i], down[i] = kinks(value, tube[i], lower[i], upper[i])
        row = K[i]
        for p in range(n):
            g[p] -= t * row[p]
        g[i] -= (curvature[i] - row[i]) * t
    return steps


@compiled
def submatrix(K, chosen, start, stop, out):
    """The rows and columns `chosen` of K, from row `start` to `stop` up to the diagonal, and their mirror image."""
    for a in range(start, stop):
        row = K[chosen[a]]
        for b in range(a + 1):
            out[a, b] = row[chosen[b]]
    for b in range(stop):  # by rows of the image, each a few numbers long, as the cache likes it
        for a in range(max(start, b), stop):
            out[b, a] = out[a, b]
