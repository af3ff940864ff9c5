"""Ranges of columns, as svm-scale learns, saves, restores and applies them.

    x ← lower + (upper − lower)·(x − min)/(max − min)   by column; what an svmlight line leaves out is a 0

A column with one value only, or one that the ranges do not name, becomes 0. The file, with the two lines of numbers
behind ``y`` only where the target is scaled, too:

    y
    lower upper
    min max
    x
    lower upper
    index min max
    ...
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.data.dataset import Data, whole_numbers
from maxmargin.data.wide import check_dense
from maxmargin.errors import InvalidInput
from maxmargin.files import replacing

#: Values that are scaled at a time where zeros do not stay zeros.
VALUES = 2**22


@dataclass(frozen=True)
class Interval:
    """From where to where values go: [least, most] onto [lower, upper]."""

    lower: float
    upper: float
    least: float
    most: float

    def apply(self, values: np.ndarray) -> np.ndarray:
        """The scaled values; the ends are met exactly."""
        scaled = self.lower + (self.upper - self.lower) * (values - self.least) / (self.most - self.least)
        return np.where(values == self.least, self.lower, np.where(values == self.most, self.upper, scaled))


@dataclass(frozen=True, eq=False)
class Ranges:
    """The ranges of all columns, and perhaps of the target."""

    lower: float
    upper: float
    #: The indices of the columns as they stand in the file, and the least and the largest value of each.
    index: np.ndarray
    least: np.ndarray
    most: np.ndarray
    target: Interval | None = None

    def apply(self, data: Data) -> Iterator[Data]:
        """The scaled rows, some at a time."""
        base = 0 if data.zero_based else 1
        width = data.X.shape[1]
        known = (self.index >= base) & (self.index < base + width)
        places = self.index[known] - base
        least, most = np.zeros(width), np.zeros(width)
        least[places], most[places] = self.least[known], self.most[known]
        y = data.y
        if self.target is not None:
            y = whole_numbers(self.target.apply(_numbers(data)))
        zero = self._scaled(np.zeros(width), least, most)
        if sp.issparse(data.X) and not zero.any():
            X = data.X
            values = self._scaled(X.data, least[X.indices], most[X.indices])
            yield replace(data, X=_without_zeros(sp.csr_array((values, X.indices, X.indptr), shape=X.shape)), y=y)
            return
        if sp.issparse(data.X):
            check_dense(data.n, width, data.X.nnz, "scale with -l 0, which keeps zeros where the least value is 0")
        step = max(1, VALUES // width)
        for start in range(0, data.n, step):
            rows = data.X[start : start + step]
            dense = rows.toarray() if sp.issparse(rows) else rows
            scaled = self._scaled(dense, least, most)
            some = sp.csr_array(scaled) if sp.issparse(data.X) else scaled
            yield replace(data, X=some, y=None if y is None else y[start : start + step])

    def unknown(self, data: Data) -> int:
        """How many columns have values although no range is known for them, and more than one value."""
        base = 0 if data.zero_based else 1
        most, least = (np.asarray(e.toarray() if sp.issparse(e) else e).ravel() for e in (data.X.max(0), data.X.min(0)))
        return len(np.setdiff1d(np.flatnonzero(most != least) + base, self.index))

    def _scaled(self, values: np.ndarray, least: np.ndarray, most: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            scaled = self.lower + (self.upper - self.lower) * (values - least) / (most - least)
        scaled = np.where(values == least, self.lower, np.where(values == most, self.upper, scaled))
        return np.where(least == most, 0.0, scaled)


def ranges_of(data: Data, lower: float, upper: float, target: tuple[float, float] | None) -> Ranges:
    """The ranges of the columns of data, and of its target where it is to be scaled."""
    X = data.X
    least, most = (np.asarray(end.toarray() if sp.issparse(end) else end).ravel() for end in (X.min(0), X.max(0)))
    index = np.flatnonzero(least != most)
    interval = None
    if target is not None:
        y = _numbers(data)
        interval = Interval(*target, float(y.min()), float(y.max()))
        if interval.least == interval.most:
            raise InvalidInput(f"{data.source}: all targets are {interval.least:g}; they cannot be scaled")
    return Ranges(lower, upper, index + (0 if data.zero_based else 1), least[index], most[index], interval)


def save(ranges: Ranges, path: str | os.PathLike[str]) -> None:
    """Write a file of ranges as svm-scale does; every number is read back as the same double."""
    lines = []
    if (y := ranges.target) is not None:
        lines += ["y", f"{y.lower:.17g} {y.upper:.17g}", f"{y.least:.17g} {y.most:.17g}"]
    lines += ["x", f"{ranges.lower:.17g} {ranges.upper:.17g}"]
    columns = zip(ranges.index.tolist(), ranges.least.tolist(), ranges.most.tolist(), strict=True)
    lines += [f"{index} {least:.17g} {most:.17g}" for index, least, most in columns]
    with replacing(path) as file:
        file.write(("\n".join(lines) + "\n").encode("ascii"))


def load(path: str | os.PathLike[str]) -> Ranges:
    """Read a file of ranges, of svm-scale or of `save`."""
    name = os.fspath(path)
    try:
        with open(path, encoding="ascii") as file:
            lines = [line.split() for line in file.read().splitlines()]
    except OSError as error:
        raise InvalidInput(f"cannot read {name}: {error.strerror or error}") from None
    except ValueError:
        raise InvalidInput(f"{name} is not a file of ranges: it is not plain text") from None
    at, target = 0, None
    if lines and lines[0] == ["y"]:
        target = Interval(*_row(name, lines, 1, 2), *_row(name, lines, 2, 2))
        at = 3
    if len(lines) <= at or lines[at] != ["x"]:
        raise InvalidInput(f"{name}:{at + 1}: x alone should stand in this line of a file of ranges")
    lower, upper = _row(name, lines, at + 1, 2)
    table = [_row(name, lines, k, 3) for k in range(at + 2, len(lines)) if lines[k]]
    index, least, most = np.array(table or np.empty((0, 3))).T
    if (index != np.floor(index)).any() or (index < 0).any() or len(np.unique(index)) < len(index):
        raise InvalidInput(f"{name}: the indices must be different whole numbers ≥ 0")
    if not lower < upper or (target is not None and not target.least < target.most):
        raise InvalidInput(f"{name}: a lower end is not below its upper end")
    return Ranges(lower, upper, index.astype(np.int64), least, most, target)


def _row(name: str, lines: list[list[str]], at: int, count: int) -> list[float]:
    """The numbers of a line."""
    try:
        found = [float(word) for word in lines[at]]
    except (ValueError, IndexError):
        found = []
    if len(found) != count or not np.isfinite(found).all():
        raise InvalidInput(f"{name}:{at + 1}: {count} numbers should stand in this line of a file of ranges")
    return found


def _numbers(data: Data) -> np.ndarray:
    if data.y is None or data.y.dtype.kind == "U":
        raise InvalidInput(f"{data.source} has no targets that are numbers; they cannot be scaled")
    return data.y.astype(np.float64)


def _without_zeros(X: Any) -> Any:
    X.eliminate_zeros()
    return X
