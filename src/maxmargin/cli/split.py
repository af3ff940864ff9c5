"""`maxmargin split`: rows for training and rows for testing, as subset.py of LIBSVM selects them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from maxmargin.cli import options
from maxmargin.cli.recipes import refuse_if
from maxmargin.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np

    from maxmargin.data import Data


def split(
    data: str = options.DATA,
    training: Path = typer.Argument(..., help="The file for the rows to train with."),
    testing: Path = typer.Argument(..., help="The file for the rows to test with."),
    test: float = typer.Option(0.25, help="The share of the rows to test with, or, from 1 on, their number."),
    stratify: bool | None = typer.Option(
        None,
        "--stratify/--no-stratify",
        help="Whether all classes have the same share in both files (by default if the target has classes).",
    ),
    seed: int = typer.Option(0, help="The same seed gives the same files."),
    format: str | None = options.FORMAT,
    target: str | None = options.TARGET,
    drop: list[str] = options.DROP,
    zero_based: bool | None = options.BASE,
    quiet: bool = options.QUIET,
) -> None:
    """Split the rows of a data file at random into two files, which keep their order.

    Example: maxmargin split iris.csv train.csv test.csv --target species --test 0.2
    """
    refuse_if(
        not 0 < test < float("inf") or (test >= 1 and test != int(test)),
        f"--test is {test:g}; write a share or a number",
    )
    options.outputs({"DATA": data}, {"TRAINING": training, "TESTING": testing})
    from maxmargin.data import read, write
    from maxmargin.data.formats import by_suffix

    for file in (training, testing):
        refuse_if(by_suffix(file) is None, f"which format should {file} have? End its name as in data.svm or data.csv")
    with options.reading(data, not quiet) as progress:
        reader: dict[str, Any] = {"target": target, "drop": drop, "zero_based": zero_based, "needed": False}
        rows = read(data, format, **reader, progress=progress)
    by_class = _has_classes(rows) if stratify is None else stratify
    parts = _places(rows, test, by_class, seed)
    for file, places in zip((training, testing), parts, strict=True):
        part = replace(rows, X=rows.X[places], y=None if rows.y is None else rows.y[places])
        write(file, part, zero_based=bool(rows.zero_based))
    how = "every class with the same share in both" if by_class else "at random"
    options.say(f"{rows.source} → {training}: {len(parts[0])} rows, {testing}: {len(parts[1])} rows; {how}")


def _has_classes(rows: Data) -> bool:
    """Whether the targets are classes, each with rows enough for both files."""
    import numpy as np

    if rows.y is None or rows.y.dtype.kind == "f":
        return False
    return bool(np.unique(rows.y, return_counts=True)[1].min() >= 2)


def _places(rows: Data, test: float, by_class: bool, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of both files, each in the order of the data."""
    import numpy as np
    from sklearn.model_selection import train_test_split

    if by_class and rows.y is None:
        raise InvalidInput(f"{rows.source} has no labels: --stratify needs them")
    if not 0 <= seed < 2**32:
        raise typer.BadParameter(f"--seed is {seed}; it must be a whole number from 0 to 4294967295")
    try:
        first, second = train_test_split(
            np.arange(rows.n),
            test_size=int(test) if test >= 1 else test,
            random_state=seed,
            stratify=rows.y if by_class else None,
        )
    except ValueError as error:
        told = " ".join(str(error).split())
        raise InvalidInput(f"{rows.source}: {rows.n} rows cannot be split with --test {test:g}: {told}") from None
    return np.sort(first), np.sort(second)
