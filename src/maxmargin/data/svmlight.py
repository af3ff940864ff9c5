"""The svmlight (LIBSVM) format: one row per line, ``label index:value ... # comment``; fast, exact, and strict.

Values and labels become the nearest double, whatever the number of digits. Indices may begin at 0 or 1, and may be out
of order; an index that comes twice in a line, NaN, infinities and ``qid:`` are refused with file, line and column.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from maxmargin.data.dataset import Data, texts_of, whole_numbers
from maxmargin.data.growing_array import Growing
from maxmargin.data.line_blocks import decoded, place, side_by_side
from maxmargin.data.source import Progress, Source, Text, opened
from maxmargin.data.svmlight_lines import (
    ABSENT,
    BAD_LABEL,
    BAD_VALUE,
    FINE,
    NOT_FINITE,
    NUMBERS,
    TEXTS,
    count,
    first_repetition,
    parse,
)
from maxmargin.data.text_writer import svmlight_lines
from maxmargin.errors import InvalidInput

MISTAKES = (
    "",
    "the label {token!r} is not a finite number, as the first label of the file is",
    "{token!r} stands where the label should be; begin the line with a label, 0 if there is none",
    "{token!r} is not an entry; write index:value",
    "the index of {token!r} is too large; the largest possible is 2147483646",
    "{token!r} is not an entry; write index:value",
    "the value of {token!r} is not a number",
    "the value of {token!r} is not finite; fill it in or drop the row",
)


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows as they stand in the file: their indices are not yet moved to begin at 0."""

    labels: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    least: int
    most: int
    #: Whether the lines begin with labels; where they do not, the labels are all 0.
    labelled: bool


def read(
    path: str | os.PathLike[str] | Source,
    zero_based: bool | None = None,
    columns: int = 0,
    progress: Progress | None = None,
    needed: bool = True,
) -> Data:
    """Read a whole file.

    Parameters
    ----------
    path : str, path or Source
        The file, plain or compressed (gz, bz2, xz, zst); ``-`` is standard input.
    zero_based : bool
        Whether indices begin at 0; by default they do if there is a 0 among them.
    columns : int
        The least number of columns to give X; by default as many as the largest index asks for.
    progress : function
        Called with the bytes read so far and the size of the file.
    needed : bool
        Whether a file without labels, whose lines begin with an entry, is refused.
    """
    labels: Growing | None = None
    lengths, indices, data = Growing(np.int64), Growing(np.int32), Growing(np.float64)
    least, most, labelled = 2**31, -1, True
    with opened(path, progress) as source:
        for blocks, share in _parsed(source, needed):
            if not blocks:
                continue
            labels = labels or Growing(object if blocks[0].labels.dtype.kind == "O" else np.float64)
            labelled = blocks[0].labelled
            labels.extend((block.labels for block in blocks), share)
            lengths.extend((np.diff(block.indptr) for block in blocks), share)
            indices.extend((block.indices for block in blocks), share)
            data.extend((block.data for block in blocks), share)
            least = min(least, *(block.least for block in blocks))
            most = max(most, *(block.most for block in blocks))
        if labels is None:
            raise InvalidInput(f"{source.name} has no rows")
    zero_based = _base(source.name, zero_based, least)
    indptr = np.zeros(lengths.used + 1, np.int64)
    np.cumsum(lengths.done(), out=indptr[1:])
    moved = indices.done()
    if not zero_based:
        moved -= 1
    width = max(columns, most + zero_based, 1)
    X = _matrix(data.done(), moved, indptr, width)
    y = _labels(labels.done(), source.name) if labelled else None
    return Data(X, y, None, source.name, zero_based)


def blocks(
    path: str | os.PathLike[str] | Source,
    zero_based: bool | None = None,
    columns: int = 0,
    progress: Progress | None = None,
    needed: bool = True,
) -> Iterator[Data]:
    """Read a file some thousand rows at a time; whether indices begin at 0 must be known, or show in the first rows."""
    with opened(path, progress) as source:
        for parsed, _ in _parsed(source, needed):
            for block in parsed:
                zero_based = _base(source.name, zero_based, block.least)
                width = max(columns, block.most + zero_based, 1)
                X = _matrix(block.data, block.indices if zero_based else block.indices - 1, block.indptr, width)
                y = _labels(block.labels, source.name) if block.labelled else None
                yield Data(X, y, None, source.name, zero_based)


def write(file: IO[bytes], parts: Iterable[Data], zero_based: bool = False) -> None:
    """Write rows; every value is read back as the same double."""
    for part in parts:
        X = sp.csr_array(part.X, dtype=np.float64)
        for text in svmlight_lines(X, part.y, 0 if zero_based else 1):
            file.write(text)


def _base(name: str, zero_based: bool | None, least: int) -> bool:
    if zero_based is None:
        return least == 0
    if not zero_based and least == 0:
        raise InvalidInput(f"{name} has a feature of index 0, but indices should begin at 1: say that they begin at 0")
    return zero_based


