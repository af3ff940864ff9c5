"""NumPy's files: .npy and .npz.

An .npy file is a matrix, one column of which may be the target, or rows with the fields X and target. An .npz file
holds X and y; X may be SciPy's CSR.
"""

from __future__ import annotations

import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from maxmargin.data import npy
from maxmargin.data.column_roles import columns
from maxmargin.data.dataset import Data, whole_numbers
from maxmargin.data.table_lines import TARGET
from maxmargin.data.wide import check_dense
from maxmargin.errors import InvalidInput, bytes_text
from maxmargin.files import shown

#: Rows that are looked at together.
ROWS = 2**14
#: Deflate cannot shrink anything by more than this.
LARGEST_RATIO = 1100
#: What a damaged zip archive raises, besides its own error.
ZIP_ERRORS = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    EOFError,
    ValueError,
    OSError,
    KeyError,
    IndexError,
    OverflowError,
    struct.error,
    zlib.error,
    lzma.LZMAError,
)


def read_npy(
    path: str | os.PathLike[str],
    target: str | None = None,
    features: Sequence[str] | None = None,
    needed: bool = True,
    drop: Sequence[str] = (),
) -> Data:
    """Read a matrix; the columns are called 1, 2, 3, ..."""
    parts = list(npy_blocks(path, target, features, needed, drop))
    y = None if parts[0].y is None else whole_numbers(np.concatenate([part.y for part in parts if part.y is not None]))
    return Data(np.concatenate([part.X for part in parts]), y, parts[0].names, parts[0].source)


def npy_blocks(
    path: str | os.PathLike[str],
    target: str | None = None,
    features: Sequence[str] | None = None,
    needed: bool = True,
    drop: Sequence[str] = (),
) -> Iterator[Data]:
    """Read a matrix some thousand rows at a time."""
    name = os.fspath(path)
    with open(path, "rb") as file:
        shape, fortran, dtype, _ = npy.header(file, name, os.fstat(file.fileno()).st_size)
        offset = file.tell()
        if offset + np.prod(shape, dtype=np.int64) * dtype.itemsize != os.fstat(file.fileno()).st_size:
            raise InvalidInput(f"{name} is longer or shorter than its header says")
    own = dtype.names is not None  # a target of its own
    fine = len(shape) == (1 if own else 2) and 0 not in shape and (own or dtype.kind in "fiub")
    if not fine or (own and not dtype["X"].shape[0]):
        raise InvalidInput(f"{name} holds {dtype} of shape {shape}; a table of numbers with rows and columns is needed")
    width = dtype["X"].shape[0] if own else shape[1]
    names = [str(k + 1) for k in range(width)]
    if own and target not in (None, "target", str(width + 1)):
        raise InvalidInput(f"{name} has its target with it; drop the name {target!r} of the target")
    if own and features is None:
        features = [one for one in names if one not in drop]
    roles = columns(name, names, None if own else target, features, needed and not own, drop)
    matrix = np.memmap(path, dtype, "r", offset, shape, "F" if fortran else "C")
    chosen = [int(np.flatnonzero(roles.roles == k)[0]) for k in range(len(roles.features))]
    for start in range(0, shape[0], ROWS):
        block = np.asarray(matrix[start : start + ROWS])
        X = checked((block["X"] if own else block)[:, chosen], name, start)
        y = None
        if own:
            y = _target(block["target"], name, start)
        elif roles.target is not None:
            y = _target(block[:, roles.roles == TARGET].ravel(), name, start)
        yield Data(X, y, roles.features, name)


def _target(y: np.ndarray, name: str, first: int) -> np.ndarray:
    """Targets as they are used: text, or finite numbers."""
    return y.astype(str) if y.dtype.kind == "U" else whole_numbers(checked(y.reshape(-1, 1), name, first).ravel())


def read_npz(path: str | os.PathLike[str], target: str | None = None, needed: bool = True) -> Data:
    """Read X (dense, or as SciPy saves a CSR matrix) and the target, by default y."""
    name = os.fspath(path)
    found = archive(path)
    target = target or "y"
    if "X" in found:
        X: Any = checked(_two_dimensional(found["X"], f"{name}: X"), name, 0)
    elif {"data", "indices", "indptr", "shape"} <= set(found):
        X = _two_dimensional(csr(found, name), name)
    else:
        raise InvalidInput(
            f"{name} holds {shown(', '.join(found)) or 'nothing'}; X, or the arrays of a CSR matrix, are needed"
        )
    if target not in found:
        if needed:
            raise InvalidInput(f"{name} holds {shown(', '.join(found))}; the target {target!r} is not among them")
        return Data(X, None, None, name)
    y = found[target]
    if y.shape != (X.shape[0],):
        raise InvalidInput(f"{name}: {target} has shape {y.shape}, but there are {X.shape[0]} rows")
    if y.dtype.kind != "U":
        y = whole_numbers(checked(y.reshape(-1, 1), name, 0).ravel())
    return Data(X, y, None, name)


