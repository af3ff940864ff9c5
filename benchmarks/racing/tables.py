"""The tables: time to each gap, ratios in the geometric mean, growth and memory, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from racing.limit import LIMITS
from racing.schedule import Instance, Record, Row, Rules, counting_row, instance_of, within
from racing.worker import CAP, Racer

GROUPS = {"C ≤ 1": lambda C: C <= 1, "C ≥ 10": lambda C: C >= 10, "all C": lambda C: True}


@dataclass(frozen=True)
class Standing:
    """A solver's time to a gap on a problem: the median of the fits at the setting that counts."""

    instance: Instance
    n: int
    solver: str
    gap: float
    seconds: float
    relative_gap: float
    reached: bool


def standings(record: Record, racers: Sequence[Racer], rules: Rules) -> list[Standing]:
    """Every solver's time to every gap on every problem; the limits of a kernel problem stand as solvers."""
    found = []
    for instance in dict.fromkeys(map(instance_of, record.rows)):
        for racer in racers:
            rows = _medians(record.of(instance, racer.name))
            for gap in rules.gaps:
                row = counting_row(rows, gap)
                if row is not None:
                    reached = within(row.relative_gap, gap)
                    found.append(Standing(instance, row.n, racer.name, gap, row.seconds, row.relative_gap, reached))
        if instance in record.limits:
            n = next(row.n for row in record.rows if instance_of(row) == instance)
            for name, seconds in record.limits[instance].items():
                found += [Standing(instance, n, name, gap, seconds, 0.0, True) for gap in rules.gaps]
    return found


def _medians(rows: Sequence[Row]) -> list[Row]:
    """One row a setting, with the medians of its fits; not for settings tried once where others were repeated."""
    settings: dict[tuple[float, str], list[Row]] = {}
    for row in rows:
        settings.setdefault((row.setting, row.failure), []).append(row)
    repeated = any(len(fits) > 1 for fits in settings.values())
    return [
        replace(
            fits[0],
            seconds=float(np.median([row.seconds for row in fits])),
            relative_gap=float(np.median([row.relative_gap for row in fits])),
        )
        for (_, failure), fits in settings.items()
        if len(fits) > 1 or failure or not repeated
    ]


def times(found: Sequence[Standing], racers: Sequence[Racer], rules: Rules) -> str:
    """One table a gap: problems by solvers."""
    names = _names(found, racers)
    instances = list(dict.fromkeys(standing.instance for standing in found))
    parts = []
    for gap in rules.gaps:
        at = {(standing.instance, standing.solver): standing for standing in found if standing.gap == gap}
        rows = [[str(instance), *(_cell(at.get((instance, name))) for name in names)] for instance in instances]
        parts.append(f"## Seconds to {gap:g}\n\n" + _markdown(["problem", *names], rows))
    note = (
        "An asterisk: the gap was not reached; the time of the fit that came nearest, and the gap that it got. >: even"
        " the loosest setting was not done when its time was up."
    )
    return "\n\n".join([*parts, note])


def summary(found: Sequence[Standing], racers: Sequence[Racer], rules: Rules) -> str:
    """How many times faster the first solver of ours is than each other, and than the best peer, by gap and C."""
    ours = next((racer.name for racer in racers if racer.ours), None)
    if ours is None:
        return ""
    peers = [racer.name for racer in racers if not racer.ours]
    others = [*(["best peer"] if peers else []), *(name for name in _names(found, racers) if name != ours)]
    rows = []
    for group, member in GROUPS.items():
        for gap in rules.gaps:
            here = [standing for standing in found if standing.gap == gap and member(standing.instance.C)]
            if here:
                rows.append([group, f"{gap:g}", *(_ratio(here, ours, peers, other) for other in others)])
    head = f"## Times as fast: {ours} against …\n\n"
    note = (
        "Geometric means of (seconds of the other)/(seconds of ours), with the least and the number of problems. ≥: on"
        " some problems the other did not reach the gap, and the time of its nearest fit counts. Problems on which ours"
        " did not reach the gap are left out and counted as missed. The best peer is chosen for each problem."
    )
    return head + _markdown(["C", "gap", *others], rows) + "\n\n" + note


