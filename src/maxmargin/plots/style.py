"""One look for all figures: colours, markers, line styles, type sizes, and where legends and titles go.

The colours are those of Okabe and Ito (https://jfly.uni-koeln.de/color/), which people with any kind of colour
vision can tell apart; two more make ten. Nothing is said by colour alone: classes differ in their marker, kinds of
vectors in fill and edge, levels and runs in their dashes and markers, so that a black-and-white print says the same.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import Colormap, LinearSegmentedColormap, to_rgb
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.textpath import TextPath
from matplotlib.ticker import MaxNLocator, NullLocator
from matplotlib.transforms import ScaledTranslation

from maxmargin.losses import Loss

BLACK, GREY = "#000000", "#666666"
BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, YELLOW, INDIGO, WINE = "#E69F00", "#56B4E9", "#F0E442", "#332288", "#882255"

#: Classes, in order: the first two are −1 and +1.
CLASS_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, WINE, YELLOW, INDIGO, GREY)
CLASS_MARKERS = ("o", "^", "s", "D", "v", "P", "X", "<", ">", "p")
#: Curves of several runs; yellow is too pale for a line on white. Nine markers on eight colours make 72 pairs, and
#: the next dashes come with the ninth run: no two of 72 look alike, in colour or in black and white.
RUN_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK, WINE)
RUN_MARKERS = ("o", "^", "s", "D", "v", "P", "X", "<", ">")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (6, 2)),
    (0, (1.5, 1.5)),
    (0, (6, 2, 1.5, 2)),
    (0, (3, 1.5)),
    (0, (8, 2, 1.5, 2, 1.5, 2)),
    (0, (10, 3)),
    (0, (3, 1.5, 1, 1.5)),
    (0, (1, 3)),
)
#: The primal comes down on a solid line, the dual comes up on a dashed one.
PRIMAL: Any = "-"
DUAL: Any = (0, (5, 2))


class Level(NamedTuple):
    """How a level line of the decision function looks."""

    linestyle: Any
    linewidth: float


HYPERPLANE = Level("-", 2.0)
UPPER = Level((0, (6, 2.5)), 1.4)
LOWER = Level((0, (1.2, 1.8)), 1.6)


class Kind(NamedTuple):
    """How a kind of vector looks: solid for support vectors, a black edge for those on the margin."""

    label: str
    filled: bool
    edged: bool
    zorder: float


KINDS = {
    "outside": Kind("not support vectors", False, False, 3.0),
    "candidate": Kind("candidates (not needed)", False, True, 3.2),
    "bound": Kind("bound support vectors", True, False, 3.1),
    "free": Kind("free support vectors", True, True, 3.3),
    "support": Kind("support vectors", True, False, 3.3),
    "corrected": Kind("corrected samples", True, False, 3.3),
    "uncorrected": Kind("never corrected", False, False, 3.0),
    "witness": Kind("witnesses (α > 0)", True, True, 3.3),
    "other": Kind("other samples", False, False, 3.0),
    "sample": Kind("samples", True, False, 3.0),
}

PARAMETERS: Any = {
    "font.size": 10.0,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "axes.labelsize": 10.0,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "legend.fontsize": 9.0,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "lines.linewidth": 1.6,
    "lines.markersize": 5.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.useoffset": False,
    "axes.axisbelow": True,
    "hatch.linewidth": 0.5,
}

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def styled(draw: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """Run a drawing function under the project's parameters, and leave the user's as they were."""

    @wraps(draw)
    def inner(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        with rc_context(PARAMETERS):
            return draw(*args, **kwargs)

    return inner


def class_colour(code: int) -> str:
    """The colour of a class."""
    return CLASS_COLOURS[code % len(CLASS_COLOURS)]


def class_marker(code: int) -> str:
    """The marker of a class; after ten the same colours come with other markers."""
    return CLASS_MARKERS[(code + code // len(CLASS_COLOURS)) % len(CLASS_MARKERS)]


def run_style(position: int, count: int = 1) -> dict[str, Any]:
    """Colour, marker and dashes of one run among several; thinner lines where there are many."""
    return {
        "color": RUN_COLOURS[position % len(RUN_COLOURS)],
        "marker": RUN_MARKERS[position % len(RUN_MARKERS)],
        "linestyle": DASHES[position // len(RUN_COLOURS) % len(DASHES)],
        "linewidth": 1.6 if count <= 4 else 1.1,
        "markersize": 4.5,
        "markeredgecolor": "white",
        "markeredgewidth": 0.5,
    }


def pale(colour: str, share: float = 0.3) -> tuple[float, float, float]:
    """A colour mixed with white, for areas behind data."""
    red, green, blue = (1.0 - share + share * part for part in to_rgb(colour))
    return red, green, blue


def shading() -> Colormap:
    """From the first class's colour over white to the second's, pale enough to lie behind data, in twelve bands."""
    ends = [pale(CLASS_COLOURS[0], 0.5), (1.0, 1.0, 1.0), pale(CLASS_COLOURS[1], 0.5)]
    return LinearSegmentedColormap.from_list("decision", ends, N=12)


def title(ax: Axes, text: str, notes: Sequence[str] = (), own: bool = False) -> Text:
    """A title over its axes, with notes on the lines below it, wrapped so that nothing is cut off."""
    # A figure of our own has room between its axes and to the right of them, too.
    place = ax.get_subplotspec()
    columns = 1 if place is None else place.get_gridspec().ncols
    width = 72.0 * float(ax.figure.figure.get_figwidth()) / columns - 60.0 if own else _points_across([ax])
    letters = max(20, int(width / 5.7))
    lines = [line for part in (text, *notes) if part for line in _wrapped(part, letters)]
    return ax.set_title("\n".join(lines), loc="left", linespacing=1.25)


def _wrapped(text: str, letters: int) -> list[str]:
    """A text in lines, none of them broken within "C = 1"."""
    joined = re.sub(r"(\S+) ([=≤≥∝]) (\S+)", "\\1\N{NO-BREAK SPACE}\\2\N{NO-BREAK SPACE}\\3", text)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in textwrap.wrap(joined, letters)]


def legend(axes: Sequence[Axes], groups: Sequence[Sequence[Artist]], own: bool) -> Legend:
    """A legend below the axes, where it covers no data: one column for each group, or as many columns as fit.

    Axes of the user's own get it below the middle one; a figure without a layout engine is given the constrained
    one, without which the legend would be cut off.
    """
    figure = axes[0].figure.figure
    size = 9.0 if own else 8.0
    room = 72.0 * float(figure.get_figwidth()) if own else 1.25 * _points_across(axes)
    handles, columns = _columns([list(group) for group in groups if group], room, size)
    options: dict[str, Any] = {"handles": handles, "ncols": columns, "fontsize": size, "columnspacing": 1.2}
    if own:
        return figure.legend(loc="outside lower center", **options)
    if figure.get_layout_engine() is None:
        figure.set_layout_engine("constrained")
    ax = axes[len(axes) // 2]
    below_labels = ScaledTranslation(0.0, -38.0 / 72.0, figure.dpi_scale_trans)
    options["bbox_transform"] = ax.transAxes + below_labels
    return ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), borderaxespad=0.0, **options)


def _columns(groups: list[list[Artist]], room: float, size: float) -> tuple[list[Artist], int]:
    """The entries in the order of a legend's columns, and how many columns there are."""

    def width(handles: Sequence[Artist]) -> float:
        return 4.4 * size + max(_text_width(str(handle.get_label()), size) for handle in handles)

    height = max(len(group) for group in groups)
    if len(groups) > 1 and height <= 5 and sum(map(width, groups)) <= room:
        blank = [Line2D([], [], linestyle="none", label=" ")]
        return [handle for group in groups for handle in group + blank * (height - len(group))], len(groups)
    handles = [handle for group in groups for handle in group]
    rows = 1
    while True:
        columns = [handles[k : k + rows] for k in range(0, len(handles), rows)]
        if len(columns) == 1 or sum(map(width, columns)) <= room:
            return handles, len(columns)
        rows += 1


