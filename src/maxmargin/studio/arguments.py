"""What a command says, checked: the numbers, texts and arrays of its fields, each within its limits."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.studio.frames import DTYPES

#: What a command may ask for. `hello` tells the page.
LIMITS = {
    "rows": 5000,
    "features": 2000,
    "machines": 45,
    "message": 32_000_000,
    "file": 16_000_000,
    "problems": 16,
    "runs": 24,
    "recorded": 100_000_000,
    "field": 160_000,
    "steps": 10_000,
}
#: The most characters of a short text, such as a name.
TEXT = 300


class Malformed(InvalidInput):
    """What came is not a command."""


class TooMuch(InvalidInput):
    """More than a limit allows."""


def number(
    command: Mapping[str, Any], name: str, default: float | None = None, low: float = -math.inf, high: float = math.inf
) -> float:
    """A number within its limits, both included; "Infinity" may be a text."""
    value = command.get(name, default)
    if isinstance(value, str) and value in ("Infinity", "-Infinity", "inf"):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise InvalidInput(f"{name} is {_short(value)}; it must be a number")
    value = float(value) if abs(value) < 1e300 else math.copysign(math.inf, value)
    if not low <= value <= high:
        raise InvalidInput(f"{name} is {value:g}; it must lie between {low:g} and {high:g}")
    return value


def whole(command: Mapping[str, Any], name: str, default: int | None = None, low: int = 0, high: int = 2**31) -> int:
    """A whole number within its limits."""
    value = number(command, name, default, low, high)
    if value != math.floor(value):
        raise InvalidInput(f"{name} is {value:g}; it must be a whole number")
    return int(value)


def text(command: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """A short text."""
    value = command.get(name, default)
    if not isinstance(value, str):
        raise InvalidInput(f"{name} is {_short(value)}; it must be a text")
    if len(value) > TEXT:
        raise TooMuch(f"{name} has {len(value)} characters; at most {TEXT} are taken")
    return value


def fields(command: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object, empty where there is none; the texts of infinite numbers become these."""
    value = command.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidInput(f"{name} is {_short(value)}; it must be an object of names and values")
    return {str(key): _infinite(one) for key, one in value.items()}


def texts(command: Mapping[str, Any], name: str, most: int) -> list[str]:
    """A list of texts; empty where there is none."""
    value = command.get(name) or []
    if not isinstance(value, list) or not all(isinstance(one, str | int | float) for one in value):
        raise InvalidInput(f"{name} must be a list of texts")
    if len(value) > most:
        raise TooMuch(f"{name} has {len(value)} entries; at most {most} are taken")
    return [str(one)[:TEXT] for one in value]


def array(command: Mapping[str, Any], name: str, shape: tuple[int | None, ...]) -> np.ndarray:
    """Numbers as float64, of a shape in which None stands for any length."""
    value = command.get(name)
    try:
        made = _decoded(value) if isinstance(value, dict) else _listed(value)
    except (ValueError, TypeError, OverflowError, binascii.Error, RecursionError):
        raise InvalidInput(f"{name} cannot be read as an array of numbers") from None
    if made.ndim != len(shape) or any(want not in (None, have) for want, have in zip(shape, made.shape, strict=True)):
        told = " × ".join("any" if one is None else str(one) for one in shape)
        raise InvalidInput(f"{name} has the shape {made.shape}; it must be {told}")
    if made.size > 20 * LIMITS["rows"]:
        raise TooMuch(f"{name} has {made.size} numbers; at most {20 * LIMITS['rows']} are taken")
    return made


def contents(command: Mapping[str, Any], name: str) -> bytes:
    """Bytes that come as base64."""
    value = command.get(name)
    if not isinstance(value, str):
        raise InvalidInput(f"{name} is {_short(value)}; it must be a text in base64")
    if 3 * len(value) // 4 > LIMITS["file"]:
        raise TooMuch(f"the file is larger than {LIMITS['file'] // 10**6} MB; make a smaller one of fewer rows")
    try:
        return base64.b64decode(value, validate=True)
    except (ValueError, binascii.Error):
        raise InvalidInput(f"{name} is not base64: it cannot be read") from None


def _listed(value: Any) -> np.ndarray:
    made = np.asarray(value)
    if made.dtype.kind == "U":  # "Infinity" among numbers makes them all texts
        return made.astype(np.float64)
    if made.dtype.kind not in "iuf":
        raise ValueError("no numbers")
    return made.astype(np.float64)


def _decoded(value: dict[str, Any]) -> np.ndarray:
    dtype, shape = DTYPES[str(value.get("dtype"))] if value.get("dtype") in DTYPES else None, value.get("shape")
    if dtype is None or not isinstance(shape, list) or not isinstance(value.get("data"), str):
        raise ValueError("no array")
    if not all(isinstance(one, int) and not isinstance(one, bool) and 0 <= one <= 10**7 for one in shape):
        raise ValueError("no shape")
    raw = base64.b64decode(value["data"], validate=True)
    return np.frombuffer(raw, dtype).reshape(shape).astype(np.float64)


def _infinite(value: Any) -> Any:
    return float(value) if isinstance(value, str) and value in ("Infinity", "-Infinity") else value


def _short(value: Any) -> str:
    told = repr(value)
    return told if len(told) <= 60 else told[:57] + "..."
