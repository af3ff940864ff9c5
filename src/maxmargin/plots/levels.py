"""What lies behind the samples: bands of decision values or areas of classes, and the level lines between them."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D

from maxmargin.plots.plane import Box, Plane, curved_lines, straight_line
from maxmargin.plots.style import BLACK, HYPERPLANE, LOWER, UPPER, Level, class_colour, pale, shading

#: Shades stop here: what matters happens between the margins.
DEEPEST = 3.0

#: The pieces of each level line, each an array of points.
Lines = dict[float, list[np.ndarray]]


def level_lines(
    weights: tuple[np.ndarray, float] | None,
    plane: Plane,
    box: Box,
    x: np.ndarray,
    y: np.ndarray,
    values: np.ndarray,
    levels: tuple[float, ...],
) -> Lines:
    """The pieces of each level line: from w and b exactly where there are any, else through the grid."""
    if weights is None:
        return {level: curved_lines(x, y, values, level) for level in levels}
    normal, offset = plane.affine(*weights)
    return {level: straight_line(normal, offset - level, box) for level in levels}


def draw_shading(ax: Axes, bar: bool = False, unit: float = 1.0) -> AxesImage:
    """The decision function as an image of pale bands, yet to be filled; the same shade is the same value always.

    The unit is the level of the margins: 1, unless w is not scaled.
    """
    image = ax.imshow(
        np.zeros((2, 2)),
        origin="lower",
        aspect="auto",
        cmap=shading(),
        vmin=-DEEPEST * unit,
        vmax=DEEPEST * unit,
        # Values are interpolated before they become bands, so that the bands have smooth edges.
        interpolation="bilinear",
        interpolation_stage="data",
        zorder=0.0,
    )
    if bar:
        ax.figure.colorbar(image, ax=ax, label="decision value z", shrink=0.8, pad=0.02, extend="both")
    return image


def update_shading(image: AxesImage, x: np.ndarray, y: np.ndarray, values: np.ndarray) -> None:
    """Fill the image with the values on a grid, whose points are the middles of the pixels."""
    half_x, half_y = (x[1] - x[0]) / 2, (y[1] - y[0]) / 2
    image.set_extent((x[0] - half_x, x[-1] + half_x, y[0] - half_y, y[-1] + half_y))
    image.set_data(values)


def level_look(level: float) -> Level:
    """Solid for the hyperplane, dashes and dots for the two margins."""
    return HYPERPLANE if level == 0 else UPPER if level > 0 else LOWER


def draw_levels(ax: Axes, lines: Lines) -> dict[float, LineCollection]:
    """One collection of line pieces for each level, under the samples."""
    collections = {}
    for level, pieces in lines.items():
        look = level_look(level)
        collection = LineCollection(
            pieces,
            colors=BLACK,
            linestyles=[look.linestyle],
            linewidths=look.linewidth,
            zorder=2.0,
            gid=f"level {level:g}",
        )
        ax.add_collection(collection, autolim=False)
        collections[level] = collection
    return collections


def level_handles(lines: Lines, margins: bool = True, number: str | None = None) -> list[Line2D]:
    """Legend entries of the levels; one that is not in the picture says so. A number stands for all margins' levels."""
    side = "margin z" if margins else "level z"

    def name(level: float) -> str:
        return f"{side} = {'+' if level > 0 else '−'}{number or f'{abs(level):.3g}'}" if level else "hyperplane z = 0"

    return [level_handle(level, name(level) + ("" if pieces else " (not in view)")) for level, pieces in lines.items()]


def level_handle(level: float, label: str) -> Line2D:
    """The legend entry of one level."""
    look = level_look(level)
    return Line2D([], [], color=BLACK, linestyle=look.linestyle, linewidth=look.linewidth, label=label)


def draw_regions(ax: Axes, x: np.ndarray, y: np.ndarray, predicted: np.ndarray, count: int) -> None:
    """The predicted class as pale areas with a line around each."""
    colours = ListedColormap([pale(class_colour(code)) for code in range(count)])
    norm = BoundaryNorm(np.arange(count + 1) - 0.5, count)
    ax.pcolormesh(x, y, predicted, cmap=colours, norm=norm, shading="nearest", rasterized=True, zorder=0.0)
    for code in range(count):
        pieces = curved_lines(x, y, (predicted == code).astype(float), 0.5)
        ax.add_collection(LineCollection(pieces, colors=BLACK, linewidths=0.7, zorder=1.0), autolim=False)


def flat_note(values: np.ndarray) -> str:
    """What to say of a decision function that is the same everywhere."""
    low, high = float(values.min()), float(values.max())
    if high - low > 1e-9 * max(1.0, abs(low), abs(high)):
        return ""
    return f"the decision function is flat: z = {low:.3g} everywhere, so there is no hyperplane"
