"""Exact projection onto {lower ≤ β ≤ upper, Σβ = total}, with the tube's soft threshold where a step asks for it.

    argmin_β ½‖β − v‖² + Σ shrink_i |β_i|   s.t. lower ≤ β ≤ upper [, Σβ = total]

is β = clip(soft(v − μ, shrink)) with one scalar μ, at which the sum, a decreasing piecewise linear function of μ,
meets the total. Newton's method on a piecewise linear function is exact once it has found the right piece; a bracket
keeps it from running away, and bisection takes over where a step would leave the bracket.
"""

from __future__ import annotations

import numpy as np

from maxmargin.compiled import compiled
from maxmargin.errors import InvalidInput


def project(
    v: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    total: float | None = None,
    shrink: np.ndarray | None = None,
) -> np.ndarray:
    """The point of the feasible set nearest to v (after soft thresholding by `shrink`)."""
    if shrink is None:
        shrink = np.zeros(len(v))
    beta = np.empty(len(v))
    if total is None:
        _clip(v, 0.0, lower, upper, shrink, beta)
        return beta
    if not lower.sum() <= total <= upper.sum():
        raise InvalidInput(f"no point within the bounds has the sum {total:g}")
    _clip(v, _multiplier(v, lower, upper, total, shrink), lower, upper, shrink, beta)
    _settle(beta, lower, upper, total)
    return beta


@compiled
def _at(value, lower, upper, shrink):
    """One coordinate: shrink, then clip."""
    if value > shrink:
        value -= shrink
    elif value < -shrink:
        value += shrink
    else:
        value = 0.0
    return min(max(value, lower), upper)


@compiled
def _clip(v, mu, lower, upper, shrink, out):
    for i in range(len(v)):
        out[i] = _at(v[i] - mu, lower[i], upper[i], shrink[i])


@compiled
def _excess(v, mu, lower, upper, shrink, total):
    """The sum at μ less the total, and how many coordinates move with μ."""
    excess, moving = -total, 0
    for i in range(len(v)):
        x = v[i] - mu
        value = _at(x, lower[i], upper[i], shrink[i])
        excess += value
        if lower[i] < value < upper[i] and abs(x) > shrink[i]:
            moving += 1
    return excess, moving


@compiled
def _multiplier(v, lower, upper, total, shrink):
    # A bracket: doubling steps away from 0 until the excess changes its sign.
    low, high, reach = 0.0, 0.0, 0.0
    for i in range(len(v)):
        reach = max(reach, abs(v[i]) + shrink[i])
    reach = max(reach / 4.0, abs(total) / len(v), 1e-300)
    while _excess(v, low, lower, upper, shrink, total)[0] < 0.0:
        low -= reach
        reach *= 2.0
    while _excess(v, high, lower, upper, shrink, total)[0] > 0.0:
        high += reach
        reach *= 2.0
    mu = low
    for _ in range(2000):
        excess, moving = _excess(v, mu, lower, upper, shrink, total)
        if excess == 0.0:
            return mu
        if excess > 0.0:
            low = mu
        else:
            high = mu
        following = mu + excess / moving if moving > 0 else low
        if not low < following < high:
            following = 0.5 * (low + high)
        if following == mu or following == low or following == high:
            return mu
        mu = following
    return mu


@compiled
def _settle(beta, lower, upper, total):
    """Put what rounding left of the sum on the coordinates with the most room."""
    for _ in range(8):
        rest = total
        for i in range(len(beta)):
            rest -= beta[i]
        if rest == 0.0:
            return
        best, most = -1, 0.0
        for i in range(len(beta)):
            room = upper[i] - beta[i] if rest > 0.0 else beta[i] - lower[i]
            if lower[i] < beta[i] < upper[i] and room > most:
                best, most = i, room
        if best < 0:
            for i in range(len(beta)):
                room = upper[i] - beta[i] if rest > 0.0 else beta[i] - lower[i]
                if room > most:
                    best, most = i, room
        if best < 0:
            return
        beta[best] = min(max(beta[best] + rest, lower[best]), upper[best])
