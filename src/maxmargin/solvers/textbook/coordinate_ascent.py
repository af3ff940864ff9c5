"""Coordinate ascent on the box-constrained dual (SDCA).

Problem:  max_β  targetᵀβ − Σ tube_i|β_i| − ½ βᵀ(K + diag(ridge))β   s.t.  lower ≤ β ≤ upper

    1. β ← 0 (or the warm start); keep w = Σ β_i φ(x_i), or the scores Kβ where w has no coordinates.
    2. For each epoch, for each i in order (cyclic, shuffled, or sampled with replacement):
    3.     g ← target_i − ⟨w, φ(x_i)⟩ − ridge_i β_i
    4.     β_i' ← the exact maximiser in β_i, clipped to [lower_i, upper_i]
    5.     w ← w + (β_i' − β_i) φ(x_i): one row of the data, or of K.

Hsieh, Chang, Lin, Keerthi & Sundararajan, "A dual coordinate descent method for large-scale linear SVM", ICML 2008;
Shalev-Shwartz & Zhang, "Stochastic dual coordinate ascent methods", JMLR 14, 2013.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar, Literal

import numpy as np

from maxmargin.compiled import compiled
from maxmargin.problem import Problem
from maxmargin.result import Iterate
from maxmargin.rows import prefetch, row_axpy, row_dot, row_prefetch
from maxmargin.solvers.base import (
    Solver,
    refuse_bias,
    refuse_indefinite,
    refuse_without_form,
    registry,
    start_beta,
)
from maxmargin.space import KernelSpace, LinearSpace

#: How many samples ahead the memory is asked for.
AHEAD = 6

Order = Literal["shuffled", "cyclic", "sampled"]


@dataclass(frozen=True)
class CoordinateAscent(Solver):
    """Exact maximisation over one dual variable at a time."""

    name: ClassVar[str] = "coordinate-ascent"
    paper: ClassVar[str] = "Hsieh et al., ICML 2008; Shalev-Shwartz & Zhang, JMLR 2013"

    order: Order = "shuffled"

    def accepts(self, problem: Problem) -> str | None:
        return refuse_bias(problem, "none", "augmented") or refuse_without_form(problem) or refuse_indefinite(problem)

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        assert problem.form is not None
        return epochs(problem, start, problem.space.diag() + problem.form.ridge, self.order, rng)


def epochs(
    problem: Problem, start: Iterate, q: np.ndarray, order: Order, rng: np.random.Generator
) -> Iterator[Iterate]:
    """Epochs of clipped steps g/q on one coordinate at a time; q = K_ii + ridge_i makes them exact."""
    beta = start_beta(problem, start)  # 1.
    form = problem.form
    assert form is not None
    arrays = (form.target, form.ridge, form.tube, form.lower, form.upper, q, beta)
    if isinstance(problem.space, LinearSpace):
        return _epochs_of_rows(problem.space, arrays, order, rng)
    return _epochs_of_gram(problem.space, arrays, order, rng)


def _epochs_of_rows(
    space: LinearSpace, arrays: tuple[np.ndarray, ...], order: Order, rng: np.random.Generator
) -> Iterator[Iterate]:
    beta = arrays[-1]
    w = space.combine(beta)
    for k in count(1):
        gap, loss = epoch_of_rows(space.rows, _order(order, space.n, rng), *arrays, w, space.constant)
        primal = 0.5 * space.sqnorm(w) + loss
        estimate = gap / primal if 0 < primal < np.inf else None
        yield Iterate(k, w=w, beta=beta, work=3.0 * space.work, estimate=estimate)


def _epochs_of_gram(
    space: KernelSpace, arrays: tuple[np.ndarray, ...], order: Order, rng: np.random.Generator
) -> Iterator[Iterate]:
    beta = arrays[-1]
    gram = space.gram()
    scores = gram.product(beta)
    for k in count(1):
        turn = _order(order, space.n, rng)
        place, fetched = 0, gram.fetched
        while place < space.n:
            place = _epoch_of_gram(gram.cache, gram.slot, gram.stamp, k, turn, place, *arrays, scores)
            if place < space.n:  # its row is not in the cache
                gram.fetch(turn[place : place + 1], k)
        work = space.n**2 + (gram.fetched - fetched) * space.work / space.n
        yield Iterate(k, beta=beta, scores=scores, work=work)


def _order(order: Order, n: int, rng: np.random.Generator) -> np.ndarray:
    """The coordinates of one epoch (2.)."""
    if order == "sampled":
        return rng.integers(0, n, n, dtype=np.uint32)
    turn = np.arange(n, dtype=np.uint32)
    if order == "shuffled":
        rng.shuffle(turn)
    return turn


@compiled
def maximiser(slope, q, beta, tube, lower, upper):
    """argmax_v  slope·(v − β) − ½ q (v − β)² − tube|v|  within [lower, upper]; q may be 0 (4.)."""
    if q > 0.0:
        v = beta + slope / q
        shrink = tube / q
        if v > shrink:
            v -= shrink
        elif v < -shrink:
            v += shrink
        else:
            v = 0.0
    elif slope > tube:
        v = upper
    elif slope < -tube:
        v = lower
    elif tube > 0.0:
        v = 0.0
    else:
        v = beta
    return min(max(v, lower), upper)


@compiled
def pull(residual, ridge, tube, lower, upper):
    """−C ℓ'(z) from the dual's arrays alone: argmax_v residual·v − tube|v| − ½ ridge v², residual = target − z."""
    if ridge > 0.0:
        return maximiser(residual, ridge, 0.0, tube, lower, upper)
    if residual > tube:
        return upper
    return lower if residual < -tube else 0.0


@compiled
def shortfall(residual, ridge, tube, beta, lower, upper):
    """The gap and the loss of one sample: C ℓ(z) is the value of that maximum."""
    v = pull(residual, ridge, tube, lower, upper)
    loss = residual * v - tube * abs(v) - 0.5 * ridge * v * v
    return loss - (residual * beta - tube * abs(beta) - 0.5 * ridge * beta * beta), loss


@compiled
def epoch_of_rows(X, order, target, ridge, tube, lower, upper, q, beta, w, s):
    """One pass over rows in the given order; w has the weight of the constant feature last: shortfall and loss."""
    d = len(w) - 1
    gap, loss = 0.0, 0.0
    for p in range(len(order)):  # 2.
        i = order[p]
        if p + AHEAD < len(order):  # shuffled rows are cache misses: ask for them while this one is worked on
            soon = order[p + AHEAD]
            row_prefetch(X, soon)
            prefetch(target, soon)
            prefetch(ridge, soon)
            prefetch(tube, soon)
            prefetch(lower, soon)
            prefetch(upper, soon)
            prefetch(q, soon)
            prefetch(beta, soon)
        residual = target[i] - row_dot(X, i, w) - s * w[d]
        g = residual - ridge[i] * beta[i]  # 3.
        missed, lost = shortfall(residual, ridge[i], tube[i], beta[i], lower[i], upper[i])
        gap += missed
        loss += lost
        v = maximiser(g, q[i], beta[i], tube[i], lower[i], upper[i])  # 4.
        step = v - beta[i]
        if step != 0.0:
            row_axpy(X, i, step, w)  # 5.
            w[d] += step * s
            beta[i] = v
    return gap, loss


@compiled
def _epoch_of_gram(cache, slot, stamp, now, order, place, target, ridge, tube, lower, upper, q, beta, scores):
    """As `epoch_of_rows`, from `place` on; returns the place whose row must be fetched first, or the end."""
    for p in range(place, len(order)):  # 2.
        i = order[p]
        g = target[i] - scores[i] - ridge[i] * beta[i]  # 3.
        v = maximiser(g, q[i], beta[i], tube[i], lower[i], upper[i])  # 4.
        step = v - beta[i]
        if step != 0.0:
            if slot[i] < 0:
                return p
            row = cache[slot[i]]
            stamp[slot[i]] = now
            for j in range(len(scores)):  # 5.
                scores[j] += step * row[j]
            beta[i] = v
    return len(order)


registry.register(CoordinateAscent.name, CoordinateAscent())
