"""Several classes as binary problems: which there are, what they are called, and what their decision values mean.

One against one trains k(k−1)/2 problems on the rows of two classes each, the first of which is the positive one; one
against the rest trains k problems on all rows. With two classes both are one problem, in which the second class is the
positive one. Crammer and Singer's scheme trains all hyperplanes, one a class, in one problem.

A model in pairs has k(k−1)/2 problems, and each support vector takes part in k − 1 of them. LIBSVM (and scikit-learn's
`dual_coef_`) therefore keep k − 1 rows: with the support vectors in order of their classes, a vector of class i has its
coefficient against class j in row j − 1 if j > i, and in row j if j < i.
"""

from __future__ import annotations

from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

Scheme = Literal["binary", "ovr", "ovo", "crammer-singer"]

#: What the one problem of all classes together is called.
TOGETHER = "all classes"


class Split(NamedTuple):
    """One binary problem: the classes that it is about (one: against the rest), its rows, and their targets ±1."""

    classes: tuple[int, ...]
    rows: np.ndarray
    target: np.ndarray


def splits(codes: np.ndarray, classes: int, scheme: Scheme) -> list[Split]:
    """The binary problems of samples whose classes are given as numbers."""
    if scheme == "ovo":
        return [_pair(codes, i, j) for i, j in pairs(classes)]
    everything = np.arange(len(codes))
    if scheme == "binary":
        return [Split((0, 1), everything, np.where(codes == 1, 1.0, -1.0))]
    return [Split((k,), everything, np.where(codes == k, 1.0, -1.0)) for k in range(classes)]


def _pair(codes: np.ndarray, i: int, j: int) -> Split:
    rows = np.flatnonzero((codes == i) | (codes == j))
    return Split((i, j), rows, np.where(codes[rows] == i, 1.0, -1.0))


def problem_name(labels: tuple[object, ...]) -> str:
    """What a binary problem about these labels is called: "a vs b", or "a vs rest"."""
    return f"{labels[0]} vs {labels[1] if len(labels) == 2 else 'rest'}"


def pairs(classes: int) -> list[tuple[int, int]]:
    """All pairs of classes, in LIBSVM's order."""
    return list(combinations(range(classes), 2))


def pack_pairs(coef: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """One row a pair → LIBSVM's k − 1 rows."""
    classes = len(counts)
    group = np.repeat(np.arange(classes), counts)
    packed = np.zeros((classes - 1, coef.shape[1]))
    for row, (i, j) in zip(coef, pairs(classes), strict=True):
        packed[j - 1, group == i] = row[group == i]
        packed[i, group == j] = row[group == j]
    return packed


def unpack_pairs(packed: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """LIBSVM's k − 1 rows → one row a pair."""
    classes = len(counts)
    group = np.repeat(np.arange(classes), counts)
    coef = np.zeros((classes * (classes - 1) // 2, packed.shape[1]))
    for row, (i, j) in zip(coef, pairs(classes), strict=True):
        row[group == i] = packed[j - 1, group == i]
        row[group == j] = packed[i, group == j]
    return coef


def votes_of_pairs(decision: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """How many pairs each class wins, and the sum of its decision values (positive speaks for the first of a pair)."""
    votes = np.zeros((len(decision), classes))
    confidence = np.zeros((len(decision), classes))
    for k, (i, j) in enumerate(pairs(classes)):
        wins = decision[:, k] > 0
        votes[:, i] += wins
        votes[:, j] += ~wins
        confidence[:, i] += decision[:, k]
        confidence[:, j] -= decision[:, k]
    return votes, confidence


def rest_from_pairs(decision: np.ndarray, classes: int) -> np.ndarray:
    """One value a class from those of the pairs: its votes, and within a third of a vote its confidence."""
    votes, confidence = votes_of_pairs(decision, classes)
    return votes + confidence / (3.0 * (np.abs(confidence) + 1.0))
