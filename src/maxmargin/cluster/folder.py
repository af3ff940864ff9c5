"""A folder of data files as parts: each file is read by a worker, in any format that `maxmargin train` reads.

    1. Every file is read where there is room for it; what it holds (columns, names, labels) goes to the client.
    2. What cannot belong together is refused, with the names of two files.
    3. Rows of svmlight files get the columns of the widest.

The workers must see the folder under the same path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.cluster.dask_engine import Dask
from maxmargin.cluster.shard import Part
from maxmargin.data import read
from maxmargin.data.formats import by_suffix
from maxmargin.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Found:
    """What a file holds."""

    columns: int
    names: tuple[str, ...] | None
    sparse: bool
    zero_based: bool | None
    #: Whether its labels are texts.
    texts: bool


def files_of(folder: Path, format: str | None) -> list[str]:
    """The data files of a folder, by name; hidden ones and those that begin with _ are left out."""
    shown = [file for file in sorted(folder.iterdir()) if file.is_file() and file.name[0] not in "._"]
    files = [str(file) for file in shown if format is not None or by_suffix(file) is not None]
    if not files:
        raise InvalidInput(f"{folder} holds no data file whose name tells its format; name it by --format")
    return files


def engine_of_folder(client: Any, folder: Path, reader: Mapping[str, Any]) -> tuple[Dask, tuple[str, ...] | None]:
    """The parts of a folder as futures, and the names of the columns."""
    files = files_of(folder.absolute(), reader.get("format"))
    data = [client.submit(_read, file, dict(reader), k, pure=False) for k, file in enumerate(files)]
    read_ = Dask(client, data, "file")
    read_.labels = files
    found: list[Found] = read_.map(_found)
    first = found[0]
    for file, other in zip(files[1:], found[1:], strict=True):
        for told, a, b in (
            ("names its columns otherwise than", first.names, other.names),
            ("is not as sparse or dense as", first.sparse, other.sparse),
            ("has other labels (texts or numbers) than", first.texts, other.texts),
        ):
            if a != b:
                raise InvalidInput(f"{file} {told} {files[0]}: files of a folder must be alike")
        if first.zero_based != other.zero_based:
            raise InvalidInput(f"indices begin at 0 or at 1 in {file}, and otherwise in {files[0]}: give --zero-based")
    columns = max(one.columns for one in found)
    parts = [client.submit(_widened, part, columns, pure=False) for part in data]
    engine = Dask(client, parts, "file")
    engine.labels = files
    return engine, first.names


def _read(file: str, reader: dict[str, Any], index: int) -> tuple[Part, Found]:
    data = read(file, **reader)
    assert data.y is not None
    sparse = sp.issparse(data.X)
    found = Found(data.X.shape[1], data.names, sparse, data.zero_based, data.y.dtype.kind == "U")
    return Part(data.X if data.n else None, data.y, None, index), found


def _found(pair: tuple[Part, Found], common: None, own: None) -> Found:
    return pair[1]


def _widened(pair: tuple[Part, Found], columns: int) -> Part:
    part, found = pair
    if part.X is None or found.columns == columns or not found.sparse:
        return part
    X: Any = part.X
    wide = sp.csr_array((X.data, X.indices, X.indptr), (X.shape[0], columns))
    return Part(wide, np.asarray(part.y), None, part.index)
