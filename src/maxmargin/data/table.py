"""CSV and TSV: a header, numbers, and one column that is the target (numbers or text).

Where the first line holds only numbers there is no header, and the columns are called 1, 2, 3, ... Missing values, NaN
and text among the features are refused with file, line and column.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import IO, Any

import numpy as np

from maxmargin.data.column_roles import Columns, columns
from maxmargin.data.dataset import Data, texts_of, whole_numbers
from maxmargin.data.growing_array import Growing
from maxmargin.data.line_blocks import decoded, place, side_by_side
from maxmargin.data.source import Progress, Source, Text, opened
from maxmargin.data.svmlight_lines import count
from maxmargin.data.table_lines import BAD_VALUE, FINE, NOT_FINITE, parse
from maxmargin.data.text_writer import table_lines
from maxmargin.data.unreadable import MISSING_WORDS, unreadable
from maxmargin.data.wide import dense_parts
from maxmargin.errors import InvalidInput

MISTAKES = (
    "",
    "the line ends after {fields} fields; the first line has {columns}",
    "the line has more than {columns} fields",
    "the value of column {name!r} is missing; fill it in or drop the row",
    "{field!r} in column {name!r} is not a number; code text as numbers first, or leave the column out (--drop)",
    "the value {field} of column {name!r} is not finite; fill it in or drop the row",
    "the quote that opens here is not closed on the same line",
)


@dataclass(frozen=True, eq=False)
class Layout:
    """How the lines are to be read."""

    columns: Columns
    delimiter: str
    #: Where the rows begin in the first piece of text.
    start: int


def read(
    path: str | os.PathLike[str] | Source,
    target: str | None = None,
    features: Sequence[str] | None = None,
    needed: bool = True,
    progress: Progress | None = None,
    drop: Sequence[str] = (),
) -> Data:
    """Read a whole file: the features by name (by default all but the target and what to `drop`) and the target."""
    values, labels = Growing(np.float64), Growing(object)
    with opened(path, progress) as source:
        found: Columns | None = None
        for layout, parts, share in _parsed(
            source, partial(columns, source.name, target=target, features=features, needed=needed, drop=drop)
        ):
            found = layout.columns
            values.extend((X.ravel() for X, _ in parts), share)
            labels.extend((y for _, y in parts), share)
        if found is None or not values.used:
            raise InvalidInput(f"{source.name} has no rows")
    table = values.done().reshape(-1, len(found.features))
    return Data(
        table,
        None if found.target is None else numbers_or_text(labels.done(), source.name),
        found.features,
        source.name,
        target=found.target_name,
    )


def blocks(
    path: str | os.PathLike[str] | Source,
    target: str | None = None,
    features: Sequence[str] | None = None,
    needed: bool = True,
    progress: Progress | None = None,
    drop: Sequence[str] = (),
) -> Iterator[Data]:
    """Read a file some thousand rows at a time."""
    with opened(path, progress) as source:
        for layout, parts, _ in _parsed(
            source, partial(columns, source.name, target=target, features=features, needed=needed, drop=drop)
        ):
            for X, y in parts:
                named = None if layout.columns.target is None else numbers_or_text(y, source.name)
                yield Data(X, named, layout.columns.features, source.name, target=layout.columns.target_name)


def write(file: IO[bytes], parts: Iterable[Data], delimiter: str = ",") -> None:
    """Write a header and rows, the target last and under its own name; every value is read back as the same double."""
    header = False
    for part in (some for whole in parts for some in dense_parts(whole)):
        X = part.X
        if not header:
            names = part.names or tuple(f"x{k + 1}" for k in range(X.shape[1]))
            line = io.StringIO()
            row = [*names, *([] if part.y is None else [part.target or "target"])]
            csv.writer(line, delimiter=delimiter, lineterminator="\n").writerow(row)
            file.write(line.getvalue().encode("utf-8"))
            header = True
        for text in table_lines(X, part.y, delimiter):
            file.write(text)


def numbers_or_text(labels: np.ndarray, name: str) -> np.ndarray:
    """Labels as numbers where all of them are numbers, else as text; a number that is not finite is refused."""
    try:
        numbers = np.array([float(label) for label in labels])
    except ValueError:
        missing = next((label for label in labels if label.strip().lower() in MISSING_WORDS), None)
        # Among numbers NA is no class of its own; among texts it may be one, nothing at all never is.
        if missing is not None and (not missing.strip() or any(map(_is_number, labels))):
            row = 1 + int(np.flatnonzero(labels == missing)[0])
            told = f"the target of row {row} is missing" + (f" ({missing!r})" if missing.strip() else "")
            raise InvalidInput(f"{name}: {told}; fill it in or drop the row") from None
        return texts_of(labels, name)
    if not np.isfinite(numbers).all():
        odd = labels[np.flatnonzero(~np.isfinite(numbers))[0]]
        raise InvalidInput(f"{name}: a target is {odd!r}, which is not finite; fill it in or drop the row")
    return whole_numbers(numbers)


def _parsed(
    source: Source, find: Callable[..., Columns]
) -> Iterator[tuple[Layout, list[tuple[np.ndarray, np.ndarray]], float]]:
    layout: Layout | None = None
    known: dict[bytes, str] = {}
    for text in source.pieces():
        start = 0
        if layout is None:
            layout = _layout(source, text, find)
            if layout is None:
                continue
            start = layout.start
        work = partial(_block, source, text, layout=layout, known=known)
        yield layout, [part for part in side_by_side(text, start, work) if len(part[0])], text.share


def _layout(source: Source, text: Text, find: Callable[..., Columns]) -> Layout | None:
    """Read the header, and find the columns by their names; None where there is not even a line."""
    start = 0
    for raw in text.raw.splitlines(keepends=True):
        if raw.strip():
            break
        start += len(raw)
    else:
        return None
    try:
        line = raw.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise InvalidInput(f"{place(source, text, start)}: the header is not UTF-8 text") from None
    headers = {mark: _fields(line, mark) for mark in ",;\t"}
    delimiter = max(headers, key=lambda mark: len(headers[mark]))
    names = headers[delimiter]
    if not names:
        raise InvalidInput(f"{place(source, text, start)}: the header cannot be split into names of columns")
    if len(names) == 1 and len(line.split()) > 1 and all(map(_is_number, line.split())):
        raise InvalidInput(
            f"{place(source, text, start)}: blanks stand between the fields; write commas, semicolons or tabs"
        )
    if all(_is_number(name) for name in names):
        names = [str(k + 1) for k in range(len(names))]
    else:
        start += len(raw)
    return Layout(find(names=names), delimiter, start)


def _fields(line: str, delimiter: str) -> list[str]:
    """The fields of the header; none where it cannot be split in this way (a field may be 131,072 bytes long)."""
    try:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        return []


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _block(
    source: Source, text: Text, start: int, stop: int, layout: Layout, known: dict[bytes, str]
) -> tuple[np.ndarray, np.ndarray]:
    lines, _ = count(text.bytes, start, stop)
    # A row has at least a byte for each feature, and one behind each field: blank lines need no memory.
    shortest = len(layout.columns.features) + len(layout.columns.names)
    lines = min(lines, (stop - start + 1) // shortest)
    values = np.empty((lines + 1, len(layout.columns.features)), np.uint64)
    spans = np.empty((lines + 1, 2), np.int64)
    close = np.empty((64, 4), np.int64)
    while True:
        rows, doubtful, mistake, at, column = parse(
            text.bytes, start, stop, ord(layout.delimiter), layout.columns.roles, values, spans, close
        )
        if doubtful <= len(close):
            break
        close = np.empty((doubtful, 4), np.int64)
    if mistake != FINE:
        raise _error(source, text, at, layout, mistake, column)
    X = values[:rows].view(np.float64)
    for row, role, first, last in close[:doubtful]:
        X[row, role] = float(text.raw[first:last])
        if not np.isfinite(X[row, role]):
            raise _error(source, text, first, layout, NOT_FINITE, int(np.flatnonzero(layout.columns.roles == role)[0]))
    if layout.columns.target is None:
        return X, np.full(rows, "", dtype=object)
    return X, np.array([_unquoted(decoded(source, text, a, b, known)) for a, b in spans[:rows].tolist()], dtype=object)


def _unquoted(field: str) -> str:
    field = field.strip()
    if len(field) >= 2 and field[0] == field[-1] == '"':
        field = field[1:-1].replace('""', '"')
    return field


def _error(source: Source, text: Text, at: int, layout: Layout, mistake: int, column: int) -> InvalidInput:
    """The sentence for a mistake at a place, with the field that is there."""
    line = text.raw[at : at + 80].decode("utf-8", "replace").split("\n")[0]
    quoted = text.raw[at - 1 : at] == b'"'
    field = line.split('"' if quoted else layout.delimiter)[0].strip(' \r"')
    facts: dict[str, Any] = {
        "fields": column + 1,
        "columns": len(layout.columns.names),
        "name": layout.columns.names[column],
        "field": field,
    }
    sentence = unreadable(field, layout.delimiter) if mistake == BAD_VALUE else None
    return InvalidInput(f"{place(source, text, at)}: {(sentence or MISTAKES[mistake]).format(**facts)}")
