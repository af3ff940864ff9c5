"""`maxmargin scale`: what svm-scale does, with the same options and the same files of ranges."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer

from maxmargin.cli import options
from maxmargin.cli.recipes import refuse_if


def scale(
    data: str = options.DATA,
    output: Path = typer.Option(
        Path("-"), "--output", "-o", help="The scaled data; the end of the name says the format. - is standard output."
    ),
    to: str | None = typer.Option(None, help="The format to write, where the name does not say it (else svmlight)."),
    lower: float | None = typer.Option(None, "--lower", "-l", help="The lower end of every column (by default -1)."),
    upper: float | None = typer.Option(None, "--upper", "-u", help="The upper end of every column (by default 1)."),
    ends: tuple[float, float] | None = typer.Option(
        None, "--target-range", "-y", help="Scale the target, too: its lower and its upper end.", metavar="LOW HIGH"
    ),
    saved: Path | None = typer.Option(None, "--save", "-s", help="Write the ranges to this file."),
    restored: Path | None = typer.Option(None, "--restore", "-r", help="Take the ranges from this file."),
    format: str | None = options.FORMAT,
    target: str | None = options.TARGET,
    drop: list[str] = options.DROP,
    zero_based: bool | None = options.BASE,
    quiet: bool = options.QUIET,
) -> None:
    """Scale every column to the same range, as svm-scale does; `train --scale` keeps a scaling in the model instead.

    Example: maxmargin scale train.svm -l 0 -s ranges -o train.scaled.svm

    Example: maxmargin scale test.svm -r ranges -o test.scaled.svm
    """
    refuse_if(saved is not None and restored is not None, "give --save or --restore, not both")
    refuse_if(
        restored is not None and any(one is not None for one in (lower, upper, ends)),
        "--restore has the ends of the ranges in its file: drop -l, -u and -y",
    )
    low, high = -1.0 if lower is None else lower, 1.0 if upper is None else upper
    for name, pair in (("-l and -u", (low, high)), ("-y", ends or (0.0, 1.0))):
        refuse_if(
            not -float("inf") < pair[0] < pair[1] < float("inf"), f"{name} must be finite, the first below the other"
        )
    screen = str(output) == "-"
    options.outputs({"DATA": data, "--restore": restored}, {"-o": None if screen else output, "--save": saved})
    from maxmargin.data import ranges, read, write
    from maxmargin.data.formats import by_suffix

    with options.reading(data, not quiet) as progress:
        reader: dict[str, Any] = {"target": target, "drop": drop, "zero_based": zero_based, "needed": ends is not None}
        rows = read(data, format, **reader, progress=progress)
    found = ranges.ranges_of(rows, low, high, ends) if restored is None else ranges.load(restored)
    write(output, found.apply(rows), to or by_suffix(output) or "svmlight", bool(rows.zero_based))
    if saved is not None:
        ranges.save(found, saved)
    if unknown := found.unknown(rows):
        options.say(f"warning: {unknown} columns have no range in {restored}, and are 0 now", sys.stderr)
    if not screen:
        options.say(f"{rows.source} → {output}: {rows.n} rows, {len(found.index)} columns with more than one value")
