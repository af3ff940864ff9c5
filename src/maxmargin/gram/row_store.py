"""RowStore: whole rows of K that are needed again and again, kept as long as they fit.

Where a kernel value is expensive (many features), the rows of the samples that keep moving are worth their memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from maxmargin.gram.active_square import ROWS, ActiveSquare
from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.parallel import over_blocks


class RowStore:
    """Rows of K + offset in the square's precision, in a share of the room that the square has left."""

    def __init__(self, square: ActiveSquare, share: float) -> None:
        self.square = square
        n = len(square.a2)
        self.rows = np.empty((min(n, square.leave(share) // (n * square.dtype.itemsize)), n), square.dtype)
        self.count = 0
        #: Where the row of each sample is, or −1.
        self.place = np.full(n, -1)

    def scores(self, samples: np.ndarray, columns: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Σ_j K_ij weights_j for the given samples; rows j that there is room for are kept."""
        self._keep(columns[self.place[columns] < 0][: len(self.rows) - self.count])
        kept = self.place[columns] >= 0
        sums = np.zeros(self.rows.shape[1])
        places, shares = self.place[columns[kept]], weights[kept]
        over_blocks(lambda start, stop: add_rows(self.rows, places, shares, start, stop, sums), len(sums), 2048)
        return sums[samples] + self.square.scores(samples, columns[~kept], weights[~kept])

    def _keep(self, samples: np.ndarray) -> None:
        target = self.rows[self.count : self.count + len(samples)]

        for first in range(0, len(samples), self.square.width):
            part = target[first : first + self.square.width]
            values = self.square.against(samples[first : first + self.square.width])
            over_blocks(partial(_fill, part, values), self.rows.shape[1], ROWS)
        self.place[samples] = np.arange(self.count, self.count + len(samples))
        self.count += len(samples)
        self.square.evaluated += len(samples) * self.rows.shape[1]


def _fill(target: np.ndarray, values: Callable[[np.ndarray], np.ndarray], start: int, stop: int) -> None:
    target[:, start:stop] = values(np.arange(start, stop)).T


@compiled
def add_rows(K, rows, weights, start, stop, out):
    """out[start:stop] += Σ weights_a K[rows_a, start:stop], four rows at a time: `out` stays in the fastest cache."""
    fours = len(rows) // 4 * 4
    for a in range(0, fours, 4):
        row_0, row_1, row_2, row_3 = K[rows[a]], K[rows[a + 1]], K[rows[a + 2]], K[rows[a + 3]]
        w_0, w_1, w_2, w_3 = weights[a], weights[a + 1], weights[a + 2], weights[a + 3]
        for p in range(start, stop):
            out[p] += w_0 * row_0[p] + w_1 * row_1[p] + w_2 * row_2[p] + w_3 * row_3[p]
    for a in range(fours, len(rows)):
        row = K[rows[a]]
        for p in range(start, stop):
            out[p] += weights[a] * row[p]
