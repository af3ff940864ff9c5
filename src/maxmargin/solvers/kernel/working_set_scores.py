"""The scores f_i = Σ_j K_ij β_j that the working-set solver keeps, and the ways to bring them up to date.

Kernel values are in the square's precision, their sums in float64. Scores of the active samples follow each step of the
solver; those of all others follow after a round, by the rows of the β_j that changed. Two things save rows of K:

    1. A sample with β_i = 0 that is far from violating may stay late: its score is that of an earlier β, until the
       active scores have moved so far that it could matter.
    2. Rounding adds up. It is removed by a product in float64 only where a few samples show that it has reached ε.

Both are for speed alone: the certificate is computed afresh from the data.
"""

from __future__ import annotations

import numpy as np

from maxmargin.gram.active_square import ActiveSquare
from maxmargin.gram.row_store import RowStore, add_rows
from maxmargin.numeric.parallel import over_blocks
from maxmargin.problem.space import KernelSpace
from maxmargin.solvers.kernel.settings import ScoresSettings

settings = ScoresSettings()


class Scores:
    """The scores of the seen samples, as `values`."""

    def __init__(self, space: KernelSpace, square: ActiveSquare) -> None:
        self.space, self.square = space, square
        self.values = np.zeros(space.n)
        #: Rows that are kept, where they are expensive.
        self.store: RowStore | None = None
        #: Samples whose scores still are those of β = `then`, and how far active scores have moved since.
        self.late, self.then, self.motion = np.zeros(space.n, bool), np.zeros(space.n), 0.0

    def see(self, samples: np.ndarray, beta: np.ndarray) -> None:
        """The scores of samples that have not been seen before."""
        support = np.flatnonzero(beta)
        if support.size:
            self.values[samples] = self._products(samples, support, beta[support])

    def take_in(self, samples: np.ndarray, beta: np.ndarray) -> None:
        """The same where they become active at once, and all support vectors are: their rows of K are the square's."""
        square, old = self.square, self.square.size
        square.extend(samples)
        rows = np.flatnonzero(beta[square.index])
        weights, sums = beta[square.index[rows]], np.zeros(square.size)
        over_blocks(
            lambda start, stop: add_rows(square.K, rows, weights, old + start, old + stop, sums), len(samples), 2048
        )
        self.values[samples] = sums[old:]

    def follow(self, others: np.ndarray, before: np.ndarray, beta: np.ndarray, slack: np.ndarray, moved: float) -> None:
        """Bring the scores of the others from the β before to the present one.

        Active scores have moved by `moved`; a sample violates when its own has moved by more than its `slack`.

        Others that are far, and have no β of their own, may be late (1.).
        """
        waiting = bool(self.late.any())
        self.motion = moved + (self.motion if waiting else 0.0)
        far = (beta[others] == 0.0) & (slack > settings.far * self.motion)
        late = self.late[others]
        if waiting:
            self.catch_up(others[late & ~far], self.then, beta)
        elif np.count_nonzero(far) > settings.worthwhile * others.size:
            late, self.then = far, before
            self.late[others[far]] = True
        self.catch_up(others[~late], before, beta)

    def catch_up(self, samples: np.ndarray, before: np.ndarray, beta: np.ndarray) -> None:
        """The scores of an earlier β become those of the present one."""
        if not samples.size:
            return
        changed = np.flatnonzero(beta != before)
        self.values[samples] += self._products(samples, changed, (beta - before)[changed])
        self.late[samples] = False

    def catch_all_up(self, beta: np.ndarray) -> None:
        """So that no sample is late."""
        self.catch_up(np.flatnonzero(self.late), self.then, beta)

    def mend(self, beta: np.ndarray, epsilon: float, rng: np.random.Generator) -> None:
        """Recompute all scores in float64 where a few of them are off by ε in the mean (2.)."""
        if epsilon > settings.near * float(np.finfo(self.square.dtype.name).eps) * float(np.linalg.norm(beta)):
            return
        some = rng.permutation(np.flatnonzero(~self.late))[: settings.compared]
        off = np.abs(self.values[some] - self.space.scores_of(some, beta))
        if off.mean() >= epsilon:
            self.values = self.space.scores(beta)
            self.late[:] = False

    def _products(self, samples: np.ndarray, columns: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return (self.store or self.square).scores(samples, columns, weights)
