"""`race`: the relative gap of many solvers against time, each curve labelled where it ends."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from maxmargin.errors import InvalidInput
from maxmargin.plots.display import Display, axes_for
from maxmargin.plots.runs import AGAINST, NOISE, Run, above_floor, marks, runs_of
from maxmargin.plots.style import GREY, LONGEST, message, plain, run_style, styled, title
from maxmargin.result import Result

#: The height of a label's line, in points.
LINE = 12.0
#: The length of the piece of line before a name, in points.
KEY = 26.0
#: Characters of a name on one line of a narrow figure.
NARROW_NAME = 14
#: The dotted line from the end of a curve to its name.
LEADER = {"arrowstyle": "-", "linewidth": 0.7, "linestyle": ":", "shrinkA": KEY, "shrinkB": 3.0, "relpos": (0.0, 0.5)}


@dataclass(frozen=True, eq=False, repr=False)
class RaceDisplay(Display):
    """What `race` drew: for each run its times and the smallest relative gap so far."""

    x: dict[str, np.ndarray]
    gap: dict[str, np.ndarray]
    #: Where the labels are, as a share of the axes' height.
    heights: dict[str, float]


@styled
def race(
    results: Result | Sequence[Result] | Mapping[str, Result],
    *,
    ax: Axes | None = None,
    against: str = "seconds",
    tol: float | None = None,
    x_scale: str = "log",
    size: tuple[float, float] | None = None,
) -> RaceDisplay:
    """Draw the relative gap that each of many solvers has reached against time, on a logarithmic axis.

    Parameters
    ----------
    results : Result, list of Results, or dict of name: Result
        A list is named by its solvers.
    ax : matplotlib Axes
        Where to draw; a new figure by default.
    against : "seconds" or "iterations"
        The time that the solver ran (looks not counted), or its own count.
    tol : float
        A tolerance to draw as a line; by default the one that all runs were asked for.
    x_scale : "log" or "linear"
        The axis of time; on a linear one, a gap that falls by a constant factor per iteration is a straight line.
    size : pair of float
        Width and height of a new figure in inches; 7.2 wide by default, (4.2, 4.4) suits a narrow screen.

    Returns
    -------
    RaceDisplay
        The curves: the best gap so far, which is what a run would hand back if it were stopped there.

    Examples
    --------
    >>> from maxmargin import Problem, plots, solve
    >>> from maxmargin.data import toys
    >>> problem = Problem(*toys.overlapping(), bias="augmented")
    >>> runs = [solve(problem, name, tol=1e-3, every=1) for name in ("coordinate-ascent", "accelerated-gradient")]
    >>> type(plots.race(runs, against="iterations")).__name__
    'RaceDisplay'
    """
    if x_scale not in ("log", "linear"):
        raise InvalidInput(f"x_scale is {x_scale!r}; it must be one of: log, linear")
    runs = runs_of(results, against)
    tol = _common_tolerance(runs) if tol is None else tol
    gaps = {run.name: np.fmin.accumulate(run.column("relative_gap")) for run in runs}
    figure, (ax,), own = axes_for(ax, 1, (7.2, max(4.4, 1.4 + LINE / 72.0 * len(runs))), size=size)
    lifted, floor = above_floor(list(gaps.values()), NOISE)
    shown = [(run, k, gap) for k, (run, gap) in enumerate(zip(runs, lifted, strict=True)) if np.isfinite(gap).any()]
    ax.set(xscale=x_scale, yscale="log", xlabel=AGAINST[against][1], ylabel="best relative gap so far")
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.yaxis.set_major_locator(LogLocator(numticks=9))
    for run, k, gap in shown:
        # A count may begin at 0, which a logarithm does not have.
        ax.plot(
            _positive(run.x) if x_scale == "log" else run.x, gap, **run_style(k, len(runs)), markevery=marks(len(gap))
        )
    if tol:
        ax.axhline(tol, color=GREY, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1.0)
    lost = [run.label() for run in runs if run not in [one for one, _, _ in shown]]
    notes = [f"grey line: tolerance {tol:g}" if tol else "", floor, f"not drawn: {', '.join(lost)}" if lost else ""]
    title(ax, f"relative gap against {against}", notes, own)
    if not shown:
        message(ax, "no run has a finite gap")
    heights = _label_ends(ax, shown, x_scale == "log")
    return RaceDisplay(figure, (ax,), {run.name: run.x for run in runs}, gaps, heights)


def _positive(x: np.ndarray) -> np.ndarray:
    """The same numbers with half the smallest positive one in place of 0."""
    floor = 0.5 * float(x[x > 0].min(initial=1.0))
    return np.where(x > 0, x, floor)


def _common_tolerance(runs: Sequence[Run]) -> float | None:
    """The tolerance that all runs were asked for, if it is one."""
    asked = {run.result.tol for run in runs}
    return asked.pop() if len(asked) == 1 else None


def _label_ends(ax: Axes, shown: Sequence[tuple[Run, int, np.ndarray]], log: bool) -> dict[str, float]:
    """Put each name to the right of the axes at the height where its curve ends, moved apart where they would meet.

    Between the axes and the name stands a piece of its line: no two of them look alike.
    """
    if not shown:
        return {}
    labels = []
    figure = ax.figure.figure
    letters = NARROW_NAME if figure.get_figwidth() < 5.5 else LONGEST
    for run, k, gap in shown:
        last = int(np.flatnonzero(np.isfinite(gap))[-1])
        style = run_style(k, len(shown))
        end = ((_positive(run.x) if log else run.x)[last], gap[last])
        label = ax.annotate(
            textwrap.fill(plain(run.name), letters),
            end,
            (1.02, 0.5),
            "data",
            "axes fraction",
            color=style["color"],
            fontsize=9.0,
            va="center",
            annotation_clip=False,
            # From the middle of its left side, so that no leader crosses a name.
            arrowprops={**LEADER, "color": style["color"]},
        )
        labels.append((run.name, label, end, style))
    # The layout must be known before points can be measured against the size of the axes.
    points = 72.0 / figure.dpi
    _place(ax, labels, 0.02, 0.02 + KEY / 250.0, np.full(len(labels), 0.5))
    figure.draw_without_rendering()
    window = ax.get_window_extent()
    wanted = [float(ax.transAxes.inverted().transform(ax.transData.transform(end))[1]) for _, _, end, _ in labels]
    lines = max(label.get_text().count("\n") + 1 for _, label, _, _ in labels)
    heights = spread(np.array(wanted), lines * LINE / (points * window.height))
    across = 1.0 / (points * window.width)
    _place(ax, labels, 6.0 * across, (6.0 + KEY) * across, heights)
    return {name: float(height) for (name, *_), height in zip(labels, heights, strict=True)}


def _place(ax: Axes, labels: Sequence[Any], left: float, right: float, heights: np.ndarray) -> None:
    """Move the names and draw their pieces of line from `left` to `right` of the axes' right side."""
    for line in [line for line in ax.lines if line.get_gid() == "key"]:
        line.remove()
    for (_, label, _, style), height in zip(labels, heights, strict=True):
        label.set_position((1.0 + right, height))
        label.arrow_patch.set_zorder(0.5)
        ax.plot(
            [1.0 + left, 1.0 + (left + right) / 2, 1.0 + right - 0.2 * (right - left)],
            [height] * 3,
            **style,
            markevery=[1],
            transform=ax.transAxes,
            clip_on=False,
            gid="key",
        )


def spread(wanted: np.ndarray, apart: float) -> np.ndarray:
    """Heights as near to the wanted ones as they can be (least squares) with at least `apart` between neighbours.

    With the k-th lowest taken down by k·apart the answer must only not decrease: blocks that do are merged into
    their mean (the pool-adjacent-violators algorithm), then the whole stack is kept within 0 and 1 where it fits.
    """
    order = np.argsort(wanted, kind="stable")
    steps = apart * np.arange(len(wanted))
    blocks: list[list[float]] = []
    for value in wanted[order] - steps:
        blocks.append([value, 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, m), (b, n) = blocks[-2:]
            blocks[-2:] = [[(a * m + b * n) / (m + n), m + n]]
    level = np.concatenate([np.full(int(count), value) for value, count in blocks])
    level = np.clip(level, 0.0, max(0.0, 1.0 - steps[-1]))
    heights = np.empty(len(wanted))
    heights[order] = level + steps
    return heights
