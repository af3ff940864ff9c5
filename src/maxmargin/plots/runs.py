"""One run or several as columns to draw: against iterations or seconds, with what a logarithm cannot show left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from maxmargin.errors import InvalidInput
from maxmargin.plots.style import plain, whole_numbers
from maxmargin.result import Result

#: What a curve can be drawn against: the trace's column, and the words under the axis.
AGAINST = {"iterations": ("iteration", "iterations"), "seconds": ("seconds", "seconds in the solver")}

#: A relative gap up to this is rounding.
NOISE = 1e-14


@dataclass(frozen=True, eq=False)
class Run:
    """One named run and where its looks were."""

    name: str
    result: Result
    x: np.ndarray

    def column(self, name: str) -> np.ndarray:
        """A column of the trace, NaN where it is not finite."""
        values = self.result.trace[name]
        return np.where(np.isfinite(values), values, np.nan)

    @property
    def noise(self) -> float:
        """The largest absolute gap that is rounding."""
        certificate = self.result.certificate
        sides = [abs(side) for side in (certificate.primal, certificate.dual) if np.isfinite(side)]
        return NOISE * max(sides, default=0.0)

    def label(self) -> str:
        """The name, and from where on the primal is finite if it is not from the start (a hard margin)."""
        finite = np.flatnonzero(np.isfinite(self.result.trace["primal"]))
        if finite.size == 0:
            return f"{plain(self.name)} (P = ∞ throughout)"
        return plain(self.name) + ("" if finite[0] == 0 else f" (P = ∞ before {self.x[finite[0]]:.3g})")


def runs_of(results: Result | Sequence[Result] | Mapping[str, Result], against: str) -> list[Run]:
    """A Result, a list of them (named by their solvers), or a dict of names and Results."""
    if against not in AGAINST:
        raise InvalidInput(f"against is {against!r}; it must be one of: {', '.join(AGAINST)}")
    named: Any = results
    if isinstance(results, Result):
        named = [results]
    if not isinstance(named, Mapping):
        named = dict(zip(_names([result.solver.name for result in named]), named, strict=True))
    if not named:
        raise InvalidInput("there are no results to draw")
    column, _ = AGAINST[against]
    return [Run(str(name), result, result.trace[column]) for name, result in named.items()]


def _names(names: list[str]) -> list[str]:
    """The names, numbered where one comes twice."""
    return [f"{name} ({names[: k + 1].count(name)})" if names.count(name) > 1 else name for k, name in enumerate(names)]


def scale_x(ax: Axes, runs: Sequence[Run], against: str) -> None:
    """A logarithmic axis where a linear one would press most looks, or a whole run, into a corner."""
    ax.set_xlabel(AGAINST[against][1])
    if against == "iterations":
        whole_numbers(ax.xaxis)
    everything = np.concatenate([run.x for run in runs])
    if against == "iterations" and np.ptp(everything) == 0:  # a single look: a point, not a scale
        ax.set_xlim(everything[0] - 1, everything[0] + 1)
    ends = np.array([run.x.max() for run in runs])
    crowded = np.median(everything) < 0.05 * everything.max() or ends.min() < 0.05 * ends.max()
    if crowded and everything.min() > 0:
        ax.set_xscale("log")
    elif crowded:
        ax.set_xscale("symlog", linthresh=1.0 if against == "iterations" else 1e-3)


def above_floor(columns: Sequence[np.ndarray], noise: float | Sequence[float]) -> tuple[list[np.ndarray], str]:
    """Columns for a logarithmic axis: what is no more than rounding goes to a floor, and the sentence that says so.

    `noise` is the largest value that means nothing, for all columns or for each; where it is 0, zeros go below
    everything else.
    """
    limits = np.broadcast_to(np.asarray(noise, dtype=np.float64), len(columns))
    positive = np.concatenate([column[column > limit] for column, limit in zip(columns, limits, strict=True)])
    floor = float(limits.max(initial=0.0)) or (float(positive.min()) / 10.0 if positive.size else 1e-16)
    small = [column <= limit for column, limit in zip(columns, limits, strict=True)]
    lifted = [np.where(where, floor, column) for where, column in zip(small, columns, strict=True)]
    what = "rounding noise" if limits.any() else "0"
    return lifted, f"{what} is drawn at {floor:.0e}" if any(where.any() for where in small) else ""


def marks(count: int) -> int:
    """One marker every so many points: enough to tell curves apart."""
    return max(1, count // 8)
