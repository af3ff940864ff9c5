"""Coordinate ascent on the box-constrained dual (SDCA).

Problem:  max_β  targetᵀβ − Σ tube_i|β_i| − ½ βᵀ(K + diag(ridge))β   s.t.  lower ≤ β ≤ upper

    1. β ← 0 (or the warm start); keep w = Σ β_i φ(x_i), or the scores Kβ where w has no coordinates.
    2. For each epoch, for each i in order (cyclic, shuffled, or uniformly at random with replacement):
    3.     g ← target_i − ⟨w, φ(x_i)⟩ − ridge_i β_i
    4.     β_i' ← the exact maximiser in β_i, clipped to [lower_i, upper_i]
    5.     w ← w + (β_i' − β_i) φ(x_i): one row of the data, or of K.

For all classes in one problem, a step is over all variables of one sample (`sequential_dual.py`).

This is algorithm 3 of source 000 with the order "cyclic", and the coordinate ascent of source 003 with "random".

Hsieh, Chang, Lin, Keerthi & Sundararajan, "A dual coordinate descent method for large-scale linear SVM", ICML 2008;
Shalev-Shwartz & Zhang, "Stochastic dual coordinate ascent methods", JMLR 14, 2013.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar, Literal

import numpy as np

from maxmargin.losses import DualArrays, DualForm
from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.rows import AHEAD, prefetch_numbers, row_axpy, row_dot, row_prefetch, scores_of_some
from maxmargin.problem import CrammerSingerProblem, Problem
from maxmargin.problem.space import KernelSpace, LinearSpace
from maxmargin.result import Event, Iterate
from maxmargin.solvers import clock
from maxmargin.solvers.base import (
    Solver,
    Starts,
    refuse_bias,
    refuse_indefinite,
    refuse_without_form,
    registry,
    start_beta,
)
from maxmargin.solvers.steps import check_positive
from maxmargin.solvers.textbook.sequential_dual import sequential_iterates

Order = Literal["shuffled", "cyclic", "random"]
#: K_ii + ridge_i, or whatever takes its place in an epoch's steps.
Curvature = Callable[[int], np.ndarray]


@dataclass(frozen=True)
class CoordinateAscent(Solver):
    """Exact maximisation over one dual variable at a time.

    Parameters
    ----------
    order : "shuffled", "cyclic" or "random", default "shuffled"
        The order of the samples within an epoch; "random" draws n of them uniformly, with replacement.
    grain : int, default None
        Yield after this many single updates instead of after an epoch, and count updates instead of epochs; with
        ``grain=1`` every update is an `Event`.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import CoordinateAscent
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], bias="augmented")
    >>> result = solve(problem, CoordinateAscent("cyclic", grain=1), max_iter=4, every=1, snapshots=True)
    >>> [look.event.indices for look in result.trace.snapshots]  # one update at a time
    [(0,), (1,), (2,), (3,)]
    """

    name: ClassVar[str] = "coordinate-ascent"
    paper: ClassVar[str] = "Hsieh et al., ICML 2008; Shalev-Shwartz & Zhang, JMLR 2013"
    starts: ClassVar[Starts] = ("beta",)
    families: ClassVar[tuple[str, ...]] = ("ordinary", "crammer-singer")

    order: Order = "shuffled"
    grain: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.grain is not None:
            check_positive("grain", self.grain, whole=True)

    def accepts(self, problem: Problem) -> str | None:
        if problem.family == "crammer-singer":
            shown = "the updates of all classes of a sample cannot be shown one by one; drop grain=1"
            return shown if self.grain == 1 else None
        return refuse_bias(problem, "none", "augmented") or refuse_without_form(problem) or refuse_indefinite(problem)

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        if isinstance(problem, CrammerSingerProblem):
            return sequential_iterates(problem, start, turns_of(self.order, problem.n, self.grain, rng))
        assert problem.form is not None
        q = problem.space.diag() + problem.form.ridge
        return updates(problem, start, lambda epoch: q, self.order, self.grain, rng)


def updates(
    problem: Problem, start: Iterate, q: Curvature, order: Order, grain: int | None, rng: np.random.Generator
) -> Iterator[Iterate]:
    """Clipped steps g/q on one coordinate at a time; q = K_ii + ridge_i makes them exact."""
    beta = start_beta(problem, start)  # 1.
    turns = turns_of(order, problem.n, grain, rng)
    watch = _Watch(problem, beta, q) if grain == 1 else None
    if isinstance(problem.space, LinearSpace):
        return _updates_of_rows(problem, problem.space, beta, q, turns, watch)
    return _updates_of_gram(problem, problem.space, beta, q, turns, watch)


#: What the loop counts, the epoch, the samples that come next in their order, and whether they are a whole epoch.
Turn = tuple[int, int, np.ndarray, bool]


def turns_of(order: Order, n: int, grain: int | None, rng: np.random.Generator) -> Iterator[Turn]:
    """The samples epoch by epoch, or `grain` of them at a time (2.)."""
    updates = 0
    for epoch in count(1):
        turn = order_of(order, n, rng)
        if grain is None:
            yield epoch, epoch, turn, True
            continue
        for first in range(0, n, grain):
            part = turn[first : first + grain]
            updates += len(part)
            yield updates, epoch, part, False


def order_of(order: Order, n: int, rng: np.random.Generator) -> np.ndarray:
    """The coordinates of one epoch."""
    if order == "random":
        return rng.integers(0, n, n, dtype=np.uint32)
    turn = np.arange(n, dtype=np.uint32)
    if order == "shuffled":
        rng.shuffle(turn)
    return turn


def _updates_of_rows(
    problem: Problem, space: LinearSpace, beta: np.ndarray, q: Curvature, turns: Iterator[Turn], watch: _Watch | None
) -> Iterator[Iterate]:
    w = space.combine(beta)
    dual = _dual(problem)
    for k, epoch, turn, whole in turns:
        score = _score(space, w, turn) if watch else 0.0
        before = beta[turn[0]]
        gap, loss = epoch_of_rows(space.rows, turn, dual, q(epoch), beta, w, space.constant)
        primal = 0.5 * space.sqnorm(w) + loss
        estimate = gap / primal if whole and 0 < primal < np.inf else None
        event = watch.event(int(turn[0]), epoch, score, before) if watch else None
        work = 3.0 * space.work * len(turn) / space.n
        yield Iterate(k, w=w, beta=beta, work=work, estimate=estimate, event=event)


def _updates_of_gram(
    problem: Problem, space: KernelSpace, beta: np.ndarray, q: Curvature, turns: Iterator[Turn], watch: _Watch | None
) -> Iterator[Iterate]:
    gram = space.gram()
    scores = gram.product(beta)
    dual = _dual(problem)
    if clock.left() is not None:
        yield Iterate(0, beta=beta, scores=scores)  # the first epoch, with all its rows of K, may be broken off
    for k, epoch, turn, _ in turns:
        score, before = scores[turn[0]], beta[turn[0]]
        place, fetched = 0, gram.fetched
        while place < len(turn):
            place = _epoch_of_gram(gram.rows, k, turn, place, dual, q(epoch), beta, scores)
            if place < len(turn):  # its row is not in the cache
                clock.check()
                gram.fetch(turn[place : place + 1], k)
        event = watch.event(int(turn[0]), epoch, score, before) if watch else None
        work = len(turn) * space.n + (gram.fetched - fetched) * space.work / space.n
        yield Iterate(k, beta=beta, scores=scores, work=work, event=event)


def _dual(problem: Problem) -> DualArrays:
    assert problem.form is not None
    return problem.form.arrays


def _score(space: LinearSpace, w: np.ndarray, turn: np.ndarray) -> float:
    """⟨w, φ(x_i)⟩ of the first sample whose turn it is."""
    out = np.empty(1)
    scores_of_some(space.rows, turn[:1], w, 0, 1, out)
    return float(out[0]) + space.constant * float(w[-1])


class _Watch:
    """Tells what a single update did."""

    def __init__(self, problem: Problem, beta: np.ndarray, q: Curvature) -> None:
        assert problem.form is not None
        self.form: DualForm = problem.form
        self.curvature = problem.space.diag() + self.form.ridge
        self.beta, self.q = beta, q

    def event(self, i: int, epoch: int, score: float, before: float) -> Event:
        """The update of β_i from `before` to where it is now, at the score that it had."""
        form, after, tube = self.form, float(self.beta[i]), float(self.form.tube[i])
        slope = float(form.target[i] - score - form.ridge[i] * before)
        free = maximiser(slope, float(self.q(epoch)[i]), before, tube, -np.inf, np.inf)
        step = after - before
        gain = slope * step - 0.5 * self.curvature[i] * step**2 - tube * (abs(after) - abs(before))
        return Event((i,), (float(before),), (after,), float(free - before), float(gain))


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
def epoch_of_rows(X, order, dual, q, beta, w, s):
    """One pass over rows in the given order; w has the weight of the constant feature last: shortfall and loss."""
    target, ridge, tube, lower, upper = dual
    d = len(w) - 1
    gap, loss = 0.0, 0.0
    for p in range(len(order)):  # 2.
        i = order[p]
        soon = order[min(p + AHEAD, len(order) - 1)]
        row_prefetch(X, soon)
        prefetch_numbers(soon, target, ridge, tube, lower, upper, q, beta)
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
def _epoch_of_gram(rows, now, order, place, dual, q, beta, scores):
    """As `epoch_of_rows`, from `place` on; returns the place whose row must be fetched first, or the end."""
    cache, slot, stamp = rows
    target, ridge, tube, lower, upper = dual
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
