"""The plane that a picture shows of a space with many features, and the lines of a decision function in it.

    1. a chosen pair of features, the others at their mean;
    2. the principal plane: through the mean, along the two directions in which the samples vary most;
    3. for a linear model, the plane of its normal: across, the signed distance to the hyperplane; upwards, the
       direction at right angles to it in which the samples vary most. Here every sample stands at its true decision
       value, and support vectors on the margin are drawn on the margin; in the other two a sample that is not in the
       plane may stand on a shade that is not its own.

In a plane x = origin + u e₁ + v e₂ a linear model has the decision value (w·e₁) u + (w·e₂) v + w·origin + b: its
hyperplane and margins are straight lines that need no grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from contourpy import contour_generator

from maxmargin.errors import InvalidInput
from maxmargin.plots.subject import Subject

PLANES = ("auto", "pca", "normal")

#: Principal directions are found on so many rows at most; a view needs no more.
ROWS = 1000

Box = tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class Plane:
    """x = origin + u e₁ + v e₂, with u across and v upwards."""

    origin: np.ndarray
    directions: np.ndarray
    #: What the two axes are called.
    names: tuple[str, str]
    #: What the title says of the plane; empty where there is nothing to say.
    note: str = ""
    #: Whether every sample has the decision value that is drawn under it.
    faithful: bool = True

    def coordinates(self, X: Any) -> np.ndarray:
        """(u, v) of rows; of their nearest points in the plane, if they are not in it."""
        return np.asarray(X @ self.directions.T, dtype=np.float64) - self.directions @ self.origin

    def points(self, uv: np.ndarray) -> np.ndarray:
        """The rows with these coordinates."""
        return self.origin + uv @ self.directions

    def affine(self, w: np.ndarray, b: float) -> tuple[np.ndarray, float]:
        """(normal, offset) of the decision value w·x + b in the coordinates of the plane."""
        return self.directions @ w, float(self.origin @ w) + b


def choose_plane(subject: Subject, features: Any, plane: str) -> Plane:
    """The plane that was asked for, or the one that shows most."""
    d = subject.X.shape[1]
    if plane not in PLANES:
        raise InvalidInput(f"plane is {plane!r}; it must be one of: {', '.join(PLANES)}")
    if features is not None:
        if plane != "auto":
            raise InvalidInput(f"features and plane={plane!r} exclude each other; give one of them")
        return _pair(subject, features)
    normal = None if subject.weights is None else subject.weights[0]
    if normal is not None and not normal.any():
        normal = None
    if plane == "normal" and normal is None:
        raise InvalidInput("plane='normal' needs a linear model with w ≠ 0; use plane='pca' or features=(i, j)")
    if d == 2 and plane == "auto":
        return _pair(subject, (0, 1))
    return _principal(subject) if normal is None or plane == "pca" else _normal(subject)


def _pair(subject: Subject, features: Any) -> Plane:
    d = subject.X.shape[1]
    try:
        i, j = (int(feature) for feature in features)
    except (TypeError, ValueError):
        raise InvalidInput(f"features is {features!r}; it must be a pair of column numbers") from None
    if i == j or not (0 <= i < d and 0 <= j < d):
        raise InvalidInput(f"features is {features!r}; it must be two different columns from 0 to {d - 1}")
    origin, directions = _mean(subject.X), np.zeros((2, d))
    origin[[i, j]] = 0.0
    directions[[0, 1], [i, j]] = 1.0
    names = subject.features[i], subject.features[j]
    note = "" if d == 2 else f"cut at the mean of the other {d - 2} feature{'s' if d > 3 else ''}; points projected"
    return Plane(origin, directions, names, note, faithful=d == 2)


def _principal(subject: Subject) -> Plane:
    d = subject.X.shape[1]
    origin = _mean(subject.X)
    directions, shares = _components(subject.X, origin, 2)
    first, second = (f"principal component {k + 1} ({shares[k]:.0%} of the variance)" for k in range(2))
    note = f"principal plane of {d} features, through their mean; points projected"
    return Plane(origin, directions, (first, second), note, faithful=d == 2)


def _normal(subject: Subject) -> Plane:
    assert subject.weights is not None
    w, b = subject.weights
    d = len(w)
    norm = float(np.linalg.norm(w))
    mean = _mean(subject.X)
    across = w / norm
    # Measured from the hyperplane, so that u is the signed distance to it.
    origin = mean - across * ((float(mean @ w) + b) / norm)
    upwards, _ = _components(subject.X, mean, 1, across)
    note = f"plane of w in {d} features: every point at its true decision value"
    names = "signed distance to the hyperplane", "main direction orthogonal to w"
    return Plane(origin, np.stack([across, upwards[0]]), names, note)


def _mean(X: Any) -> np.ndarray:
    return np.asarray(X.mean(axis=0), dtype=np.float64).ravel()


def _components(
    X: Any, mean: np.ndarray, count: int, across: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The main directions of the rows (at right angles to `across`, if given) and their share of the variance.

    From the inner products of the centred rows, so that it does for many features, dense or sparse alike.
    """
    rows = X[np.unique(np.linspace(0, X.shape[0] - 1, min(X.shape[0], ROWS)).astype(int))]
    if not sp.issparse(rows):
        rows = rows - mean
    products = np.asarray((rows @ rows.T).toarray() if sp.issparse(rows) else rows @ rows.T, dtype=np.float64)
    if sp.issparse(rows):
        against_mean = np.asarray(rows @ mean)
        products = products - against_mean[:, None] - against_mean + mean @ mean
    if across is not None:
        along = np.asarray(rows @ across) - (mean @ across if sp.issparse(rows) else 0.0)
        products = products - np.outer(along, along)
    values, vectors = np.linalg.eigh(products)
    directions = np.zeros((count, X.shape[1]))
    fixed = [] if across is None else [across]
    for k in range(count):
        u = vectors[:, -1 - k] if k < len(values) else np.zeros(len(values))
        e = np.asarray(rows.T @ u).ravel() - (mean * u.sum() if sp.issparse(rows) else 0.0)
        directions[k] = _unit(e, fixed, float(np.sqrt(max(values[-1], 0.0))))
        fixed.append(directions[k])
    shares = np.zeros(count)
    shares[: len(values)] = np.maximum(values[::-1][:count], 0.0) / (float(np.trace(products)) or 1.0)
    return directions, shares


