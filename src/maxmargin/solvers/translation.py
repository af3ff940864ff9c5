"""Linear problems about their mean: what the user's origin costs a solver is undone before it begins.

Rows far from the origin (years, temperatures in kelvin, prices) are nearly parallel, which costs a solver all of its
digits; about their mean m they are not.

    1. With a free bias the problem in (w, b) on X is the problem in (w, b + ⟨w, m⟩) on X − m: the same w, the same β
       (as Σβ = 0), the same gap.
    2. Without one, the features are turned so that the first of them is the direction of m (a Householder reflection
       H = I − 2vvᵀ/vᵀv): XH = (X − m)H + mH, and mH has only its first entry. The same β and gap, and w is H times that
       found. What is large is then in one column alone, where it does no harm.

The certificate is about the rows as they were given. Sparse rows stay as they are unless most of their entries are
there; and so does what is near the origin already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.numeric.row_blocks import RowBlocks
from maxmargin.numeric.rows import Matrix
from maxmargin.problem import NuProblem, Problem
from maxmargin.result import Iterate

#: Rows are far from the origin where their mean is this many times as long as their standard deviation.
FAR = 10.0
#: Rows on which that is seen; sparse rows with this share of non-zeros count as dense.
SEEN, DENSE = 512, 0.25

#: The method of a solver that gives its iterates.
Iterates = Callable[[Any, Problem, Iterate, np.random.Generator], Iterator[Iterate]]


def about_the_mean(iterates: Iterates) -> Iterates:
    """Let a solver work about the mean where that is worthwhile; its iterates are about the problem as it was given."""

    @wraps(iterates)
    def moved(self: Any, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        near = about_mean(problem)
        if near is None:
            return iterates(self, problem, start, rng)
        begin = replace(start, w=near.turned(start.w))
        return (near.back(iterate) for iterate in iterates(self, near.problem, begin, rng))

    return moved


@dataclass(frozen=True, eq=False)
class Near:
    """A problem whose rows are not far from the origin, or only in one feature, and the way back from it."""

    problem: Problem
    #: The v of the reflection, of length √2; None where the rows were moved.
    v: np.ndarray | None

    def turned(self, w: np.ndarray | None) -> np.ndarray | None:
        """A normal among the other features; to turn twice is to leave it as it was."""
        if w is None or self.v is None:
            return w
        turned = w.copy()
        turned[:-1] -= self.v * float(self.v @ w[:-1])
        return turned

    def back(self, iterate: Iterate) -> Iterate:
        """An iterate about the problem as it was given."""
        # The bias that fits the rows as they were given is found with their scores; those about the mean are others.
        return replace(iterate, w=self.turned(iterate.w), b=None, scores=None)


def about_mean(problem: Problem) -> Near | None:
    """The same problem about its mean; None where that gains or means nothing."""
    X, free = problem.X, problem.bias == "free"
    if not problem.linear or (free and problem.total != 0.0) or not (free or problem.regularizer.quadratic):
        return None
    in_blocks = isinstance(X, RowBlocks)
    entries = X.entries if in_blocks else X.nnz if sp.issparse(X) else X.size
    if entries < DENSE * X.shape[0] * X.shape[1]:
        return None
    if 8.0 * X.shape[0] * X.shape[1] > problem.cache_bytes and not in_blocks:
        return None
    some = _dense(X[:: -(-problem.n // SEEN)])
    mean = some.mean(axis=0)
    if float(mean @ mean) <= FAR**2 * float(some.var(axis=0).sum()):
        return None
    rows: Any = X if in_blocks else _dense(X)
    mean, v = rows.mean() if in_blocks else rows.mean(axis=0), None
    if not free:  # 2.
        length = float(np.linalg.norm(mean))
        v = mean / length
        side = -1.0 if v[0] > 0.0 else 1.0
        v[0] -= side
        v *= np.sqrt(2.0) / np.linalg.norm(v)

    def move(some: np.ndarray) -> np.ndarray:
        moved = some - mean
        if v is not None:
            moved -= np.outer(moved @ v, v)
            moved[:, 0] += side * length
        return np.ascontiguousarray(moved)

    near = Problem.of_checked(
        rows.mapped(move) if in_blocks else move(rows), problem.target, problem.loss, problem.kernel, problem.bias,
        problem.C, problem.cache_bytes, task=problem.task, regularizer=problem.regularizer,
    )  # fmt: skip
    if isinstance(problem, NuProblem):
        near = NuProblem.of(near, problem.nu)
    if problem.bias == "augmented":
        near = near.with_augmented_bias(problem.bias_scale)
    return Near(near, v)


def _dense(X: Matrix) -> np.ndarray:
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
