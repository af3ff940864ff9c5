"""Where the coefficients of several binary problems are kept: one row a problem, or LIBSVM's table for pairs.

A model of k classes trained one against one has k(k−1)/2 problems, and each support vector takes part in k − 1 of
them. LIBSVM (and scikit-learn's `dual_coef_`) therefore keep k − 1 rows: with the support vectors in order of their
classes, a vector of class i has its coefficient against class j in row j − 1 if j > i, and in row j if j < i.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from maxmargin.certificate import KINDS
from maxmargin.estimators.training import Solution, Task


@dataclass(frozen=True, eq=False)
class Expansion:
    """The support vectors of all problems together, in order of their classes."""

    #: Their places among the rows.
    support: np.ndarray
    #: The coefficients, one row a problem.
    coef: np.ndarray
    #: What kind each is in each problem; empty where it takes no part.
    kinds: np.ndarray
    #: How many there are of each class.
    counts: np.ndarray


def gather(
    tasks: Sequence[Task], solutions: Sequence[Solution], codes: np.ndarray, classes: int, crisp: bool
) -> Expansion:
    """Collect the support vectors: all samples with a coefficient, or (crisp) those that the certificate calls so.

    A kernel machine predicts by its coefficients, so none may be lost; a linear one predicts by w.
    """
    n = len(codes)
    coef = np.zeros((len(tasks), n))
    kinds = np.full((len(tasks), n), "", dtype="U9")
    matters = np.zeros(n, bool)
    for k, (task, solution) in enumerate(zip(tasks, solutions, strict=True)):
        coef[k, task.rows] = solution.coef
        kinds[k, task.rows] = np.array(KINDS)[solution.certificate.kinds.codes]
        matters[task.rows] |= solution.certificate.kinds.support if crisp else solution.coef != 0.0
    support = np.flatnonzero(matters)
    support = support[np.argsort(codes[support], kind="stable")]
    counts = np.bincount(codes[support], minlength=classes).astype(np.int32)
    return Expansion(support, coef[:, support], kinds[:, support], counts)


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
