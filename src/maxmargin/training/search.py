"""The search for the best C (and gamma) by cross-validation, without doing anything twice.

    1. For each gamma, compute the kernel matrix of all rows once, if it fits the cache.
    2. For each fold, take its block; every binary problem of several classes takes a block of that. A fold is made
       when the first of its fits comes up, and dropped after the last one.
    3. Fit for each C, all cores at work on different folds and values of C. Those of one run are tried in increasing
       order, each from where the last one ended if the two are near; runs that begin anew are independent.
    4. Score each fit on the rows that were left out: their kernel values are in the matrix, too.

The fits on the way are certified as well, on the matrix that they used.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.certificate.kkt import BOUND
from maxmargin.kernels import Kernel, Linear, Precomputed
from maxmargin.numeric.interrupts import interruptible
from maxmargin.numeric.parallel import one_blas_thread, over_tasks, threads
from maxmargin.problem import Problem
from maxmargin.solvers import clock
from maxmargin.solvers.choose import on_one_matrix
from maxmargin.training.budget import Budget
from maxmargin.training.kernel_matrix import block_of, shared_matrix
from maxmargin.training.samples import Samples
from maxmargin.training.train import Solution, Task, scaled_start

#: A fit starts from that of the last C if the next is at most so many times as large: further apart, the old solution
#: is no better a beginning than 0, and has to be read in first.
NEAR = 2.0


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of one fold: those to train on, those left out (or their kernel values with the former)."""

    kernel: Kernel
    samples: Samples
    left_out: Any
    #: Their places among the samples.
    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True, eq=False)
class Fold:
    """The binary problems of one fold with C = 1, and how good their solutions for some C are on the rows left out."""

    tasks: list[Task]
    score: Callable[[float, list[Solution]], float]

    def fits(self, Cs: np.ndarray, budget: Budget, tol: float, left: float) -> Iterator[tuple[float, float]]:
        """The score for each C (in increasing order) and the worst relative gap; none where time is up.

        `left` is how many such runs of C the budget has to do for, this one included.
        """
        solutions: list[list[Solution]] = [[] for _ in Cs]
        for k, task in enumerate(self.tasks):
            problem = task.make()
            start = None
            for c, C in enumerate(Cs):
                problems = left * len(self.tasks) * len(Cs) - k * len(Cs) - c
                stop = (lambda _: budget.stopped,)  # a thread does not hear Ctrl-C itself
                result = budget.solve(problem.with_cost(C), problems, start, stop, tol, _solver(budget, problem))
                solution = Solution.of(result)
                solutions[c].append(solution)
                start = None
                if c + 1 < len(Cs) and Cs[c + 1] <= NEAR * C:
                    bound = solution.certificate.kinds.codes == BOUND
                    start = scaled_start(solution.coef, bound, Cs[c + 1] / C)
        if budget.spent:
            return
        for C, ones in zip(Cs, solutions, strict=True):
            yield self.score(C, ones), max(one.certificate.relative_gap for one in ones)


def _solver(budget: Budget, problem: Problem) -> str | None:
    """What "auto" means for many fits on one matrix."""
    return on_one_matrix(problem) if budget.solver == "auto" else None


