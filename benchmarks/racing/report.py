"""What a race leaves behind: every fit as CSV, the tables as Markdown, one figure."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

from racing import figure, tables
from racing.machine import described
from racing.schedule import Record, Row, Rules
from racing.worker import Racer


def write(record: Record, racers: Sequence[Racer], rules: Rules, base: Path, growth: bool = False) -> None:
    """Write `base`.csv, .md and .png; called after each data set, so that a long race can be watched."""
    if not record.rows:
        return
    base.parent.mkdir(exist_ok=True)
    with base.with_suffix(".csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)])
        writer.writeheader()
        for row in record.rows:
            writer.writerow({key: _short(value) for key, value in asdict(row).items()})
    machine = described(racers)
    standings = tables.standings(record, racers, rules)
    parts = [
        f"# Time to a relative gap: {base.name}",
        machine,
        tables.summary(standings, racers, rules),
        tables.growth(standings, racers, rules) if growth else "",
        tables.memory(record, racers) if rules.memory else "",
        tables.times(standings, racers, rules),
        tables.remarks(record, rules),
    ]
    base.with_suffix(".md").write_text("\n\n".join(part for part in parts if part) + "\n")
    figure.draw(standings, racers, rules, machine, base.with_suffix(".png"))


def _short(value: object) -> object:
    return f"{value:.10g}" if isinstance(value, float) else value
