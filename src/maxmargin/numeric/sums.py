"""Sums of arrays for compiled loops, as loops of our own.

Numba's own array methods (`a.sum()`, `a.mean()`, `np.flatnonzero`) bring in its compiler when cached code that uses
them is loaded: a third of a second at every start.
"""

from __future__ import annotations

import numpy as np

from maxmargin.numeric.compiled import compiled


@compiled
def sum_of(values):
    """Σ values."""
    total = 0.0
    for value in values:
        total += value
    return total


@compiled
def mean_size(values):
    """The mean of |values|; 0 where there are none."""
    total = 0.0
    for value in values:
        total += abs(value)
    return total / max(len(values), 1)


@compiled
def places_of(chosen):
    """The places at which a Boolean array is true."""
    places, count = np.empty(len(chosen), np.int64), 0
    for k in range(len(chosen)):
        if chosen[k]:
            places[count] = k
            count += 1
    return places[:count]
