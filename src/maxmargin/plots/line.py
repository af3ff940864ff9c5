"""`boundary` where a plane is too much or too little: on one feature, and for a regression."""

from __future__ import annotations

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from maxmargin.plots.display import BoundaryDisplay, axes_for
from maxmargin.plots.levels import (
    Lines,
    draw_levels,
    draw_regions,
    draw_shading,
    flat_note,
    level_handle,
    level_handles,
    update_shading,
)
from maxmargin.plots.plane import box_around
from maxmargin.plots.points import choose_points, class_handles, draw_points, kind_handles
from maxmargin.plots.style import GREEN, legend, title
from maxmargin.plots.subject import Subject, in_blocks


def draw_on_a_line(
    subject: Subject, given: Axes | None, resolution: int, heading: str, size: tuple[float, float] | None = None
) -> BoundaryDisplay:
    """One feature against the decision value, the class or the fit; more features of a regression as true values."""
    if subject.task != "regression":
        view = _decision_view if subject.decision is not None else _class_view
    else:
        view = _fit_view if subject.X.shape[1] == 1 else _prediction_view
    drawn, note = choose_points(subject.codes, subject.kinds)
    figure, (ax,), own = axes_for(given, 1, (6.4, 5.2), size=size)
    positions, lines, x, y, values, handles, notes = view(subject, ax, resolution)
    draw_points(ax, positions, subject.codes, subject.kinds, drawn)
    title(ax, heading, [*notes, note], own)
    legend([ax], [class_handles(subject.classes, subject.codes), handles, kind_handles(subject.kinds)], own)
    return BoundaryDisplay(figure, (ax,), positions, drawn, subject.kinds, lines, x, y, values)


View = tuple[np.ndarray, Lines, np.ndarray, np.ndarray, np.ndarray, list[Artist], list[str]]


def _decision_view(subject: Subject, ax: Axes, resolution: int) -> View:
    """The decision value over the feature: it crosses 0 at the hyperplane, which on a line is a point."""
    assert subject.decision is not None
    feature = in_blocks(lambda rows: rows[:, 0], subject.X)
    positions = np.column_stack([feature, in_blocks(subject.decision, subject.X)])
    # The margins belong into the picture even where no sample comes near them.
    reach = np.array([[feature[0], level * 1.1] for level in subject.levels])
    left, right, bottom, top = box_around(np.vstack([positions, reach]))
    x, y = np.linspace(left, right, resolution), np.array([bottom, top])
    values = in_blocks(subject.decision, x[:, None])
    lines = {level: [np.array([[left, level], [right, level]])] for level in subject.levels}
    update_shading(draw_shading(ax, unit=subject.unit), x[[0, -1]], y, np.repeat(y[:, None], 2, axis=1))
    draw_levels(ax, lines)
    ax.plot(x, values, color=GREEN, linewidth=2.0, zorder=2.5)
    ax.set(xlim=(left, right), ylim=(bottom, top), xlabel=subject.features[0], ylabel="decision value z")
    curve = Line2D([], [], color=GREEN, linewidth=2.0, label="decision function")
    return positions, lines, x, y, values, [curve, *level_handles(lines, subject.margins)], [flat_note(values)]


def _class_view(subject: Subject, ax: Axes, resolution: int) -> View:
    """Predicted classes as strips over the feature, samples in the row of their true class."""
    feature = in_blocks(lambda rows: rows[:, 0], subject.X)
    positions = np.column_stack([feature, subject.codes])
    left, right, _, _ = box_around(positions)
    x, y = np.linspace(left, right, resolution), np.array([-0.5, len(subject.classes) - 0.5])
    values = in_blocks(subject.predict, x[:, None])
    draw_regions(ax, x, y, np.repeat(values[None], 2, axis=0), len(subject.classes))
    ax.set(xlim=(left, right), ylim=tuple(y), xlabel=subject.features[0], ylabel="true class")
    ax.set_yticks(range(len(subject.classes)), subject.classes)
    return positions, {}, x, y, values, [], ["shades: predicted class"]


def _fit_view(subject: Subject, ax: Axes, resolution: int) -> View:
    """The fit over the feature, in its tube."""
    assert subject.target is not None
    positions = np.column_stack([in_blocks(lambda rows: rows[:, 0], subject.X), subject.target])
    left, right, bottom, top = box_around(positions)
    x = np.linspace(left, right, resolution)
    values = in_blocks(subject.predict, x[:, None])
    epsilon = subject.epsilon or 0.0
    bottom, top = min(bottom, values.min() - 1.2 * epsilon), max(top, values.max() + 1.2 * epsilon)
    ax.set(xlim=(left, right), ylim=(bottom, top), xlabel=subject.features[0], ylabel="target")
    lines, handles = _tube(ax, x, values, subject.epsilon, "fit")
    return positions, lines, x, np.array([bottom, top]), values, handles, []


def _prediction_view(subject: Subject, ax: Axes, resolution: int) -> View:
    """Predicted against true values: a perfect fit is the diagonal."""
    assert subject.target is not None
    positions = np.column_stack([subject.target, in_blocks(subject.predict, subject.X)])
    left, right, bottom, top = box_around(positions)
    x = np.array([min(left, bottom), max(right, top)])
    ax.set(xlim=x, ylim=x, xlabel="true value", ylabel="predicted value")
    lines, handles = _tube(ax, x, x, subject.epsilon, "predicted = true")
    return positions, lines, x, x, x, handles, [f"{subject.X.shape[1]} features: predicted against true values"]


def _tube(ax: Axes, x: np.ndarray, middle: np.ndarray, epsilon: float | None, name: str) -> tuple[Lines, list[Artist]]:
    """A curve with the lines ε above and below it, and the area between them, within which nothing is lost."""
    offsets = (0.0,) if epsilon is None else (-epsilon, 0.0, epsilon)
    lines: Lines = {offset: [np.column_stack([x, middle + offset])] for offset in offsets}
    draw_levels(ax, lines)
    names = {0.0: name} if epsilon is None else {-epsilon: f"−ε (ε = {epsilon:g})", epsilon: "+ε", 0.0: name}
    if epsilon:
        ax.fill_between(x, middle - epsilon, middle + epsilon, color="0.92", zorder=0.0)
    return lines, [level_handle(offset, names[offset]) for offset in lines]
