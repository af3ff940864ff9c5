"""`boundary`: the samples, the decision function as shading, the hyperplane and its margins, the support vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from maxmargin.errors import InvalidInput
from maxmargin.plots.display import BoundaryDisplay, axes_for
from maxmargin.plots.levels import (
    DEEPEST,
    draw_levels,
    draw_regions,
    draw_shading,
    flat_note,
    level_handles,
    level_lines,
)
from maxmargin.plots.line import draw_on_a_line
from maxmargin.plots.plane import Box, Plane, box_around, choose_plane
from maxmargin.plots.points import choose_points, class_handles, draw_points, kind_handles
from maxmargin.plots.style import legend, styled
from maxmargin.plots.style import title as set_title
from maxmargin.plots.subject import Subject, in_blocks, subject_of


@styled
def boundary(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    ax: Axes | None = None,
    features: tuple[int, int] | None = None,
    plane: str = "auto",
    resolution: int = 200,
    title: str | None = None,
) -> BoundaryDisplay:
    """Draw a fit in a plane: samples, shading, hyperplane, margins, and the support vectors by kind.

    Parameters
    ----------
    model : Result or fitted estimator
        A Result knows its samples; any estimator with ``predict`` (and ``decision_function``) needs X and y.
    X, y
        The samples to draw. For a Result: others than those that it was trained on, or those before its transform.
    ax : matplotlib Axes
        Where to draw; a new figure by default.
    features : pair of int
        Two columns to show; the model is cut at the mean of the others.
    plane : "auto", "pca" or "normal"
        The view of more than two features: the principal plane, or for a linear model the plane of its normal, in
        which every sample stands at its true decision value; "auto" takes that where it exists.
    resolution : int
        Points of the grid along each side.
    title : str
        Instead of the line that describes the model.

    Returns
    -------
    BoundaryDisplay
        The arrays that were drawn. One feature is drawn against the decision value; a regression as its fit with the
        ε-tube on one feature, as predicted against true values on more.
    """
    if resolution < 2:
        raise InvalidInput(f"resolution is {resolution}; it must be at least 2")
    subject = subject_of(model, X, y)
    heading = subject.name if title is None else title
    if subject.task == "regression" or subject.X.shape[1] == 1:
        if features is not None or plane != "auto":
            raise InvalidInput("features and plane choose a view of a classifier with two features or more")
        return draw_on_a_line(subject, ax, resolution, heading)
    return _draw_on_a_plane(subject, choose_plane(subject, features, plane), ax, resolution, heading)


def _draw_on_a_plane(
    subject: Subject, plane: Plane, given: Axes | None, resolution: int, heading: str
) -> BoundaryDisplay:
    # The data.
    figure, (ax,), own = axes_for(given, 1, (6.4, 5.6))
    positions = plane.coordinates(subject.X)
    box = box_around(positions, shape_of(ax, own))
    x, y = np.linspace(*box[:2], resolution), np.linspace(*box[2:], resolution)
    values = values_on_grid(subject, plane, x, y)
    binary = subject.decision is not None
    lines = level_lines(subject.weights, plane, box, x, y, values, subject.levels) if binary else {}
    flat = flat_note(values) if binary else ""
    if flat:  # what is left of the lines is rounding
        lines = {level: [] for level in lines}
    drawn, notes = choose_points(subject.codes, subject.kinds)
    agreement = 1.0 if plane.faithful else _agreement(subject, plane, drawn)
    # The drawing.
    if binary:
        image = draw_shading(ax, x, y, values)
        draw_levels(ax, lines)
        if own:
            extend = "both" if np.abs(values).max() > DEEPEST else "neither"
            figure.colorbar(image, ax=ax, label="decision value z", shrink=0.8, pad=0.02, extend=extend)
    else:
        draw_regions(ax, x, y, values, len(subject.classes))
    draw_points(ax, positions, subject.codes, subject.kinds, drawn)
    frame(ax, box, plane.names)
    texts = [plane.note, notes, flat]
    if not plane.faithful:
        texts.insert(1, f"the shade under a point agrees with the model for {agreement:.0%} of them")
    set_title(ax, heading, texts, own)
    groups = class_handles(subject.classes, subject.codes), level_handles(lines), kind_handles(subject.kinds)
    legend([ax], groups, own)
    return BoundaryDisplay(figure, (ax,), positions, drawn, subject.kinds, lines, x, y, values, plane, agreement)


def values_on_grid(subject: Subject, plane: Plane, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The decision value, or the predicted class, at each point of the grid; one row for each y."""
    uv = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    if subject.weights is not None:
        normal, offset = plane.affine(*subject.weights)
        return (uv @ normal + offset).reshape(len(y), len(x))
    score = subject.decision or subject.predict
    # A grid of 200 × 200 rows with thousands of features is made a piece at a time.
    rows_at_once = max(1, 2**22 // len(plane.origin))
    pieces = [score(plane.points(uv[k : k + rows_at_once])) for k in range(0, len(uv), rows_at_once)]
    return np.concatenate(pieces).reshape(len(y), len(x))


def _agreement(subject: Subject, plane: Plane, drawn: np.ndarray) -> float:
    rows = subject.X[drawn]
    theirs = in_blocks(subject.predict, rows)
    shown = in_blocks(subject.predict, plane.points(plane.coordinates(rows)))
    return float(np.mean(theirs == shown))


def shape_of(ax: Axes, own: bool) -> float:
    """Width by height of the axes, as far as it is known before the layout is made."""
    if own:
        return 1.2
    box, figure = ax.get_position(), ax.figure.figure
    shape = box.width * figure.get_figwidth() / (box.height * figure.get_figheight())
    return float(np.clip(shape, 0.8, 1.6))


def frame(ax: Axes, box: Box, names: tuple[str, str]) -> None:
    """Limits, labels, and equal units where the box allows it."""
    left, right, bottom, top = box
    ax.set(xlim=(left, right), ylim=(bottom, top), xlabel=names[0], ylabel=names[1])
    if 0.79 <= (right - left) / (top - bottom) <= 1.61:
        ax.set_aspect("equal", adjustable="box")
