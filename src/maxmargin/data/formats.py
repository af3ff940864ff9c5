"""One door to all formats: what a file is, reading it whole or block by block, and writing.

>>> data = read("a9a.svm.xz")
>>> data = read("iris.csv", target="species")
>>> write("iris.parquet", data)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import IO, Any

from maxmargin.data import arrays, arrow, svmlight, table
from maxmargin.data.dataset import Data
from maxmargin.data.source import COMPRESSED, Progress, Source, is_pipe
from maxmargin.errors import InvalidInput
from maxmargin.files import replacing

SUFFIXES = {
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".npy": "npy",
    ".npz": "npz",
}
FORMATS = tuple(dict.fromkeys(SUFFIXES.values()))
#: These are tables with named columns, one of which is the target.
_NAMED = ("csv", "tsv", "parquet", "arrow", "npy")


def read(
    path: str | os.PathLike[str] | Source,
    format: str | None = None,
    *,
    target: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    needed: bool = True,
    zero_based: bool | None = None,
    columns: int = 0,
    progress: Progress | None = None,
) -> Data:
    """Read a whole file.

    Parameters
    ----------
    path : str, path or Source
        The file; ``-`` is standard input. Text may be compressed (gz, bz2, xz, zst), and may come from a pipe.
    format : str, default None
        One of `FORMATS`; by default told from the name, or else from the first line.
    target : str, default None
        The column (or array) that is the target; by default one called target, label, class or y.
    features : list of str, default None
        The columns to take, in this order; by default all but the target.
    drop : list of str, default ()
        Columns of a table to leave out.
    needed : bool, default True
        Whether a file without a target is refused.
    zero_based : bool, default None
        Whether the indices of an svmlight file begin at 0; by default they do if there is a 0 among them.
    columns : int, default 0
        The least number of columns of an svmlight file.
    progress : function, default None
        Called with the bytes read so far and the size of the file, for text.

    Returns
    -------
    Data
        The rows ``X``, the labels or targets ``y``, and the names of the columns.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from maxmargin import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "two.svm")
    ...     _ = file.write_bytes(b"+1 1:0.5 3:2" + bytes([10]) + b"-1 2:1")
    ...     data = read(file)
    >>> data.X.shape, data.y
    ((2, 3), array([ 1, -1]))
    """
    kind, path = recognised(path, format, progress)
    options = _options(kind, target, features, drop, needed, zero_based, columns)
    if kind == "svmlight":
        return svmlight.read(path, progress=progress, **options)
    if kind in ("csv", "tsv"):
        return table.read(path, progress=progress, **options)
    assert not isinstance(path, Source)
    if kind == "npz":
        return arrays.read_npz(path, **options)
    return (arrays.read_npy if kind == "npy" else arrow.read)(path, **options)


def blocks(
    path: str | os.PathLike[str] | Source,
    format: str | None = None,
    *,
    target: str | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    needed: bool = True,
    zero_based: bool | None = None,
    columns: int = 0,
    progress: Progress | None = None,
) -> Iterator[Data]:
    r"""Read a file in blocks of rows, with the parameters of `read`; only .npz is read whole.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from maxmargin import data
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "few.svm")
    ...     written = file.write_text("1 1:0.5\n-1 3:2\n")
    ...     print(sum(part.n for part in data.blocks(file)), "rows")
    2 rows
    """
    kind, path = recognised(path, format, progress)
    options = _options(kind, target, features, drop, needed, zero_based, columns)
    if kind == "svmlight":
        return svmlight.blocks(path, progress=progress, **options)
    if kind in ("csv", "tsv"):
        return table.blocks(path, progress=progress, **options)
    assert not isinstance(path, Source)
    if kind == "npz":
        return iter([arrays.read_npz(path, **options)])
    return (arrays.npy_blocks if kind == "npy" else arrow.blocks)(path, **options)


def write(
    path: str | os.PathLike[str], parts: Data | Iterable[Data], format: str | None = None, zero_based: bool = False
) -> None:
    """Write data, whole or in blocks; the file appears when it is complete. The path ``-`` is standard output.

    The indices of an svmlight file begin at 1, or at 0 where it should be `zero_based`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from maxmargin import data
    >>> rows = data.Data(np.eye(2), np.array([-1, 1]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "few.svm")
    ...     data.write(file, rows)
    ...     print(file.read_text(), end="")
    -1 1:1
    1 2:1
    """
    kind = format or by_suffix(path)
    if kind not in FORMATS:
        known = ", ".join(SUFFIXES)
        raise InvalidInput(f"which format should {os.fspath(path)} have? End the name in one of: {known}")
    parts = [parts] if isinstance(parts, Data) else parts
    with _standard_output() if os.fspath(path) == "-" else replacing(path) as file:
        if kind == "svmlight":
            svmlight.write(file, parts, zero_based)
        elif kind in ("csv", "tsv"):
            table.write(file, parts, "," if kind == "csv" else "\t")
        elif kind in ("parquet", "arrow"):
            arrow.write(file, parts, kind)
        else:
            (arrays.write_npy if kind == "npy" else arrays.write_npz)(file, parts)


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    yield sys.stdout.buffer
    sys.stdout.flush()


def recognised(
    path: str | os.PathLike[str] | Source, format: str | None = None, progress: Progress | None = None
) -> tuple[str, str | os.PathLike[str] | Source]:
    """The format of a file or a pipe, and what `read` and `blocks` take for it: a pipe is opened here, once."""
    if not isinstance(path, Source) and not is_pipe(path):
        return format_of(path, format), path
    source = path if isinstance(path, Source) else Source(path, progress)
    source.__enter__()
    kind = format_of(source.path, format) if format else by_suffix(source.path) or _by_contents(source.peek(2**16))
    if kind not in ("svmlight", "csv", "tsv"):
        raise InvalidInput(f"{source.name} holds {kind} data, which is read from a file only: write it to a file first")
    return kind, source


def format_of(path: str | os.PathLike[str], format: str | None = None) -> str:
    """The format of a file: as said, by its name, or by its first line."""
    if format is not None:
        if format not in FORMATS:
            raise InvalidInput(f"there is no data format {format!r}; there are: {', '.join(FORMATS)}")
        return format
    with Source(path) as source:  # also says if there is no such file
        kind = by_suffix(path)
        return kind if kind is not None else _by_contents(source.read(2**16))


def by_suffix(path: str | os.PathLike[str]) -> str | None:
    """The format that a name says; None where it says none."""
    name = PurePath(path)
    if name.suffix.lower() in COMPRESSED:
        name = name.with_suffix("")
    return SUFFIXES.get(name.suffix.lower())


def _by_contents(start: bytes) -> str:
    """Svmlight where the first line is a label and entries, else CSV."""
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"ARROW1"):
        return "arrow"
    if start.startswith(b"\x93NUMPY"):
        return "npy"
    if start.startswith(b"PK\x03\x04"):
        return "npz"
    for line in start.splitlines():
        words = line.split(b"#")[0].split()
        if len(words) > 1:
            return "svmlight" if all(b":" in word for word in words[1:]) else "csv"
        if words and any(mark in words[0] for mark in b":,;"):  # an entry without a label, or a table without blanks
            return "svmlight" if b":" in words[0] and b"," not in words[0] else "csv"
    return "csv" if start.strip() else "svmlight"


def _options(
    kind: str,
    target: str | None,
    features: Sequence[str] | None,
    drop: Sequence[str],
    needed: bool,
    zero_based: bool | None,
    columns: int,
) -> dict[str, Any]:
    """The options that a format has; one that it does not have is refused."""
    if drop and kind not in _NAMED:
        raise InvalidInput(f"{kind} data has no names of columns: none can be left out")
    if kind == "svmlight":
        if target is not None:
            raise InvalidInput("an svmlight file has its target first in the line; drop the name of the target")
        return {"zero_based": zero_based, "columns": columns, "needed": needed}
    if zero_based is not None:
        raise InvalidInput(f"only svmlight files have indices that begin at 0 or 1; {kind} has none")
    if kind in _NAMED:
        return {"target": target, "features": features, "needed": needed, "drop": drop}
    return {"target": target, "needed": needed}
