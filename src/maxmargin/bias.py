"""The best bias for given scores: the exact minimiser of Σ C_i ℓ_i(s_i + b) + total·b, which is convex in b.

For a loss that is piecewise linear, a sort of the kinks near the root and a running sum of slopes; for a smooth one,
the root of the slope.
(Averaging target − score over the free support vectors is no definition: it fails when there are none.)
"""

from __future__ import annotations

import numpy as np

from maxmargin.losses import Loss

#: Kinks that are sorted first to see where the root will be, and how many of them it is looked for to either side.
SAMPLE, NEAR = 1000, 50


def kinks_with_slopes(loss: Loss, t: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each kink, the slope just before it and its score: from the far left, each kink adds one to the slope."""
    far_left = loss.slope(np.full(len(t), -np.inf), t)
    return [(far_left + k, kink) for k, kink in enumerate(loss.kinks(t))]


def kinked_bias(loss: Loss, t: np.ndarray, C: np.ndarray, total: float, scores: np.ndarray) -> float:
    """The kink past which the slope is no longer negative, or the middle of a flat bottom."""
    used = C > 0
    kinks = kinks_with_slopes(loss, t)
    positions = np.concatenate([(kink - scores)[used] for _, kink in kinks])
    weights = np.tile(C[used], len(kinks))
    slope = float(C @ kinks[0][0]) + total
    flat = 1e-12 * float(weights.sum())  # the rounding of the sum
    slope, positions, weights = _around_the_root(slope, positions, weights, flat)
    order = np.argsort(positions, kind="stable")
    slopes = slope + np.cumsum(weights[order])
    k = min(int(np.searchsorted(slopes, -flat)), len(order) - 1)
    if slopes[k] <= flat and k + 1 < len(order):
        return 0.5 * float(positions[order[k]] + positions[order[k + 1]])
    return float(positions[order[k]])


def _around_the_root(
    slope: float, positions: np.ndarray, weights: np.ndarray, flat: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """The kinks between two that have the root between them, and the slope before the first of them."""
    every = positions.size // SAMPLE
    if every < 2:
        return slope, positions, weights
    some, shares = positions[::every], every * weights[::every]
    order = np.argsort(some)
    place = int(np.searchsorted(slope + np.cumsum(shares[order]), 0.0))
    low, high = some[order[max(0, place - NEAR)]], some[order[min(order.size - 1, place + NEAR)]]
    before, until = positions <= low, positions <= high
    slope_low = slope + float(weights @ before)
    if slope_low >= -flat or slope + float(weights @ until) <= flat:  # the sample has misled us
        return slope, positions, weights
    inside = until & ~before
    return slope_low, positions[inside], weights[inside]


def smooth_bias(loss: Loss, t: np.ndarray, C: np.ndarray, total: float, scores: np.ndarray) -> float:
    """The root of the slope, within a bracket that doubles until it holds one."""
    from scipy.optimize import brentq

    def slope(b: float) -> float:
        return float(C @ loss.slope(scores + b, t)) + total

    middle = float(C @ (t - scores)) / float(C.sum())
    reach = max(1.0, abs(middle)) * 1e-3
    low, high = middle - reach, middle + reach
    while slope(low) > 0.0:
        low, reach = low - 2 * reach, 2 * reach
    while slope(high) < 0.0:
        high, reach = high + 2 * reach, 2 * reach
    return float(brentq(slope, low, high, xtol=1e-14 * max(1.0, abs(low), abs(high)), maxiter=500))
