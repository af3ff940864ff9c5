"""`penalty`: how far the penalty method misses Σβ = 0, against its weight c and over its iterations.

The method adds (c/2)(Σβ)² to the dual in place of the constraint Σβ = 0. That is the augmented bias with s = √c, so
what is left of the constraint is Σβ = b/c at the optimum: it falls like 1/c.
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
from maxmargin.plots.runs import above_floor, marks, runs_of, scale_x
from maxmargin.plots.style import BLUE, GREY, legend, run_style, styled, title
from maxmargin.result import Result

#: A violation below this share of the largest is rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class PenaltyDisplay(Display):
    """What `penalty` drew, in increasing order of c."""

    c: np.ndarray
    #: |Σβ| of each result.
    sums: np.ndarray
    #: Iterations, and |Σβ| there, for each c.
    iterations: dict[float, np.ndarray]
    courses: dict[float, np.ndarray]


@styled
def penalty(
    results: Sequence[Result] | Mapping[float, Result],
    *,
    axes: Sequence[Axes] | None = None,
    columns: int | None = None,
) -> PenaltyDisplay:
    """Draw |Σβ| of the penalty method against its weight c, beside a line of slope −1, and over the iterations.

    Parameters
    ----------
    results : list of Results, or dict of c: Result
        Runs of the penalty method, each with its own c (a list takes it from the solver's field).
    axes : two matplotlib Axes
        Where to draw; a new figure by default.
    columns : int
        Columns of a new figure; side by side by default, 1 for a narrow screen.

    Examples
    --------
    >>> from maxmargin import Problem, plots, solve
    >>> from maxmargin.data import toys
    >>> from maxmargin.solvers import Penalty
    >>> problem = Problem(*toys.overlapping())
    >>> runs = {c: solve(problem, Penalty(c=c), tol=1e-3, max_iter=300, every=10) for c in (10.0, 100.0)}
    >>> len(plots.penalty(runs).axes)
    2
    """
    fits = _by_weight(results)
    c = np.array(list(fits))
    sums = np.array([abs(float(fit.raw_beta.sum())) for fit in fits.values()])
    runs = runs_of({f"{weight:g}": fit for weight, fit in fits.items()}, "iterations")
    courses = [np.abs(run.column("beta_sum")) for run in runs]
    figure, (left, right), own = axes_for(axes, 2, (9.6, 4.4), columns=columns)
    (ends,), note = above_floor([sums], 0.0)
    # A run from 0 with classes of one size starts at Σβ = 0, up to rounding: a logarithmic axis has no place for it.
    noise = ROUNDING * max(float(np.nanmax(course, initial=0.0)) for course in courses)
    positive = [np.where(course > noise, course, np.nan) for course in courses]
    # No line between the points: it would hide the guide.
    left.plot(c, ends, color=BLUE, marker="o", markersize=7, markeredgecolor="white", linestyle="none")
    guide = _guide(c, sums)
    left.plot(c, guide, color=GREY, linewidth=1.2, linestyle=(0, (4, 3)), zorder=1.0)
    left.set(xscale="log", yscale="log", xlabel="penalty weight c", ylabel="|Σβ| = |Σ α y|")
    if c.size == 1:
        left.set_xlim(c[0] / 10.0, c[0] * 10.0)
    title(left, "violation of Σβ = 0 in the result", [note], own)
    for k, (run, course) in enumerate(zip(runs, positive, strict=True)):
        right.plot(run.x, course, **run_style(k, len(runs)), markevery=marks(len(course)))
    right.set(yscale="log", ylabel="|Σβ|")
    scale_x(right, runs, "iterations")
    title(right, "violation of Σβ = 0 over the iterations", (), own)
    handles = [Line2D([], [], **run_style(k, len(runs)), label=f"c = {run.name}") for k, run in enumerate(runs)]
    reference = [
        Line2D([], [], color=BLUE, marker="o", markersize=7, linestyle="none", label="result"),
        Line2D([], [], color=GREY, linewidth=1.2, linestyle=(0, (4, 3)), label="slope −1 (∝ 1/c)"),
    ]
    legend([left, right], [reference, handles], own)
    return PenaltyDisplay(
        figure,
        (left, right),
        c,
        sums,
        {weight: run.x for weight, run in zip(fits, runs, strict=True)},
        {weight: course for weight, course in zip(fits, courses, strict=True)},
    )


def _by_weight(results: Sequence[Result] | Mapping[float, Result]) -> dict[float, Result]:
    """The results in increasing order of c."""
    if isinstance(results, Mapping):
        pairs: list[tuple[Any, Result]] = list(results.items())
    else:
        pairs = [(getattr(fit.solver, "c", None), fit) for fit in results]
    found = {}
    for weight, fit in pairs:
        try:
            found[float(weight)] = fit
        except (TypeError, ValueError):
            raise InvalidInput(f"{weight!r} is no weight c; give the results as a dict of c: Result") from None
    if not found or min(found) <= 0 or not np.isfinite(max(found)):
        raise InvalidInput("penalty needs at least one result, each with a finite weight c > 0")
    return dict(sorted(found.items()))


def _guide(c: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """A line of slope −1 through the middle of the points, on logarithmic axes."""
    there = sums > 0
    level = float(np.exp(np.median(np.log(c[there] * sums[there])))) if there.any() else 1.0
    return level / c
