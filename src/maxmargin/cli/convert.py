"""`maxmargin convert`: between data formats, and between model formats."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from maxmargin.cli import options
from maxmargin.cli.model_output import refuse_data_name, save_to
from maxmargin.errors import InvalidInput


def convert(
    source: str = typer.Argument(..., help="A data or model file; - is standard input."),
    output: Path = typer.Argument(
        ..., help="The file to write; the end of its name says the format. - is standard output."
    ),
    to: str | None = typer.Option(None, help="The format to write, where the name does not say it."),
    format: str | None = options.FORMAT,
    target: str | None = options.TARGET,
    drop: list[str] = options.DROP,
    zero_based: bool | None = options.BASE,
    quiet: bool = options.QUIET,
) -> None:
    """Convert data (svmlight, CSV, TSV, Parquet, Arrow, NPY, NPZ) or a model (native, LIBSVM, LIBLINEAR, ONNX).

    Example: maxmargin convert iris.csv iris.svm.xz --target species

    Example: maxmargin convert a9a.mm a9a.onnx
    """
    from maxmargin.models import formats as models

    screen = str(output) == "-"
    if screen and to is None:
        raise typer.BadParameter("which format should standard output have? Say it with --to")
    options.outputs({"SOURCE": source}, {"OUTPUT": None if screen else output})
    if (kind := options.model_format(source, format)) is not None:
        if target is not None or zero_based is not None or drop:
            raise typer.BadParameter("--target, --drop and --zero-based are for data; this is a model")
        if to is None and output.suffix not in models.SUFFIXES:
            raise typer.BadParameter(
                f"which format should {output} have? End the name in one of: {', '.join(models.SUFFIXES)}"
            )
        if screen:
            save_to(models.load(source, kind), sys.stdout.buffer, to)
            return
        if to is not None:
            refuse_data_name(output)
        models.save(models.load(source, kind), output, to)
        options.say(f"{source} ({kind} model) → {output}")
        return
    from maxmargin.data import blocks, write

    rows = 0

    def counted() -> Iterator[Any]:
        nonlocal rows
        with options.reading(source, not quiet) as progress:
            reader: dict[str, Any] = {"target": target, "drop": drop, "zero_based": zero_based, "needed": False}
            for part in blocks(source, format, **reader, progress=progress):
                rows += part.n
                yield part
        if rows == 0:
            raise InvalidInput(f"{source} has no rows")

    write(output, counted(), to)
    if not screen:
        options.say(f"{source} → {output}: {rows} rows")
