"""Sweeps of dual coordinate ascent that leave settled samples out: the compiled loop of `coordinate_newton.py`.

A sample at a bound whose slope points further out than that of any sample moved in the last epoch is put aside
(shrinking). Epochs over what is left run until they have cost as much as one pass over the data, so that hundreds of
epochs over a few samples come as one sweep. A survey takes all samples at one w: its gap is that of the whole problem,
and it says anew which samples to go on with.

Hsieh, Chang, Lin, Keerthi & Sundararajan, ICML 2008, section 3.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.rows import AHEAD, prefetch_numbers, row_axpy, row_dot, row_prefetch
from maxmargin.solvers.textbook.coordinate_ascent import maximiser, shortfall


class Point(NamedTuple):
    """Where the sweeps are: β, w = w(β) with the constant feature's weight last, the constant, and the bias's centre.

    A sweep changes β and w in place.
    """

    beta: np.ndarray
    w: np.ndarray
    constant: float
    b: float


class Limits(NamedTuple):
    """The extreme slopes of the epoch before: a sample at an end whose slope is beyond them is left out."""

    low: float
    high: float


@compiled
def shuffle(order, size, state):
    """Fisher–Yates on order[:size]; `state` is the one word of a xorshift generator (Marsaglia 2003)."""
    word = state[0]
    for p in range(size - 1, 0, -1):
        word ^= word << np.uint64(13)
        word ^= word >> np.uint64(7)
        word ^= word << np.uint64(17)
        # The top half as a fraction of p + 1: no division.
        other = ((word >> np.uint64(32)) * np.uint64(p + 1)) >> np.uint64(32)
        order[p], order[other] = order[other], order[p]
    state[0] = word


@compiled
def pulls(slope, tube, beta, lower, upper):
    """What pulls β up and what pulls it down, and whether it is at its lower and at its upper end.

    With a tube, 0 is a kink as good as a bound: what must pull β off it is beyond the tube.
    """
    up = slope - tube if beta >= 0.0 else slope + tube
    down = slope - tube if beta > 0.0 else slope + tube
    kink = beta == 0.0 and tube > 0.0
    return up, down, beta == lower or kink, beta == upper or kink


@compiled
def settled(up, down, at_low, at_high, low, high):
    """Whether a sample at an end is pushed against it harder than the extreme slopes of the others can reach."""
    return (not at_low or up < low) and (not at_high or down > high) and (at_low or at_high)


@compiled
def sweep(X, dual, q, point, order, state, active, limits, budget, goal):
    """Epochs over order[:active] while they fit into a `budget` of samples, until the gap among them is at its goal.

    `dual` are `DualArrays`, `point` is a `Point`, `limits` are `Limits`, `state` is that of `shuffle`. Returns what is
    active now, the samples visited, the gap as the last epoch saw it, its extreme slopes and the larger of them.
    """
    target, ridge, tube, lower, upper = dual
    beta, w, s, b = point
    low, high = limits
    d = len(w) - 1
    visited, gap = 0, 0.0
    while True:
        shuffle(order, active, state)
        next_low, next_high, gap = np.inf, -np.inf, 0.0
        p = 0
        while p < active:
            i = order[p]
            soon = order[min(p + AHEAD, active - 1)]
            row_prefetch(X, soon)
            prefetch_numbers(soon, target, ridge, tube, lower, upper, q, beta)
            visited += 1
            old = beta[i]
            residual = target[i] - b - row_dot(X, i, w) - s * w[d]
            slope = residual - ridge[i] * old
            up, down, at_low, at_high = pulls(slope, tube[i], old, lower[i], upper[i])
            if settled(up, down, at_low, at_high, low, high):
                active -= 1
                order[p], order[active] = order[active], i
                continue
            missed, _ = shortfall(residual, ridge[i], tube[i], old, lower[i], upper[i])
            gap += missed
            if old < upper[i]:
                next_high = max(next_high, up)
            if old > lower[i]:
                next_low = min(next_low, down)
            v = maximiser(slope, q[i], old, tube[i], lower[i], upper[i])
            step = v - old
            if step != 0.0:
                row_axpy(X, i, step, w)
                w[d] += step * s
                beta[i] = v
            p += 1
        low = next_low if next_low < 0.0 else -np.inf
        high = next_high if next_high > 0.0 else np.inf
        worst = max(next_high, -next_low, 0.0)
        if visited + active > budget or gap <= goal:
            return active, visited, gap, low, high, worst


@compiled
def survey(z, order, dual, beta, shift):
    """All samples at the scores z, which may still shift: those that are not settled come first in the order.

    Returns how many they are, the gap, the extreme slopes and the larger of them.
    """
    target, ridge, tube, lower, upper = dual
    low, high, gap = 0.0, 0.0, 0.0
    for i in range(len(z)):
        residual = target[i] - z[i]
        missed, _ = shortfall(residual, ridge[i], tube[i], beta[i], lower[i], upper[i])
        gap += missed
        up, down, _, _ = pulls(residual - ridge[i] * beta[i], tube[i], beta[i], lower[i], upper[i])
        if beta[i] < upper[i]:
            high = max(high, up)
        if beta[i] > lower[i]:
            low = min(low, down)
    low, high = low - shift, high + shift
    active, end = 0, len(z)
    for i in range(len(z)):
        slope = target[i] - z[i] - ridge[i] * beta[i]
        up, down, at_low, at_high = pulls(slope, tube[i], beta[i], lower[i], upper[i])
        if settled(up, down, at_low, at_high, low, high):
            end -= 1
            order[end] = i
        else:
            order[active] = i
            active += 1
    return active, gap, low, high, max(high, -low)
