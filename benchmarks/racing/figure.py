"""The figure: a panel a gap, a row a problem, a dot a solver; seconds on a logarithmic axis."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt  # after the back end is chosen

from racing.schedule import Rules
from racing.tables import Standing
from racing.worker import Racer

#: Ours first and in a strong colour; all distinct for colour-blind eyes (Okabe and Ito).
OURS = ("#D55E00", "#E69F00", "#CC79A7")
PEERS = ("#0072B2", "#009E73", "#56B4E9", "#6A3D9A", "#8C6D31", "#999999", "#000000", "#B2DF8A")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "<")


def draw(found: Sequence[Standing], racers: Sequence[Racer], rules: Rules, machine: str, path: Path) -> None:
    """Draw and save."""
    instances = list(dict.fromkeys(standing.instance for standing in found))
    height = 1.7 + 0.22 * len(instances)
    size = (10.5, max(3.0, height))
    figure, axes = plt.subplots(1, len(rules.gaps), figsize=size, sharey=True, sharex=True, squeeze=False)
    styles = _styles(racers)
    rows = {instance: -place for place, instance in enumerate(instances)}
    for axis, gap in zip(axes[0], rules.gaps, strict=True):
        for standing in found:
            if standing.gap != gap:
                continue
            if standing.solver == "limit":
                axis.plot(standing.seconds, rows[standing.instance], "|", color="black", markersize=11, zorder=2)
                continue
            colour, marker = styles[standing.solver]
            axis.plot(
                standing.seconds,
                rows[standing.instance],
                marker,
                markersize=6,
                markerfacecolor=colour if standing.reached else "white",
                markeredgecolor=colour,
                zorder=4 if colour in OURS else 3,
            )
        axis.set_xscale("log")
        axis.set_title(f"to {gap:g}", fontsize=10)
        axis.grid(axis="x", color="0.88")
        axis.set_axisbelow(True)
        axis.hlines(list(rows.values()), 0, 1, transform=axis.get_yaxis_transform(), color="0.92", linewidth=0.8)
        axis.tick_params(axis="y", length=0)
        for side in ("top", "right", "left"):
            axis.spines[side].set_visible(False)
    axes[0, 0].set_yticks(list(rows.values()), [str(instance) for instance in instances], fontsize=8)
    axes[0, 0].set_ylim(-len(instances) + 0.4, 0.6)
    figure.supxlabel("seconds (hollow: the gap was not reached; the fit that came nearest)", fontsize=9)
    handles = [
        plt.Line2D([], [], color=colour, marker=marker, linestyle="none", label=name)
        for name, (colour, marker) in styles.items()
    ]
    if any(standing.solver == "limit" for standing in found):
        handles.append(plt.Line2D([], [], color="black", marker="|", linestyle="none", markersize=11, label="limit"))
    figure.legend(handles=handles, loc="upper center", ncols=min(6, len(handles)), frameon=False, fontsize=9)
    figure.text(0.01, 0.005, "\n".join(textwrap.wrap(machine, 170)), fontsize=6.5, color="0.4", va="bottom")
    top, bottom = 0.75 / size[1], 0.75 / size[1]
    figure.tight_layout(rect=(0, bottom * 0.55, 1, 1 - top * 0.45 * (1 + (len(handles) - 1) // 6)))
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _styles(racers: Sequence[Racer]) -> dict[str, tuple[str, str]]:
    ours = [racer.name for racer in racers if racer.ours]
    peers = [racer.name for racer in racers if not racer.ours]
    colours = {name: OURS[place % len(OURS)] for place, name in enumerate(ours)}
    colours |= {name: PEERS[place % len(PEERS)] for place, name in enumerate(peers)}
    return {racer.name: (colours[racer.name], MARKERS[place % len(MARKERS)]) for place, racer in enumerate(racers)}