def _unit(e: np.ndarray, fixed: list[np.ndarray], scale: float) -> np.ndarray:
    """The unit vector of e at right angles to the fixed ones; any other such vector where e has no direction left."""
    # The least used coordinate axis is a direction that is always there.
    spare = np.zeros(len(e))
    spare[int(np.argmin(sum((np.abs(f) for f in fixed), np.zeros(len(e)))))] = 1.0
    for candidate, size in ((e, scale), (spare, 1.0)):
        for _ in range(2):  # twice is enough for rounding
            for f in fixed:
                candidate = candidate - (candidate @ f) * f
        norm = float(np.linalg.norm(candidate))
        if norm > 1e-9 * size:
            break
    e = candidate / norm
    return e * np.sign(e[np.argmax(np.abs(e))])  # the sign of an eigenvector is an accident: make it the same always


def box_around(points: np.ndarray, ratio: float | None = None, room: float = 0.08) -> Box:
    """The sides of a box that holds all points with some room; never of no width.

    With a ratio of width to height, the box is made wider or higher to have it where that takes no more than a few
    times the room, so that both axes can have the same unit: then right angles look like right angles.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    # A column of one value still needs a width to draw on, visible beside the value itself.
    least = np.maximum(1.0, 0.1 * np.maximum(np.abs(low), np.abs(high)))
    single = high - low <= 1e-9 * least
    low, high = np.where(single, low - least, low), np.where(single, high + least, high)
    span = (1.0 + 2.0 * room) * (high - low)
    if ratio is not None and 0.4 <= span[0] / span[1] <= 2.5:
        span = np.array([max(span[0], ratio * span[1]), max(span[1], span[0] / ratio)])
    (left, bottom), (right, top) = (low + high - span) / 2, (low + high + span) / 2
    return float(left), float(right), float(bottom), float(top)


def straight_line(normal: np.ndarray, offset: float, box: Box) -> list[np.ndarray]:
    """The piece of normal·p + offset = 0 within a box, as one segment or none."""
    left, right, bottom, top = box
    corners = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    values = corners @ normal + offset
    if not np.any(normal) or values.min() > 0 or values.max() < 0:
        return []
    ends = []
    for k in range(4):
        a, b = values[k], values[(k + 1) % 4]
        if a * b <= 0 and a != b:
            ends.append(corners[k] + (corners[(k + 1) % 4] - corners[k]) * (a / (a - b)))
    # Through a corner the same end is found twice: the two ends furthest apart are the segment.
    apart = [(float(np.abs(p - q).max()), i, j) for i, p in enumerate(ends) for j, q in enumerate(ends) if i < j]
    if not apart or max(apart)[0] == 0.0:
        return []
    _, i, j = max(apart)
    return [np.array([ends[i], ends[j]])]


def curved_lines(x: np.ndarray, y: np.ndarray, values: np.ndarray, level: float) -> list[np.ndarray]:
    """The lines on which values on a grid pass a level."""
    return [np.asarray(line) for line in contour_generator(x, y, values).lines(level) if len(line) > 1]
