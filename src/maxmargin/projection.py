"""Exact projection onto {lower ≤ β ≤ upper, Σβ = total}, with the tube's soft threshold where a step asks for it.

    argmin_β ½‖β − v‖² + Σ shrink_i |β_i|   s.t. lower ≤ β ≤ upper [, Σβ = total]

is β = clip(soft(v − μ, shrink)) with one scalar μ, at which the sum, a decreasing piecewise linear function, meets
the total. It is linear between neighbouring breakpoints, so bisection over the sorted breakpoints and one
interpolation give μ exactly.
"""

from __future__ import annotations

import numpy as np

from maxmargin.errors import InvalidInput


def project(
    v: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    total: float | None = None,
    shrink: np.ndarray | None = None,
) -> np.ndarray:
    """The point of the feasible set nearest to v (after soft thresholding by `shrink`)."""
    if total is None:
        return _at(v, lower, upper, shrink)
    mu = _multiplier(v, lower, upper, total, shrink)
    beta = _at(v - mu, lower, upper, shrink)
    _settle(beta, lower, upper, total)
    return beta


def _at(v: np.ndarray, lower: np.ndarray, upper: np.ndarray, shrink: np.ndarray | None) -> np.ndarray:
    if shrink is not None:
        v = np.sign(v) * np.maximum(np.abs(v) - shrink, 0.0)
    return np.minimum(np.maximum(v, lower), upper)


def _multiplier(
    v: np.ndarray, lower: np.ndarray, upper: np.ndarray, total: float, shrink: np.ndarray | None
) -> float:
    def excess(mu: float) -> float:
        return float(_at(v - mu, lower, upper, shrink).sum()) - total

    if shrink is None:
        breakpoints = [v - upper, v - lower]
    else:
        breakpoints = [v - upper - shrink, v - shrink, v + shrink, v - lower + shrink]
    points = np.concatenate(breakpoints)
    points = np.unique(points[np.isfinite(points)])
    if points.size == 0:  # no bounds at all: β = v − μ
        return float(v.sum() - total) / len(v)
    # Invariant: excess(points[low]) ≥ 0 > excess(points[high]).
    low, high = -1, points.size
    while high - low > 1:
        middle = (low + high) // 2
        if excess(points[middle]) >= 0.0:
            low = middle
        else:
            high = middle
    if low < 0:  # to the left only the coordinates without upper bound move
        return points[0] + excess(points[0]) / _count(np.isinf(upper), total)
    if high == points.size:  # to the right only the coordinates without lower bound move
        if excess(points[-1]) == 0.0:
            return float(points[-1])
        return points[-1] + excess(points[-1]) / _count(np.isinf(lower), total)
    at_low, at_high = excess(points[low]), excess(points[high])
    return float(points[low] + (points[high] - points[low]) * (at_low / (at_low - at_high)))


def _count(unbounded: np.ndarray, total: float) -> int:
    count = int(np.count_nonzero(unbounded))
    if count == 0:
        raise InvalidInput(f"no point within the bounds has the sum {total:g}")
    return count


def _settle(beta: np.ndarray, lower: np.ndarray, upper: np.ndarray, total: float) -> None:
    """Put what rounding left of the sum on the coordinate with the most room."""
    rest = total - float(beta.sum())
    if rest == 0.0:
        return
    room = np.minimum(upper - beta, beta - lower)
    i = int(np.argmax(room))
    beta[i] = min(max(beta[i] + rest, lower[i]), upper[i])
