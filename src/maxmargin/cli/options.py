"""What several commands share: options for data files, reading with progress, mistakes of usage, and output."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from maxmargin.cli import pressed
from maxmargin.errors import InvalidInput, bytes_text
from maxmargin.files import distinct, place, shown

if TYPE_CHECKING:
    from maxmargin.training.budget import Budget

DATA = typer.Argument(..., help="The data file: svmlight, CSV, TSV, Parquet, Arrow, NPY or NPZ; - is standard input.")
MODEL = typer.Argument(..., help="A model file of maxmargin, LIBSVM or LIBLINEAR.")
#: Panels of the help.
DATA_PANEL, OUTPUT_PANEL = "Data", "Output"
FORMAT = typer.Option(
    None,
    "--format",
    help="The format of the data, where its name does not say it: svmlight, csv, tsv, parquet, ...",
    rich_help_panel=DATA_PANEL,
)
TARGET = typer.Option(
    None,
    "--target",
    help="The column that is the target (by default target, label, class or y).",
    rich_help_panel=DATA_PANEL,
)
DROP = typer.Option([], "--drop", help="A column of a table to leave out; may be repeated.", rich_help_panel=DATA_PANEL)
BASE = typer.Option(
    None,
    "--zero-based/--one-based",
    help="Whether svmlight indices begin at 0 (by default if there is a 0).",
    rich_help_panel=DATA_PANEL,
)
QUIET = typer.Option(
    False, "--quiet", "-q", help="No progress, and one line of text at most.", rich_help_panel=OUTPUT_PANEL
)
JSON = typer.Option(False, "--json", help="Print one JSON object, for machines.", rich_help_panel=OUTPUT_PANEL)


@contextmanager
def usage() -> Iterator[None]:
    """A value that cannot be used is a mistake of usage: exit status 2."""
    try:
        yield
    except InvalidInput as error:
        raise typer.BadParameter(str(error)) from None


def outputs(inputs: Mapping[str, str | Path | None], written: Mapping[str, str | Path | None]) -> None:
    """Before any work: no output may be an input or another output, and each must be a place to write to."""
    with usage():
        distinct(inputs, written)
    for name, path in written.items():
        if path is not None and str(path) == "-":
            raise typer.BadParameter(f"{name} cannot be standard output; name a file")
        if path is not None:
            place(path)


def say(text: object, file: Any = None) -> None:
    """Print text that may hold names and labels from files: nothing of it reaches the terminal as a command to it."""
    print("\n".join(map(shown, str(text).split("\n"))), file=file)


@contextmanager
def reading(name: str, wanted: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A line on the terminal while a file is read; nothing where it is not wanted or there is no terminal."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape

    told = escape(shown(name))
    with Console(stderr=True).status(f"reading {told}") as status:

        def show(done: int, size: int) -> None:
            share = f" ({done / size:.0%})" if size else ""
            status.update(f"reading {told}: {bytes_text(done)}{share}")

        yield show


@contextmanager
def stopping(budget: Budget) -> Iterator[None]:
    """The first Ctrl-C asks for an end with what there is, and breaks nothing off; the second one does."""

    def ask(number: int, frame: Any) -> None:
        again = budget.interrupted
        budget.interrupt()
        if again:
            raise KeyboardInterrupt
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


def model_format(path: str | Path, format: str | None = None) -> str | None:
    """The format of a model file; None for data, for which a format may be named, and for pipes, which hold data."""
    from maxmargin.data.source import is_pipe
    from maxmargin.models.formats import format_of

    return None if format is not None or is_pipe(path) else format_of(path)


def row_weights(path: Path | None, n: int) -> Any:
    """The weights of the rows from a file; None where there is none."""
    if path is None:
        return None
    from maxmargin.data.weights import read

    return read(path, n)


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

    text = json.dumps(plain(value), ensure_ascii=False)
    # JSON escapes what is below 0x20; there is more that a terminal would obey.
    print("".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text))
