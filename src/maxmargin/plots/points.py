"""The samples of a figure: which of them are drawn, how large, and what the legend says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from maxmargin.plots.style import BLACK, GREY, KINDS, class_colour, class_marker, number

#: More points than this say no more in one picture.
MOST = 2000
#: The area of the filled marker of a support vector of no weight, in square points.
LEAST = 2.0
#: From here on a page description is smaller with the points as an image.
RASTER = 1000


def choose_points(codes: np.ndarray, kinds: Mapping[str, np.ndarray], most: int = MOST) -> tuple[np.ndarray, str]:
    """The samples to draw, and the sentence that says so if they are not all.

    Each kind in each class keeps all its samples or an equal number of them, so that the few of a rare class and the
    few vectors that hold the margin are never lost among the many.
    """
    everything = np.sort(np.concatenate(list(kinds.values())))
    if len(everything) <= most:
        return everything, ""
    groups = [indices[codes[indices] == code] for indices in kinds.values() for code in np.unique(codes[indices])]
    sizes = np.sort([len(group) for group in groups])
    # The largest limit whose sum stays within `most`: fill up the groups from the smallest to the largest.
    limit, left = 0, most
    for k, size in enumerate(sizes):
        limit = left // (len(sizes) - k)
        if size > limit:
            break
        left -= int(size)
    rng = np.random.default_rng(0)
    drawn = np.sort(np.concatenate([g if len(g) <= limit else rng.choice(g, limit, replace=False) for g in groups]))
    return drawn, f"{len(drawn):,} of {len(everything):,} points drawn: at most {limit:,} of each class and kind"


def marker_area(count: int) -> float:
    """Smaller markers for more points."""
    return float(np.clip(6000.0 / max(1, count), 10.0, 40.0))


def draw_points(
    ax: Axes,
    positions: np.ndarray,
    codes: np.ndarray,
    kinds: Mapping[str, np.ndarray],
    drawn: np.ndarray,
    weight: np.ndarray | None = None,
) -> list[Artist]:
    """Scatter the drawn samples, one collection for each class and kind.

    With weights, the area of a support vector's filled marker is proportional to its own, on the outline that every
    sample has: a sample of next to no weight looks like one of none.
    """
    raster = len(drawn) > RASTER
    visible = np.zeros(len(codes), dtype=bool)
    visible[drawn] = True
    # A class of a few among thousands keeps markers that can be found, on top of the others.
    areas = [marker_area(int(count)) for count in np.bincount(codes[drawn])]
    largest = 0.0 if weight is None else float(weight[drawn].max(initial=0.0))
    artists: list[Artist] = []
    for name, indices in kinds.items():
        look = KINDS[name]
        indices = indices[visible[indices]]
        for code in np.unique(codes[indices]):
            chosen = indices[codes[indices] == code]
            x, y = positions[chosen].T
            colour, area = class_colour(int(code)), areas[code]
            # Support vectors stay visible in a cloud of many small markers.
            size: Any = max(26.0, 1.7 * area) if look.edged else max(16.0, 1.15 * area) if look.filled else area
            width: Any = 1.3 if look.edged else 0.3 if look.filled else 0.9
            common: dict[str, Any] = {"marker": class_marker(int(code)), "rasterized": raster}
            if weight is not None and look.filled and largest > 0.0:
                share = weight[chosen] / largest
                outline: dict[str, Any] = {"facecolors": "white", "edgecolors": colour, "linewidths": 0.9}
                artists.append(ax.scatter(x, y, s=area, zorder=2.9, gid="outline", **outline, **common))
                size = LEAST + (size - LEAST) * share
                width = width * np.sqrt(share)
            artists.append(
                ax.scatter(
                    x,
                    y,
                    s=size,
                    facecolors=colour if look.filled else "white",
                    edgecolors=BLACK if look.edged else "white" if look.filled else colour,
                    linewidths=width,
                    zorder=look.zorder + 1e-3 * area,
                    gid=f"{name} {code}",
                    **common,
                )
            )
    return artists


def class_handles(classes: Sequence[str], codes: np.ndarray, counted: bool = True) -> list[Line2D]:
    """Legend entries of the classes, with how many samples each has."""
    sizes = np.bincount(codes, minlength=len(classes))
    single = len(classes) == 1
    return [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=class_marker(code),
            color=class_colour(code),
            markersize=6,
            label=(name if single else f"class {name}") + (f": {sizes[code]:,}" if counted else ""),
        )
        for code, name in enumerate(classes)
    ]


def kind_handles(kinds: Mapping[str, np.ndarray], counted: bool = True) -> list[Line2D]:
    """Legend entries of the kinds, with how many samples there are of each; kinds without samples are left out."""
    return [
        Line2D(
            [],
            [],
            linestyle="none",
            marker="o",
            markerfacecolor=GREY if KINDS[name].filled else "white",
            markeredgecolor=BLACK if KINDS[name].edged else GREY,
            markeredgewidth=1.3 if KINDS[name].edged else 0.9,
            markersize=7.5 if KINDS[name].edged else 6.0,
            label=KINDS[name].label + (f": {len(indices):,}" if counted else ""),
        )
        for name, indices in kinds.items()
        if name != "sample" and (len(indices) or name == "free" or (name != "candidate" and not counted))
    ]


def weight_handles(weight: np.ndarray | None, name: str, counted: bool = True) -> list[Line2D]:
    """The legend entry that says what the areas mean; none where all are the same."""
    if weight is None or not weight.any():
        return []
    label = f"area ∝ {name}" + (f" (largest: {number(float(weight.max()))})" if counted else "")
    return [Line2D([], [], linestyle="none", marker="o", markersize=3.0, color=GREY, label=label)]
