"""Weights of rows: a text file with one number per line, plain or compressed, or a .npy file."""

from __future__ import annotations

import os

import numpy as np

from maxmargin.data import npy
from maxmargin.data.source import Source
from maxmargin.errors import InvalidInput


def read(path: str | os.PathLike[str], n: int) -> np.ndarray:
    """The weights of n rows: finite numbers ≥ 0, one per row; what follows a # is a comment."""
    name = os.fspath(path)
    if name.endswith(".npy"):
        try:
            with open(path, "rb") as file:
                found = npy.read(file, name, os.fstat(file.fileno()).st_size)
        except OSError as error:
            raise InvalidInput(f"cannot read {name}: {error.strerror or error}") from None
    else:
        found = _text(path, n)
    if found.shape != (n,) or found.dtype.kind not in "fiu" or not np.isfinite(found).all() or (found < 0).any():
        raise InvalidInput(f"{name} must hold {n} finite weights ≥ 0, one per row")
    return found.astype(np.float64)


def _text(path: str | os.PathLike[str], n: int) -> np.ndarray:
    values = np.empty(n)
    count = 0
    with Source(path) as source:
        for text in source.pieces():
            for number, line in enumerate(text.raw.split(b"\n"), text.line):
                word = line.split(b"#")[0].strip()
                if not word:
                    continue
                if count == n:
                    raise InvalidInput(f"{source.name} holds more than {n} weights, one for each row")
                try:
                    values[count] = float(word)
                except ValueError:
                    told = word[:40].decode("utf-8", "replace")
                    raise InvalidInput(f"{source.name} is not one weight a line: {told!r} in line {number}") from None
                count += 1
    if count < n:
        raise InvalidInput(f"{source.name} holds {count} weights, but there are {n} rows")
    return values
