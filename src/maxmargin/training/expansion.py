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
