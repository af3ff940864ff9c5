"""Choosing parameters: `path`, what a fit becomes as C grows, and `grid`, the score over C × gamma."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from maxmargin.errors import InvalidInput
from maxmargin.plots.display import Display, axes_for
from maxmargin.plots.style import BLACK, GREY, legend, message, run_style, styled, title, whole_numbers
from maxmargin.plots.vectors import LINES
from maxmargin.result import Result

#: More coefficients than this are not told apart.
MOST = 12
#: More cells than this have no room for their numbers.
CELLS = 80
#: Tick labels along a side.
TICKS = 9


@dataclass(frozen=True, eq=False, repr=False)
class PathDisplay(Display):
    """What `path` drew, one row for each C."""

    Cs: np.ndarray
    #: The coefficients w (of the samples, for a kernel), and the columns of them that are drawn.
    coefficients: np.ndarray
    drawn: np.ndarray
    free: np.ndarray
    bound: np.ndarray
    scores: dict[str, np.ndarray]


@dataclass(frozen=True, eq=False, repr=False)
class GridDisplay(Display):
    """What `grid` drew; `best` is (C, gamma), the smallest of equals."""

    scores: np.ndarray
    Cs: np.ndarray
    gammas: np.ndarray
    best: tuple[float, float]
    best_score: float


@styled
def path(
    Cs: Sequence[float],
    results: Sequence[Result],
    *,
    axes: Sequence[Axes] | None = None,
    scores: Any = None,
    columns: int | None = None,
) -> PathDisplay:
    """Draw coefficients, number of support vectors and score against C on a logarithmic axis.

    Parameters
    ----------
    Cs : list of float
        The values of C, in any order.
    results : list of Results
        The fit for each of them.
    axes : three matplotlib Axes
        Where to draw; a new figure by default.
    scores : list of float, or dict of name: list
        A score for each C, such as that of a validation set; by default accuracy (or R²) on the training samples.
    columns : int
        Columns of a new figure; side by side by default, 1 for a narrow screen.

    Examples
    --------
    >>> from maxmargin import C_path, plots
    >>> from maxmargin.data import toys
    >>> fits = C_path(*toys.overlapping(), [0.01, 0.1, 1.0])
    >>> plots.path(fits.Cs, fits.results).coefficients.shape  # w for each C
    (3, 2)
    """
    C = np.asarray(Cs, dtype=np.float64)
    if C.ndim != 1 or C.size == 0 or not (np.isfinite(C) & (C > 0)).all():
        raise InvalidInput("Cs must be a list of finite numbers > 0: an infinite C has no place on the axis")
    if len(results) != C.size:
        raise InvalidInput(f"there are {len(results)} results for {C.size} values of C")
    order = np.argsort(C, kind="stable")
    C, fits = C[order], [results[k] for k in order]
    linear = fits[0].w is not None
    coefficients = np.stack([np.asarray(fit.w if linear else fit.coef, dtype=np.float64) for fit in fits])
    largest = np.argsort(-np.abs(coefficients).max(axis=0), kind="stable")[:MOST]
    drawn = np.sort(largest)
    counts = [fit.certificate.kinds.counts for fit in fits]
    free, bound = (np.array([count[kind] for count in counts]) for kind in ("free", "bound"))
    if scores is None:
        measure = "accuracy" if fits[0].problem.task == "classification" else "R²"
        named = {f"training {measure}": np.array([_training_score(fit) for fit in fits])}
    else:
        given = scores if isinstance(scores, Mapping) else {"score": scores}
        named = {name: _one_for_each(column, name, C.size)[order] for name, column in given.items()}
    figure, panels, own = axes_for(axes, 3, (12.0, 4.4), columns=columns)
    _draw_coefficients(panels[0], C, coefficients, drawn, linear, own)
    for (_, _, look), column in zip(LINES, (free + bound, free, bound), strict=True):
        panels[1].plot(C, column, markersize=4.5, **look)
    panels[1].set(ylabel="support vectors", ylim=(0.0, 1.08 * max(1, (free + bound).max())))
    whole_numbers(panels[1].yaxis)
    title(panels[1], f"support vectors of {fits[0].problem.n:,} samples", (), own)
    for k, (_, column) in enumerate(named.items()):
        panels[2].plot(C, column, **run_style(k))
    panels[2].set_ylabel(next(iter(named)) if len(named) == 1 else "score")
    scored = {name: column for name, column in named.items() if np.isfinite(column).any()}
    # The best score on the training samples is no advice.
    best = "" if scores is None else _best(C, scored)
    title(panels[2], "score", [f"best {best}" if best else ""], own)
    for ax in panels:
        ax.set(xscale="log", xlabel="C")
        if C.size == 1:
            ax.set_xlim(C[0] / 10.0, C[0] * 10.0)
    if not scored:
        message(panels[2], "there is no score")
    lines = [Line2D([], [], label=name, markersize=4.5, **look) for name, _, look in LINES]
    each = [
        Line2D([], [], label=f"{'feature' if linear else 'sample'} {j}", **run_style(k)) for k, j in enumerate(drawn)
    ]
    curves = [Line2D([], [], label=name, **run_style(k)) for k, name in enumerate(named)] if len(named) > 1 else []
    legend(panels, [each, lines, curves], own)
    return PathDisplay(figure, panels, C, coefficients, drawn, free, bound, named)


def _best(C: np.ndarray, scores: Mapping[str, np.ndarray]) -> str:
    """The best of each score, and its C."""
    return "; ".join(
        f"{name} {np.nanmax(column):.4g} at C = {C[int(np.nanargmax(column))]:.3g}" for name, column in scores.items()
    )


def _draw_coefficients(
    ax: Axes, C: np.ndarray, coefficients: np.ndarray, drawn: np.ndarray, linear: bool, own: bool
) -> None:
    for k, j in enumerate(drawn):
        ax.plot(C, coefficients[:, j], **run_style(k, len(drawn)))
    ax.axhline(0.0, color=GREY, linewidth=0.6, zorder=0.5)
    ax.set_ylabel("w" if linear else "coefficient of the sample")
    count = coefficients.shape[1]
    some = f"the {len(drawn)} largest of {count:,}" if count > len(drawn) else ""
    title(ax, "coefficients", [some], own)


def _one_for_each(column: Any, name: str, count: int) -> np.ndarray:
    column = np.asarray(column, dtype=np.float64)
    if column.shape != (count,):
        raise InvalidInput(f"{name} has shape {column.shape}; one score for each of the {count} values of C is needed")
    return column


def _training_score(result: Result) -> float:
    """Accuracy, or R² of a regression, on the rows that count; NaN where there is nothing to compare with."""
    problem = result.problem
    if problem.task == "novelty":
        return np.nan
    assert result.point.w is not None
    used = problem.C > 0
    z = (problem.space.scores(result.point.w) + (result.point.b or 0.0))[used]
    t = problem.target[used]
    if problem.task == "classification":
        return float(np.mean((z > 0) == (t > 0)))
    spread = float(np.square(t - t.mean()).sum())
    return 1.0 - float(np.square(t - z).sum()) / spread if spread else np.nan


@styled
def grid(
    scores: Any,
    Cs: Sequence[float],
    gammas: Sequence[float],
    *,
    ax: Axes | None = None,
    size: tuple[float, float] | None = None,
) -> GridDisplay:
    """Draw a score over C × gamma as a heat map with the best one marked.

    Parameters
    ----------
    scores : array of shape (len(Cs), len(gammas))
        NaN where there is none.
    Cs, gammas : lists of float
        The values that were tried, in the order of the rows and columns.
    ax : matplotlib Axes
        Where to draw; a new figure by default.
    size : pair of float
        Width and height of a new figure in inches; (6.6, 5.2) by default.

    Examples
    --------
    >>> from maxmargin import plots
    >>> plots.grid([[0.8, 0.9], [0.7, 0.95]], Cs=[1.0, 10.0], gammas=[0.1, 1.0]).best
    (10.0, 1.0)
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != (len(Cs), len(gammas)) or values.size == 0:
        raise InvalidInput(
            f"scores has shape {values.shape}; {len(Cs)} values of C by {len(gammas)} of gamma need one each"
        )
    by_C, by_gamma = np.argsort(Cs, kind="stable"), np.argsort(gammas, kind="stable")
    values = values[np.ix_(by_C, by_gamma)]
    C, gamma = np.asarray(Cs, dtype=np.float64)[by_C], np.asarray(gammas, dtype=np.float64)[by_gamma]
    there = np.isfinite(values)
    if not there.any():
        raise InvalidInput("there is no finite score to draw")
    figure, (ax,), own = axes_for(ax, 1, (6.6, 5.2), size=size)
    image = ax.imshow(np.where(there, values, np.nan), origin="lower", aspect="auto", cmap="cividis")
    figure.colorbar(image, ax=ax, label="score", pad=0.02)
    for i, j in np.argwhere(~there):
        ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor="0.93", edgecolor="0.6", hatch="///", linewidth=0))
    # Among equals the smallest C, then the smallest gamma: the smoothest model.
    i, j = np.argwhere(there & (values == values[there].max()))[0]
    equals = int(np.count_nonzero(values[there] == values[i, j]))
    ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor="white", linewidth=5.0, clip_on=False))
    ax.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor=BLACK, linewidth=2.2, clip_on=False))
    if values.size <= CELLS:
        low, high = float(values[there].min()), float(values[there].max())
        for row, column in np.argwhere(there):
            dark = values[row, column] < low + 0.55 * (high - low)
            text = f"{values[row, column]:.3g}"
            ax.text(column, row, text, ha="center", va="center", fontsize=8.5, color="white" if dark else BLACK)
    for axis, ticks in ((ax.xaxis, gamma), (ax.yaxis, C)):
        step = -(-len(ticks) // TICKS)
        axis.set_ticks(range(0, len(ticks), step), [f"{tick:.3g}" for tick in ticks[::step]])
    ax.set(xlabel="gamma", ylabel="C")
    for spine in ax.spines.values():
        spine.set_visible(False)
    notes = [f"the first of {equals} equals" if equals > 1 else "", "" if there.all() else "hatched: no score"]
    title(ax, f"best score {values[i, j]:.4g} at C = {C[i]:.3g}, gamma = {gamma[j]:.3g} (framed)", notes, own)
    return GridDisplay(figure, (ax,), values, C, gamma, (float(C[i]), float(gamma[j])), float(values[i, j]))
