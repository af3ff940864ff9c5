"""Pairs of classes that share their kernel values: each block of K between two classes belongs to one pair.

    1. The blocks of K within the classes are computed once and kept: every pair of a class needs the same one.
    2. Pair by pair, on all cores: the block between the two classes, then the problem in one compiled call
       (`small.py`), which puts together only those rows of K that it touches.

All in all n²/2 kernel values are computed, and Σ n_k² of them are kept at a time (n_k rows of class k). Pairs that are
too large for that, or that do not get there, are left to the general loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.kernels import Kernel, Linear, Precomputed
from maxmargin.kernels.base import sqnorms, take_rows
from maxmargin.losses import Loss
from maxmargin.models.classes import Split
from maxmargin.numeric.parallel import one_blas_thread, over_tasks
from maxmargin.problem.nu import NuArrays
from maxmargin.problem.space import entries_per_pair
from maxmargin.problem.validation import is_number
from maxmargin.result import Reason, Status
from maxmargin.small.kernel import MOST_WORK, run, solve_each
from maxmargin.small.linear import MOST_INTERIOR
from maxmargin.small.nu import NuFit, solve_each_nu
from maxmargin.small.nu import run as run_nu
from maxmargin.small.proof import Proved, SmallFit, converged_text, dual_of
from maxmargin.small.values import values_of
from maxmargin.training.budget import Budget
from maxmargin.training.kernel_matrix import block_of, shared_matrix
from maxmargin.training.samples import Samples
from maxmargin.training.train import Solution

#: The most rows of a pair that is solved in one call.
MOST_ROWS = 2500
#: The same for the linear kernel, which has solvers that need no kernel values.
MOST_ROWS_LINEAR = 1000
#: Values of the whole matrix up to which all pairs are solved in one compiled call.
AT_ONCE = 3e5
#: Kernel values from which on threads pay: waking one takes a tenth of a millisecond.
THREADED = 3e5
#: Steps times rows that pair steps on linear problems may take: where they crawl, others are sooner there, and sooner
#: still where the features are few (an interior point of about a millisecond).
MOST_WORK_LINEAR, MOST_WORK_FEW = 4e6, 4e5
#: The share of the cache for the blocks within classes; the rest is for the pairs under way.
KEPT = 0.5


def shares_pairs(kernel: Kernel, bias: str, C: float, budget: Budget, pairs: int) -> bool:
    """Whether the pairs of a fit can be solved here."""
    return (
        pairs > 1
        and bias == "free"
        and is_number(C)
        and 0.0 < C < np.inf
        and kernel.positive is True
        and not isinstance(kernel, Precomputed)
        and budget.plain
    )


def solve_pairs(
    samples: Samples,
    kernel: Kernel,
    loss: Loss,
    C: float,
    splits: Sequence[Split],
    cache_bytes: float,
    budget: Budget,
    nu: float | None = None,
) -> dict[int, Solution]:
    """The solutions of those pairs of classes that are solved here, by their place among the splits.

    Where there is a share ν, they are ν-problems.
    """
    values = len(samples.codes) ** 2
    if values <= AT_ONCE and 8 * values <= cache_bytes:
        return _solve_at_once(samples, kernel, loss, C, splits, budget, nu)
    found: dict[int, Solution] = {}
    with one_blas_thread():
        blocks = _Blocks(samples, kernel, cache_bytes)
        chosen = [k for k, split in enumerate(splits) if blocks.fits(*split.classes)]

        def solve(place: int) -> None:
            if budget.spent:
                return
            k = chosen[place]
            fit, weights = _solve_pair(blocks, samples, loss, C, splits[k], budget.tol, nu)
            if fit.done:
                found[k] = _solution(fit, weights, splits[k], blocks.X, budget.tol, isinstance(kernel, Linear))

        try:
            for label in sorted({label for k in chosen for label in splits[k].classes}):
                blocks.keep(label)
            if sum(blocks.size(*splits[k].classes) for k in chosen) < THREADED:
                for place in range(len(chosen)):
                    solve(place)
            else:
                over_tasks(solve, len(chosen), budget.stop.set)
        except KeyboardInterrupt:  # the general loop takes one step for each of the others: a model needs them all
            budget.interrupt()
    return found


def _solve_at_once(
    samples: Samples, kernel: Kernel, loss: Loss, C: float, splits: Sequence[Split], budget: Budget, nu: float | None
) -> dict[int, Solution]:
    """All pairs in one compiled call, on the whole matrix: where there are few samples."""
    began, given, count = perf_counter(), samples.rows_for(kernel), len(splits)
    X = given.astype(np.float64, copy=False)
    orders = [np.argsort(-split.target, kind="stable") for split in splits]
    rows = np.concatenate([split.rows[order] for split, order in zip(splits, orders, strict=True)])
    target = np.concatenate([split.target[order] for split, order in zip(splits, orders, strict=True)])
    sizes = np.array([len(order) for order in orders])
    ends = np.concatenate(([0], np.cumsum(sizes)))
    weights = C * samples.weights[rows]
    beta, codes, proved = np.zeros(len(rows)), np.empty(len(rows), np.int8), np.empty((count, 9))
    form = loss.dual_form(target, weights)
    assert form is not None
    try:
        with one_blas_thread():
            squares = sqnorms(X)
            K = np.ascontiguousarray(kernel.block(X, X, squares, squares))
            error = kernel.rounding(entries_per_pair(X), float(squares.max(initial=0.0)))[0]
            if nu is None:
                most = np.array([_most_work(kernel, size, X.shape[1]) for size in sizes])
                solve_each(K, rows, ends, dual_of(form, weights), error, budget.tol, most, beta, codes, proved)
            else:
                parts = NuArrays(np.zeros(len(rows)), form.upper, -form.lower, weights, 0.0, True)
                halves = 0.5 * nu * np.add.reduceat(weights, ends[:-1])
                middles = ends[:-1] + [np.count_nonzero(split.target > 0) for split in splits]
                spans = np.column_stack((ends[:-1], middles, ends[1:]))
                solve_each_nu(K, rows, spans, parts, halves, error, budget.tol, beta, codes, proved)
    except KeyboardInterrupt:
        budget.interrupt()
        return {}
    seconds, found = (perf_counter() - began) / count, {}
    for k, split in enumerate(splits):
        part, numbers = slice(ends[k], ends[k + 1]), proved[k].tolist()
        told = beta[part], codes[part], Proved(int(numbers[0]), *numbers[1:8]), seconds
        fit = SmallFit(*told) if nu is None else NuFit(*told, tau=numbers[8])
        if fit.done:
            found[k] = _solution(fit, weights[part], split, given, budget.tol, isinstance(kernel, Linear))
    return found


def _most_work(kernel: Kernel, n: int, columns: int) -> float:
    """The steps times rows after which a pair is left to others."""
    if not isinstance(kernel, Linear):
        return MOST_WORK
    return MOST_WORK_FEW if n * columns**2 <= MOST_INTERIOR else MOST_WORK_LINEAR


class _Blocks:
    """Kernel values between the rows of two classes, in float64."""

    def __init__(self, samples: Samples, kernel: Kernel, cache_bytes: float) -> None:
        self.kernel, self.X = kernel, samples.rows_for(kernel)
        order = np.argsort(samples.codes, kind="stable")
        counts = np.bincount(samples.codes, minlength=samples.classes)
        self.rows = np.split(order, np.cumsum(counts)[:-1])
        self.within: dict[int, np.ndarray] = {}
        self.parts: dict[int, tuple[Any, np.ndarray]] = {}
        # The smallest classes first: they are in pairs that are small.
        kept = np.cumsum(8.0 * np.sort(counts).astype(np.float64) ** 2)
        room = int(np.searchsorted(kept, KEPT * cache_bytes, side="right"))
        self.small = set(np.argsort(counts, kind="stable")[:room].tolist())
        self.counts = counts
        n = len(samples.codes)
        #: Sparse rows are multiplied faster all at once than block by block.
        self.at_once = sp.issparse(self.X) and 8.0 * n * n <= KEPT * cache_bytes
        self.cache_bytes = cache_bytes

    @cached_property
    def error(self) -> float:
        """A bound on the rounding of a kernel value."""
        X = self.X
        longest = float(sqnorms(X).max(initial=0.0))
        return self.kernel.rounding(entries_per_pair(X), longest)[0]

    @cached_property
    def matrix(self) -> np.ndarray:
        """The whole matrix."""
        return shared_matrix(self.kernel, self.X, self.cache_bytes)

    def fits(self, a: int, b: int) -> bool:
        """Whether a pair is small enough."""
        most = MOST_ROWS_LINEAR if isinstance(self.kernel, Linear) else MOST_ROWS
        return {a, b} <= self.small and self.counts[a] + self.counts[b] <= most

    def size(self, a: int, b: int) -> float:
        """The kernel values of a pair."""
        return float(self.counts[a] + self.counts[b]) ** 2

    def keep(self, label: int) -> None:
        """Compute the block within a class."""
        if not self.at_once:
            X = take_rows(self.X, self.rows[label]).astype(np.float64, copy=False)
            self.parts[label] = np.ascontiguousarray(X) if not sp.issparse(X) else X, sqnorms(X)
        self.within[label] = self.between(label, label)

    def between(self, a: int, b: int) -> np.ndarray:
        """The block between two classes."""
        if self.at_once:
            return block_of(self.matrix, self.rows[a], self.rows[b])
        (A, a2), (B, b2) = self.parts[a], self.parts[b]
        return np.ascontiguousarray(self.kernel.block(A, B, a2, b2))


def _solve_pair(
    blocks: _Blocks, samples: Samples, loss: Loss, C: float, split: Split, tol: float, nu: float | None
) -> tuple[SmallFit, np.ndarray]:
    """One pair: the samples of the first class (+1) and then those of the second; and what each of them weighs."""
    a, b = split.classes
    aa, bb, ab = blocks.within[a], blocks.within[b], blocks.between(a, b)
    first, n = len(aa), len(aa) + len(bb)
    weights = C * samples.weights[np.concatenate((blocks.rows[a], blocks.rows[b]))]
    if nu is not None:
        K, above, below = np.empty((n, n)), weights.copy(), weights.copy()
        K[:first, :first], K[first:, first:], K[:first, first:], K[first:, :first] = aa, bb, ab, ab.T
        above[first:], below[:first] = 0.0, 0.0
        arrays = NuArrays(np.zeros(n), above, below, weights, 0.5 * nu * float(weights.sum()), True)
        return run_nu(K, arrays, first, blocks.error, tol), weights
    target = np.ones(n)
    target[first:] = -1.0
    form = loss.dual_form(target, weights)
    assert form is not None
    most = _most_work(blocks.kernel, n, blocks.X.shape[1])
    return run(values_of(aa, ab, bb), form, weights, blocks.error, tol, np.zeros(n), most), weights


def _solution(fit: SmallFit, weights: np.ndarray, split: Split, X: Any, tol: float, linear: bool) -> Solution:
    """The same with the samples in the order of the pair's rows, and at the margin 1 where ν has found another."""
    target, one = split.target, fit.proved
    order = np.argsort(-target, kind="stable")
    beta, codes = np.empty(len(target)), np.empty(len(target), np.int8)
    beta[order], codes[order] = fit.beta, fit.codes
    certificate = SmallFit(beta, codes, one, fit.seconds).certificate(X.dtype)
    status = Status(Reason.CONVERGED, converged_text(certificate, tol))
    trace = fit.trace(certificate, classes=True)
    coef, b, tau, ordinary = beta, one.b, None, None
    if isinstance(fit, NuFit):
        tau = fit.tau
        scale = tau if tau > 0.0 else 1.0
        most = np.empty(len(target))
        most[order] = weights / scale
        coef, b = np.clip(beta / scale, -most, most), b / scale
        ordinary = certificate.scaled(scale, tau * float(np.abs(beta).sum()))
    w = np.asarray(coef @ take_rows(X, split.rows)).ravel() if linear else None
    return Solution(coef, w, b, certificate, status, trace, max(1, one.steps), tau=tau, ordinary=ordinary)
