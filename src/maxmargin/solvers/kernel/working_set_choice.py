"""What the working-set solver reads off the slopes of rising and falling: the bias, the violation, the working set.

The slopes are those of `working_set_steps.ranges`: −∞ where a variable may not rise, +∞ where it may not fall.
"""

from __future__ import annotations

import numpy as np


def middle(rise: np.ndarray, fall: np.ndarray, pairs: bool) -> float:
    """The bias that the active samples agree on; 0 where it is not free."""
    if not pairs:
        return 0.0
    high, low = float(rise.max(initial=-np.inf)), float(fall.min(initial=np.inf))
    if np.isfinite(high) and np.isfinite(low):
        return 0.5 * (high + low)
    return high if np.isfinite(high) else low if np.isfinite(low) else 0.0


def violation(rise: np.ndarray, fall: np.ndarray, pairs: bool) -> float:
    """How far a point is from optimal: what the best pair gains by a small step, or the best single variable."""
    high, low = float(rise.max(initial=-np.inf)), float(fall.min(initial=np.inf))
    return high - low if pairs else max(high, -low, 0.0)


def pick(rise: np.ndarray, fall: np.ndarray, size: int, last: np.ndarray, turns: np.ndarray, pairs: bool) -> np.ndarray:
    """A working set: half of it free members of the last one (those with the fewest turns), half worst violators."""
    m = len(rise)
    if m <= size:
        return np.arange(m)
    free = last[np.isfinite(rise[last]) & np.isfinite(fall[last])]
    kept = free[np.argsort(turns[free], kind="stable")[: size // 2]]
    taken = np.zeros(m, bool)
    taken[kept] = True
    if not pairs:
        excess = np.where(taken, -np.inf, np.maximum(rise, -fall))
        taken[np.argpartition(-excess, size - kept.size)[: size - kept.size]] = True
        return np.flatnonzero(taken)
    half = (size - kept.size) // 2
    for values in (-rise, fall):
        values = np.where(taken, np.inf, values)
        best = np.argpartition(values, half)[:half]
        taken[best[np.isfinite(values[best])]] = True
    return np.flatnonzero(taken)
