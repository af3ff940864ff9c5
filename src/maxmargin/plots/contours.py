"""`descent`: the path of one run or several over the contours of the primal objective.

The plane is that of w for two features, with the bias (where there is one) at its best for each w; for one feature
it is that of w and b.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from maxmargin.errors import InvalidInput
from maxmargin.plots.display import Display, axes_for
from maxmargin.plots.runs import runs_of
from maxmargin.plots.style import BLACK, legend, plain, run_style, styled
from maxmargin.plots.style import title as set_title
from maxmargin.problem import Problem
from maxmargin.problem.landscape import primal_at
from maxmargin.result import Result


@dataclass(frozen=True, eq=False, repr=False)
class DescentDisplay(Display):
    """What `descent` drew."""

    #: The grid, and the primal value on it, one row for each of `y`.
    x: np.ndarray
    y: np.ndarray
    values: np.ndarray
    #: The path of each run, and the runs whose path leaves the frame.
    paths: dict[str, np.ndarray]
    clipped: tuple[str, ...]
    optimum: np.ndarray


@styled
def descent(
    results: Result | Sequence[Result] | Mapping[str, Result],
    *,
    optimum: Result | None = None,
    start: tuple[float, float] = (0.0, 0.0),
    ax: Axes | None = None,
    resolution: int = 120,
    title: str | None = None,
    size: tuple[float, float] | None = None,
) -> DescentDisplay:
    """Draw the paths of runs over the contours of their primal objective.

    Parameters
    ----------
    results : Result, list of Results, or dict of name: Result
        Runs of one problem, linear and with two features (or one feature and a bias), each made with
        ``solve(..., every=1, snapshots=True)``.
    optimum : Result
        A fit to mark as the optimum; solved for by default.
    start : pair of float
        Where the runs start, which their snapshots do not say: the origin, unless they were given another start.
    ax : matplotlib Axes
        Where to draw; a new figure by default.
    resolution : int
        Points of the grid along each side.
    title : str
        Instead of the usual one.
    size : pair of float
        Width and height of a new figure in inches; (6.4, 5.6) by default, (4.2, 4.8) suits a narrow screen.

    Returns
    -------
    DescentDisplay
        The objective on its grid, the paths, and the optimum. A path that leaves the frame is cut there, which the
        title says.

    Examples
    --------
    >>> from maxmargin import Problem, plots, solve
    >>> from maxmargin.data import toys
    >>> problem = Problem(*toys.overlapping(), bias="none")
    >>> run = solve(problem, "subgradient", max_iter=30, every=1, snapshots=True)
    >>> type(plots.descent(run)).__name__
    'DescentDisplay'
    """
    runs = runs_of(results, "iterations")
    problem = runs[0].result.problem
    _check(problem, [run.result for run in runs])
    paths = {run.name: _path(run.result, start) for run in runs}
    if optimum is None:
        from maxmargin.loop import solve

        optimum = solve(problem, tol=1e-8)
    best = _point(problem, np.asarray(optimum.w), optimum.b)
    left, right, bottom, top = frame = _frame(best, list(paths.values()))
    x, y = np.linspace(left, right, resolution), np.linspace(bottom, top, resolution)
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    values = primal_at(problem, grid).reshape(resolution, resolution)
    figure, (ax,), own = axes_for(ax, 1, (6.4, 5.6), size=size)
    low = optimum.certificate.primal
    spread = float(values.max()) - low
    # Closer together near the optimum, where a quadratic is flat.
    steps = low + spread * np.linspace(0.0, 1.0, 14)[1:] ** 2
    ax.contourf(x, y, values, np.r_[min(low, float(values.min())), steps], cmap="Greys", alpha=0.35, zorder=0.0)
    ax.contour(x, y, values, steps, colors="0.6", linewidths=0.7, zorder=1.0)
    clipped = _draw_paths(ax, paths, best, frame)
    star: dict[str, Any] = {"marker": "*", "markersize": 15, "color": BLACK, "markeredgecolor": "white"}
    ax.plot(*best, **star, linestyle="none", zorder=4.0)
    ax.set(xlim=(left, right), ylim=(bottom, top))
    names = ("w", "b") if problem.X.shape[1] == 1 else ("w₁", "w₂")
    ax.set(xlabel=names[0], ylabel=names[1])
    notes = []
    if problem.X.shape[1] == 2 and problem.bias != "none":
        notes.append("b is at its best for each w")
    if clipped:
        notes.append(f"leaves the frame: {', '.join(plain(name) for name in clipped)}")
    set_title(ax, "contours of the primal objective" if title is None else title, notes, own)
    handles = [
        Line2D([], [], **run_style(k, len(runs)), label=f"{plain(run.name)}: {_steps(len(paths[run.name]) - 1)}")
        for k, run in enumerate(runs)
    ]
    marks = [
        Line2D([], [], linestyle="none", marker="s", markersize=7, color="white", markeredgecolor="0.4", label="start"),
        Line2D([], [], linestyle="none", **{**star, "markersize": 11}, label="optimum"),
    ]
    legend([ax], [handles, marks], own)
    return DescentDisplay(figure, (ax,), x, y, values, paths, tuple(clipped), best)


def _draw_paths(
    ax: Axes, paths: Mapping[str, np.ndarray], best: np.ndarray, frame: tuple[float, float, float, float]
) -> list[str]:
    """Draw the paths with their starts and ends; returns the names of those that leave the frame."""
    left, right, bottom, top = frame
    clipped = []
    # A wide path lies under a narrow one, which it would hide.
    reaches = [float(np.nanmax(np.abs(path - best), initial=0.0)) for path in paths.values()]
    above = np.argsort(np.argsort(-np.array(reaches), kind="stable"), kind="stable") / len(paths)
    for k, (name, path) in enumerate(paths.items()):
        style = run_style(k, len(paths))
        inside = _inside(path, frame)
        if not inside.all():
            clipped.append(name)
        # A run that diverges leaves for numbers that no axis can hold.
        visible = np.where(np.isfinite(path), path, np.nan)
        reach = 1e3 * np.array([right - left, top - bottom])
        visible = np.clip(visible, best - reach, best + reach)
        every = max(1, len(path) // 40)
        ax.plot(*visible.T, **{**style, "markersize": 3.5}, markevery=every, zorder=2.0 + above[k])
        ax.plot(*visible[0], marker="s", markersize=8, color="white", markeredgecolor=style["color"], zorder=3.5)
        if inside[-1]:
            end: dict[str, Any] = {"markersize": 9, "markeredgecolor": BLACK, "markeredgewidth": 1.3}
            ax.plot(*visible[-1], marker=style["marker"], color=style["color"], zorder=3.6, **end)
    return clipped


def _check(problem: Problem, results: Sequence[Result]) -> None:
    d = problem.X.shape[1]
    if not problem.linear or problem.transform is not None:
        raise InvalidInput("descent draws the plane of w: it needs the linear kernel, without a transform")
    if d > 2 or (d == 1 and problem.bias == "none"):
        raise InvalidInput(f"descent draws the plane of w: it needs two features, or one and a bias; there are {d}")
    if problem.hard:
        raise InvalidInput("the primal of a hard margin is infinite wherever a constraint is violated; use a finite C")
    if problem.task != "classification" and problem.total:
        raise InvalidInput(f"descent does not draw loss={problem.loss.name!r}")
    for result in results:
        other = result.problem
        same = other.X.shape == problem.X.shape and other.bias == problem.bias and np.array_equal(other.C, problem.C)
        if not same:
            raise InvalidInput("the runs must be of one problem: its contours are drawn once")
        if not result.trace.snapshots:
            raise InvalidInput("there are no paths: call solve(..., every=1, snapshots=True) to keep snapshots")


def _path(result: Result, start: tuple[float, float]) -> np.ndarray:
    shots = result.trace.snapshots
    points = [_point(result.problem, shot.w, shot.b) for shot in shots]
    return np.stack(points if shots[0].iteration == 0 else [np.asarray(start, dtype=np.float64), *points])


def _steps(count: int) -> str:
    return f"{count:,} step{'' if count == 1 else 's'}"


def _point(problem: Problem, w: np.ndarray, b: float) -> np.ndarray:
    return np.array([w[0], b]) if problem.X.shape[1] == 1 else np.asarray(w, dtype=np.float64)[:2]


def _frame(best: np.ndarray, paths: Sequence[np.ndarray]) -> tuple[float, float, float, float]:
    """A frame around the optimum, the origin and where the runs start, twice as far as the furthest of them at most."""
    starts = np.array([path[0] for path in paths])
    near = max(float(np.abs(starts - best).max()), 0.25 * float(np.abs(best).max()), 1e-9)
    everything = np.vstack([*paths, starts])
    everything = everything[np.isfinite(everything).all(axis=1)]
    kept = everything[np.abs(everything - best).max(axis=1) <= 2.0 * near]
    low, high = np.minimum(kept.min(axis=0), best), np.maximum(kept.max(axis=0), best)
    room = 0.12 * max(float((high - low).max()), near)
    middle, half = (low + high) / 2, (high - low) / 2 + room
    half = np.maximum(half, 0.5 * half.max())
    return (
        float(middle[0] - half[0]),
        float(middle[0] + half[0]),
        float(middle[1] - half[1]),
        float(middle[1] + half[1]),
    )


def _inside(path: np.ndarray, frame: tuple[float, float, float, float]) -> np.ndarray:
    left, right, bottom, top = frame
    x, y = path.T
    with np.errstate(invalid="ignore"):
        return (x >= left) & (x <= right) & (y >= bottom) & (y <= top)