@cache
def _text_width(text: str, size: float) -> float:
    """The width of a legend's entry in points."""
    return float(TextPath((0.0, 0.0), text, size=size).get_extents().width) if text.strip() else 0.0


def message(ax: Axes, text: str) -> None:
    """What a panel says where there is nothing to draw; its axes would count nothing."""
    ax.text(0.5, 0.5, textwrap.fill(text, 30), transform=ax.transAxes, ha="center", va="center", color=GREY)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(NullLocator())
        axis.set_minor_locator(NullLocator())


#: Losses that texts call otherwise than by our name with blanks.
LOSS_LABELS = {
    "least-squares": "least squares (MSE)",
    "epsilon-insensitive": "ε-insensitive",
    "squared-epsilon-insensitive": "squared ε-insensitive",
    "one-class": "one-class",
}
#: Characters of a name that a legend has room for.
LONGEST = 28


def plain(name: object) -> str:
    """A name of the user's as it is, shortened if long: a pair of dollars in it would be set as mathematics."""
    text = str(name).encode("utf-8", "replace").decode("utf-8")  # half a character cannot be drawn
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return text.replace("$", r"\$")


def loss_label(loss: Loss) -> str:
    """A loss as texts write it."""
    return LOSS_LABELS.get(loss.name, loss.name.replace("-", " "))


def number(value: float) -> str:
    """A short number with a true minus sign."""
    return f"{value + 0.0:.3g}".replace("-", "−")  # −0 is 0


def whole_numbers(axis: Axis) -> None:
    """Ticks of something that is counted."""
    axis.set_major_locator(MaxNLocator(nbins="auto", integer=True, steps=[1, 2, 5, 10]))


def shape_of(ax: Axes) -> float:
    """Width by height of the axes once their titles, labels and legend have taken their room."""
    ax.figure.figure.draw_without_rendering()
    box = ax.get_window_extent()
    return float(box.width / box.height)


def _points_across(axes: Sequence[Axes]) -> float:
    """The width of neighbouring axes in points, as far as it is known before the layout is made."""
    figure = axes[0].figure.figure
    boxes = [ax.get_position() for ax in axes]
    return float(max(box.x1 for box in boxes) - min(box.x0 for box in boxes)) * float(figure.get_figwidth()) * 72.0
