"""Parquet and Arrow files, through pyarrow (the extra `data`): numbers by column, and one column that is the target."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

import numpy as np

from maxmargin.data.column_roles import Columns, columns
from maxmargin.data.dataset import Data, whole_numbers
from maxmargin.data.wide import dense_parts
from maxmargin.errors import InvalidInput, missing_extra
from maxmargin.files import shown

#: Rows that are read together.
ROWS = 2**16


def read(
    path: str | os.PathLike[str],
    target: str | None = None,
    features: Sequence[str] | None = None,
    needed: bool = True,
    drop: Sequence[str] = (),
) -> Data:
    """Read a whole file."""
    parts = list(blocks(path, target, features, needed, drop))
    if not parts:
        raise InvalidInput(f"{os.fspath(path)} has no rows")
    labels = [part.y for part in parts if part.y is not None]
    y = whole_numbers(np.concatenate(labels)) if labels else None
    X = np.concatenate([part.X for part in parts])
    return Data(X, y, parts[0].names, parts[0].source, target=parts[0].target)


def blocks(
    path: str | os.PathLike[str],
    target: str | None = None,
    features: Sequence[str] | None = None,
    needed: bool = True,
    drop: Sequence[str] = (),
) -> Iterator[Data]:
    """Read a file some thousand rows at a time."""
    pa = _pyarrow()
    name = os.fspath(path)
    first = 0
    try:
        with open(path, "rb") as plain, _source(plain) as file:
            names, batches = _opened(file)
            roles = columns(name, names, target, features, needed, drop)
            for batch in batches:
                if batch.num_rows:
                    batch.validate(full=True)  # damaged offsets would lead anywhere in memory
                    yield _block(batch, roles, name, first)
                    first += batch.num_rows
    except InvalidInput:
        raise
    except MemoryError:
        raise InvalidInput(f"cannot read {name}: it is damaged, or needs more memory than there is") from None
    except (pa.ArrowException, OverflowError, OSError, ValueError, TypeError, KeyError, IndexError) as error:
        raise InvalidInput(f"cannot read {name}: {shown((str(error).splitlines() or ['damaged'])[0])}") from None


def _source(file: IO[bytes]) -> Any:
    """The file as pyarrow reads it: mapped into memory where it can be, so that no size in it is taken at its word."""
    pa = _pyarrow()
    try:
        return pa.memory_map(file.name)
    except (OSError, TypeError, pa.ArrowException):  # a pipe, or nothing in it
        return pa.PythonFile(file, mode="r")


def write(file: IO[bytes], parts: Iterable[Data], kind: str) -> None:
    """Write a Parquet or an Arrow file, the target as the last column, under its own name or as ``target``."""
    pa = _pyarrow()
    import pyarrow.parquet as parquet

    out: Any = None
    for part in (some for whole in parts for some in dense_parts(whole)):
        X = part.X
        names = part.names or tuple(f"x{k + 1}" for k in range(X.shape[1]))
        table = {name: X[:, k] for k, name in enumerate(names)}
        if part.y is not None:
            table[part.target or "target"] = part.y
        rows = pa.table(table)
        if out is None:
            make = parquet.ParquetWriter if kind == "parquet" else pa.ipc.new_file
            out = make(file, rows.schema)
        out.write_table(rows)
    if out is not None:
        out.close()


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise missing_extra("pyarrow", "data") from None
    return pyarrow


def _opened(file: Any) -> tuple[list[str], Iterator[Any]]:
    """The names of the columns and the batches of rows; the kind of file is told from its first bytes."""
    pa = _pyarrow()
    import pyarrow.parquet as parquet

    start = file.read(6)
    file.seek(0)
    if start.startswith(b"PAR1"):
        whole = parquet.ParquetFile(file)
        return whole.schema_arrow.names, whole.iter_batches(ROWS)
    if start == b"ARROW1":
        reader = pa.ipc.open_file(file)
        return reader.schema.names, (reader.get_batch(k) for k in range(reader.num_record_batches))
    stream = pa.ipc.open_stream(file)
    return stream.schema.names, iter(stream)


def _block(batch: Any, roles: Columns, name: str, first: int) -> Data:
    X = np.empty((batch.num_rows, len(roles.features)))
    y = None
    for k, role in enumerate(roles.roles):
        if role >= 0:
            X[:, role] = _numbers(batch.column(k), f"{name}: column {roles.names[k]!r}", first)
        elif k == roles.target:
            y = _target(batch.column(k), f"{name}: column {roles.names[k]!r}", first)
    return Data(X, y, roles.features, name, target=roles.target_name)


def _numbers(column: Any, where: str, first: int) -> np.ndarray:
    kind = str(column.type)
    if not any(kind.startswith(good) for good in ("int", "uint", "float", "double", "halffloat", "bool", "decimal")):
        raise InvalidInput(f"{where} holds {kind}; code it as numbers first")
    _no_missing(column, where, first)
    values = np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InvalidInput(f"{where}, row {first + row + 1} is {values[row]}; fill it in or drop the row")
    return values


def _target(column: Any, where: str, first: int) -> np.ndarray:
    _no_missing(column, where, first)
    kind = str(column.type)
    if kind.startswith("dictionary"):
        column = column.dictionary_decode()
        kind = str(column.type)
    if kind in ("string", "large_string", "string_view"):
        return np.array(column.to_pylist(), dtype=str)
    if kind == "bool":
        return np.asarray(column.to_pylist()).astype(np.int64)
    return whole_numbers(_numbers(column, where, first))


def _no_missing(column: Any, where: str, first: int) -> None:
    if column.null_count:
        row = next(k for k, missing in enumerate(column.is_null().to_pylist()) if missing)
        raise InvalidInput(f"{where}, row {first + row + 1} is missing; fill it in or drop the row")
