"""The proof that no hyperplane separates two classes, drawn: their convex hulls, and a point that lies in both.

    Σ_{+} α_i x_i = Σ_{−} α_i x_i   with α ≥ 0,   Σ_{+} α_i = Σ_{−} α_i = 1

The samples with α > 0 are the witnesses. Without a bias the hyperplane passes through the origin, and the proof is
another one: the origin lies in the convex hull of the y_i x_i, which are then drawn in place of the x_i.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon

from maxmargin.numeric.hulls import hull
from maxmargin.plots.display import BoundaryDisplay, axes_for
from maxmargin.plots.levels import Lines
from maxmargin.plots.plane import Box, Plane, box_around, choose_plane
from maxmargin.plots.points import choose_points, class_handles, draw_points, kind_handles, weight_handles
from maxmargin.plots.style import BLACK, CLASS_COLOURS, class_colour, legend, pale, shape_of, title
from maxmargin.plots.subject import Subject, in_blocks
from maxmargin.result import Result

#: How the point of both hulls looks.
POINT: dict[str, Any] = {
    "marker": "o",
    "fillstyle": "none",
    "markersize": 14.0,
    "markeredgewidth": 2.0,
    "color": BLACK,
    "linestyle": "none",
}
HEADING = "no hyperplane separates these classes"


@dataclass(frozen=True, eq=False, repr=False)
class ProofDisplay(BoundaryDisplay):
    """What `boundary` drew of a hard margin that does not exist; there are no lines and no decision values."""

    #: The corners of the convex hulls, of class −1 and of class +1; one hull of the y_i x_i without a bias; none for
    #: a kernel.
    hulls: tuple[np.ndarray, ...] = ()
    #: The point that lies in all of them; None for a kernel.
    point: np.ndarray | None = None
    #: The samples that it is made of.
    witnesses: np.ndarray | None = None


def draw_proof(
    result: Result,
    subject: Subject,
    given: Axes | None,
    *,
    features: tuple[int, int] | None = None,
    plane: str = "auto",
    heading: str | None = None,
    size: tuple[float, float] | None = None,
) -> ProofDisplay:
    """Draw the proof on axes of its own, with a legend."""
    view = proof_plane(subject, features, plane)
    _, (ax,), own = axes_for(given, 1, (6.4, 5.6), size=size)
    panel = ProofPanel(ax, own, result, subject, view, HEADING if heading is None else heading)
    legend([ax], panel.handles({}), own)
    return panel.fill(panel.room(), 0)


def proof_plane(subject: Subject, features: tuple[int, int] | None = None, plane: str = "auto") -> Plane:
    """The view: where there is no hyperplane there is no plane of its normal, either."""
    if subject.X.shape[1] == 1:
        return Plane(np.zeros(1), np.array([[1.0], [0.0]]), (subject.features[0], "class"))
    return choose_plane(replace(subject, weights=None), features, plane)


class ProofPanel:
    """One view of a proof on its axes: first the words, then, in the room that they leave, the data."""

    def __init__(
        self, ax: Axes, own: bool, result: Result, subject: Subject, plane: Plane, heading: str, brief: bool = False
    ) -> None:
        proof = result.certificate.inseparable
        assert proof is not None
        problem = result.problem
        self.ax, self.subject, self.plane = ax, subject, plane
        self.witnesses = np.flatnonzero(proof.alpha > 0.0)
        self.positions = plane.coordinates(subject.X)
        self.drawn, some = choose_points(subject.codes, subject.kinds)
        self.hulls: tuple[np.ndarray, ...] = ()
        self.point: np.ndarray | None = None
        names = list(plane.names)
        trained = "witness" in subject.kinds
        whose = "samples" if trained else "training samples"
        said = f"{len(self.witnesses)} {whose} make a point of both convex hulls, in exact arithmetic"
        if not problem.linear or problem.transform is not None or not trained:
            where = "the transform" if problem.transform is not None else f"the {problem.kernel.name} kernel"
            said += f": it lies in the feature space of {where}" if trained else ""
        elif problem.bias == "none":
            said = f"the origin is a convex combination of {len(self.witnesses)} of the points y·x"
            # Directions alone, without the plane's origin: y·x is a reflection in the origin of the space.
            self.positions = (
                np.asarray(subject.X @ plane.directions.T) * np.where(subject.codes > 0, 1.0, -1.0)[:, None]
            )
            names = [f"y · {name}" for name in names]
            self.hulls = (hull(self.positions),)
            self.point = proof.alpha @ self.positions
        else:
            if subject.X.shape[1] == 1:
                self.positions = np.column_stack([in_blocks(lambda rows: rows[:, 0], subject.X), subject.codes])
            sides = [subject.codes == code for code in (0, 1)]
            self.hulls = tuple(hull(self.positions[side]) for side in sides)
            ends = [proof.alpha[side] @ self.positions[side] / proof.alpha[side].sum() for side in sides]
            self.point = 0.5 * (ends[0] + ends[1])
        ax.set(xlabel=names[0], ylabel=names[1])
        if subject.X.shape[1] == 1 and problem.bias != "none":
            ax.set_yticks((0, 1), subject.classes)
        title(ax, heading, ["" if brief else said, plane.note, some], own)

    def handles(self, lines: Lines, counted: bool = True, margins: bool = False) -> list[list[Artist]]:
        """The legend in groups: classes, the proof, kinds of samples."""
        subject = self.subject
        middle: list[Artist] = []
        if self.hulls:
            single = len(self.hulls) == 1
            colours: list[Any] = ["0.92"] if single else [pale(CLASS_COLOURS[0], 0.2), pale(CLASS_COLOURS[1], 0.2)]
            names = ["convex hull of all y·x"] if single else [f"hull of class {name}" for name in subject.classes]
            edges = [BLACK] if single else list(CLASS_COLOURS[:2])
            middle = [
                Patch(facecolor=colour, edgecolor=edge, label=name)
                for colour, edge, name in zip(colours, edges, names, strict=True)
            ]
            name = "the origin" if single else "point of both hulls"
            middle.append(Line2D([], [], **{**POINT, "markersize": 10.0}, label=name))
        kinds = [*kind_handles(subject.kinds, counted), *weight_handles(subject.weight, subject.weight_name, counted)]
        return [[*class_handles(subject.classes, subject.codes, counted)], middle, [*kinds]]

    def room(self, positions: np.ndarray | None = None) -> Box:
        """The box around the samples that has the shape of the axes once all words are in place."""
        positions = self.positions if positions is None else positions
        if self.point is not None:
            positions = np.vstack([positions, self.point])
        left, right, bottom, top = box_around(positions)
        self.ax.set(xlim=(left, right), ylim=(bottom, top))
        return box_around(positions, shape_of(self.ax))

    def fill(self, box: Box, resolution: int) -> ProofDisplay:
        """Draw the data in that box; there is no grid, and so no resolution."""
        ax, subject = self.ax, self.subject
        self._draw_hulls()
        if self.point is not None:
            alpha = subject.weight[self.witnesses] if subject.weight is not None else np.ones(len(self.witnesses))
            ends = [np.array([self.positions[i], self.point]) for i in self.witnesses]
            colours = [class_colour(int(subject.codes[i])) for i in self.witnesses]
            widths = 0.8 + 1.6 * alpha / alpha.max()
            ax.add_collection(
                LineCollection(ends, colors=colours, linewidths=widths, zorder=2.5, gid="witnesses"), autolim=False
            )
            ax.plot(*self.point, **POINT, zorder=5.0, gid="common point")
        draw_points(ax, self.positions, subject.codes, subject.kinds, self.drawn, subject.weight)
        ax.set(xlim=box[:2], ylim=box[2:])
        nothing = np.zeros(0)
        return ProofDisplay(
            ax.figure.figure,
            (ax,),
            self.positions,
            self.drawn,
            subject.kinds,
            {},
            nothing,
            nothing,
            nothing,
            self.plane,
            hulls=self.hulls,
            point=self.point,
            witnesses=self.witnesses,
        )

    def _draw_hulls(self) -> None:
        single = len(self.hulls) == 1
        for code, corners in enumerate(self.hulls):
            draw_hull(self.ax, corners, BLACK if single else class_colour(code), share=0.08 if single else 0.2)


def draw_hull(ax: Axes, corners: np.ndarray, colour: str, share: float = 0.2, dashes: Any = "-") -> None:
    """A hull as a pale area with a line around it; what two of them share is seen through both."""
    look: dict[str, Any] = {"edgecolor": colour, "linestyle": dashes, "linewidth": 1.3}
    if len(corners) < 3:
        ax.plot(*corners.T, color=colour, linestyle=dashes, linewidth=2.2, zorder=1.5, gid="hull")
        return
    ax.add_patch(Polygon(corners, facecolor=(*_rgb(colour), share), zorder=1.0, gid="hull", **look))


def _rgb(colour: str) -> tuple[float, float, float]:
    return pale(colour, 1.0)
