"""Rows as lines of text, some thousand at a time: the compiled writer, and Python for the few numbers it leaves."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from maxmargin.data.dataset import label_texts
from maxmargin.data.number_writer import LONGEST, LONGEST_ENTRY, put_rows, put_table
from maxmargin.errors import InvalidInput

#: About how much text is made at a time.
TEXT = 2**25


def svmlight_lines(X: Any, y: np.ndarray | None, shift: int) -> Iterator[bytes]:
    """Lines ``label index:value ...`` of a CSR matrix; `shift` is added to the indices."""
    labels = np.full(X.shape[0], "0", dtype=object) if y is None else label_texts(y)
    odd = next((label for label in set(labels) if not label or any(c in label for c in " \t\r\n:#")), None)
    if odd is not None:
        raise InvalidInput(f"the label {odd!r} cannot be written to an svmlight file: use CSV")
    start = 0
    while start < X.shape[0]:
        # As many rows as fill the buffer, and one at least.
        stop = int(np.searchsorted(X.indptr, X.indptr[start] + TEXT // LONGEST_ENTRY, side="right")) - 1
        stop = min(max(stop, start + 1), start + TEXT // 64, X.shape[0])
        text, ends = _joined(labels[start:stop])
        indptr = X.indptr[start : stop + 1]
        values = X.data.view(np.uint64)
        size = len(text) + (stop - start) + LONGEST_ENTRY * int(indptr[-1] - indptr[0])

        def by_hand(i: int, start: int = start) -> str:
            row = slice(X.indptr[start + i], X.indptr[start + i + 1])
            entries = zip((X.indices[row] + shift).tolist(), X.data[row].tolist(), strict=True)
            return " ".join((labels[start + i], *map("%d:%r".__mod__, entries)))

        arguments = (text, ends, indptr, X.indices, shift, values)
        yield _filled(lambda first, out, at, a=arguments: put_rows(first, *a, out, at), stop - start, size, by_hand)
        start = stop


def table_lines(X: np.ndarray, y: np.ndarray | None, delimiter: str) -> Iterator[bytes]:
    """Lines of numbers with a delimiter between, the label last."""
    labels = np.full(len(X), "", dtype=object)
    if y is not None:
        texts = label_texts(y)
        quoted = {text: delimiter + _field(text, delimiter) for text in set(texts)}
        labels = np.array([quoted[text] for text in texts], dtype=object)
    step = max(1, TEXT // (LONGEST * X.shape[1]))
    for start in range(0, len(X), step):
        block = np.ascontiguousarray(X[start : start + step], dtype=np.float64)
        text, ends = _joined(labels[start : start + step])
        size = len(text) + len(block) + LONGEST * block.size + len(block)
        bits = block.view(np.uint64)

        def by_hand(i: int, block: np.ndarray = block, start: int = start) -> str:
            return delimiter.join(map(repr, block[i].tolist())) + labels[start + i]

        arguments = (bits, text, ends, ord(delimiter))
        yield _filled(lambda first, out, at, a=arguments: put_table(first, *a, out, at), len(block), size, by_hand)


def _filled(put: Callable[..., tuple[int, int]], rows: int, size: int, by_hand: Callable[[int], str]) -> bytes:
    """The text of so many rows; a row that `put` cannot write is written by hand."""
    out = np.empty(size, np.uint8)
    row, at = 0, 0
    while True:
        row, at = put(row, out, at)
        if row == rows:
            return out[:at].tobytes()
        line = np.frombuffer((by_hand(row) + "\n").encode("utf-8"), np.uint8)
        out[at : at + len(line)] = line
        row, at = row + 1, at + len(line)


def _joined(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Texts as one array of bytes, and where each begins and ends in it."""
    raw = [label.encode("utf-8") for label in labels]
    ends = np.cumsum([0, *map(len, raw)], dtype=np.int64)
    return np.frombuffer(b"".join(raw) or b" ", np.uint8), ends


def _field(text: str, delimiter: str) -> str:
    """A field of a CSV file, in quotes where it must be."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="").writerow([text])
    return out.getvalue()