@dataclass(frozen=True, eq=False)
class Grid:
    """What is tried: every C with every kernel in every fold, by its rows to train on and to score on."""

    Cs: np.ndarray
    kernels: Sequence[Kernel]
    folds: Sequence[tuple[np.ndarray, np.ndarray]]
    #: The tolerance of the fits.
    tol: float
    cache_bytes: float
    #: Scores that are known from before, of shape (Cs, kernels, folds), NaN elsewhere; None where none are.
    known: np.ndarray | None = None

    def scores(
        self,
        samples: Samples,
        fold: Callable[[Part], Fold],
        budget: Budget,
        tell: Callable[[int, int, np.ndarray], object],
    ) -> tuple[np.ndarray, np.ndarray]:
        """The scores and the worst gaps, of shape (Cs, kernels, folds); NaN where the time was up before.

        `tell` is called with the places of a kernel and a fold that are done, and all scores so far.
        """
        pieces = runs(self.Cs, apart=samples.classes <= 2)  # several problems are enough to do for one thread
        scores = np.full((len(self.Cs), len(self.kernels), len(self.folds)), np.nan)
        if self.known is not None:
            scores[:] = self.known
        gaps = np.zeros_like(scores)

        def make(kernel: Kernel, matrix: np.ndarray | None, train: np.ndarray, test: np.ndarray) -> Fold:
            return fold(part_of(samples, kernel, matrix, train, test))  # 2.

        with one_blas_thread(), interruptible(), clock.until(budget.until):
            for g, kernel in enumerate(self.kernels):
                if budget.spent:
                    break
                if np.isfinite(scores[:, g]).all():
                    continue
                try:
                    matrix = self._matrix(kernel, samples)  # 1.
                except clock.TimeUp:
                    break
                jobs = [
                    (f, piece)
                    for f in range(len(self.folds))
                    for piece in reversed(pieces)  # the largest C of a fold, which take longest, first
                    if not np.isfinite(scores[piece, g, f]).all()
                ]
                uses = [sum(f == one for one, _ in jobs) for f in range(len(self.folds))]
                folds = [
                    Shared(partial(make, kernel, matrix, *rows), n) for rows, n in zip(self.folds, uses, strict=True)
                ]
                self._try(folds, jobs, budget, g, scores, gaps, tell)
        return scores, gaps

    def _matrix(self, kernel: Kernel, samples: Samples) -> np.ndarray | None:
        """The kernel matrix of all rows, where there is one and it fits."""
        n = samples.n
        if isinstance(kernel, Precomputed):
            return samples.X
        if isinstance(kernel, Linear) or 8 * n * n > self.cache_bytes:
            return None
        return shared_matrix(kernel, samples.X, self.cache_bytes)

    def _try(
        self,
        folds: list[Shared],
        jobs: list[tuple[int, slice]],
        budget: Budget,
        g: int,
        scores: np.ndarray,
        gaps: np.ndarray,
        tell: Callable[[int, int, np.ndarray], object],
    ) -> None:
        """Fit and score what is to be done of one kernel: values of C in a fold."""

        def work(k: int) -> None:
            f, piece = jobs[k]
            if budget.spent:  # not even its fold is made
                return
            left = (len(jobs) * (scores.shape[1] - g) - k) / threads()
            with folds[f].use() as fold:
                found = fold.fits(self.Cs[piece], budget, self.tol, left)  # 3. and 4.
                for c, (score, gap) in enumerate(found, piece.start):
                    scores[c, g, f], gaps[c, g, f] = score, gap
            if np.isfinite(scores[:, g, f]).all():
                tell(g, f, scores)

        try:
            over_tasks(work, len(jobs), budget.stop.set)
        except KeyboardInterrupt:
            budget.interrupt()  # what was scored before counts


def part_of(samples: Samples, kernel: Kernel, matrix: np.ndarray | None, train: np.ndarray, test: np.ndarray) -> Part:
    """The rows of one fold, or their blocks of the matrix."""
    if matrix is not None:
        kernel = Precomputed(source=None if isinstance(kernel, Precomputed) else kernel)
        block, left_out = block_of(matrix, train, train), block_of(matrix, test, train)
    else:
        block, left_out = samples.X[train], samples.X[test]
    part = replace(
        samples,
        X=block,
        repeats=samples.repeats[train],
        weights=samples.weights[train],
        used=np.arange(len(train)),
        given=len(train),
        codes=samples.codes[train],
    )
    return Part(kernel, part, left_out, train, test)


def runs(Cs: np.ndarray, apart: bool) -> list[slice]:
    """The values of C that are fitted one after the other: all of them, or (apart) as far as they are near."""
    cuts = np.flatnonzero(apart & (Cs[1:] > NEAR * Cs[:-1])) + 1
    return [slice(int(start), int(stop)) for start, stop in pairwise([0, *cuts, len(Cs)])]


class Shared:
    """Something that several threads use: made by the first who comes, dropped when the last has gone."""

    def __init__(self, make: Callable[[], Fold], uses: int) -> None:
        self.make, self.uses = make, uses
        self.lock = threading.Lock()
        self.value: Fold | None = None

    @contextmanager
    def use(self) -> Iterator[Fold]:
        """The thing itself, for as long as this lasts."""
        with self.lock:
            if self.value is None:
                self.value = self.make()
            value = self.value
        try:
            yield value
        finally:
            with self.lock:
                self.uses -= 1
                if self.uses == 0:
                    self.value = None
