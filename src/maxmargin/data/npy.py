"""One array in NumPy's .npy format: no pickles, and no memory for more than the file holds."""

from __future__ import annotations

import io
import re
from math import prod
from typing import IO

import numpy as np
from numpy.lib import format as npy

from maxmargin.errors import InvalidInput, bytes_text

#: Numbers, truth values and text; never objects.
KINDS = "fiubU"
MAGIC = b"\x93NUMPY"
#: The header is what Python shows of a dictionary; it is matched, not evaluated.
HEADER = re.compile(
    r"\{'descr': (?:'(?P<descr>[<>|=]?[a-zA-Z][0-9]{0,6})'"
    r"|\[\('X', '<f8', \((?P<columns>[0-9]{1,9}),\)\), \('target', '(?P<target><[fiU][0-9]{1,6})'\)\]), "
    r"'fortran_order': (?P<fortran>True|False), "
    r"'shape': \((?P<shape>[0-9, ]{0,100})\), \}\s*"
)
LONGEST_HEADER = 10_000


def header(file: IO[bytes], name: str, available: int) -> tuple[tuple[int, ...], bool, np.dtype, int]:
    """Shape, column order, type and bytes of the array that follows; refused if more than `available`."""
    try:
        shape, fortran, dtype = _parsed(file)
    except (ValueError, TypeError) as error:
        told = (str(error).splitlines() or [type(error).__name__])[0]
        raise InvalidInput(f"{name} is not an array in NumPy's format: {told}") from None
    if (dtype.kind not in KINDS and dtype.names is None) or dtype.hasobject:
        raise InvalidInput(f"{name} holds values of type {dtype}; only numbers and text are read")
    size = prod(shape) * dtype.itemsize
    if size > available:
        raise InvalidInput(f"{name} promises {bytes_text(size)} but holds {bytes_text(available)} at most")
    return shape, fortran, dtype, size


def _parsed(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    """The magic bytes, the version, the length of the header, and the header: a dictionary of three."""
    start = file.read(8)
    if start[:6] != MAGIC or start[6:7] not in (b"\x01", b"\x02", b"\x03"):
        raise ValueError("its first bytes are not those of such a file")
    length = int.from_bytes(file.read(2 if start[6] == 1 else 4), "little")
    if length > LONGEST_HEADER:
        raise ValueError(f"its header is {length} bytes long")
    fields = HEADER.fullmatch(file.read(length).decode("latin1"))
    if fields is None:
        raise ValueError("its values are not of one simple type, or its header is damaged")
    shape = tuple(int(length) for length in fields["shape"].split(",") if length.strip())
    dtype = np.dtype(fields["descr"]) if fields["descr"] else with_target(int(fields["columns"]), fields["target"])
    return shape, fields["fortran"] == "True", dtype


def with_target(columns: int, target: str) -> np.dtype:
    """The type of a row with its target: in NumPy, ``rows["X"]`` is the matrix and ``rows["target"]`` the targets."""
    return np.dtype([("X", "<f8", (columns,)), ("target", target)])


def read(file: IO[bytes], name: str, available: int) -> np.ndarray:
    """The array; `available` is how many bytes the file can hold at most."""
    shape, fortran, dtype, size = header(file, name, available)
    try:
        raw = file.read(size)
    except Exception as error:  # the many ways in which a damaged archive can fail
        raise InvalidInput(f"cannot read {name}: {error}") from None
    if len(raw) != size:
        raise InvalidInput(f"{name} ends after {bytes_text(len(raw))} of {bytes_text(size)}")
    array = np.frombuffer(raw, dtype).reshape(shape, order="F" if fortran else "C")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return np.ascontiguousarray(array) if array.ndim else array


def packed(array: np.ndarray) -> bytes:
    """An array as the contents of an .npy file; the same array gives the same bytes."""
    buffer = io.BytesIO()
    npy.write_array(buffer, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
    return buffer.getvalue()
