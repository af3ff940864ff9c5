"""Own data in the plane: a file of any format that the library reads becomes points that a screen can show."""

from __future__ import annotations

import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.data import read
from maxmargin.data.dataset import Data, label_text
from maxmargin.data.formats import SUFFIXES
from maxmargin.data.source import COMPRESSED, Source
from maxmargin.errors import InvalidInput, MaxMarginError
from maxmargin.losses.base import Task
from maxmargin.problem.validation import plain
from maxmargin.studio.arguments import LIMITS, TooMuch

#: Bytes that a compressed file may become.
UNPACKED = 10 * LIMITS["file"]
#: Targets with more different whole numbers than this are values, not classes.
MOST_CLASSES = 20


@dataclass(frozen=True, eq=False)
class Imported:
    """Points in the plane, and what is to be said of them."""

    X: np.ndarray
    y: np.ndarray
    task: Task
    labels: list[str]
    #: The names of all features, and which of them are shown; None for the principal plane.
    columns: list[str]
    shown: list[int] | None
    note: str


def imported(
    name: str, raw: bytes, columns: list[int] | None = None, target: str | None = None, task: str | None = None
) -> Imported:
    """The points of a file."""
    data = _read(name, raw, target)
    if data.n == 0:
        raise InvalidInput(f"{name} has no rows")
    d = data.X.shape[1]
    if d > LIMITS["features"]:
        raise TooMuch(f"{name} has {d} features; at most {LIMITS['features']} are taken here")
    names = list(data.names or [f"feature {k + 1}" for k in range(d)])[:d]
    notes = []
    rows = np.arange(data.n)
    if data.n > LIMITS["rows"]:
        rows = np.sort(np.random.default_rng(0).choice(data.n, LIMITS["rows"], replace=False))
        notes.append(f"{LIMITS['rows']} of {data.n} rows, drawn at random")
    X = data.X[rows]
    X = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    if not np.isfinite(X).all():
        i, j = np.argwhere(~np.isfinite(X))[0]
        raise InvalidInput(f"{name}: row {rows[i] + 1} has no number for {names[j]}; fill it in or drop the row")
    found = _task(data) if task is None else task
    y, labels = _targets(name, None if data.y is None else data.y[rows], found, len(rows))
    plane, chosen, told = _plane(X, names, columns, 1 if found == "regression" else 2)
    return Imported(plane, y, found, labels, names, chosen, "; ".join([*notes, *told]))  # type: ignore[arg-type]


def _read(name: str, raw: bytes, target: str | None) -> Data:
    """The contents of a file, of which only the ending of its name is believed."""
    path = PurePath(name)
    packed = path.suffix.lower() in COMPRESSED
    suffix = path.with_suffix("").suffix.lower() if packed else path.suffix.lower()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "data")
        file.write_bytes(raw)
        try:
            if packed:
                with Source(file) as source:
                    raw = _all_of(source)
            file = Path(folder, f"data{suffix if suffix in SUFFIXES else ''}")
            file.write_bytes(raw)
            if raw.startswith(b"PK\x03\x04"):
                _check_archive(file)
            return read(file, target=target, needed=False)
        except MaxMarginError as error:
            told = str(error).replace(str(file), name).replace(str(Path(folder, "data")), name)
            raise (TooMuch if isinstance(error, TooMuch) else InvalidInput)(told) from None


def _all_of(source: Source) -> bytes:
    parts: list[bytes] = []
    size = 0
    while part := source.read(2**20):
        parts.append(part)
        size += len(part)
        if size > UNPACKED:
            raise TooMuch(f"the file unpacks to more than {UNPACKED // 10**6} MB; make a smaller one of fewer rows")
    return b"".join(parts)


def _check_archive(file: Path) -> None:
    try:
        with zipfile.ZipFile(file) as archive:
            size = sum(one.file_size for one in archive.infolist())
    except zipfile.BadZipFile:
        return  # the reader says what is wrong with it
    if size > UNPACKED:
        raise TooMuch(f"the file unpacks to more than {UNPACKED // 10**6} MB; make a smaller one of fewer rows")


def _task(data: Data) -> Task:
    """What the targets look like: none, classes or values."""
    if data.y is None:
        return "novelty"
    if data.y.dtype.kind not in "fiu":
        return "classification"
    known = np.unique(data.y)
    few = len(known) <= MOST_CLASSES and np.all(known == np.floor(known))
    return "classification" if few or len(known) == 2 else "regression"


def _targets(name: str, y: np.ndarray | None, task: str, rows: int) -> tuple[np.ndarray, list[str]]:
    if y is None or task == "novelty":
        return np.zeros(rows), []
    if task == "regression":
        if y.dtype.kind not in "fiu":
            raise InvalidInput(f"{name} has texts as targets; a regression needs numbers")
        return np.asarray(y, dtype=np.float64), []
    known, codes = np.unique(y, return_inverse=True)
    if len(known) > 100:
        raise TooMuch(f"{name} has {len(known)} different labels; the studio shows at most 100 classes")
    return codes.astype(np.float64), [label_text(plain(label))[:80] for label in known]


def _plane(
    X: np.ndarray, names: list[str], columns: list[int] | None, wanted: int
) -> tuple[np.ndarray, list[int] | None, list[str]]:
    """One or two columns of the data, or their principal directions."""
    d = X.shape[1]
    if columns is not None:
        if not columns or any(not 0 <= k < d for k in columns):
            raise InvalidInput(f"columns are {columns}; they must be numbers of features, 0 to {d - 1}")
        chosen = (columns * 2)[:wanted]
        note = f"{' and '.join(names[k] for k in chosen)}, of {d} features" if d > wanted else ""
        return X[:, chosen], chosen, [note] if note else []
    if d < wanted:
        return np.column_stack([X, np.zeros((len(X), wanted - d))]), list(range(d)), ["one feature, drawn on a line"]
    if d == wanted:
        return X, list(range(d)), []
    spread = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    _, sizes, directions = np.linalg.svd(Z, full_matrices=False)
    share = float(np.square(sizes[:wanted]).sum() / max(np.square(sizes).sum(), 1e-300))
    signs = np.sign(directions[np.arange(wanted), np.abs(directions[:wanted]).argmax(axis=1)])
    what = "the first principal component" if wanted == 1 else "the plane of the first two principal components"
    note = f"{what} of {d} standardised features, which has {share:.0%} of their variance"
    return Z @ (directions[:wanted] * signs[:, None]).T, None, [note]


def described(made: Imported) -> dict[str, Any]:
    """The header of the answer."""
    return {
        "task": made.task,
        "labels": made.labels,
        "columns": made.columns,
        "shown": made.shown,
        "names": [made.columns[k] for k in made.shown] if made.shown is not None else None,
        "note": made.note,
    }
