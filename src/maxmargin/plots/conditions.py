"""`kkt`: complementary slackness as a picture, each sample at its margin and its multiplier.

At an optimum every sample lies on the graph of the loss's (sub)gradient: β_i = −C_i ℓ'(z_i). In margins m = yz and
multipliers α = yβ the hinge's is the L-shaped set

    α = 0 where m ≥ 1,    0 ≤ α ≤ C where m = 1,    α = C where m ≤ 1

and any other loss has its own curve. A regression has the error z − t in place of the margin, and β in place of α.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from maxmargin.errors import InvalidInput
from maxmargin.plots.display import Display, axes_for
from maxmargin.plots.points import choose_points, class_handles, draw_points, kind_handles
from maxmargin.plots.style import GREEN, GREY, legend, number, styled
from maxmargin.plots.style import title as set_title
from maxmargin.plots.subject import by_kind, class_names, describe
from maxmargin.result import Result

CURVE: dict[str, Any] = {"color": "0.72", "linewidth": 7.0, "solid_capstyle": "round", "solid_joinstyle": "round"}


@dataclass(frozen=True, eq=False, repr=False)
class KKTDisplay(Display):
    """What `kkt` drew, one entry for each sample."""

    #: y_i z_i; the error z_i − t_i of a regression.
    margin: np.ndarray
    #: α_i/C_i; α_i itself for a hard margin, and β in place of α for a regression.
    multiplier: np.ndarray
    #: The points of the curve that the conditions allow.
    curve: np.ndarray
    #: How far each sample is off the curve (of a hard margin with α as a share of the largest).
    distance: np.ndarray
    #: The samples further off than the tolerance.
    off: np.ndarray


@styled
def kkt(
    result: Result,
    *,
    ax: Axes | None = None,
    tol: float = 1e-3,
    title: str | None = None,
    size: tuple[float, float] | None = None,
) -> KKTDisplay:
    """Draw each sample at its margin y_i z_i and its multiplier α_i/C_i, on the curve that the KKT conditions allow.

    Parameters
    ----------
    result : Result
        The fit; any loss.
    ax : matplotlib Axes
        Where to draw; a new figure by default.
    tol : float
        Samples further off the curve than this are counted and circled.
    title : str
        Instead of the line that describes the fit.
    size : pair of float
        Width and height of a new figure in inches; (6.4, 4.8) by default, (4.2, 4.4) suits a narrow screen.

    Returns
    -------
    KKTDisplay
        The two coordinates of each sample, the curve, and the samples that are off it.

    Examples
    --------
    >>> from maxmargin import Problem, plots, solve
    >>> from maxmargin.data import toys
    >>> display = plots.kkt(solve(Problem(*toys.overlapping()), tol=1e-8))
    >>> len(display.off)  # no sample is off the curve
    0
    """
    if not tol > 0:
        raise InvalidInput(f"tol is {tol!r}; it must be a number > 0")
    problem = result.problem
    assert result.point.w is not None
    z = problem.space.scores(result.point.w) + (result.point.b or 0.0)
    regression = problem.task == "regression"
    used = problem.C > 0
    if regression:
        margin, dual, label = z - problem.target, result.beta, "β"
    else:  # novelty has the target 1 throughout
        margin, dual, label = problem.target * z, problem.target * result.beta, "α"
    if problem.hard:
        multiplier = dual
    else:
        multiplier = np.divide(dual, problem.C, out=np.zeros(problem.n), where=used)
    top = float(np.abs(multiplier).max())
    curve = _curve(result, margin[used], top)
    unit = top if problem.hard and top > 0 else 1.0
    distance = np.where(used, _distances(np.column_stack([margin, multiplier / unit]), curve / (1.0, unit)), 0.0)
    off = np.flatnonzero(distance > tol)
    codes, names = class_names(problem)
    kinds = {kind: indices[used[indices]] for kind, indices in by_kind(result.certificate.kinds).items()}
    drawn, some = choose_points(codes, kinds)
    figure, (ax,), own = axes_for(ax, 1, (6.4, 4.8), size=size)
    ax.plot(*curve.T, **CURVE, zorder=1.0, gid="curve")
    positions = np.column_stack([margin, multiplier])
    draw_points(ax, positions, codes, kinds, drawn)
    ring: dict[str, Any] = {"facecolors": "none", "edgecolors": GREEN, "linewidths": 1.4, "zorder": 2.8}
    ax.scatter(positions[off, 0], positions[off, 1], s=110.0, gid="off", **ring)
    ax.axhline(0.0, color=GREY, linewidth=0.6, zorder=0.5)
    ax.axvline(0.0, color=GREY, linewidth=0.6, zorder=0.5)
    share = label if problem.hard else f"{label} / C"
    ax.set(xlabel="error z − t" if regression else "margin y z", ylabel=f"multiplier {share}")
    said = (
        f"all {np.count_nonzero(used):,} samples are on the curve, up to {number(tol)}"
        if not off.size
        else f"{off.size:,} of {np.count_nonzero(used):,} samples are off the curve by more than {number(tol)}"
    )
    set_title(ax, describe(result) if title is None else title, [said, some], own)
    lines = [Line2D([], [], **CURVE, label="allowed by KKT")]
    if off.size:
        circle: dict[str, Any] = {"marker": "o", "markersize": 9.0, "markerfacecolor": "none", "markeredgecolor": GREEN}
        lines.append(Line2D([], [], linestyle="none", **circle, label=f"off the curve: {off.size:,}"))
    legend([ax], [[*class_handles(names, codes), *lines], kind_handles(kinds)], own)
    return KKTDisplay(figure, (ax,), margin, multiplier, curve, distance, off)


def _curve(result: Result, margin: np.ndarray, top: float) -> np.ndarray:
    """The graph of −ℓ' over the margins (the errors) in the picture, a vertical line at each kink."""
    problem = result.problem
    low, high = float(margin.min()), float(margin.max())
    room = 0.06 * max(high - low, 1e-9, 0.1 * abs(high))
    low, high = min(low - room, 0.0), max(high + room, 1.2 if problem.task != "regression" else 0.0)
    if problem.hard:
        return np.array([[1.0, 1.12 * max(top, 1e-12)], [1.0, 0.0], [max(high, 1.2), 0.0]])
    target = 0.0 if problem.task == "regression" else 1.0
    kinks = [float(kink[0]) for kink in problem.loss.kinks(np.full(1, target))]
    x = np.unique(np.r_[np.linspace(low, high, 801), kinks])
    pieces = []
    for value in x:
        around = [value - 1e-12, value + 1e-12] if value in kinks else [value]
        slopes = problem.loss.slope(np.array(around), np.full(len(around), target))
        pieces += [(value, -slope) for slope in slopes]
    return np.array(pieces)


def _distances(points: np.ndarray, curve: np.ndarray) -> np.ndarray:
    """The distance of each point from a polygonal line."""
    best = np.full(len(points), np.inf)
    for a, b in pairwise(curve):
        along = b - a
        length = float(along @ along)
        share = np.clip((points - a) @ along / length, 0.0, 1.0) if length > 0 else np.zeros(len(points))
        best = np.minimum(best, np.hypot(*(points - a - share[:, None] * along).T))
    return best
