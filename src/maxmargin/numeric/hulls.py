"""Convex hulls and reduced convex hulls of points in a plane.

A reduced hull holds the points Σ μ_i x_i with Σ μ_i = 1 and 0 ≤ μ_i ≤ cap_i; caps of 1 give the convex hull itself.
Its furthest point in a direction is exact and cheap: go through the points from the furthest on, and give each all the
weight that it may have, until the sum is 1. From that the corners follow:

    1. Take the furthest points to the left, below, to the right and above.
    2. Between two neighbours, ask for the furthest point at right angles to the line through them; if it lies beyond
       the line it is a new corner, with two new pairs of neighbours; if not, the line is a side of the hull.
"""

from __future__ import annotations

import numpy as np

from maxmargin.errors import InvalidInput


def furthest(points: np.ndarray, caps: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """The point of the reduced hull that is furthest in a direction."""
    order = np.argsort(-(points @ direction), kind="stable")
    most = np.minimum(caps[order], 1.0)
    weights = np.clip(1.0 - (np.cumsum(most) - most), 0.0, most)
    return np.asarray(weights @ points[order])


def hull(points: np.ndarray, caps: np.ndarray | None = None, near: float = 1e-9) -> np.ndarray:
    """The corners of the (reduced) convex hull, anticlockwise: at least one, two for a segment.

    Corners that are nearer to a side than `near` (in units of the hull's size) may be left out.
    """
    points = np.asarray(points, dtype=np.float64)
    caps = np.ones(len(points)) if caps is None else np.asarray(caps, dtype=np.float64)
    total = float(np.minimum(caps, 1.0).sum())
    if total < 1.0 - 1e-9:
        raise InvalidInput(f"the weights of a reduced hull sum to {total:.3g} at most; they must reach 1")
    caps = caps / min(1.0, total)  # a sum that misses 1 by rounding
    size = float(np.ptp(points, axis=0).max())
    # 1.
    starts: list[np.ndarray] = []
    for direction in ((-1.0, 0.0), (0.0, -1.0), (1.0, 0.0), (0.0, 1.0)):
        point = furthest(points, caps, np.array(direction))
        if not any(np.abs(point - other).max() <= 1e-12 * size for other in starts):
            starts.append(point)
    # 2.
    corners: list[np.ndarray] = []
    for k, start in enumerate(starts):
        corners.append(start)
        if len(starts) > 1:
            corners += _between(points, caps, start, starts[(k + 1) % len(starts)], near * size)
    return np.array(corners)


def _between(points: np.ndarray, caps: np.ndarray, a: np.ndarray, b: np.ndarray, near: float) -> list[np.ndarray]:
    """The corners from a to b, both left out."""
    along = b - a
    length = float(np.hypot(*along))
    if length <= near:
        return []
    outwards = np.array([along[1], -along[0]]) / length
    c = furthest(points, caps, outwards)
    if (c - a) @ outwards <= near:
        return []
    return [*_between(points, caps, a, c, near), c, *_between(points, caps, c, b, near)]


def contains(corners: np.ndarray, point: np.ndarray, slack: float = 1e-9) -> bool:
    """Whether a point lies in a hull, up to a distance."""
    if len(corners) == 1:
        return bool(np.hypot(*(point - corners[0])) <= slack)
    outside = -np.inf
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        along = b - a
        outside = max(outside, float(along[1] * (point - a)[0] - along[0] * (point - a)[1]) / float(np.hypot(*along)))
    if len(corners) == 2:  # a segment: within its ends, too
        along = corners[1] - corners[0]
        share = float((point - corners[0]) @ along / (along @ along))
        outside = max(outside, max(-share, share - 1.0) * float(np.hypot(*along)))
    return outside <= slack
