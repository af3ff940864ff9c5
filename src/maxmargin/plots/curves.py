"""`convergence`: the primal and the dual value meeting, the gap between them, and the accuracy beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from maxmargin.plots.display import Display, axes_for
from maxmargin.plots.runs import Run, above_zero, marks, runs_of, scale_x
from maxmargin.plots.style import BLACK, DUAL, PRIMAL, legend, message, run_style, styled, title
from maxmargin.result import Result


@dataclass(frozen=True, eq=False)
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

    Returns
    -------
    ConvergenceDisplay
        The columns that were drawn, by the names of the runs.
    """
    runs = runs_of(results, against)
    accuracy = {run.name: run.column("accuracy") for run in runs}
    scored = any(np.isfinite(column).any() for column in accuracy.values())
    count = 3 if scored or (axes is not None and len(axes) == 3) else 2
    figure, panels, own = axes_for(axes, count, (3.6 * count, 3.9))
    _draw_values(panels[0], runs, own)
    _draw_gap(panels[1], runs, own)
    if count == 3:
        _draw_accuracy(panels[2], runs, accuracy, own)
    for ax in panels:
        if ax.lines:
            scale_x(ax, runs, against)
    sides = [
        Line2D([], [], color=BLACK, linestyle=PRIMAL, label="primal P"),
        Line2D([], [], color=BLACK, linestyle=DUAL, label="dual D"),
    ]
    names = [Line2D([], [], **run_style(k, len(runs)), label=run.label()) for k, run in enumerate(runs)]
    legend(panels, [names, sides], own)
    return ConvergenceDisplay(
        figure,
        panels,
        x={run.name: run.x for run in runs},
        primal={run.name: run.result.trace["primal"] for run in runs},
        dual={run.name: run.result.trace["dual"] for run in runs},
        gap={run.name: run.result.trace["gap"] for run in runs},
        accuracy=accuracy,
    )


def _draw_values(ax: Axes, runs: Sequence[Run], own: bool) -> None:
    for k, run in enumerate(runs):
        style = {**run_style(k, len(runs)), "markevery": marks(len(run.x))}
        ax.plot(run.x, run.column("primal"), linestyle=PRIMAL, **style)
        ax.plot(run.x, run.column("dual"), linestyle=DUAL, **style)
    low, high = _window(runs)
    cut = ""
    if np.isfinite(low):
        ax.set_ylim(low, high)
        values = np.concatenate([run.column(side) for run in runs for side in ("primal", "dual")])
        cut = "some of it is outside the frame" if np.nanmax(values) > high or np.nanmin(values) < low else ""
    ax.set_ylabel("objective")
    title(ax, "primal and dual value", [cut], own)


def _window(runs: Sequence[Run]) -> tuple[float, float]:
    """Limits that show the two sides meet; a first primal value can be thousands of times the last."""
    near, everything = [], []
    for run in runs:
        values = np.stack([run.column("primal"), run.column("dual")])
        everything.append(values.ravel())
        near.append(values[:, run.column("relative_gap") <= 0.6].ravel())
    values = np.concatenate(near)
    values = values[np.isfinite(values)]
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
    gaps, floor = above_zero([run.column("gap") for run in runs])
    ax.set(yscale="log", ylabel="gap P − D")
    title(ax, "gap between them", [floor], own)
    if not any(np.isfinite(gap).any() for gap in gaps):
        message(ax, "the gap is infinite throughout: there is no feasible primal point")
        return
    for k, (run, gap) in enumerate(zip(runs, gaps, strict=True)):
        ax.plot(run.x, gap, **run_style(k, len(runs)), markevery=marks(len(run.x)))


def _draw_accuracy(ax: Axes, runs: Sequence[Run], accuracy: Mapping[str, np.ndarray], own: bool) -> None:
    title(ax, "training accuracy", (), own)
    ax.set_ylabel("share of correct labels")
    values = np.concatenate(list(accuracy.values()))
    if not np.isfinite(values).any():
        message(ax, "no accuracy: the targets are not classes")
        return
    for k, run in enumerate(runs):
        ax.plot(run.x, accuracy[run.name], **run_style(k, len(runs)), markevery=marks(len(run.x)))
    low = float(np.nanmin(values))
    room = max(0.01, 0.05 * (1.0 - low))
    ax.set_ylim(low - room, 1.0 + room)
    ax.set_yticks([tick for tick in ax.get_yticks() if low - room <= tick <= 1.0])