def growth(found: Sequence[Standing], racers: Sequence[Racer], rules: Rules) -> str:
    """The exponent p of seconds ∝ n^p, fitted to the sizes at which the gap was reached."""
    rows = []
    kinds = {_without_size(standing.instance) for standing in found}
    for kind in sorted(kinds, key=str):
        for gap in rules.gaps:
            cells = []
            for name in _names(found, racers):
                here = [
                    (standing.n, standing.seconds)
                    for standing in found
                    if (_without_size(standing.instance), standing.gap, standing.solver) == (kind, gap, name)
                    and standing.reached
                ]
                cells.append(_exponent(here))
            rows.append([str(kind), f"{gap:g}", *cells])
    head = ["problem", "gap", *_names(found, racers)]
    return "## Growth: the exponent of n\n\n" + _markdown(head, rows)


def memory(record: Record, racers: Sequence[Racer]) -> str:
    """The peak of memory above the data at the tightest setting that counts, for each problem and solver."""
    rows = []
    for instance in dict.fromkeys(map(instance_of, record.rows)):
        peaks = []
        for racer in racers:
            peak = record.memory.get((instance, racer.name), np.nan)
            peaks.append(f"{peak:.0f}" if np.isfinite(peak) else "–")
        rows.append([str(instance), *peaks])
    head = ["problem", *(racer.name for racer in racers)]
    return "## Peak of memory above the data, MB\n\n" + _markdown(head, rows)


def remarks(record: Record, rules: Rules) -> str:
    """What a reader must know besides: references that are not tight, solvers that sat out or failed."""
    lines = [
        f"- {instance}: the best dual value known is itself only certified to {gap:.1e}; the gaps of solvers that"
        " return no dual point may be overestimated by that much."
        for instance, gap in record.reference_gaps.items()
        if gap > 0.1 * min(rules.gaps)
    ]
    reasons: dict[str, list[str]] = {}
    for (instance, name), why in record.refusals.items():
        reasons.setdefault(f"{name} sat out: {why}", []).append(str(instance))
    lines += [f"- {why} ({', '.join(where)})." for why, where in reasons.items()]
    failures = {
        f"- {instance_of(row)}: {row.solver} at {row.setting:g}: "
        + (f"killed after {row.seconds:g} s" if row.failure == CAP else row.failure)
        for row in record.rows
        if row.failure
    }
    lines += sorted(failures)
    return "## Remarks\n\n" + "\n".join(lines) if lines else ""


def _names(found: Sequence[Standing], racers: Sequence[Racer]) -> list[str]:
    present = {standing.solver for standing in found}
    return [racer.name for racer in racers] + [name for name in LIMITS if name in present]


def _cell(standing: Standing | None) -> str:
    if standing is None:
        return "–"
    if np.isinf(standing.relative_gap):
        return f"> {standing.seconds:g}"
    return f"{standing.seconds:.3g}" + ("" if standing.reached else f"* ({standing.relative_gap:.0e})")


def _ratio(here: Iterable[Standing], ours: str, peers: Sequence[str], other: str) -> str:
    here = list(here)
    ratios, bounds, missed = [], 0, 0
    for instance in dict.fromkeys(standing.instance for standing in here):
        at = {standing.solver: standing for standing in here if standing.instance == instance}
        mine = at.get(ours)
        theirs = _best([at[peer] for peer in peers if peer in at]) if other == "best peer" else at.get(other)
        if theirs is None:
            continue
        if mine is None or not mine.reached:
            missed += 1
            continue
        bounds += not theirs.reached
        ratios.append(theirs.seconds / mine.seconds)
    if not ratios:
        return f"missed {missed}" if missed else "–"
    mean = float(np.exp(np.mean(np.log(ratios))))
    text = f"{'≥ ' if bounds else ''}{mean:.2f} (least {min(ratios):.2f}, {len(ratios)})"
    return text + (f", missed {missed}" if missed else "")


def _best(candidates: Sequence[Standing]) -> Standing | None:
    """The quickest of those that reached the gap; if none did, the one that came nearest."""
    arrived = [standing for standing in candidates if standing.reached]
    if arrived:
        return min(arrived, key=lambda standing: standing.seconds)
    return min(candidates, key=lambda standing: standing.relative_gap, default=None)


def _without_size(instance: Instance) -> Instance:
    return Instance(instance.data.partition(":")[0], instance.C, instance.bias, instance.gamma_scale)


def _exponent(points: Sequence[tuple[int, float]]) -> str:
    if len({n for n, _ in points}) < 2:
        return "–"
    n, seconds = np.log(np.array(points)).T
    slope = np.polyfit(n, seconds, 1)[0]
    return f"{slope:.2f} ({len(points)} sizes)"


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
