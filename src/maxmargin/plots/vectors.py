"""`support`: how the support vectors become few, how hard each of them pulls, and who is not yet satisfied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from maxmargin.plots.display import Display, axes_for
from maxmargin.plots.points import choose_points, class_handles, draw_points, kind_handles
from maxmargin.plots.runs import marks, runs_of, scale_x
from maxmargin.plots.style import (
    BLACK,
    BLUE,
    GREY,
    VERMILLION,
    class_colour,
    legend,
    message,
    styled,
    title,
    whole_numbers,
)
from maxmargin.plots.subject import by_kind, class_names
from maxmargin.result import Result

#: More stems than this are a solid block.
MOST = 400


@dataclass(frozen=True, eq=False)
class SupportDisplay(Display):
    """What `support` drew."""

    #: The columns of the first panel.
    iterations: np.ndarray
    support: np.ndarray
    free: np.ndarray
    bound: np.ndarray
    #: The dual of each sample, and the samples whose stem is drawn.
    beta: np.ndarray
    drawn: np.ndarray
    #: The gap of each sample; with `link` it sums to the gap of the certificate.
    gaps: np.ndarray
    #: ½‖w − w(β)‖² − b (Σβ − total): what is no sample's own; 0 where w is made of β.
    link: float


def sample_gaps(result: Result) -> tuple[np.ndarray, float]:
    """The duality gap, sample by sample, and what is left over.

    By the Fenchel–Young inequality each part C_i[ℓ_i(z_i) + ℓ_i*(−β_i/C_i)] + β_i z_i is at least 0, and 0 exactly
    where the sample is satisfied with its dual; ½‖w − w(β)‖² is left over where w is not yet made of β.
    """
    problem, point, beta = result.problem, result.point, result.beta
    assert point.w is not None
    scores = problem.space.scores(point.w)
    b = point.b or 0.0
    z = scores + b
    if problem.form is not None:
        form = problem.form
        conjugate = 0.5 * form.ridge * beta**2 + form.tube * np.abs(beta) - form.target * beta
    else:
        used = problem.C > 0
        conjugate = np.zeros(problem.n)
        C = problem.C[used]
        conjugate[used] = C * problem.loss.conjugate(-beta[used] / C, problem.target[used])
    if problem.hard:  # C = ∞: a sample inside the margin costs everything, up to the rounding of the margin
        inside = (problem.target * z < 1.0 - 1e-9) & (problem.C > 0)
        loss = np.where(inside, np.inf, 0.0)
    else:
        loss = problem.C * problem.loss.value(z, problem.target)
    gaps = loss + conjugate + beta * z
    # What is within the rounding of its own terms is no gap.
    rounding = 8 * np.finfo(float).eps * (np.abs(loss) + np.abs(conjugate) + np.abs(beta * z))
    gaps[np.isfinite(gaps) & (np.abs(gaps) <= rounding)] = 0.0
    apart = point.w - problem.space.combine(beta)
    surplus = float(beta.sum()) - (problem.total or 0.0)
    link = 0.0 if point.linked else 0.5 * problem.space.sqnorm(apart)
    return gaps, link - b * surplus


@styled
def support(result: Result, *, axes: Sequence[Axes] | None = None) -> SupportDisplay:
    """Draw the support vectors over the iterations, the duals as stems, and the gap of each sample.

    Parameters
    ----------
    result : Result
        The fit.
    axes : three matplotlib Axes
        Where to draw; a new figure by default.

    Returns
    -------
    SupportDisplay
        The arrays that were drawn; `gaps` says who is not yet satisfied.
    """
    trace, kinds = result.trace, result.certificate.kinds
    gaps, link = sample_gaps(result)
    codes, names = class_names(result.problem)
    stems = {kind: kinds[kind] for kind in ("free", "bound")}
    drawn, some = choose_points(codes, stems, MOST)
    figure, panels, own = axes_for(axes, 3, (12.0, 4.4))
    _draw_counts(panels[0], result, own)
    _draw_stems(panels[1], result, drawn, some, own)
    _draw_gaps(panels[2], result, gaps, link, own)
    lines = [Line2D([], [], label=f"count: {name}", markersize=4.5, **look) for name, _, look in LINES]
    legend(panels, [lines, class_handles(names, codes), kind_handles(by_kind(kinds))], own)
    columns = trace["iteration"], trace["support"], trace["free"], trace["bound"]
    return SupportDisplay(figure, panels, *columns, beta=result.beta, drawn=drawn, gaps=gaps, link=link)


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
    counts = result.certificate.kinds.counts
    title(ax, f"at the end {counts['free'] + counts['bound']:,} of {result.problem.n:,} samples", (), own)
    whole_numbers(ax.yaxis)


def _draw_stems(ax: Axes, result: Result, drawn: np.ndarray, some: str, own: bool) -> None:
    problem, beta = result.problem, result.beta
    codes, _ = class_names(problem)
    colours = [class_colour(int(code)) for code in codes[drawn]]
    ax.axhline(0.0, color=GREY, linewidth=0.8, zorder=1.0)
    ax.vlines(drawn, 0.0, beta[drawn], colors=colours, linewidth=1.0, zorder=2.0)
    kinds = {kind: result.certificate.kinds[kind] for kind in ("free", "bound")}
    draw_points(ax, np.column_stack([np.arange(problem.n), beta]), codes, kinds, drawn)
    limits = {float(end) for bounds in problem.bounds for end in (bounds.min(), bounds.max()) if end}
    dotted = len(np.unique(problem.C[problem.C > 0])) == 1 and all(np.isfinite(end) for end in limits)
    # Bounds far beyond the duals would squash them.
    dotted = dotted and float(np.abs(result.beta).max()) >= 0.2 * max((abs(end) for end in limits), default=0.0)
    if dotted:
        for end in limits:
            ax.axhline(end, color=GREY, linewidth=0.8, linestyle=":", zorder=1.0)
    ax.set(xlim=_all_samples(problem.n), xlabel="sample", ylabel="dual β")
    ax.margins(y=0.08)
    whole_numbers(ax.xaxis)
    title(ax, "how hard each sample pulls", ["dotted: the bound C" if dotted else "", some], own)


def _draw_gaps(ax: Axes, result: Result, gaps: np.ndarray, link: float, own: bool) -> None:
    problem = result.problem
    infinite = np.isinf(gaps)
    order = np.argsort(-np.where(infinite, 0.0, gaps), kind="stable")
    open_ones = order[(gaps[order] > 0) & ~infinite[order]]
    ax.set(xlim=_all_samples(problem.n), xlabel="sample", ylabel="part of the gap", yscale="log")
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
    else:
        message(ax, "every sample is satisfied: no part is above 0")
    if infinite.any():
        notes.append(f"{np.count_nonzero(infinite):,} samples inside the margin: infinite")
    elif gaps.size > open_ones.size:
        notes.append(f"{gaps.size - open_ones.size:,} samples have none")
    if link > 0.01 * max(link, float(gaps[~infinite].sum())):
        notes.append(f"besides ½‖w − w(β)‖² = {link:.2g}")
    title(ax, f"who is not yet satisfied: gap {result.certificate.gap:.2g}", notes, own)


def _all_samples(n: int) -> tuple[float, float]:
    room = max(0.5, 0.02 * n)
    return -room, n - 1 + room
