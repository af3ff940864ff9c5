"""Exact projection onto {lower ≤ β ≤ upper, Σβ = total}, with the tube's soft threshold where a step asks for it.

    argmin_β ½‖β − v‖² + Σ shrink_i |β_i|   s.t. lower ≤ β ≤ upper [, Σβ = total]

is β = clip(soft(v − μ, shrink)) with one scalar μ, at which the sum, a decreasing piecewise linear function of μ,
meets the total. Newton's method on a piecewise linear function is exact once it has found the right piece; a bracket
keeps it from running away, and bisection takes over where a step would leave the bracket.
"""

from __future__ import annotations

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.numeric.compiled import compiled


def balanced(beta: np.ndarray) -> np.ndarray:
    """β with Σβ = 0: the sign with the larger sum is scaled down, so that bounds on either side of 0 still hold."""
    positive, negative = float(beta[beta > 0].sum()), -float(beta[beta < 0].sum())
    lighter = min(positive, negative)
    beta = np.where(beta > 0, beta * (lighter / positive if positive else 0.0), beta)
    return np.where(beta < 0, beta * (lighter / negative if negative else 0.0), beta)


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
    for bound, room in ((lower, total - float(lower.sum())), (upper, float(upper.sum()) - total)):
        size = float(np.abs(bound).sum())
        if np.isfinite(size) and room <= 1e-14 * size:  # the total is the sum of the bounds, or out of reach
            if room < -1e-9 * size:
                raise InvalidInput(f"no point within the bounds has the sum {total:g}")
            return bound.copy()
    with np.errstate(over="ignore", invalid="ignore"):  # beyond the largest number lies infinity, which the bounds clip
        mu = _multiplier(v, lower, upper, total, shrink)
        _clip(v, mu, lower, upper, shrink, beta)
        rest = abs(total - float(beta.sum()))
        if rest > 1e-15 * float(np.abs(beta).sum()):
            _settle(beta, np.abs(v - mu - beta), lower, upper, total)
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
    # A bracket: doubling steps away from 0 until the excess changes its sign; it never does where rounding has put the
    # total beyond the sum of the bounds, or where v is not finite.
    low, high, reach = 0.0, 0.0, 0.0
    for i in range(len(v)):
        reach = max(reach, abs(v[i]) + shrink[i])
    reach = max(reach / 4.0, abs(total) / len(v), 1e-300)
    while _excess(v, low, lower, upper, shrink, total)[0] < 0.0 and reach < np.inf:
        low -= reach
        reach *= 2.0
    while _excess(v, high, lower, upper, shrink, total)[0] > 0.0 and reach < np.inf:
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
def _settle(beta, distance, lower, upper, total):
    """Put what rounding left of the sum on the coordinates nearest to where they begin to move."""
    rest = total - beta.sum()
    for i in np.argsort(distance):
        moved = min(max(beta[i] + rest, lower[i]), upper[i])
        rest -= moved - beta[i]
        beta[i] = moved
        if rest == 0.0:
            return


def repaired(beta: np.ndarray, lower: np.ndarray, upper: np.ndarray, total: float | None) -> np.ndarray:
    """A feasible point near β: what is at a bound stays there, if the others can make up the sum."""
    clipped = np.clip(beta, lower, upper)
    free = (clipped > lower) & (clipped < upper)
    if total is not None and free.any():
        rest = total - float(clipped[~free].sum())
        if lower[free].sum() <= rest <= upper[free].sum():
            clipped[free] = project(clipped[free], lower[free], upper[free], rest)
            return clipped
    return project(beta, lower, upper, total)
