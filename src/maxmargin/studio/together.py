"""Crammer and Singer's problem as the page shows it: each sample by the dual variable and the margin of its own class.

The problem has a dual variable for each sample and class, and a hyperplane for each class. A sample's own variable
lies in 0 … C as that of a binary problem does, and says what kind it is; its margin is how much its own class is ahead
of the best other one, so that the slack is max(0, 1 − margin), too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maxmargin.problem import CrammerSingerProblem, Problem
from maxmargin.result import Iterate


def is_together(problem: Problem) -> bool:
    """Whether all classes are in this one problem."""
    return problem.family == "crammer-singer"


@dataclass(frozen=True, eq=False)
class Samples:
    """One number for each sample: its variable, its margin, and its part of the gap."""

    beta: np.ndarray
    z: np.ndarray
    gaps: np.ndarray


def samples_of(problem: Problem, point: Iterate) -> Samples:
    """What a point says of each sample."""
    assert isinstance(problem, CrammerSingerProblem) and point.w is not None and point.beta is not None
    wrong, alpha = problem.wrong(problem.space.scores(point.w)), problem.by_class(point.beta)
    gaps = np.maximum(problem.C * wrong.max(axis=1) + (alpha * wrong).sum(axis=1), 0.0)
    others = wrong.copy()
    others[problem.mine] = -np.inf
    return Samples(alpha[problem.mine], 1.0 - others.max(axis=1), gaps)
