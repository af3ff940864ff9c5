"""What a worker holds: blocks of checked rows with their classes or targets, and what the fit is about.

1. `part_of` makes a part of what a partition of the user's data holds, and checks it.
2. `look_at` says what is in a part: rows, columns, labels, sizes. Shards are glued of consecutive parts by that.
3. `shard_of` makes a shard: labels become numbers, weights what multiplies C.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.cluster.engine import Held
from maxmargin.errors import InvalidInput
from maxmargin.losses import Loss
from maxmargin.numeric.rows import Matrix, rows_of, sqnorms_of_rows
from maxmargin.problem import Bias
from maxmargin.problem.validation import check_rows

#: A shard has at least so many bytes of rows, or a 128th of all.
SHARD_BYTES, MOST_SHARDS = 2**26, 128


@dataclass(frozen=True, eq=False)
class Part(Held):
    """The rows of one partition, checked; y and the weights as they came. X is None where there are no rows."""

    X: Matrix | None
    y: np.ndarray
    weights: np.ndarray | None
    index: int


@dataclass(frozen=True, eq=False)
class Look:
    """What is in a part."""

    index: int
    rows: int
    columns: int
    entries: int
    bytes: int
    sparse: bool
    #: The largest ‖x‖², the most entries of a row, and Σ x (dense rows only).
    largest: float
    width: int
    sums: np.ndarray | None
    #: The labels, and the sum of the weights of each; empty for a regression.
    labels: np.ndarray
    label_weights: np.ndarray
    #: Whether there are weights other than 1.
    weighted: bool


@dataclass(frozen=True, eq=False)
class Setting:
    """What the fit is about: everything that turns rows into a problem but the rows."""

    loss: Loss
    bias: Bias
    #: The constant feature: s of an augmented bias, 1 for a free one, 0 for none.
    constant: float
    C: float
    #: The labels, or None for a regression; and the weight of each.
    classes: np.ndarray | None
    class_weights: np.ndarray
    columns: int
    rows: int
    #: How many numbers the rows have, and how many bytes these take.
    entries: int
    bytes: int
    #: The mean row where the matrix is taken about it (dense rows, free bias); else zeros.
    mean: np.ndarray
    largest: float
    width: int
    sparse: bool

    @property
    def free(self) -> bool:
        """Whether the bias is not penalised."""
        return self.bias == "free"

    @property
    def machines(self) -> int:
        """One for two classes or a regression, else one for each class against the rest."""
        return 1 if self.classes is None or len(self.classes) == 2 else len(self.classes)


@dataclass(frozen=True, eq=False)
class Block(Held):
    """Some rows of a shard: the class of each as a number, or its target, and what its C is."""

    X: Matrix
    y: np.ndarray
    C: np.ndarray

    def target(self, machine: int, setting: Setting) -> np.ndarray:
        """The targets of one machine: −1/+1, or real ones."""
        if setting.classes is None:
            return self.y
        positive = 1 if len(setting.classes) == 2 else machine
        return np.where(self.y == positive, 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class Shard(Held):
    """The blocks of consecutive parts."""

    blocks: tuple[Block, ...]
    setting: Setting

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return sum(len(block.y) for block in self.blocks)


def part_of(columns: Sequence[Any], y: Any, weights: Any, index: int) -> Part:
    """The part of one partition, whose columns may come in several chunks (1.)."""
    name = f"partition {index} of X"
    chunks = [as_matrix(chunk) for chunk in columns]
    X = chunks[0] if len(chunks) == 1 else sp.hstack(chunks) if sp.issparse(chunks[0]) else np.concatenate(chunks, 1)
    y = np.asarray(y)
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if y.ndim != 1 or len(y) != X.shape[0]:
        raise InvalidInput(f"{name} has {X.shape[0]} rows, but that of y has shape {y.shape}; align their partitions")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.flatnonzero(~np.isfinite(y))[0])
        raise InvalidInput(f"partition {index} of y: its row {row} is {y[row]}; fill in or drop that row")
    if weights is not None:
        weights = _checked_weights(weights, X.shape[0], index)
    return Part(check_rows(X, name) if X.shape[0] else None, y, weights, index)


def as_matrix(chunk: Any) -> Any:
    """A chunk of an array or a partition of a frame as a matrix."""
    return chunk.to_numpy() if hasattr(chunk, "to_numpy") else chunk


def _checked_weights(weights: Any, rows: int, index: int) -> np.ndarray:
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (rows,):
        raise InvalidInput(f"partition {index} of sample_weight has shape {weights.shape}, that of X {rows} rows")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        row = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise InvalidInput(f"partition {index} of sample_weight: its row {row} is {weights[row]}; weights must be ≥ 0")
    return weights


def look_at(part: Part, classification: bool, own: None) -> list[Look]:
    """What is in a part (2.), in a list, so that a sum has them in order."""
    X, n = part.X, len(part.y)
    weights = np.ones(n) if part.weights is None else part.weights
    labels = part.y[:0]
    label_weights: np.ndarray = np.zeros(0)
    if classification:
        labels, codes = np.unique(part.y, return_inverse=True)
        label_weights = np.bincount(codes, weights, len(labels))
    elif part.y.dtype.kind not in "fiub":
        raise InvalidInput(f"partition {part.index} of y holds {part.y.dtype}; a regression needs numbers")
    weighted = bool((weights != 1.0).any())
    if X is None:
        return [Look(part.index, 0, 0, 0, 0, False, 0.0, 0, None, labels, label_weights, weighted)]
    squares = np.empty(n)
    sqnorms_of_rows(rows_of(X), 0, n, squares)
    sparse = sp.issparse(X)
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse else X.nbytes
    width = int(np.diff(X.indptr).max(initial=0)) if sparse else X.shape[1]
    sums = None if sparse else X.sum(axis=0, dtype=np.float64)
    entries = int(X.nnz) if sparse else X.size
    return [
        Look(
            part.index, n, X.shape[1], entries, size, sparse, float(squares.max()), width, sums, labels, label_weights,
            weighted,
        )
    ]  # fmt: skip


def groups_of(looks: Sequence[Look], shard_bytes: int | None = None) -> list[list[int]]:
    """Consecutive parts for each shard; parts without rows go along with others."""
    shard_bytes = SHARD_BYTES if shard_bytes is None else shard_bytes
    least = max(shard_bytes, sum(look.bytes for look in looks) // MOST_SHARDS)
    groups: list[list[int]] = [[]]
    filled = 0
    for place, look in enumerate(looks):
        if filled >= least:
            groups.append([])
            filled = 0
        if look.rows:
            groups[-1].append(place)
            filled += look.bytes
    return [group for group in groups if group]


def shard_of(parts: Sequence[Part], setting: Setting, own: None) -> Shard:
    """A shard of consecutive parts (3.); rows are not copied."""
    blocks = []
    for part in parts:
        y: np.ndarray
        if setting.classes is None:
            y, C = part.y.astype(np.float64), np.full(len(part.y), setting.C)
        else:
            # A label whose rows all weigh 0 is no class: its rows have C = 0 whatever their code.
            codes = np.minimum(np.searchsorted(setting.classes, part.y), len(setting.classes) - 1)
            y, C = codes.astype(np.int32), setting.C * setting.class_weights[codes]
        assert part.X is not None
        blocks.append(Block(part.X, y, C if part.weights is None else C * part.weights))
    return Shard(tuple(blocks), setting)
