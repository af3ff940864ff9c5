"""What every figure function hands back: the arrays that it drew, the figure, and its axes."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from maxmargin.errors import InvalidInput

if TYPE_CHECKING:
    from maxmargin.plots.plane import Plane


@dataclass(frozen=True, eq=False, repr=False)
class Display:
    """A figure that has been drawn; its fields are the numbers in it."""

    figure: Figure
    axes: tuple[Axes, ...]

    def __repr__(self) -> str:
        panels = f"{len(self.axes)} panel{'' if len(self.axes) == 1 else 's'}"
        width, height = self.figure.get_size_inches()
        return f"{type(self).__name__}({panels}, {width:.3g} × {height:.3g} inches)"

    def save(self, path: str | Path, dpi: float = 150.0) -> Path:
        """Write the figure; the ending of the name says how: .svg, .pdf, .png."""
        self.figure.savefig(path, dpi=dpi)
        return Path(path)

    def _repr_png_(self) -> bytes:
        """The picture in a notebook."""
        stream = BytesIO()
        self.figure.savefig(stream, format="png", dpi=100)
        return stream.getvalue()


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryDisplay(Display):
    """What `boundary` drew.

    Samples stand at `positions` (all of them; the `drawn` ones are shown), the decision value (or the predicted
    class) on the grid `x` × `y` is `values`, and `lines` holds the pieces of each level: the hyperplane at 0, the
    margins at ±1. On a single feature `values` is a curve over `x`; of a regression the levels are 0 and ±ε.
    """

    positions: np.ndarray
    drawn: np.ndarray
    kinds: dict[str, np.ndarray]
    lines: dict[float, list[np.ndarray]]
    x: np.ndarray
    y: np.ndarray
    values: np.ndarray
    plane: Plane | None = None
    #: The share of the drawn samples that the model puts in the same class as the shade they stand on.
    agreement: float = 1.0
    #: With ``slack=True``: from each sample with ξ > 0 to its margin, as pairs of points; and the width 2/‖w‖.
    slack: np.ndarray | None = None
    width: float | None = None


#: The width in inches of a figure for a narrow screen: at 400 pixels its type is as large as that of a page.
NARROW = 4.2
#: The part of a usual figure's height that its legend takes, in inches.
LEGEND = 0.9


def axes_for(
    given: Any,
    count: int,
    usual: tuple[float, float],
    *,
    columns: int | None = None,
    size: tuple[float, float] | None = None,
) -> tuple[Figure, tuple[Axes, ...], bool]:
    """The axes to draw on: the user's, or new ones; and whether they are new.

    New axes stand side by side in a figure of the usual size, or in so many columns: one column is as wide as a
    narrow screen. A new figure is not pyplot's: nothing has to be closed, and it needs no display.
    """
    if columns is not None and (isinstance(columns, bool) or not isinstance(columns, (int, np.integer)) or columns < 1):
        raise InvalidInput(f"columns is {columns!r}; it must be a whole number ≥ 1, or None for side by side")
    if size is not None and not (np.shape(size) == (2,) and np.isfinite(size).all() and min(size) > 0):
        raise InvalidInput(f"size is {size!r}; it must be a width and a height in inches")
    if given is None:
        across = count if columns is None else min(columns, count)
        rows = -(-count // across)
        figure = Figure(figsize=size or _figure_size(count, across, rows, usual), layout="constrained")
        made = figure.subplots(rows, across, squeeze=False).ravel()
        for spare in made[count:]:
            spare.remove()
        return figure, tuple(made[:count]), True
    if columns is not None or size is not None:
        raise InvalidInput("columns and size are for a new figure; axes of your own have theirs")
    axes = tuple(np.atleast_1d(np.asarray(given, dtype=object)).ravel())
    if len(axes) != count or not all(isinstance(ax, Axes) for ax in axes):
        what = "one matplotlib Axes" if count == 1 else f"{count} matplotlib Axes"
        raise InvalidInput(f"{len(axes)} object(s) were given to draw on; this figure needs {what}")
    return axes[0].figure.figure, axes, False


def _figure_size(count: int, across: int, rows: int, usual: tuple[float, float]) -> tuple[float, float]:
    """Width and height in inches of panels in rows, from those of the same panels side by side."""
    width, height = usual
    if rows == 1:
        return usual
    # One column of panels needs more rows of legend, too.
    return (
        (NARROW, rows * (height - LEGEND) + 1.4 * LEGEND)
        if across == 1
        else (
            width * across / count,
            rows * (height - LEGEND) + LEGEND,
        )
    )
