"""What several commands share: options for data files, reading with progress, mistakes of usage, and output."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from maxmargin.cli import pressed
from maxmargin.errors import InvalidInput, bytes_text

if TYPE_CHECKING:
    from maxmargin.models.fit import Budget

DATA = typer.Argument(..., help="The data file: svmlight, CSV, TSV, Parquet, Arrow, NPY or NPZ; - is standard input.")
MODEL = typer.Argument(..., help="A model file of maxmargin, LIBSVM or LIBLINEAR.")
FORMAT = typer.Option(
    None, "--format", help="The format of the data, where its name does not say it: svmlight, csv, tsv, parquet, ..."
)
TARGET = typer.Option(None, "--target", help="The column that is the target (by default target, label, class or y).")
BASE = typer.Option(
    None, "--zero-based/--one-based", help="Whether svmlight indices begin at 0 (by default if there is a 0)."
)
WEIGHTS = typer.Option(None, "--weights", help="A text or .npy file with one weight a row, which multiplies C.")
QUIET = typer.Option(False, "--quiet", "-q", help="No progress.")
JSON = typer.Option(False, "--json", help="Print one JSON object, for machines.")


@contextmanager
def usage() -> Iterator[None]:
    """A value that cannot be used is a mistake of usage: exit status 2."""
    try:
        yield
    except InvalidInput as error:
        raise typer.BadParameter(str(error)) from None


@contextmanager
def reading(name: str, wanted: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A line on the terminal while a file is read; nothing where it is not wanted or there is no terminal."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status(f"reading {name}") as status:

        def show(done: int, size: int) -> None:
            share = f" ({done / size:.0%})" if size else ""
            status.update(f"reading {name}: {bytes_text(done)}{share}")

        yield show


@contextmanager
def stopping(budget: Budget) -> Iterator[None]:
    """The first Ctrl-C asks for an end with what there is, and breaks nothing off; the second one does."""

    def ask(number: int, frame: Any) -> None:
        if budget.stop.is_set() or budget.deaf:
            budget.stop.set()
            raise KeyboardInterrupt
        budget.stop.set()
        if sys.stderr.isatty():
            os.write(2, b"\nstopping after this step; Ctrl-C again ends at once\n")

    if pressed:
        raise KeyboardInterrupt
    try:
        before = signal.signal(signal.SIGINT, ask)
    except ValueError:  # not the main thread: no signals come here
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def row_weights(path: Path | None, n: int) -> Any:
    """The weights of the rows from a file; None where there is none."""
    if path is None:
        return None
    import numpy as np

    from maxmargin.data import npy

    try:
        if path.suffix == ".npy":
            with open(path, "rb") as file:
                found = npy.read(file, str(path), path.stat().st_size)
        else:
            found = np.loadtxt(path, dtype=np.float64, ndmin=1)
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise InvalidInput(f"{path} is not one weight a line: {error}") from None
    if found.shape != (n,) or found.dtype.kind not in "fiu" or not np.isfinite(found).all() or (found < 0).any():
        raise InvalidInput(f"{path} must hold {n} finite weights ≥ 0, one a row")
    return found.astype(np.float64)


def put(value: Any) -> None:
    """Print one JSON object; infinities and NaN, which JSON lacks, become null."""

    def plain(thing: Any) -> Any:
        if isinstance(thing, dict):
            return {str(key): plain(item) for key, item in thing.items()}
        if isinstance(thing, list | tuple):
            return [plain(item) for item in thing]
        if hasattr(thing, "item"):
            thing = thing.item()
        if isinstance(thing, float) and (thing != thing or abs(thing) == float("inf")):
            return None
        return thing

    print(json.dumps(plain(value), ensure_ascii=False))
