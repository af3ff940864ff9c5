"""Newton's step on the variables inside their bounds: where pair steps crawl, all of them at once.

Problem:  max_d  slopeᵀd − ½ dᵀ(K_FF + diag(ridge))d   s.t.  Σ d = 0 within each group of the free variables F

    1. F ← the variables strictly inside their bounds (and not at a kink of a tube).
    2. Solve (K_FF + ridge) d + μ = slope with Σ d = 0, by Cholesky's factors; μ is one number a group.
    3. As far along d as no variable passes a bound; the one that would is there now. Where the dual
       has not risen by more than rounding may have it seem, the step is taken back.

Which variables are free is what pair steps find out; their values are what takes them long. A step that ends at a
bound is followed by one on the others. It costs |F|³/6 multiply-adds, so that it is for few of them, and taken when
pair steps have cost about as much.
"""

from __future__ import annotations

import numpy as np

from maxmargin.numeric.compiled import compiled
from maxmargin.small.cholesky import factor, substitute
from maxmargin.small.proof import EPS

#: The most free variables, and what a pair step over n variables costs in their multiply-adds, with what it earns.
MOST_FREE, PAIR = 400, 30.0
#: What is added to the diagonal, relative to its mean: K may be singular.
FLAT = 1e-13


@compiled
def cost(count, n):
    """What a step on so many of n variables costs, in multiply-adds along rows; infinite for too few or too many."""
    return count * count * count / 3.0 + 2.0 * count * n if 1 < count <= MOST_FREE else np.inf


@compiled
def direction(K, slope, group):
    """2. d, in the place of the slopes, and whether it is finite; K's lower triangle is read and overwritten."""
    m, size = len(slope), 0.0
    _centre(K)
    factor(K)
    first, second = np.empty(m), np.empty(m)
    for k in range(m):
        first[k], second[k] = 1.0 - group[k], group[k]
    substitute(K, slope)
    substitute(K, first)
    substitute(K, second)
    # Eᵀ(slope − μ₀ first − μ₁ second) = 0 for the two columns of E.
    a, b, c, left, right = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(m):
        if group[k] == 0:
            a += first[k]
            b += second[k]
            left += slope[k]
        else:
            c += second[k]
            right += slope[k]
    if a > 0.0 and c > 0.0:
        both = a * c - b * b
        mu, nu = (c * left - b * right) / both, (a * right - b * left) / both
    else:
        mu, nu = left / a if a > 0.0 else 0.0, right / c if c > 0.0 else 0.0
    sums, counts = np.zeros(2), np.zeros(2)
    for k in range(m):
        slope[k] -= mu * first[k] + nu * second[k]
        sums[int(group[k])] += slope[k]
        counts[int(group[k])] += 1.0
    # Where K_FF is nearly singular (a sample on both sides of a tube) what is left of Σ d is far from 0.
    for k in range(m):
        slope[k] -= sums[int(group[k])] / counts[int(group[k])]
        size += abs(slope[k])
    return size < np.inf


@compiled
def _centre(K):
    """Take from K what is the same for all: as Σ d = 0, no step sees it, and beside it the rest may be rounding."""
    m, mean, trace, largest = len(K), 0.0, 0.0, 0.0
    means = np.zeros(m)
    for k in range(m):
        means[k] += K[k, k] / m
        for other in range(k):
            means[k] += K[k, other] / m
            means[other] += K[k, other] / m
    for k in range(m):
        mean += means[k] / m
        largest = max(largest, K[k, k])
    for k in range(m):
        trace += max(K[k, k] - 2.0 * means[k] + mean, 0.0)
    typical = trace / m  # of all in the place of what was taken, so that K stays definite
    for k in range(m):
        for other in range(k + 1):
            K[k, other] += typical + mean - means[k] - means[other]
        K[k, k] += FLAT * typical + EPS * largest


@compiled
def room(d, below, above):
    """3. How far one may go along d, at most 1, with so much room below and above; and who ends it (−1 for nobody)."""
    step, last = 1.0, -1
    for k in range(len(d)):
        most = above[k] if d[k] > 0.0 else below[k]
        if abs(d[k]) * step > most:
            step, last = most / abs(d[k]), k
    return step, last


@compiled
def gains(change, before, after, largest):
    """Whether a step raised the dual by more than rounding may have, by the slopes before and after it."""
    gained, size = 0.0, 0.0
    for k in range(len(change)):
        gained += 0.5 * change[k] * (before[k] + after[k])
        size += abs(change[k])
    return gained > 8.0 * EPS * largest * size * size