def _matrix(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, width: int) -> Any:
    if len(data) < 2**31:
        indptr = indptr.astype(np.int32)
    else:
        indices = indices.astype(np.int64)
    X = sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, width), copy=False)
    X.has_canonical_format = True  # sorted and without repetitions: checked block by block
    return X


def _labels(labels: np.ndarray, name: str) -> np.ndarray:
    return texts_of(labels, name) if labels.dtype.kind == "O" else whole_numbers(labels)


def _parsed(source: Source, needed: bool) -> Iterator[tuple[list[Block], float]]:
    """The blocks of each piece of text, and the share of the file that has been read with it."""
    kind: int | None = None
    known: dict[bytes, str] = {}
    for text in source.pieces():
        if kind is None:
            kind = _kind_of_labels(text, needed)
        work = partial(_block, source, text, kind=NUMBERS if kind is None else kind, known=known)
        yield [block for block in side_by_side(text, 0, work) if len(block.labels)], text.share


def _kind_of_labels(text: Text, needed: bool) -> int | None:
    """What labels are, by the first line: numbers, texts, or absent where they may be; None without a line."""
    for line in text.raw.split(b"\n"):
        words = line.split(b"#")[0].split()
        if words:
            if not needed and b":" in words[0] and not words[0].startswith(b"qid:"):
                return ABSENT
            try:
                float(words[0])
            except ValueError:
                return TEXTS
            return NUMBERS
    return None


def _block(source: Source, text: Text, start: int, stop: int, kind: int, known: dict[bytes, str]) -> Block:
    lines, colons = count(text.bytes, start, stop)
    labels = np.zeros(0 if kind == TEXTS else lines + 1, np.uint64)
    spans = np.empty((lines + 1 if kind == TEXTS else 0, 2), np.int64)
    indptr, indices, values = np.empty(lines + 2, np.int64), np.empty(colons, np.int32), np.empty(colons, np.uint64)
    close = np.empty((64, 3), np.int64)
    while True:
        rows, entries, doubtful, least, most, unsorted, mistake, place = parse(
            text.bytes, start, stop, kind, labels, spans, indptr, indices, values, close
        )
        if doubtful <= len(close):
            break
        close = np.empty((doubtful, 3), np.int64)
    if mistake != FINE:
        raise _error(source, text, place, mistake)
    indptr, indices, data = indptr[: rows + 1], indices[:entries], values[:entries].view(np.float64)
    numbers = labels[:rows].view(np.float64)
    for at, first, last in close[:doubtful]:
        value = float(text.raw[first:last])
        if not np.isfinite(value):
            raise _error(source, text, first, NOT_FINITE if at >= 0 else BAD_LABEL)
        if at >= 0:
            data[at] = value
        else:
            numbers[-1 - at] = value
    if unsorted:
        sorted_rows = sp.csr_array((data, indices, indptr), shape=(rows, int(most) + 1), copy=False)
        sorted_rows.sort_indices()
        indices, data = sorted_rows.indices, sorted_rows.data
        repeated = first_repetition(indptr, indices)
        if repeated >= 0:
            raise _repetition(source, text, start, int(repeated), int(kind != ABSENT))
    if kind == TEXTS:
        numbers = np.array([decoded(source, text, int(a), int(b), known) for a, b in spans[:rows]], dtype=object)
    return Block(numbers, indptr, indices, data, int(least), int(most), kind != ABSENT)


def _error(source: Source, text: Text, at: int, mistake: int) -> InvalidInput:
    """The sentence for a mistake at a place, with the token that is there."""
    raw = text.raw
    first = max(raw.rfind(c, 0, at) for c in (b" ", b"\t", b"\n")) + 1
    token = (raw[first : first + 80].split() or [b""])[0].decode("utf-8", "replace")
    if token.startswith("qid:"):
        return InvalidInput(
            f"{place(source, text, at)}: {token!r} marks a ranking query, which no model here uses: remove it"
        )
    more = "; decimals have a point, not a comma" if mistake == BAD_VALUE and "," in token else ""
    return InvalidInput(f"{place(source, text, at)}: {MISTAKES[mistake].format(token=token)}{more}")


def _repetition(source: Source, text: Text, start: int, row: int, labels: int) -> InvalidInput:
    """The sentence for an index that comes twice in the given row of a block, whose lines begin with so many labels."""
    at = start
    for line in text.raw[start:].split(b"\n"):
        words = re.findall(rb"[^ \t\r]+", line.split(b"#")[0])
        if words and row == 0:
            known = [int(word.split(b":")[0]) for word in words[labels:]]
            twice = next(k for k, index in enumerate(known) if index in known[:k])
            column = 0
            for word in words[: twice + labels + 1]:
                column = line.index(word, column) + len(word)
            where = place(source, text, at + column - len(words[twice + labels]))
            return InvalidInput(f"{where}: the index {known[twice]} comes twice in this line")
        row -= bool(words)
        at += len(line) + 1
    raise AssertionError("the row is in its block")
