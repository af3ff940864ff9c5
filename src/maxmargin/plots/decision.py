"""`boundary`: the samples, the decision function as shading, the hyperplane and its margins, the support vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from maxmargin.errors import InvalidInput
from maxmargin.plots.display import BoundaryDisplay, axes_for
from maxmargin.plots.levels import (
    Lines,
    draw_levels,
    draw_regions,
    draw_shading,
    flat_note,
    level_handles,
    level_lines,
    update_shading,
)
from maxmargin.plots.line import draw_on_a_line
from maxmargin.plots.plane import Plane, box_around, choose_plane
from maxmargin.plots.points import choose_points, class_handles, draw_points, kind_handles
from maxmargin.plots.style import legend, shape_of, styled
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
    binary = subject.decision is not None
    positions = plane.coordinates(subject.X)
    drawn, some = choose_points(subject.codes, subject.kinds)
    agreement = 1.0 if plane.faithful else _agreement(subject, plane, drawn)
    notes = [plane.note, some]
    if not plane.faithful:
        notes.insert(1, f"the shade under a point agrees with the model for {agreement:.0%} of them")
    # The words come first: the room that they leave decides on the shape of the box.
    figure, (ax,), own = axes_for(given, 1, (6.4, 5.6))
    ax.set(xlabel=plane.names[0], ylabel=plane.names[1])
    set_title(ax, heading, notes, own)
    image = draw_shading(ax, own) if binary else None
    classes, kinds = class_handles(subject.classes, subject.codes), kind_handles(subject.kinds)
    placeholder = legend(
        [ax], [classes, level_handles({level: [] for level in subject.levels if binary}, subject.margins), kinds], own
    )
    left, right, bottom, top = box_around(positions)
    ax.set(xlim=(left, right), ylim=(bottom, top))
    box = box_around(positions, shape_of(ax))
    placeholder.remove()
    # The data on that box, and the drawing.
    x, y = np.linspace(*box[:2], resolution), np.linspace(*box[2:], resolution)
    values = values_on_grid(subject, plane, x, y)
    lines: Lines = {}
    if image is None:
        draw_regions(ax, x, y, values, len(subject.classes))
    else:
        lines = level_lines(subject.weights, plane, box, x, y, values, subject.levels)
        flat = flat_note(values)
        if flat:  # whatever lines and shades there are is rounding
            lines = {level: [] for level in lines}
            values = np.full_like(values, values.mean())
            set_title(ax, heading, [*notes, flat], own)
        update_shading(image, x, y, values)
        draw_levels(ax, lines)
    draw_points(ax, positions, subject.codes, subject.kinds, drawn)
    ax.set(xlim=box[:2], ylim=box[2:])
    legend([ax], [classes, level_handles(lines, subject.margins), kinds], own)
    return BoundaryDisplay(figure, (ax,), positions, drawn, subject.kinds, lines, x, y, values, plane, agreement)


def values_on_grid(subject: Subject, plane: Plane, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The decision value, or the predicted class, at each point of the grid; one row for each y."""
    uv = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    if subject.weights is not None:
        normal, offset = plane.affine(*subject.weights)
        return (uv @ normal + offset).reshape(len(y), len(x))
    score = subject.decision or subject.predict
    # A grid of 200 × 200 rows with thousands of features is made a piece at a time.
    values = in_blocks(lambda part: score(plane.points(part)), uv, width=len(plane.origin))
    return values.reshape(len(y), len(x))


def _agreement(subject: Subject, plane: Plane, drawn: np.ndarray) -> float:
    rows = subject.X[drawn]
    theirs = in_blocks(subject.predict, rows)
    shown = in_blocks(subject.predict, plane.points(plane.coordinates(rows)))
    return float(np.mean(theirs == shown))
