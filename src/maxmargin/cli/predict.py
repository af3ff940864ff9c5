"""`maxmargin predict`: labels, decision values or probabilities for the rows of a file, however long it is."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import typer

from maxmargin.cli import options
from maxmargin.errors import InvalidInput
from maxmargin.files import replacing

if TYPE_CHECKING:
    import numpy as np

    from maxmargin.models.model import Model


def predict(
    model: Path = options.MODEL,
    data: str = options.DATA,
    output: Path | None = typer.Option(
        None, "--output", "-o", help="Where the answers go, one line a row (else, or for -, they are printed)."
    ),
    decision: bool = typer.Option(False, "--decision", help="Decision values instead of labels."),
    probability: bool = typer.Option(False, "--probability", help="The label, and the probability of each class."),
    format: str | None = options.FORMAT,
    target: str | None = options.TARGET,
    zero_based: bool | None = options.BASE,
    as_json: bool = typer.Option(False, "--json", help="The summary as one JSON object."),
    quiet: bool = options.QUIET,
) -> None:
    """Predict; where the file has labels, say how good the answers are: accuracy, or errors of a regression.

    Example: maxmargin predict a9a.mm a9a.t.svm -o answers.txt
    """
    from maxmargin.cli.scores import Tally
    from maxmargin.data.dataset import label_texts
    from maxmargin.models import load

    output = None if str(output) == "-" else output
    if decision and probability:
        raise typer.BadParameter("choose --decision or --probability")
    if as_json and output is None:
        raise typer.BadParameter("--json needs -o: the answers would be mixed with the summary")
    options.outputs({"MODEL": model, "DATA": data}, {"-o": output})
    refuse_swapped(model, data)
    loaded = load(model)
    tally = Tally(loaded)
    with options.reading(data, not quiet) as progress, _sink(output) as sink:
        if probability:
            sink.write(("labels " + " ".join(label_texts(_classes(loaded))) + "\n").encode("utf-8", "surrogatepass"))
        for part in parts_for(loaded, data, format, target, zero_based, progress):
            scores = loaded.scores(part.X)
            answers = loaded.labels(scores)
            sink.write(_lines(loaded, scores, answers, decision, probability))
            tally.add(answers, part.y)
        if tally.rows == 0:
            raise InvalidInput(f"{data} has no rows")
    if as_json:
        options.put(tally.facts())
    else:
        text = str(tally).split("\n")[0] if quiet else tally
        options.say(text, sys.stderr if output is None else sys.stdout)


def refuse_swapped(model: Path, data: str) -> None:
    """Say so where the two files come in the order of svm-predict: the data before the model."""
    from maxmargin.models.formats import format_of

    if all(Path(file).is_file() for file in (model, data)) and format_of(model) is None and format_of(data):
        raise typer.BadParameter(f"{model} is data and {data} is the model: write the model first, then the data")


def parts_for(
    model: Model, data: str, format: str | None, target: str | None, zero_based: bool | None, progress: Any
) -> Iterator[Any]:
    """The rows of a file in blocks, read as the model's training data was."""
    from maxmargin.data.formats import blocks, recognised
    from maxmargin.data.kernel_matrix import against_training_rows
    from maxmargin.kernels import Precomputed

    kind, opened = recognised(data, format, progress)
    more: dict[str, Any] = {}
    if kind == "svmlight":
        more["zero_based"] = model.zero_based if zero_based is None else zero_based
        more["columns"] = model.columns
        if isinstance(model.kernel, Precomputed) and model.zero_based:
            more["columns"] += 1
            return against_training_rows(blocks(opened, kind, needed=False, progress=progress, **more))
    else:
        more = {"target": target or model.target, "zero_based": zero_based, "features": model.names}
        if kind == "npz":
            more["features"] = None
    return blocks(opened, kind, needed=False, progress=progress, **more)


def _classes(model: Model) -> Any:
    if model.classes is None:
        raise typer.BadParameter(f"a model for {model.task} has no classes and no probabilities")
    return model.classes


def _lines(model: Model, scores: np.ndarray, answers: np.ndarray, decision: bool, probability: bool) -> bytes:
    from maxmargin.data.dataset import label_text, label_texts

    if decision:
        rows = [" ".join(map(repr, row)) for row in scores.tolist()]
    elif probability:
        shares = model.probabilities(scores).tolist()
        pairs = zip(label_texts(answers), shares, strict=True)
        rows = [f"{answer} " + " ".join(f"{x:.6g}" for x in share) for answer, share in pairs]
    elif model.task == "regression":
        rows = [label_text(answer) for answer in answers.tolist()]
    else:
        rows = label_texts(answers).tolist()
    return "".join(row + "\n" for row in rows).encode("utf-8", "surrogatepass")


@contextmanager
def _sink(output: Path | None) -> Iterator[IO[bytes]]:
    if output is None:
        yield _Terminal() if sys.stdout.isatty() else sys.stdout.buffer
        sys.stdout.flush()
        return

    with replacing(output) as file:
        yield file


class _Terminal(io.BytesIO):
    """Standard output where it is a terminal: labels are shown without what the terminal would obey."""

    def write(self, lines: Any) -> int:
        options.say(bytes(lines).decode("utf-8", "surrogatepass").removesuffix("\n"))
        return len(lines)
