"""`hulls`: the dual as geometry, the nearest points of the two (reduced) convex hulls.

With the hinge, a free bias and A = Σ_{+}α = Σ_{−}α, the points p = Σ_{+} (α_i/A) x_i and q = Σ_{−} (α_i/A) x_i are the
nearest points of the two reduced hulls (no weight above C_i/A), and w = A(p − q). A hard margin has the hulls
themselves: either they have a distance, whose half is the margin, or they share a point.

Crisp & Burges, A geometric interpretation of ν-SVM classifiers, NIPS 1999.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from maxmargin.errors import InvalidInput
from maxmargin.numeric.hulls import hull
from maxmargin.plots.display import Display, axes_for
from maxmargin.plots.levels import Lines, draw_levels, level_handle
from maxmargin.plots.plane import box_around, choose_plane, straight_line
from maxmargin.plots.points import choose_points, class_handles, draw_points, kind_handles, weight_handles
from maxmargin.plots.proof import POINT, draw_hull, draw_proof
from maxmargin.plots.style import BLACK, GREY, class_colour, legend, number, shape_of, styled
from maxmargin.plots.style import title as set_title
from maxmargin.plots.subject import describe, subject_of
from maxmargin.result import Result

#: The dashes around a reduced hull.
REDUCED: Any = (0, (4, 2))


@dataclass(frozen=True, eq=False, repr=False)
class HullsDisplay(Display):
    """What `hulls` drew."""

    positions: np.ndarray
    #: The corners of the convex hulls, of class −1 and of class +1.
    hulls: tuple[np.ndarray, ...]
    #: Those of the reduced hulls; None for a hard margin.
    reduced: tuple[np.ndarray, ...] | None
    #: The nearest points, p of class +1 and q of class −1; the same point where no hyperplane separates.
    p: np.ndarray
    q: np.ndarray
    #: A = Σ_{+}α; NaN where no hyperplane separates.
    A: float
    #: The pieces of the hyperplane.
    lines: Lines


@styled
def hulls(
    result: Result, *, ax: Axes | None = None, title: str | None = None, size: tuple[float, float] | None = None
) -> HullsDisplay:
    """Draw the convex hulls of two classes, for a soft margin the reduced ones, and their nearest points.

    Parameters
    ----------
    result : Result
        A fit with the hinge, the linear kernel, two features and a free bias; C=inf for the hulls themselves.
    ax : matplotlib Axes
        Where to draw; a new figure by default.
    title : str
        Instead of the line that describes the fit.
    size : pair of float
        Width and height of a new figure in inches; (6.4, 5.6) by default, (4.2, 4.6) suits a narrow screen.

    Returns
    -------
    HullsDisplay
        The corners of the hulls and the nearest points p and q; w = A(p − q).

    Examples
    --------
    >>> from maxmargin import Problem, plots, solve
    >>> from maxmargin.data import toys
    >>> result = solve(Problem(*toys.separable(), C=float("inf")), tol=1e-8)
    >>> type(plots.hulls(result)).__name__
    'HullsDisplay'
    """
    _check(result)
    subject = subject_of(result, None, None)
    if result.certificate.inseparable is not None:
        shown = draw_proof(result, subject, ax, heading=title, size=size)
        assert shown.point is not None
        return HullsDisplay(
            shown.figure, shown.axes, shown.positions, shown.hulls, None, shown.point, shown.point, np.nan, {}
        )
    problem = result.problem
    plane = choose_plane(subject, None, "auto")
    positions = plane.coordinates(subject.X)
    sides = [(subject.codes == code) & (problem.C > 0) for code in (0, 1)]
    alpha = result.alpha
    sums = [float(alpha[side].sum()) for side in sides]
    if min(sums) <= 0.0:
        raise InvalidInput("all α are 0: there are no nearest points to draw")
    A = 0.5 * (sums[0] + sums[1])
    q, p = (alpha[side] @ positions[side] / total for side, total in zip(sides, sums, strict=True))
    corners = tuple(hull(positions[side]) for side in sides)
    reduced = None
    if not problem.hard:
        reduced = tuple(hull(positions[side], problem.C[side] / total) for side, total in zip(sides, sums, strict=True))
    drawn, some = choose_points(subject.codes, subject.kinds)
    figure, (ax,), own = axes_for(ax, 1, (6.4, 5.6), size=size)
    distance = float(np.hypot(*(p - q)))
    notes = [
        f"|p − q| = {number(distance)}, A = {number(A)}, ‖w‖ = {number(A * distance)}",
        f"the margin is as wide: 2/‖w‖ = {number(distance)}" if problem.hard else "",
        "" if problem.hard else f"weights at most C/A = {_cap(problem.C, A)}",
        some,
    ]
    ax.set(xlabel=plane.names[0], ylabel=plane.names[1])
    set_title(ax, describe(result) if title is None else title, notes, own)
    areas = _area_handles(reduced is not None)
    kinds = [*kind_handles(subject.kinds), *weight_handles(subject.weight, subject.weight_name)]
    lines = [level_handle(0.0, "hyperplane z = 0"), Line2D([], [], **_segment(), label="from p to q")]
    halfway = _halfway(result, p, q)
    if halfway is not None:
        lines.append(Line2D([], [], **_half_line(), label="half-way from p to q"))
    legend([ax], [[*class_handles(subject.classes, subject.codes), *lines], areas, [*kinds]], own)
    ax.set(xlim=box_around(positions)[:2], ylim=box_around(positions)[2:])
    box = box_around(positions, shape_of(ax))
    for code in (0, 1):
        draw_hull(ax, corners[code], class_colour(code), share=0.1)
        if reduced is not None:
            draw_hull(ax, reduced[code], class_colour(code), share=0.35, dashes=REDUCED)
    assert subject.weights is not None
    normal, offset = plane.affine(*subject.weights)
    pieces = {0.0: straight_line(normal, offset, box)}
    draw_levels(ax, pieces)
    if halfway is not None:
        for piece in straight_line(normal, -halfway, box):
            ax.plot(*piece.T, **_half_line(), zorder=2.0)
    _draw_nearest(ax, p, q)
    draw_points(ax, positions, subject.codes, subject.kinds, drawn, subject.weight)
    ax.set(xlim=box[:2], ylim=box[2:])
    return HullsDisplay(figure, (ax,), positions, corners, reduced, p, q, A, pieces)


def _check(result: Result) -> None:
    problem = result.problem
    form = problem.form
    if problem.task != "classification" or form is None or form.ridge.any():
        raise InvalidInput(f"hulls are the dual of the hinge; loss={problem.loss.name!r} has another")
    if problem.bias != "free":
        raise InvalidInput(f"hulls need Σ₊α = Σ₋α, so bias='free'; this problem has bias={problem.bias!r}")
    if not problem.linear or problem.transform is not None or problem.X.shape[1] != 2:
        raise InvalidInput("hulls are drawn in the plane: two features and the linear kernel, without a transform")


def _halfway(result: Result, p: np.ndarray, q: np.ndarray) -> float | None:
    """The w·x of the line half-way between p and q; None where it is the hyperplane, as for a hard margin."""
    assert result.w is not None
    middle = float(result.w @ (p + q)) / 2.0
    return None if abs(middle + result.b) <= 0.05 else middle


def _area_handles(reduced: bool) -> list[Artist]:
    handles: list[Artist] = [Patch(facecolor="0.94", edgecolor=GREY, label="convex hulls")]
    if reduced:
        handles.append(Patch(facecolor="0.75", edgecolor=GREY, linestyle=REDUCED, label="reduced hulls"))
    return handles


def _draw_nearest(ax: Axes, p: np.ndarray, q: np.ndarray) -> None:
    """The nearest points with their names, and the segment between them."""
    ax.plot(*np.array([p, q]).T, **_segment(), zorder=4.5, gid="segment")
    for name, point, other in (("p", p, q), ("q", q, p)):
        ax.plot(*point, **{**POINT, "markersize": 10.0}, zorder=4.8, gid=name)
        away = (point - other) / max(float(np.hypot(*(p - q))), 1e-300)
        ax.annotate(
            name,
            (point[0], point[1]),
            (15.0 * away[0] + 8.0 * away[1], 15.0 * away[1] - 8.0 * away[0]),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=12.0,
            fontweight="bold",
            zorder=5.0,
            bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.75},
        )


def _segment() -> dict[str, Any]:
    return {"color": BLACK, "linewidth": 2.0, "linestyle": (0, (2, 1))}


def _half_line() -> dict[str, Any]:
    return {"color": GREY, "linewidth": 1.2, "linestyle": (0, (1, 2))}


def _cap(C: np.ndarray, A: float) -> str:
    weights = np.unique(C[C > 0]) / A
    return number(weights[0]) if weights.size == 1 else f"{number(weights[0])} to {number(weights[-1])}"
