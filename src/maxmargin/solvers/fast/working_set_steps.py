"""The compiled inner loops of the working-set solver: SMO on one small matrix, and the rows that bring it home.

A variable may rise while β < upper and fall while β > lower; `up` and `down` turn its gradient into the slope of
doing so (a tube has a kink at 0), and are −∞ or +∞ where it may not.
"""

from __future__ import annotations

import numpy as np

from maxmargin.compiled import compiled

#: The least curvature along a step: K may be singular.
FLAT = 1e-12


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
        up[p], down[p] = _slope(tube[p], lower[p], upper[p], beta[p])
    return up, down


@compiled
def _slope(tube, lower, upper, beta):
    up = (-tube if beta >= 0.0 else tube) if beta < upper else -np.inf
    down = (-tube if beta > 0.0 else tube) if beta > lower else np.inf
    return up, down


@compiled
def pair_steps(K, curvature, tube, lower, upper, beta, g, epsilon, steps):
    """SMO by second-order selection until the violation is at most ε; Σβ stays. Returns the steps taken."""
    n = len(g)
    up, down = _slopes(tube, lower, upper, beta)
    gain = np.empty(n)
    for k in range(steps):
        # 1. i rises: the steepest slope.
        i, highest, lowest = 0, -np.inf, np.inf
        for p in range(n):
            if g[p] + up[p] > highest:
                i, highest = p, g[p] + up[p]
            lowest = min(lowest, g[p] + down[p])
        if not highest - lowest > epsilon:
            return k
        # 2. j falls: the partner with which the exact step gains most.
        row_i = K[i]
        for p in range(n):
            slope = max(highest - (g[p] + down[p]), 0.0)
            gain[p] = slope * slope / max(curvature[i] + curvature[p] - 2.0 * row_i[p], FLAT)
        j, most = -1, 0.0
        for p in range(n):
            if gain[p] > most:
                j, most = p, gain[p]
        if j < 0:
            return k
        # 3. The exact step, as far as the bounds (or the kink at 0) allow.
        row_j = K[j]
        t = (highest - (g[j] + down[j])) / max(curvature[i] + curvature[j] - 2.0 * row_i[j], FLAT)
        end_i = 0.0 if beta[i] < 0.0 and tube[i] > 0.0 else upper[i]
        end_j = 0.0 if beta[j] > 0.0 and tube[j] > 0.0 else lower[j]
        room_i, room_j = end_i - beta[i], beta[j] - end_j
        old_i, old_j = beta[i], beta[j]
        if t >= room_i and room_i <= room_j:
            t = room_i
            beta[i], beta[j] = end_i, beta[j] - t
        elif t >= room_j:
            t = room_j
            beta[i], beta[j] = beta[i] + t, end_j
        else:
            beta[i], beta[j] = beta[i] + t, beta[j] - t
        if beta[i] == old_i and beta[j] == old_j:
            return k  # below the spacing of floating-point numbers
        # 4. The gradient follows.
        up[i], down[i] = _slope(tube[i], lower[i], upper[i], beta[i])
        up[j], down[j] = _slope(tube[j], lower[j], upper[j], beta[j])
        for p in range(n):
            g[p] -= t * (np.float64(row_i[p]) - np.float64(row_j[p]))
        g[i] -= (curvature[i] - row_i[i]) * t
        g[j] += (curvature[j] - row_j[j]) * t
    return steps


@compiled
def single_steps(K, curvature, tube, lower, upper, beta, g, epsilon, steps):
    """One variable at a time, the one whose exact step gains most: without a free bias nothing ties them together."""
    n = len(g)
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
        if i < 0 or not worst > epsilon:
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
        up[i], down[i] = _slope(tube[i], lower[i], upper[i], value)
        row = K[i]
        for p in range(n):
            g[p] -= t * row[p]
        g[i] -= (curvature[i] - row[i]) * t
    return steps


@compiled
def corner_of(K, chosen, start, stop, out):
    """The rows and columns `chosen` of K, from row `start` to `stop`."""
    for a in range(start, stop):
        row = K[chosen[a]]
        for b in range(len(chosen)):
            out[a, b] = row[chosen[b]]
