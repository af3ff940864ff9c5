"""The best bias for given scores: the exact minimiser of Σ C_i ℓ_i(s_i + b) + total·b, which is convex in b.

For a loss that is piecewise linear, a sort of the kinks near the root and a running sum of slopes; for a smooth one,
the root of the slope.
(Averaging target − score over the free support vectors is no definition: it fails when there are none.)
"""

from __future__ import annotations

import numpy as np

from maxmargin.losses import Loss

#: A random part of the kinks is sorted first: its size, and how many of its places to either side of its root the true
#: root is searched for.
SAMPLE, NEAR = 1000, 50
#: The spacing of numbers at 1, and the most steps towards the root of a smooth slope: bisection alone takes fewer.
EPSILON, TRIALS = float(np.finfo(np.float64).eps), 2200


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
    """The root of the slope, which rises with b: Newton's steps, and halves of the bracket where these do not shrink.

    It ends where the slope is 0 up to the rounding of its sum, or where no number is left to go to.
    """
    b = float(C @ (t - scores)) / float(C.sum())
    b = b if np.isfinite(b) else 0.0
    low, high, reach = -np.inf, np.inf, 1e-3 * max(1.0, abs(b))
    last = before_last = np.inf
    for _ in range(TRIALS):
        pulls = C * loss.slope(scores + b, t)
        value = float(pulls.sum()) + total
        if abs(value) <= EPSILON * (float(np.abs(pulls).sum()) + abs(total)):
            break
        if value < 0.0:
            low = b
        else:
            high = b
        curvature = float(C @ loss.second_derivative(scores + b, t))
        following = b - value / curvature if curvature > 0.0 else np.nan
        if np.isinf(high - low):  # an end is missing: by doubling steps towards it
            if not abs(following - b) <= reach:
                following = b + reach if value < 0.0 else b - reach
            reach *= 2.0
        elif not (low < following < high and abs(following - b) <= 0.5 * before_last):
            following = 0.5 * low + 0.5 * high
        if not low < following < high:
            break
        last, before_last = abs(following - b), last
        b = following
    return b


def pulls_at(loss: Loss, target: np.ndarray, C: np.ndarray, total: float | None, z: np.ndarray) -> np.ndarray:
    """U = −C ℓ'(z); the samples at a kink share so that Σu comes as near to the total as they can make it."""
    u: np.ndarray = -C * loss.slope(z, target)
    if total is None or loss.smooth:
        return u
    rest = total - float(u.sum())
    for steepest, kink in kinks_with_slopes(loss, target):
        for i in np.flatnonzero(np.abs(z - kink) <= 1e-9 * (1.0 + np.abs(z))):
            most = -C[i] * steepest[i]  # before the kink; one slope less behind it
            moved = min(max(u[i] + rest, most - C[i]), most)
            rest -= moved - u[i]
            u[i] = moved
    return u
