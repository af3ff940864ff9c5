"""`convergence`: the primal and the dual value meeting, the gap between them, and the accuracy beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from maxmargin.plots.display import Display, axes_for
from maxmargin.plots.runs import Run, above_floor, marks, runs_of, scale_x
from maxmargin.plots.style import BLACK, DUAL, PRIMAL, legend, message, number, pale, run_style, styled, title
from maxmargin.result import Result

#: Accuracies that differ by less than this are drawn on an axis from 0.5 (or 0) to 1.
STEADY = 0.02


@dataclass(frozen=True, eq=False, repr=False)
class ConvergenceDisplay(Display):
    """What `convergence` drew: for each run where it looked, and what it saw there."""

    x: dict[str, np.ndarray]
    primal: dict[str, np.ndarray]
    dual: dict[str, np.ndarray]
    gap: dict[str, np.ndarray]
    accuracy: dict[str, np.ndarray]


@styled
def convergence(
    results: Result | Sequence[Result] | Mapping[str, Result],
    *,
    axes: Sequence[Axes] | None = None,
    against: str = "iterations",
    columns: int | None = None,
) -> ConvergenceDisplay:
    """Draw how one run or several converge: primal and dual values, their gap on a logarithmic axis, the accuracy.

    Parameters
    ----------
    results : Result, list of Results, or dict of name: Result
        A list is named by its solvers.
    axes : three matplotlib Axes
        For the values, the gap and the accuracy; two will do where there is no accuracy (a regression).
    against : "iterations" or "seconds"
        The solver's own count, or the time that it ran (looks not counted).
    columns : int
        Columns of a new figure; side by side by default, 1 for a narrow screen.

    Returns
    -------
    ConvergenceDisplay
        The columns that were drawn, by the names of the runs.

    Examples
    --------
    >>> from maxmargin import Problem, plots, solve
    >>> from maxmargin.data import toys
    >>> problem = Problem(*toys.overlapping())
    >>> runs = {name: solve(problem, name, tol=1e-3, every=1) for name in ("smo", "accelerated-gradient")}
    >>> len(plots.convergence(runs).axes)
    3
    """
    runs = runs_of(results, against)
    accuracy = {run.name: run.column("accuracy") for run in runs}
    scored = any(np.isfinite(column).any() for column in accuracy.values())
    count = 3 if scored or (axes is not None and len(axes) == 3) else 2
    figure, panels, own = axes_for(axes, count, (3.6 * count, 3.9), columns=columns)
    if all(len(run.x) == 1 for run in runs):  # nothing moves: the numbers, not a curve of one point
        _draw_bars(panels, runs, accuracy, own, every=columns == 1)
    else:
        _draw_values(panels[0], runs, own)
        _draw_gap(panels[1], runs, own)
        if count == 3:
            _draw_accuracy(panels[2], runs, accuracy, own)
        _legend(panels, runs, own)
    for ax in panels:
        if ax.lines:
            scale_x(ax, runs, against)
    return ConvergenceDisplay(
        figure,
        panels,
        x={run.name: run.x for run in runs},
        primal={run.name: run.result.trace["primal"] for run in runs},
        dual={run.name: run.result.trace["dual"] for run in runs},
        gap={run.name: run.result.trace["gap"] for run in runs},
        accuracy=accuracy,
    )


def _legend(panels: Sequence[Axes], runs: Sequence[Run], own: bool) -> None:
    sides = [
        Line2D([], [], color=BLACK, linestyle=PRIMAL, label="primal P"),
        Line2D([], [], color=BLACK, linestyle=DUAL, label="dual D"),
    ]
    names = [Line2D([], [], **run_style(k, len(runs)), label=run.label()) for k, run in enumerate(runs)]
    legend(panels, [names, sides], own)


def _draw_values(ax: Axes, runs: Sequence[Run], own: bool) -> None:
    for k, run in enumerate(runs):
        style = {**run_style(k, len(runs)), "markevery": marks(len(run.x))}
        ax.plot(run.x, run.column("primal"), **{**style, "linestyle": PRIMAL})
        ax.plot(run.x, run.column("dual"), **{**style, "linestyle": DUAL})
    low, high = _window(runs)
    cut = ""
    if np.isfinite(low):
        ax.set_ylim(low, high)
        values = np.concatenate([run.column(side) for run in runs for side in ("primal", "dual")])
        cut = "some values outside the frame" if np.nanmax(values) > high or np.nanmin(values) < low else ""
    ax.set_ylabel("objective")
    title(ax, "primal and dual objective", [cut], own)


def _window(runs: Sequence[Run]) -> tuple[float, float]:
    """Limits that show the two sides meet; a first primal value can be thousands of times the last."""
    near, far, everything = [], [], []
    for run in runs:
        values = np.stack([run.column("primal"), run.column("dual")])
        everything.append(values.ravel())
        close = values[:, run.column("relative_gap") <= 0.6].ravel()
        near.append(close)
        if not close.size and np.isfinite(values).any(axis=1).all():
            far.append((np.nanmin(values[0]), np.nanmax(values[1])))
    values = np.concatenate(near)
    values = values[np.isfinite(values)]
    if values.size:
        # A run that never comes near is seen at its best, unless the others would be squashed.
        span = float(np.ptp(values))
        best = [end for ends in far for end in ends if values.min() - span <= end <= values.max() + 2.0 * span]
        values = np.append(values, best)
    if values.size == 0:
        values = np.concatenate(everything)
        values = values[np.isfinite(values)]
    if values.size == 0:
        return np.nan, np.nan
    low, high = float(values.min()), float(values.max())
    # Never so close that the ticks are all digits.
    room = max(0.08 * (high - low), 1e-4 * max(abs(low), abs(high)), 1e-12)
    return low - room, high + room


def _draw_gap(ax: Axes, runs: Sequence[Run], own: bool) -> None:
    gaps, floor = above_floor([run.column("gap") for run in runs], [run.noise for run in runs])
    ax.set(yscale="log", ylabel="gap P − D")
    title(ax, "duality gap", [floor], own)
    if not any(np.isfinite(gap).any() for gap in gaps):
        message(ax, "the gap is infinite throughout: there is no feasible primal point")
        return
    for k, (run, gap) in enumerate(zip(runs, gaps, strict=True)):
        ax.plot(run.x, gap, **run_style(k, len(runs)), markevery=marks(len(run.x)))


def _draw_accuracy(ax: Axes, runs: Sequence[Run], accuracy: Mapping[str, np.ndarray], own: bool) -> None:
    title(ax, "training accuracy", (), own)
    ax.set_ylabel("accuracy")
    values = np.concatenate(list(accuracy.values()))
    if not np.isfinite(values).any():
        message(ax, "no accuracy: the targets are not classes")
        return
    for k, run in enumerate(runs):
        ax.plot(run.x, accuracy[run.name], **run_style(k, len(runs)), markevery=marks(len(run.x)))
    low = float(np.nanmin(values))
    if float(np.nanmax(values)) - low < STEADY:  # a line, not a close look at the last percent
        low = 0.5 if low >= 0.5 else 0.0
    room = max(0.01, 0.05 * (1.0 - low))
    ax.set_ylim(low - room, 1.0 + room)
    ax.set_yticks([tick for tick in ax.get_yticks() if low - room <= tick <= 1.0])


def _draw_bars(
    panels: Sequence[Axes], runs: Sequence[Run], accuracy: Mapping[str, np.ndarray], own: bool, every: bool
) -> None:
    """Runs of a single look: their primal and dual values, gaps and accuracies as bars with the numbers in words."""
    values, gaps, *last = panels
    for k, run in enumerate(runs):
        colour = run_style(k)["color"]
        primal, dual, gap, relative = (float(run.column(name)[0]) for name in ("primal", "dual", "gap", "relative_gap"))
        for side, value, where in (("P", primal, k - 0.2), ("D", dual, k + 0.2)):
            face = colour if side == "P" else pale(colour, 0.35)
            edge = PRIMAL if side == "P" else DUAL
            if np.isfinite(value):
                values.barh(where, value, 0.34, color=face, edgecolor=colour, linestyle=edge, gid=side)
            _write(values, where, f"{side} = {value:.9g}" if np.isfinite(value) else f"{side} = ∞")
        height = 0.4
        if np.isfinite(gap):
            floor = run.noise or 1e-16
            gaps.barh(k, max(gap, 2.0 * floor) - floor / 2, height, left=floor / 2, color=colour, gid="gap")
        words = f"{number(gap)} (relative {relative:.0e})" if np.isfinite(gap) else "infinite: no feasible primal point"
        _write(gaps, k, "0, up to rounding" if gap <= run.noise else words)
        for ax in last:
            share = float(accuracy[run.name][0])
            if np.isfinite(share):
                ax.barh(k, share, height, color=colour, gid="accuracy")
            _write(ax, k, f"{share:.4g}" if np.isfinite(share) else "no accuracy: the targets are not classes")
    title(values, "primal and dual objective", ["one look, at the end"], own)
    title(gaps, "duality gap", (), own)
    values.set_xlabel("objective")
    gaps.set(xscale="log", xlabel="gap P − D")
    low, high = gaps.get_xlim()
    gaps.set_xlim(low, max(high, 1e4 * low))
    for ax in last:
        title(ax, "training accuracy", (), own)
        ax.set(xlim=(0.0, 1.0), xlabel="accuracy")
    for ax in panels:
        ax.set_ylim(len(runs) - 0.5, -0.75)
        ax.set_yticks(range(len(runs)), [run.label() for run in runs] if every or ax is values else [""] * len(runs))
        ax.tick_params(axis="y", length=0.0)


def _write(ax: Axes, height: float, words: str) -> None:
    """A number at the left end of its bar, readable on the bar and beside it."""
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    place = ax.get_yaxis_transform()
    ax.text(0.03, height, words, transform=place, va="center", fontsize=9.0, color=BLACK, bbox=box, zorder=4.0)
