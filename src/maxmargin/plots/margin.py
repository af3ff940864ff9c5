"""The margin of a linear model, drawn: the slack of each sample, and the width between the two margins."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from maxmargin.errors import InvalidInput
from maxmargin.plots.plane import Box, Plane
from maxmargin.plots.style import BLACK, GREY, class_colour, number
from maxmargin.plots.subject import Subject

#: A slack below this share of the margin is rounding.
ROUNDING = 1e-6


def check_slack(subject: Subject, plane: Plane) -> None:
    """Refuse to draw a slack where there is none to see, and say why."""
    if subject.weights is None:
        raise InvalidInput("slack=True draws distances to straight margins: it needs a linear model, not a kernel")
    if not subject.margins:
        raise InvalidInput("slack=True needs a loss with a margin, such as the hinge")
    if subject.margin <= 0.0 or not subject.weights[0].any():
        raise InvalidInput("slack=True needs a hyperplane with a margin, and this one has none")
    if not plane.faithful:
        raise InvalidInput("slack=True needs a view with the true distances: two features, or plane='normal'")


def slack_segments(subject: Subject, plane: Plane, positions: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """From each drawn sample inside its margin (or wrong) to the nearest point of the margin: length ξ/‖w‖."""
    normal, offset, sign = _line(subject, plane, drawn)
    points = positions[drawn]
    slack = subject.margin - sign * (points @ normal + offset)
    inside = slack > ROUNDING * subject.margin
    step = (sign * slack)[inside, None] * normal / (normal @ normal)
    return np.stack([points[inside], points[inside] + step], axis=1)


def draw_slack(ax: Axes, subject: Subject, plane: Plane, positions: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Draw the slacks as lines in the colour of the class; returns them."""
    segments = slack_segments(subject, plane, positions, drawn)
    normal, _, _ = _line(subject, plane, drawn)
    # A slack points from its sample to the margin of its class: the direction says which class it is.
    codes = ((segments[:, 1] - segments[:, 0]) @ normal > 0).astype(int)
    colours = [class_colour(int(code)) for code in codes]
    ax.add_collection(LineCollection(list(segments), colors=colours, linewidths=1.1, zorder=2.6, gid="slack"))
    return segments


def draw_width(
    ax: Axes, subject: Subject, plane: Plane, box: Box, pieces: list[np.ndarray], positions: np.ndarray
) -> float:
    """A double arrow from margin to margin where there is most room for it, with its length; returns the length."""
    normal, _, _ = _line(subject, plane, np.zeros(0, dtype=int))
    norm = float(np.hypot(*normal))
    width = 2.0 * subject.margin / norm
    if not pieces:
        return width
    start, end = pieces[0]
    across, along = normal / norm, (end - start) / np.hypot(*(end - start))
    low, high = np.array([box[0], box[2]]), np.array([box[1], box[3]])
    room = 0.03 * (high - low)
    best: tuple[float, Any] = (-1.0, None)
    for share in np.linspace(0.1, 0.9, 61):
        middle = start + share * (end - start)
        ends = middle + np.outer([-0.5, 0.5], width * across)
        if (ends < low + room).any() or (ends > high - room).any():
            continue
        path = middle + np.outer(np.linspace(-0.5, 0.5, 9), width * across)
        nearest = float(np.min(np.abs((path[:, None] - positions) / (high - low)).max(axis=-1)))
        if nearest > best[0]:
            best = nearest, (middle, ends)
    if best[1] is None:
        return width
    middle, ends = best[1]
    arrow = {"arrowstyle": "<->", "color": BLACK, "linewidth": 1.5, "shrinkA": 0.0, "shrinkB": 0.0}
    ax.annotate("", ends[1], ends[0], arrowprops=arrow, zorder=4.5)
    # The number stands beside the arrow, on the side with more room in the frame.
    text = f"{width_name(subject)} = {number(width)}"
    window = ax.get_window_extent()
    points = 72.0 / ax.figure.figure.dpi
    letters = np.array([5.6 * len(text), 14.0]) / (points * np.array([window.width, window.height])) * (high - low)
    sides = []
    for side in (along, -along):
        centre = middle + np.sign(side) * (0.55 * letters + 0.02 * (high - low) * np.abs(side))
        beyond = float(np.maximum(np.abs(centre - (low + high) / 2) + letters / 2 - (high - low) / 2, 0.0).max())
        near = float((np.abs(positions - centre) / letters).max(axis=1).min())
        sides.append((beyond, -near, side))
    _, _, side = min(sides, key=lambda one: one[:2])
    ax.annotate(
        text,
        middle,
        (7.0 * side[0], 7.0 * side[1]),
        textcoords="offset points",
        ha="left" if side[0] > 0 else "right",
        va="bottom" if side[1] > 0 else "top",
        zorder=4.6,
        bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
    )
    return width


def width_name(subject: Subject) -> str:
    """The margin width as a formula."""
    return "2/‖w‖" if subject.margin == 1.0 else "2m/‖w‖"


def slack_handle(count: int) -> Line2D:
    """The legend entry of the slacks."""
    return Line2D([], [], color=GREY, linewidth=1.1, label=f"slack, length ξ/‖w‖: {count:,}")


def _line(subject: Subject, plane: Plane, drawn: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
    """(normal, offset) of the decision value in the plane, and the labels of the drawn samples."""
    assert subject.weights is not None
    normal, offset = plane.affine(*subject.weights)
    return normal, offset, np.where(subject.codes[drawn] > 0, 1.0, -1.0)
