"""Answers as bytes: a header in JSON, and arrays behind it. PROTOCOL.md has the layout."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

#: Everything in an answer begins at a multiple of so many bytes.
ALIGNED = 8
DTYPES = {"f8": "<f8", "f4": "<f4", "i4": "<i4", "u1": "u1"}


def packed(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> bytes:
    """An answer as bytes."""
    told, payload = laid_out(arrays)
    return joined({**header, "arrays": told}, payload)


def joined(header: Mapping[str, Any], payload: bytes) -> bytes:
    """A header, and behind it the arrays that it speaks of."""
    text = json.dumps(plain(header), allow_nan=False, separators=(",", ":")).encode()
    return b"".join([len(text).to_bytes(4, "little"), text, _zeros(4 + len(text)), payload])


def laid_out(arrays: Mapping[str, np.ndarray], start: int = 0) -> tuple[dict[str, Any], bytes]:
    """Where each array is in a payload of which `start` bytes are there already, and the bytes that they add."""
    told: dict[str, Any] = {}
    parts: list[bytes] = []
    place = start
    for name, array in arrays.items():
        dtype = dtype_of(array)
        raw = np.ascontiguousarray(array, DTYPES[dtype]).tobytes()
        told[name] = {"dtype": dtype, "shape": list(array.shape), "offset": place}
        parts += [raw, _zeros(len(raw))]
        place += len(raw) + len(parts[-1])
    return told, b"".join(parts)


def unpacked(answer: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header of an answer and its arrays: what the page does with it."""
    size = int.from_bytes(answer[:4], "little")
    header = json.loads(answer[4 : 4 + size])
    start = 4 + size + len(_zeros(4 + size))
    arrays = {}
    for name, told in header.pop("arrays").items():
        dtype, count = DTYPES[told["dtype"]], math.prod(told["shape"])
        arrays[name] = np.frombuffer(answer, dtype, count, start + told["offset"]).reshape(told["shape"])
    return header, arrays


def dtype_of(array: np.ndarray) -> str:
    """The protocol's word for the numbers of an array."""
    if array.dtype == np.float32:
        return "f4"
    if array.dtype in (np.uint8, np.bool_):
        return "u1"
    return "i4" if array.dtype.kind in "iu" else "f8"


def plain(thing: Any) -> Any:
    """Values that JSON has: numbers that are not finite become the texts that JavaScript's Number() reads."""
    if isinstance(thing, Mapping):
        return {str(key): plain(value) for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [plain(value) for value in thing]
    if isinstance(thing, np.ndarray | np.generic):
        return plain(thing.tolist())
    if isinstance(thing, float) and not math.isfinite(thing):
        return "NaN" if math.isnan(thing) else "Infinity" if thing > 0 else "-Infinity"
    return thing if thing is None or isinstance(thing, str | int | float | bool) else str(thing)


def _zeros(length: int) -> bytes:
    return b"\0" * (-length % ALIGNED)
