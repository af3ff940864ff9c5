"""`boundary`: the samples, the decision function as shading, the hyperplane and its margins, the support vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist
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
from maxmargin.plots.margin import check_slack, draw_slack, draw_width, slack_handle, slack_segments, width_name
from maxmargin.plots.plane import Box, Plane, box_around, choose_plane
from maxmargin.plots.points import choose_points, class_handles, draw_points, kind_handles, weight_handles
from maxmargin.plots.proof import draw_proof
from maxmargin.plots.style import legend, number, shape_of, styled
from maxmargin.plots.style import title as set_title
from maxmargin.plots.subject import Subject, in_blocks, subject_of
from maxmargin.result import Result

#: Stands for the pieces of a line before they are known, so that the legend is as large as it will be.
IN_VIEW = [np.zeros((2, 2))]


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
    slack: bool = False,
    size: tuple[float, float] | None = None,
) -> BoundaryDisplay:
    """Draw a fit in a plane: samples, shading, hyperplane, margins, and the support vectors by kind.

    The area of a support vector's marker is proportional to its α. Of a hard margin that does not exist the proof is
    drawn instead: both convex hulls, a point of both of them, and the samples that it is made of.

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
    slack : bool
        Of a linear model, also draw the slack of each sample (the line to its margin, of length ξ/‖w‖) and the
        width 2/‖w‖ between the margins.
    size : pair of float
        Width and height of a new figure in inches; (6.4, 5.6) by default, (4.2, 4.6) suits a narrow screen.

    Returns
    -------
    BoundaryDisplay
        The arrays that were drawn. One feature is drawn against the decision value; a regression as its fit with the
        ε-tube on one feature, as predicted against true values on more.

    Examples
    --------
    >>> from maxmargin import Problem, plots, solve
    >>> from maxmargin.data import toys
    >>> display = plots.boundary(solve(Problem(*toys.moons(), kernel="rbf", C=10.0)))
    >>> sorted(display.kinds)
    ['bound', 'candidate', 'free', 'outside']
    """
    if resolution < 2:
        raise InvalidInput(f"resolution is {resolution}; it must be at least 2")
    subject = subject_of(model, X, y)
    if isinstance(model, Result) and model.certificate.inseparable is not None:
        if slack:
            raise InvalidInput("slack=True needs a hyperplane, and no hyperplane separates these classes")
        return draw_proof(model, subject, ax, features=features, plane=plane, heading=title, size=size)
    heading = subject.name if title is None else title
    if subject.task == "regression" or subject.X.shape[1] == 1:
        if features is not None or plane != "auto":
            raise InvalidInput("features and plane choose a view of a classifier with two features or more")
        if slack:
            raise InvalidInput("slack=True needs a classifier with two features or more")
        return draw_on_a_line(subject, ax, resolution, heading, size)
    view = choose_plane(subject, features, plane)
    if slack:
        check_slack(subject, view)
    # The words come first: the room that they leave decides on the shape of the box.
    _, (ax,), own = axes_for(ax, 1, (6.4, 5.6), size=size)
    panel = Panel(ax, own, subject, view, heading, bar=own, slack=slack)
    placeholder = legend([ax], panel.handles({level: IN_VIEW for level in subject.levels if panel.binary}), own)
    box = panel.room()
    placeholder.remove()
    display = panel.fill(box, resolution)
    legend([ax], panel.handles(display.lines), own)
    return display


class Panel:
    """One view of a fit on its axes: first the words, then, in the room that they leave, the data."""

    def __init__(
        self, ax: Axes, own: bool, subject: Subject, plane: Plane, heading: str, bar: bool, slack: bool = False
    ) -> None:
        self.ax, self.own, self.subject, self.plane = ax, own, subject, plane
        self.heading, self.slack = heading, slack
        self.binary = subject.decision is not None
        self.positions = plane.coordinates(subject.X)
        self.drawn, some = choose_points(subject.codes, subject.kinds)
        self.agreement = 1.0 if plane.faithful else _agreement(subject, plane, self.drawn)
        self.notes = [plane.note, some]
        if not plane.faithful:
            self.notes.insert(1, f"the shading agrees with the model at {self.agreement:.0%} of the points")
        if slack:
            assert subject.weights is not None
            width = 2.0 * subject.margin / float(np.linalg.norm(subject.weights[0]))
            self.notes.append(f"margin width {width_name(subject)} = {number(width)}")
            self.slacks = len(slack_segments(subject, plane, self.positions, self.drawn))
        ax.set(xlabel=plane.names[0], ylabel=plane.names[1])
        set_title(ax, heading, self.notes, own)
        self.image = draw_shading(ax, bar, subject.unit) if self.binary else None

    def handles(self, lines: Lines, counted: bool = True, margins: bool = False) -> list[list[Artist]]:
        """The legend in groups: classes, lines, kinds of samples."""
        subject = self.subject
        number = None if counted or subject.margin == 1.0 else "m"
        levels: list[Artist] = [*level_handles(lines, subject.margins or margins, number)]
        if self.slack:
            levels.append(slack_handle(self.slacks))
        kinds = [
            *kind_handles(subject.kinds, counted),
            *weight_handles(subject.weight, subject.weight_name, counted),
        ]
        return [[*class_handles(subject.classes, subject.codes, counted)], levels, [*kinds]]

    def room(self, positions: np.ndarray | None = None) -> Box:
        """The box around the samples that has the shape of the axes once all words are in place."""
        positions = self.positions if positions is None else positions
        left, right, bottom, top = box_around(positions)
        self.ax.set(xlim=(left, right), ylim=(bottom, top))
        return box_around(positions, shape_of(self.ax))

    def fill(self, box: Box, resolution: int) -> BoundaryDisplay:
        """Draw the data in that box."""
        ax, subject, plane = self.ax, self.subject, self.plane
        x, y = np.linspace(*box[:2], resolution), np.linspace(*box[2:], resolution)
        values = values_on_grid(subject, plane, x, y)
        lines: Lines = {}
        if self.image is None:
            draw_regions(ax, x, y, values, len(subject.classes))
        else:
            lines = level_lines(subject.weights, plane, box, x, y, values, subject.levels)
            flat = flat_note(values)
            if flat:  # whatever lines and shades there are is rounding
                lines = {level: [] for level in lines}
                values = np.full_like(values, values.mean())
                set_title(ax, self.heading, [*self.notes, flat], self.own)
            update_shading(self.image, x, y, values)
            draw_levels(ax, lines)
        ax.set(xlim=box[:2], ylim=box[2:])
        slack = width = None
        if self.slack:
            slack = draw_slack(ax, subject, plane, self.positions, self.drawn)
            width = draw_width(ax, subject, plane, box, lines[0.0], self.positions)
        draw_points(ax, self.positions, subject.codes, subject.kinds, self.drawn, subject.weight)
        return BoundaryDisplay(
            ax.figure.figure,
            (ax,),
            self.positions,
            self.drawn,
            subject.kinds,
            lines,
            x,
            y,
            values,
            plane,
            self.agreement,
            slack,
            width,
        )


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
