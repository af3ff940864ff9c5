"""The figure: a panel a gap, a row a problem, a dot a solver; seconds on a logarithmic axis."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from racing.limit import LIMITS
from racing.schedule import Instance, Rules
from racing.tables import Standing
from racing.worker import Racer

#: Ours in warm colours, peers in cold ones, all distinct for colour-blind eyes (after Okabe and Ito).
OURS = ("#D55E00", "#E69F00", "#CC79A7")
PEERS = ("#0072B2", "#009E73", "#56B4E9", "#6A3D9A", "#8C6D31", "#888888", "#000000", "#7FBF3F")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "<", ">")
TICK = {"marker": "|", "markersize": 10, "markeredgewidth": 1.6, "linestyle": "none"}
#: The support vectors' kernel rows once, as one would write it and as well as we can: see `limit.py`.
SHADES = dict(zip(LIMITS, ("0.65", "black"), strict=True))
#: In inches: a row, what stands above the rows (legend, titles) and below them (ticks, label, where and when).
ROW, ABOVE, BELOW = 0.21, 0.75, 0.95


def draw(found: Sequence[Standing], racers: Sequence[Racer], rules: Rules, machine: str, path: Path) -> None:
    """Draw and save."""
    rows = {instance: -place for place, instance in enumerate(dict.fromkeys(one.instance for one in found))}
    styles = _styles(racers)
    height = ABOVE + BELOW + ROW * (len(rows) + 0.5)
    figure = Figure(figsize=(10.5, height))
    # Every name of a problem has room, at about seven points a letter.
    left = (0.25 + 0.065 * max(len(str(instance)) for instance in rows)) / 10.5
    panels = figure.subplots(1, len(rules.gaps), sharey=True, sharex=True, squeeze=False)[0]
    figure.subplots_adjust(left=left, right=0.985, top=1 - ABOVE / height, bottom=BELOW / height, wspace=0.06)
    for panel, gap in zip(panels, rules.gaps, strict=True):
        _panel(panel, [one for one in found if one.gap == gap], rows, styles)
        panel.set_title(f"to {gap:g}", fontsize=10, pad=4)
    panels[0].set_yticks(list(rows.values()), [str(instance) for instance in rows], fontsize=8)
    panels[0].set_ylim(-len(rows) + 0.25, 0.75)
    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle="none", label=name)
        for name, (colour, marker) in styles.items()
    ]
    ticks = [name for name in LIMITS if any(one.solver == name for one in found)]
    handles += [Line2D([], [], color=SHADES[name], **TICK, label=name) for name in ticks]
    figure.legend(handles=handles, loc="upper center", ncols=len(handles), frameon=False, fontsize=9, handletextpad=0.1)
    middle = (left + 0.985) / 2
    label = "seconds to the relative gap; hollow: not reached, the fit that came nearest"
    label += "; limits: the support vectors' kernel rows, once" if ticks else ""
    figure.text(middle, 0.48 / height, label, ha="center", va="center", fontsize=9)
    figure.text(0.01, 0.04 / height, textwrap.fill(machine, 190), fontsize=6.5, color="0.4", va="bottom")
    figure.savefig(path, dpi=130)


def _panel(
    panel: Axes, found: Sequence[Standing], rows: dict[Instance, int], styles: dict[str, tuple[str, str]]
) -> None:
    for one in found:
        place = rows[one.instance]
        if one.solver in LIMITS:
            panel.plot(one.seconds, place, color=SHADES[one.solver], **TICK)
            continue
        colour, marker = styles[one.solver]
        face = colour if one.reached else "white"
        front = 4 if colour in OURS else 3
        panel.plot(one.seconds, place, marker, markersize=6, color=colour, markerfacecolor=face, zorder=front)
    panel.set_xscale("log")
    panel.grid(axis="x", color="0.88")
    panel.set_axisbelow(True)
    lines = panel.get_yaxis_transform()
    panel.hlines(list(rows.values()), 0, 1, transform=lines, color="0.92", linewidth=0.8, zorder=0.5)
    panel.tick_params(axis="y", length=0)
    panel.tick_params(axis="x", labelsize=8)
    for side in ("top", "right", "left"):
        panel.spines[side].set_visible(False)


def _styles(racers: Sequence[Racer]) -> dict[str, tuple[str, str]]:
    """Colour and marker of each solver."""
    colours = {True: iter(OURS * len(racers)), False: iter(PEERS * len(racers))}
    return {
        racer.name: (next(colours[racer.ours]), MARKERS[place % len(MARKERS)]) for place, racer in enumerate(racers)
    }
