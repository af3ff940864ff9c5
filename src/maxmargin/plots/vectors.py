"""`support`: the number of support vectors over a run, the dual variable of each sample, and the gap of each sample.

For a perceptron, which has no dual variables: its corrections over the passes, those of each sample, and the distance
of each sample from the hyperplane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from maxmargin.certificate.kkt import sample_gaps as gaps_of_samples
from maxmargin.plots.display import Display, axes_for
from maxmargin.plots.points import choose_points, class_handles, draw_points, kind_handles
from maxmargin.plots.runs import NOISE, marks, runs_of, scale_x
from maxmargin.plots.style import (
    BLACK,
    BLUE,
    GREY,
    VERMILLION,
    class_colour,
    legend,
    message,
    number,
    styled,
    title,
    whole_numbers,
)
from maxmargin.plots.subject import by_kind, class_names, with_weight
from maxmargin.result import Result

#: Support vectors below this share of the largest weight are counted in a note.
SMALL = 0.05
#: More stems than this are a solid block.
MOST = 400


@dataclass(frozen=True, eq=False, repr=False)
class SupportDisplay(Display):
    """What `support` drew."""

    #: The columns of the first panel.
    iterations: np.ndarray
    support: np.ndarray
    free: np.ndarray
    bound: np.ndarray
    #: The dual variable of each sample (for a perceptron its signed corrections), and the samples whose stem is drawn.
    beta: np.ndarray
    drawn: np.ndarray
    #: The gap of each sample; with `link` it sums to the gap of the certificate.
    gaps: np.ndarray
    #: ½‖w − w(β)‖² − b (Σβ − total): what is no sample's own; 0 where w is made of β.
    link: float
    #: For a perceptron, y_i z_i / ‖w‖: the signed distance of each sample from the hyperplane.
    distances: np.ndarray | None = None


def sample_gaps(result: Result) -> tuple[np.ndarray, float]:
    """The duality gap, sample by sample, and what is left over.

    By the Fenchel–Young inequality each part C_i[ℓ_i(z_i) + ℓ_i*(−β_i/C_i)] + β_i z_i is at least 0, and 0 exactly
    where β_i = −C_i ℓ'_i(z_i), as at the optimum; ½‖w − w(β)‖² is left over where w is not w(β).
    """
    problem, point, beta = result.problem, result.point, result.beta
    assert point.w is not None
    b = point.b or 0.0
    gaps = gaps_of_samples(problem, beta, problem.space.scores(point.w) + b)
    apart = point.w - problem.space.combine(beta)
    surplus = float(beta.sum()) - (problem.total or 0.0)
    link = 0.0 if point.linked else 0.5 * problem.space.sqnorm(apart)
    return gaps, link - b * surplus


@styled
def support(result: Result, *, axes: Sequence[Axes] | None = None, columns: int | None = None) -> SupportDisplay:
    """Draw the number of support vectors over the iterations, the dual variables as stems, and the gap per sample.

    For a perceptron: its corrections over the passes, those of each sample, and the distance of each sample.

    Parameters
    ----------
    result : Result
        The fit.
    axes : three matplotlib Axes
        Where to draw; a new figure by default.
    columns : int
        Columns of a new figure; side by side by default, 1 for a narrow screen.

    Returns
    -------
    SupportDisplay
        The arrays that were drawn; `gaps` says which samples the gap comes from.

    Examples
    --------
    >>> from maxmargin import Problem, plots, solve
    >>> from maxmargin.data import toys
    >>> result = solve(Problem(*toys.overlapping()), "smo", tol=1e-6, every=1)
    >>> len(plots.support(result).axes)
    3
    """
    if result.point.answer and result.coef is not None:
        return draw_corrections(result, axes, columns)
    trace, kinds = result.trace, result.certificate.kinds
    gaps, link = sample_gaps(result)
    codes, names = class_names(result.problem)
    stems = {kind: kinds[kind] for kind in ("free", "bound")}
    drawn, some = choose_points(codes, stems, MOST)
    figure, panels, own = axes_for(axes, 3, (12.0, 4.4), columns=columns)
    _draw_counts(panels[0], result, own)
    _draw_stems(panels[1], result, drawn, some, own)
    _draw_gaps(panels[2], result, gaps, link, own)
    lines = [Line2D([], [], label=f"count: {name}", markersize=4.5, **look) for name, _, look in LINES]
    legend(panels, [lines, class_handles(names, codes), kind_handles(by_kind(kinds))], own)
    drawn_columns = trace["iteration"], trace["support"], trace["free"], trace["bound"]
    return SupportDisplay(figure, panels, *drawn_columns, beta=result.beta, drawn=drawn, gaps=gaps, link=link)


#: The lines of the first panel: the name, the trace's column, and how it looks.
LINES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("free and bound", "support", {"color": BLACK, "linestyle": "-", "marker": "o"}),
    ("free", "free", {"color": BLUE, "linestyle": (0, (5, 2)), "marker": "^"}),
    ("bound", "bound", {"color": VERMILLION, "linestyle": (0, (1.5, 1.5)), "marker": "s"}),
)


def _draw_counts(ax: Axes, result: Result, own: bool) -> None:
    trace = result.trace
    for _, column, look in LINES:
        ax.plot(trace["iteration"], trace[column], markevery=marks(len(trace)), markersize=4.5, **look)
    scale_x(ax, runs_of(result, "iterations"), "iterations")
    ax.set(ylabel="support vectors", ylim=(0.0, 1.08 * max(1.0, trace["support"].max(initial=1.0))))
    weight = np.abs(result.beta[result.support])
    small = int(np.count_nonzero(weight < SMALL * weight.max(initial=0.0)))
    note = f"{small:,} of them below {SMALL:.0%} of the largest α" if small else ""
    title(ax, f"support vectors: {len(result.support):,} of {result.problem.n:,} samples", [note], own)
    whole_numbers(ax.yaxis)


def _draw_stems(ax: Axes, result: Result, drawn: np.ndarray, some: str, own: bool) -> None:
    problem, beta = result.problem, result.beta
    codes, _ = class_names(problem)
    colours = [class_colour(int(code)) for code in codes[drawn]]
    ax.axhline(0.0, color=GREY, linewidth=0.8, zorder=1.0)
    ax.vlines(drawn, 0.0, beta[drawn], colors=colours, linewidth=1.0, zorder=2.0)
    kinds = {kind: result.certificate.kinds[kind] for kind in ("free", "bound")}
    draw_points(ax, np.column_stack([np.arange(problem.n), beta]), codes, kinds, drawn, np.abs(beta))
    limits = {float(end) for bounds in problem.bounds for end in (bounds.min(), bounds.max()) if end}
    dotted = len(np.unique(problem.C[problem.C > 0])) == 1 and all(np.isfinite(end) for end in limits)
    # Bounds far beyond the duals would squash them.
    dotted = dotted and float(np.abs(result.beta).max()) >= 0.2 * max((abs(end) for end in limits), default=0.0)
    if dotted:
        for end in limits:
            ax.axhline(end, color=GREY, linewidth=0.8, linestyle=":", zorder=1.0)
    ax.set(xlim=_all_samples(problem.n), xlabel="sample", ylabel="dual variable β")
    ax.margins(y=0.08)
    whole_numbers(ax.xaxis)
    title(ax, "dual variable β of each sample", ["dotted: the bound C" if dotted else "", some], own)


def _draw_gaps(ax: Axes, result: Result, gaps: np.ndarray, link: float, own: bool) -> None:
    problem = result.problem
    infinite = np.isinf(gaps)
    order = np.argsort(-np.where(infinite, 0.0, gaps), kind="stable")
    sides = [abs(side) for side in (result.certificate.primal, result.certificate.dual) if np.isfinite(side)]
    noise = NOISE * max(sides, default=0.0) / problem.n
    open_ones = order[(gaps[order] > noise) & ~infinite[order]]
    ax.set(xlim=_all_samples(problem.n), xlabel="sample", ylabel="gap of the sample", yscale="log")
    notes = []
    if open_ones.size:
        most = ", ".join(str(k) for k in open_ones[:3])
        notes.append(f"largest: sample{'s' if open_ones.size > 1 else ''} {most}")
        drawn = np.sort(open_ones[:MOST])
        positions = np.column_stack([np.arange(problem.n), np.where(infinite | (gaps <= 0), np.nan, gaps)])
        codes, _ = class_names(problem)
        draw_points(ax, positions, codes, by_kind(result.certificate.kinds), drawn)
        whole_numbers(ax.xaxis)
        if open_ones.size > MOST:
            share = gaps[drawn].sum() / gaps[open_ones].sum()
            notes.append(f"the {MOST} largest of {open_ones.size:,} are drawn, {share:.0%} of the sum")
    elif not infinite.any():
        message(ax, "the gap of every sample is 0, up to rounding")
    else:
        message(ax, "the gap is infinite: no hyperplane separates these classes")
    if infinite.any():
        notes.append(f"infinite for {np.count_nonzero(infinite):,} samples inside the margin")
    elif 0 < open_ones.size < gaps.size:
        notes.append(f"0 for {gaps.size - open_ones.size:,} samples")
    if link > 0.01 * max(link, float(gaps[~infinite].sum())):
        notes.append(f"plus ½‖w − w(β)‖² = {link:.2g}")
    gap = result.certificate.gap
    title(ax, f"gap per sample, sum {number(gap) if np.isfinite(gap) else '∞'}", notes, own)


def draw_corrections(result: Result, axes: Sequence[Axes] | None, columns: int | None) -> SupportDisplay:
    """The three panels of a perceptron."""
    problem, trace = result.problem, result.trace
    assert result.coef is not None and result.point.w is not None
    counts = result.coef
    codes, names = class_names(problem)
    kinds, _, _ = with_weight("uncorrected", "corrected", np.abs(counts))
    drawn, some = choose_points(codes, {"corrected": kinds["corrected"]}, MOST)
    z = problem.space.scores(result.point.w) + (result.point.b or 0.0)
    distances = problem.target * z * (0.5 * result.margin_width if np.isfinite(result.margin_width) else 1.0)
    figure, panels, own = axes_for(axes, 3, (12.0, 4.4), columns=columns)
    iterations = trace["iteration"]
    # 1. Over the passes: the corrections where snapshots tell them, else the accuracy.
    style = LINES[0][2]
    ax = panels[0]
    if trace.snapshots:
        x = np.array([snapshot.iteration for snapshot in trace.snapshots], dtype=np.float64)
        done = np.array([np.abs(snapshot.raw_beta).sum() for snapshot in trace.snapshots])
        ax.plot(x, done, markevery=marks(len(x)), markersize=4.5, **style)
        ax.set(ylabel="corrections so far", ylim=(0.0, 1.08 * max(1.0, float(done.max()))))
        whole_numbers(ax.yaxis)
    else:
        ax.plot(iterations, trace["accuracy"], markevery=marks(len(iterations)), markersize=4.5, **style)
        ax.set(ylabel="training accuracy", ylim=(0.0, 1.05))
    scale_x(ax, runs_of(result, "iterations"), "iterations")
    title(ax, f"{int(np.abs(counts).sum()):,} corrections", (), own)
    # 2. Sample by sample.
    ax = panels[1]
    colours = [class_colour(int(code)) for code in codes[drawn]]
    ax.axhline(0.0, color=GREY, linewidth=0.8, zorder=1.0)
    ax.vlines(drawn, 0.0, counts[drawn], colors=colours, linewidth=1.0, zorder=2.0)
    draw_points(ax, np.column_stack([np.arange(problem.n), counts]), codes, {"corrected": kinds["corrected"]}, drawn)
    ax.set(xlim=_all_samples(problem.n), xlabel="sample", ylabel="y × corrections")
    ax.margins(y=0.1)
    whole_numbers(ax.xaxis)
    whole_numbers(ax.yaxis)
    title(ax, f"{len(kinds['corrected']):,} of {problem.n:,} samples corrected", [some], own)
    # 3. How far the samples are from the hyperplane that came out.
    ax = panels[2]
    everything, few = choose_points(codes, kinds, 4 * MOST)
    ax.axhline(0.0, color=BLACK, linewidth=1.2, zorder=1.0)
    draw_points(ax, np.column_stack([np.arange(problem.n), distances]), codes, kinds, everything)
    ax.set(xlim=_all_samples(problem.n), xlabel="sample", ylabel="y z / ‖w‖")
    whole_numbers(ax.xaxis)
    nearest = int(np.argmin(np.where(problem.C > 0, distances, np.inf)))
    wrong = int(np.count_nonzero((distances <= 0) & (problem.C > 0)))
    said = f"{wrong:,} on the wrong side" if wrong else f"nearest: sample {nearest} at {number(distances[nearest])}"
    title(ax, "distance from the hyperplane", [said, few], own)
    legend(panels, [class_handles(names, codes), kind_handles(kinds)], own)
    nothing = np.zeros(len(iterations))
    gaps, link = sample_gaps(result)
    return SupportDisplay(figure, panels, iterations, nothing, nothing, nothing, counts, drawn, gaps, link, distances)


def _all_samples(n: int) -> tuple[float, float]:
    room = max(0.5, 0.02 * n)
    return -room, n - 1 + room
