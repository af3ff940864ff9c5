"""The support vectors of all binary problems of a fit together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from maxmargin.certificate import KINDS
from maxmargin.training.train import Solution, Task


@dataclass(frozen=True, eq=False)
class Expansion:
    """The support vectors of all problems together, in order of their classes."""

    #: Their places among the rows.
    support: np.ndarray
    #: The coefficients, one row a problem.
    coef: np.ndarray
    #: What kind each is in each problem: its place in `KINDS`, the last place where it takes no part.
    codes: np.ndarray
    #: How many there are of each class.
    counts: np.ndarray


def gather(
    tasks: Sequence[Task], solutions: Sequence[Solution], codes: np.ndarray, classes: int, crisp: bool
) -> Expansion:
    """Collect the support vectors: all samples with a coefficient, or (crisp) those that the certificate calls so.

    A kernel machine predicts by its coefficients, so none may be lost; a linear one predicts by w.
    """
    n = len(codes)
    matters = np.zeros(n, bool)
    for task, solution in zip(tasks, solutions, strict=True):
        matters[task.rows] |= solution.certificate.kinds.support if crisp else solution.coef != 0.0
    support = np.flatnonzero(matters)
    support = support[np.argsort(codes[support], kind="stable")]
    place = np.full(n, -1)
    place[support] = np.arange(len(support))
    coef = np.zeros((len(tasks), len(support)))
    kinds = np.full((len(tasks), len(support)), len(KINDS), np.int8)
    for k, (task, solution) in enumerate(zip(tasks, solutions, strict=True)):
        kept = np.flatnonzero(matters[task.rows])
        there = place[task.rows[kept]]
        coef[k, there] = solution.coef[kept]
        kinds[k, there] = solution.certificate.kinds.codes[kept]
    counts = np.bincount(codes[support], minlength=classes).astype(np.int32)
    return Expansion(support, coef, kinds, counts)


def kinds_as_text(codes: np.ndarray) -> np.ndarray:
    """The names of kinds; empty for the place after the last."""
    return np.array((*KINDS, ""), dtype="U9")[codes]
