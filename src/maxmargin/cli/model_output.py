"""Where a trained model goes: the file that was named, beside the data, or standard output; decided before the work."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from maxmargin.models.model import Model

#: What is put behind the name of the data where no name is given.
SUFFIX = ".mm"


@dataclass(frozen=True)
class Destination:
    """Where a model goes, and what is said about it."""

    #: The file; None where the model goes to standard output or nowhere.
    path: Path | None
    #: What the last line says about it.
    told: str
    #: Standard output, where the model goes there.
    stream: IO[bytes] | None = None

    @contextmanager
    def messages(self) -> Iterator[None]:
        """Print to standard error where standard output is for the model."""
        if self.stream is None:
            yield
            return
        with redirect_stdout(sys.stderr):
            yield

    def save(self, model: Model) -> None:
        """Write the model."""
        from maxmargin.models import save

        if self.path is not None:
            save(model, self.path)
        elif self.stream is not None:
            save_to(model, self.stream)


def destination(output: Path | None, data: str) -> Destination:
    """Where the model of some data goes; a place that cannot be meant is refused."""
    if output is None:
        return _beside(data)
    if str(output) == "-":
        if sys.stdout.isatty():
            raise typer.BadParameter("a model is not text: send -o - to a file or a program, or name a file")
        return Destination(None, "; model on standard output", sys.stdout.buffer)
    return Destination(output, f"; model in {output}")


def refuse_data_name(output: Path | None) -> None:
    """Refuse a model file that is named as data is."""
    from maxmargin.data.formats import by_suffix
    from maxmargin.models.formats import SUFFIXES

    if output is not None and (kind := by_suffix(output)) is not None:
        raise typer.BadParameter(
            f"{output} is a name for {kind} data; end the name of a model in one of: {', '.join(SUFFIXES)}"
        )


def save_to(model: Model, stream: IO[bytes], format: str | None = None) -> None:
    """Write a model to a stream."""
    from maxmargin.models import save

    with TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        save(model, path, format)
        stream.write(path.read_bytes())
    stream.flush()


def _beside(data: str) -> Destination:
    """The file beside the data, as svm-train has it; an old model there is replaced, anything else is not."""
    from maxmargin.models.formats import format_of

    file = Path(data)
    if data == "-" or (file.exists() and not file.is_file()):
        return Destination(None, "; NO MODEL WAS SAVED: name a file with -o")
    path = Path(data + SUFFIX)
    if not os.access(path.parent, os.W_OK):
        return Destination(None, f"; NO MODEL WAS SAVED: {path.parent} is not writable, name a file with -o")
    if not path.exists():
        return Destination(path, f"; model in {path}")
    if not path.is_file() or format_of(path) != "native":
        raise typer.BadParameter(f"{path} is there already and is no model of maxmargin: name another file with -o")
    return Destination(path, f"; model in {path}, in place of the one that was there")