def archive(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """All arrays of an .npz file."""
    name = os.fspath(path)
    arrays = {}
    try:
        with zipfile.ZipFile(path) as packed:
            for info in packed.infolist():
                key = info.filename.removesuffix(".npy")
                told = shown(key)
                if info.file_size > LARGEST_RATIO * max(info.compress_size, 1):
                    raise InvalidInput(f"{name} promises {bytes_text(info.file_size)} for {told}, which it cannot hold")
                with packed.open(info) as member:
                    arrays[key] = npy.read(member, f"{name}: {told}", info.file_size)
    except ZIP_ERRORS as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"cannot read {name}: {shown(error)}") from None
    return arrays


def write_npy(file: IO[bytes], parts: Iterable[Data]) -> None:
    """Write one matrix of numbers; with a target, rows with the fields ``X`` and ``target``."""
    X, y = _whole(parts)
    if sp.issparse(X):
        check_dense(X.shape[0], X.shape[1], X.nnz, "write .npz, which keeps it sparse")
    dense = X.toarray() if sp.issparse(X) else X
    if y is not None:
        rows = np.empty(len(y), npy.with_target(dense.shape[1], y.dtype.newbyteorder("<").str))
        rows["X"], rows["target"] = dense, y
        dense = rows
    file.write(npy.packed(dense))


def write_npz(file: IO[bytes], parts: Iterable[Data]) -> None:
    """Write X (or the arrays of a CSR matrix) and y."""
    X, y = _whole(parts)
    arrays = {"X": X}
    if sp.issparse(X):
        arrays = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    if y is not None:
        arrays["y"] = y
    with zipfile.ZipFile(file, "w") as packed:
        for key, array in arrays.items():
            packed.writestr(zipfile.ZipInfo(f"{key}.npy"), npy.packed(array))


def _whole(parts: Iterable[Data]) -> tuple[Any, np.ndarray | None]:
    """All rows of some blocks as one matrix."""
    known = list(parts)
    labels = [part.y for part in known if part.y is not None]
    y = np.concatenate(labels) if labels else None
    if not sp.issparse(known[0].X):
        return np.concatenate([part.X for part in known]), y
    width = max(part.X.shape[1] for part in known)
    wide = [sp.csr_array((p.X.data, p.X.indices, p.X.indptr), shape=(p.X.shape[0], width)) for p in known]
    return sp.csr_array(sp.vstack(wide, format="csr")), y


def checked(block: np.ndarray, name: str, first: int) -> np.ndarray:
    """Numbers as finite float64."""
    if block.dtype.kind not in "fiub":
        raise InvalidInput(f"{name} holds {block.dtype}; only numbers can be features")
    block = np.ascontiguousarray(block, dtype=np.float64)
    if not np.isfinite(block).all():
        row, column = np.argwhere(~np.isfinite(block))[0]
        raise InvalidInput(
            f"{name}: row {first + row + 1}, column {column + 1} is {block[row, column]}; fill it in or drop the row"
        )
    return block


def _two_dimensional(X: Any, name: str) -> Any:
    if X.ndim != 2 or 0 in X.shape:
        raise InvalidInput(f"{name} has shape {X.shape}; rows and columns are needed")
    return X


def csr(found: dict[str, np.ndarray], name: str) -> Any:
    """The CSR matrix of these arrays, if they make one."""
    data, indices, indptr, shape = (found[key] for key in ("data", "indices", "indptr", "shape"))
    ordinary = all(part.ndim == 1 for part in (data, indices, indptr, shape)) and shape.size == 2
    whole = ordinary and all(part.dtype.kind in "iu" for part in (indices, indptr, shape))
    if not whole or (shape < 0).any() or (shape > 2**31 - 1).any():
        raise InvalidInput(f"{name} does not hold the arrays of a CSR matrix")
    n, d = (int(length) for length in shape)
    steps = np.diff(indptr.astype(np.int64))
    fits = len(indptr) == n + 1 and indptr[0] == 0 and indptr[-1] == len(indices) == len(data) and (steps >= 0).all()
    if not fits or (len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < d):
        raise InvalidInput(f"{name} does not hold the arrays of a CSR matrix: they contradict each other")
    if len(data):
        data = checked(data.reshape(-1, 1), name, 0).ravel()
    kind = np.int32 if len(data) < 2**31 else np.int64
    X = sp.csr_array((data.astype(np.float64), indices.astype(kind), indptr.astype(kind)), shape=(n, d))
    X.sum_duplicates()
    return X
