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


@dataclass(frozen=True, eq=False)
class Display:
    """A figure that has been drawn; its fields are the numbers in it."""

    figure: Figure
    axes: tuple[Axes, ...]

    def save(self, path: str | Path, dpi: float = 150.0) -> Path:
        """Write the figure; the ending of the name says how: .svg, .pdf, .png."""
        self.figure.savefig(path, dpi=dpi)
        return Path(path)

    def _repr_png_(self) -> bytes:
        """The picture in a notebook."""
        stream = BytesIO()
        self.figure.savefig(stream, format="png", dpi=100)
        return stream.getvalue()


@dataclass(frozen=True, eq=False)
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


def axes_for(given: Any, count: int, size: tuple[float, float]) -> tuple[Figure, tuple[Axes, ...], bool]:
    """The axes to draw on: the user's, or new ones side by side; and whether they are new.

    A new figure is not pyplot's: nothing has to be closed, and it needs no display.
    """
    if given is None:
        figure = Figure(figsize=size, layout="constrained")
        made = figure.subplots(1, count, squeeze=False).ravel()
        return figure, tuple(made), True
    axes = tuple(np.atleast_1d(np.asarray(given, dtype=object)).ravel())
    if len(axes) != count or not all(isinstance(ax, Axes) for ax in axes):
        what = "one matplotlib Axes" if count == 1 else f"{count} matplotlib Axes"
        raise InvalidInput(f"{len(axes)} object(s) were given to draw on; this figure needs {what}")
    return axes[0].figure.figure, axes, False
