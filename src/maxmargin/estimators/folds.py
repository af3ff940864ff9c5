"""The fits of a search in one fold: problems on a block of the shared matrix, and the scores of the rows left out.

1. A fold is made when the first of its fits comes up, and dropped after the last one.
2. Its values of C are tried in increasing order, each from where the last one ended if the two are near; runs of
   C that begin anew are independent of each other, and may be fitted side by side.
3. Each fit is certified on the matrix that it used, and scored on rows whose kernel values are in the matrix, too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.kernels import Kernel, Precomputed
from maxmargin.problem import Problem
from maxmargin.training.budget import Budget
from maxmargin.training.kernel_matrix import block_of
from maxmargin.training.samples import Samples
from maxmargin.training.train import Solution, Task, scaled_start

#: A fit starts from that of the last C if the next is at most so many times as large: further apart, the old solution
#: is no better a beginning than 0, and has to be read in first.
NEAR = 2.0


@dataclass(frozen=True, eq=False)
class Fold:
    """What one fold of one gamma is trained on and scored on."""

    machine: Any
    data: Samples
    tasks: list[Task]
    #: The rows left out: their features, or their kernel values with the rows trained on.
    left_out: Any
    truth: np.ndarray

    def fits(self, Cs: np.ndarray, budget: Budget, tol: float, left: float) -> Iterator[tuple[Any, float]]:
        """The fitted machine for each C (in increasing order) and its worst relative gap; none where time is up.

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
                    bound = np.zeros(problem.n, bool)
                    bound[solution.certificate.kinds.bound] = True
                    start = scaled_start(solution.coef, bound, Cs[c + 1] / C)
        if budget.spent:
            return
        for C, ones in zip(Cs, solutions, strict=True):
            machine = copy(self.machine)
            machine.C = C
            machine.__dict__.update(machine._fitted(self.data, self.tasks, ones))
            yield machine, max(one.certificate.relative_gap for one in ones)


def _solver(budget: Budget, problem: Problem) -> str | None:
    """Shrinking SMO where all of K is at hand: working sets would save no kernel values."""
    whole = budget.solver == "auto" and isinstance(problem.kernel, Precomputed) and problem.bias == "free"
    return "shrinking-smo" if whole else None


def make_fold(
    base: Any,
    kernel: Kernel,
    matrix: np.ndarray | None,
    data: Samples,
    targets: np.ndarray,
    tasks: Callable[[Any, Samples, np.ndarray], list[Task]],
    train: np.ndarray,
    test: np.ndarray,
) -> Fold:
    """The machine, the problems and the rows of one fold: those to train on, and those to leave out."""
    machine = copy(base)
    machine.__dict__.pop("feature_names_in_", None)
    if matrix is not None:
        machine.kernel = Precomputed(source=None if isinstance(kernel, Precomputed) else kernel)
        block, left_out = block_of(matrix, train, train), block_of(matrix, test, train)
    else:
        if hasattr(machine, "kernel"):
            machine.kernel = machine.kernel_ = kernel
        block, left_out = data.X[train], data.X[test]
    machine.n_features_in_ = block.shape[1]
    part = replace(
        data,
        X=block,
        repeats=data.repeats[train],
        weights=data.weights[train],
        used=np.arange(len(train)),
        given=len(train),
        codes=data.codes[train],
    )
    return Fold(machine, part, tasks(machine, part, targets[train]), left_out, targets[test])


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
