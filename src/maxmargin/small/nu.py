"""Small ν-problems in one compiled call: pair steps on the whole matrix, the certificate, and the kinds of the vectors.

The variables are those of `problem/nu.py`, in two sides whose sums are given: of classes each sample has one, those of
the first side come first; of a regression it has p and −m, all p come first.

    1. Each side filled with what is steepest where all samples of a side have the same share.
    2. Pair steps within a side (`solvers/textbook/nu_smo.py`) until no two slopes of a side are further apart than the
       gap allows; steps on all free variables (`free.py`) where those crawl.
    3. The certificate, from β and the kernel values alone; where it does not prove the gap, 2. again with a tenth.

What does not get there goes to the general loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from maxmargin.certificate.nu import prove
from maxmargin.certificate.rounding import EPS
from maxmargin.gram.cached_rows import whole_rows
from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.rows import LANES, place_of_largest
from maxmargin.numeric.sums import copy_to
from maxmargin.problem import NuProblem
from maxmargin.problem.nu import NuArrays, element
from maxmargin.problem.space import LinearSpace, entries_per_pair
from maxmargin.result import Iterate, Reason, Result, Status
from maxmargin.small.free import PAIR, cost, direction, gains, room
from maxmargin.small.kernel import LAST, LEAST_ROWS, LEAST_WORK, MOST_ROWS, MOST_WORK
from maxmargin.small.proof import SHORTEST, Proved, SmallFit, converged_text
from maxmargin.small.values import square_of
from maxmargin.solvers.base import registry as solvers
from maxmargin.solvers.textbook.nu_smo import FLAT, VANISHED, refuse_vanished
from maxmargin.solvers.textbook.smo import land

#: The part of the tolerance that the slopes aim at: their bound on the gap is a coarse one.
AIM = 0.1
#: Pair steps between two looks at whether a step on all free variables pays.
BETWEEN = 16
#: How much closer they are to be after a look that did not prove the gap.
CLOSER = 0.1
#: What `Proved.steps` says of a fit without a margin, and of one whose gap is rounding alone.
GONE, ROUNDED = -2, -3


@dataclass(frozen=True, eq=False)
class NuFit(SmallFit):
    """A solved small ν-problem: also its margin or tube."""

    tau: float


def solve_small_nu(problem: NuProblem, tol: float, max_time: float | None) -> Result | np.ndarray | None:
    """The result; a feasible point to go on from where it did not get there; None where the problem is not small."""
    n, kernel = problem.n, problem.kernel
    if (
        n > MOST_ROWS
        or kernel.positive is False
        or not (kernel.positive or kernel.given)
        or 8.0 * n * n > problem.cache_bytes
        or (max_time is not None and max_time < SHORTEST)
    ):
        return None
    X, nu, order = problem.X.astype(np.float64, copy=False), problem.arrays, np.arange(n)
    if nu.of_classes:
        order = np.argsort(-problem.target, kind="stable")
        nu = nu._replace(above=nu.above[order], below=nu.below[order], C=nu.C[order])
        X = X[np.ix_(order, order)] if kernel.given else X[order]
    K = np.ascontiguousarray(X if kernel.given else kernel.block(X, X))
    first = int(np.count_nonzero(problem.target > 0))
    width, largest = entries_per_pair(problem.X), problem.space.largest
    fit = run(K, nu, first, _error(problem), tol)
    if fit.proved.steps == ROUNDED and not (kernel.given or kernel.linear):  # again with the least rounding there is
        K = np.ascontiguousarray(kernel.exact_block(X, X))
        fit = run(K, nu, first, kernel.exact_rounding(width, largest)[0], tol)
    beta, codes = np.empty(n), np.empty(n, np.int8)
    beta[order], codes[order] = fit.beta, fit.codes
    if fit.proved.steps == GONE:
        back = np.argsort(order)
        K = np.ascontiguousarray(K[np.ix_(back, back)])
        refuse_vanished(problem, beta, K @ beta, K.diagonal().copy(), whole_rows(K))
    if not fit.done:
        return beta
    certificate = SmallFit(beta, codes, fit.proved, fit.seconds).certificate(problem.X.dtype, kernel.positive)
    w = np.append(beta @ problem.X, 0.0) if problem.linear else beta.copy()
    point = Iterate(k=fit.proved.steps, w=w, b=fit.proved.b, beta=beta, tau=fit.tau)
    trace = fit.trace(certificate, nu.of_classes)
    status = Status(Reason.CONVERGED, converged_text(certificate, tol))
    return Result(problem, solvers["smo"], status, point, certificate, trace, tol, chosen=True)


def run(K: np.ndarray, nu: NuArrays, first: int, error: float, tol: float) -> NuFit:
    """Solve a ν-problem; of classes, the first so many samples are one side. `error` bounds the rounding in K."""
    began = perf_counter()
    n = len(K)
    beta, codes = np.zeros(n), np.empty(n, np.int8)
    *proved, tau = _solve_and_certify(K, nu, first if nu.of_classes else n, error, tol, beta, codes)
    return NuFit(beta, codes, Proved(*proved), perf_counter() - began, tau)


@compiled
def solve_each_nu(K, rows, spans, nu, halves, error, tol, beta, codes, proved):
    """ν-problems of classes on parts of one matrix, as in `kernel.solve_each`; the last column is the margin.

    A span is where the rows of a problem begin, where those of its second side begin, and where they end.
    """
    for k in range(len(proved)):
        start, middle, stop = spans[k, 0], spans[k, 1], spans[k, 2]
        part = NuArrays(
            nu.target[start:stop], nu.above[start:stop], nu.below[start:stop], nu.C[start:stop], halves[k], True
        )
        own = square_of(K, rows[start:stop])
        told = _solve_and_certify(own, part, middle - start, error, tol, beta[start:stop], codes[start:stop])
        proved[k, 0], proved[k, 1], proved[k, 2], proved[k, 3] = told[0], told[1], told[2], told[3]
        proved[k, 4], proved[k, 5], proved[k, 6], proved[k, 7] = told[4], told[5], told[6], told[7]
        proved[k, 8] = told[8]


def _error(problem: NuProblem) -> float:
    """The rounding of a kernel value."""
    space = problem.space
    if isinstance(space, LinearSpace):
        return problem.kernel.rounding(entries_per_pair(problem.X), space.largest)[0]
    return space.rounding[0]


@compiled
def _solve_and_certify(K, nu, first, error, tol, beta, codes):
    """Steps 1. to 3.; the fields of `Proved`, and the margin or the tube."""
    n, half = len(beta), nu.half
    diag, largest = np.empty(n), 0.0
    for p in range(n):
        diag[p] = K[p, p]
        largest = max(largest, abs(diag[p]))
    # 1.
    x, lower, upper = _first_point(K, nu)
    g, scores = np.empty(n), np.empty(n)
    _gather(x, beta)
    _scores(K, beta, scores)
    steepest = 0.0
    for p in range(n):
        g[p] = nu.target[p] - scores[p]
        steepest = max(steepest, abs(g[p]))
    # Tiny problems are solved to the last digits.
    steps = _steps(K, first, int(LEAST_WORK / n), LAST * steepest, diag, lower, upper, x, g)
    enough = 0.0
    most_steps = int(MOST_WORK / max(n, LEAST_ROWS))
    while steps < most_steps:
        # 2.
        most = most_steps - steps
        if enough == 0.0:  # the size of the dual is not known yet
            most, square, linear = min(most, 4 * n), 0.0, 0.0
            _gather(x, beta)
            for p in range(n):
                square += beta[p] * (nu.target[p] - g[p])
                linear += beta[p] * nu.target[p]
            enough = AIM * tol * max(0.5 * square, abs(linear)) / half
        done = _steps(K, first, most, enough, diag, lower, upper, x, g)
        steps += done
        # 3.
        _gather(x, beta)
        _scores(K, beta, scores)
        sqnorm, size, count = 0.0, 0.0, 0
        for p in range(n):
            sqnorm += beta[p] * scores[p]
            size += abs(beta[p])
            count += beta[p] != 0.0
            steepest = max(steepest, abs(g[p]))
        if nu.of_classes and not sqnorm > (VANISHED * half) * (VANISHED * half) * largest:
            return GONE, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        # The rounding of a score and of βᵀKβ, as in `rounding.plain_errors`.
        off = (error + (count + 1) * EPS * largest) * size
        off_squares = 2.0 * (size * off + count * EPS * largest * size * size)
        a, c, primal, dual, rounding, apart, kkt = prove(nu, beta, scores, sqnorm, (off, off_squares, largest), codes)
        if max(0.0, primal - dual) + rounding <= tol * max(abs(primal), abs(dual)):
            b = 0.5 * (a + c)
            return steps, b, primal, dual, rounding, apart, kkt, _correct(nu, first, scores, b), 0.5 * abs(c - a)
        scale = max(abs(primal), abs(dual))
        if rounding > 0.8 * tol * scale and max(0.0, primal - dual) <= tol * scale:
            return ROUNDED, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        if (done < most and enough < 1e-15 * steepest) or not np.isfinite(primal):
            break
        enough = min(enough * CLOSER, AIM * tol * abs(dual) / half)
    return -1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


@compiled
def _first_point(K, nu):
    """1. The variables, and their lower and upper ends."""
    n = len(nu.C)
    m = n if nu.of_classes else 2 * n
    x, lower, upper = np.zeros(m), np.zeros(m), np.zeros(m)
    r, turned, start = nu.target.copy(), np.empty(n), m - n  # where the variables of the second side begin
    if nu.of_classes:
        above, below = 0.0, 0.0
        for p in range(n):
            above += nu.above[p]
            below += nu.below[p]
        share, scores = np.empty(n), np.empty(n)
        for p in range(n):
            share[p] = nu.half * (nu.above[p] / above - nu.below[p] / below)
        _scores(K, share, scores)
        for p in range(n):
            r[p] -= scores[p]
    for p in range(n):
        turned[p] = -r[p]
    _fill(r, nu.above, nu.half, 1.0, x, 0)
    _fill(turned, nu.below, nu.half, -1.0, x, start)
    for p in range(n):
        upper[p] = nu.above[p]
        lower[start + p] = -nu.below[p]
    return x, lower, upper


@compiled
def _fill(r, weights, mass, sign, x, start):
    """Fill one side from where r is largest until it has that mass."""
    place, rest = element(r, weights, mass), mass
    for p in range(len(r)):
        rest -= weights[p] if r[p] > place else 0.0
    for p in range(len(r)):
        if weights[p] > 0.0 and r[p] > place:
            x[start + p] = sign * weights[p]
    for p in range(len(r)):
        if weights[p] > 0.0 and r[p] == place and rest > 0.0:
            x[start + p] = sign * min(rest, weights[p])
            rest -= min(rest, weights[p])


@compiled
def _gather(x, beta):
    """β = p − m."""
    n = len(beta)
    for p in range(n):
        beta[p] = x[p]
    for p in range(n, len(x)):
        beta[p - n] += x[p]


@compiled
def _scores(K, beta, out):
    """Out = Kβ, by the rows of those that are not 0."""
    for q in range(len(out)):
        out[q] = 0.0
    for p in range(len(beta)):
        if beta[p] != 0.0:
            _add(beta[p], K[p], out)


@compiled
def _add(factor, row, out):
    for q in range(len(out)):
        out[q] += factor * row[q]


@compiled
def _correct(nu, first, scores, b):
    """The share of samples on the right side, of those that count."""
    right, used = 0, 0
    for p in range(len(scores)):
        if nu.C[p] > 0.0:
            used += 1
            right += (scores[p] + b > 0.0) == (p < first)
    return right / max(used, 1)


@compiled
def _steps(K, first, most, enough, diag, lower, upper, x, g):
    """Up to so many pair steps, with steps of `free.py` where those crawl; how many there were."""
    done, since = 0, 0
    while done < most:
        asked = min(BETWEEN, most - done)
        taken = _pair_steps(K, first, asked, enough, diag, lower, upper, x, g)
        done += taken
        since += taken
        if taken < asked:
            break
        left, blocked = PAIR * since * len(g), True
        while blocked:
            blocked, spent = _free_step(K, first, lower, upper, x, g, left)
            left -= spent
            since = 0 if spent > 0.0 else since
    return done


@compiled
def _pair_steps(K, first, steps, enough, diag, lower, upper, x, g):
    """2. Up to so many steps of `nu_smo.side_steps`, until no two slopes of a side are more than `enough` apart."""
    n, m = len(g), len(x)
    up, down, rise, sink = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    for q in range(m):
        up[q] = 0.0 if x[q] < upper[q] else -np.inf
        down[q] = 0.0 if x[q] > lower[q] else -np.inf
        rise[q], sink[q] = g[q % n] + up[q], down[q] - g[q % n]
    won, lanes = np.empty(n), np.empty(LANES)
    for k in range(steps):
        i, last = place_of_largest(rise[:first], lanes), place_of_largest(sink[:first], lanes)
        start, stop = 0, first
        other, other_last = place_of_largest(rise[first:], lanes), place_of_largest(sink[first:], lanes)
        if rise[first + other] + sink[first + other_last] > rise[i] + sink[last]:
            i, last, start, stop = first + other, first + other_last, first, m
        if not rise[i] + sink[last] > enough:
            return k
        shift = 0 if m == n else start  # the sample of variable q of this side is q − shift
        row_i, steepest = K[i - shift], rise[i]
        _gains(steepest, diag[i - shift], row_i[start - shift : stop - shift], diag[start - shift :], sink[start:], won)
        j = start + place_of_largest(won[: stop - start], lanes)
        row_j = K[j - shift]
        t = (steepest + sink[j]) / max(diag[i - shift] + diag[j - shift] - 2.0 * row_i[j - shift], FLAT)
        room_i, room_j, old_i, old_j = upper[i] - x[i], x[j] - lower[j], x[i], x[j]
        t = min(t, room_i, room_j)
        x[i] = upper[i] if t == room_i else min(old_i + t, upper[i])
        x[j] = lower[j] if t == room_j else max(old_j - t, lower[j])
        if x[i] == old_i and x[j] == old_j:
            return k  # the step is below the spacing of floating-point numbers
        for q in (i, j):
            up[q] = 0.0 if x[q] < upper[q] else -np.inf
            down[q] = 0.0 if x[q] > lower[q] else -np.inf
        for p in range(n):
            g[p] -= t * (row_i[p] - row_j[p])
        for begin in range(0, m, n):
            _slopes(g, up[begin:], down[begin:], rise[begin:], sink[begin:])
    return steps


@compiled
def _gains(steepest, own, row, diag, sink, won):
    """What the exact step with each partner gains."""
    for p in range(len(row)):
        slope = steepest + sink[p]
        slope = slope if slope > 0.0 else 0.0
        along = own + diag[p] - (row[p] + row[p])
        won[p] = slope * slope / (along if along > FLAT else FLAT)


@compiled
def _slopes(g, up, down, rise, sink):
    """The slopes of rising, and those of falling with their sign changed."""
    for p in range(len(g)):
        rise[p] = g[p] + up[p]
        sink[p] = down[p] - g[p]


@compiled
def _free_step(K, first, lower, upper, x, g, left):
    """A step of `free.py` on both sides, where it may cost that; whether a bound ended it, and its cost."""
    n, m = len(g), 0
    free = np.empty(len(x), np.int64)
    for q in range(len(x)):
        if lower[q] < x[q] < upper[q]:
            free[m] = q
            m += 1
    spent = cost(m, n)
    if spent > left:
        return False, 0.0
    F, d, group, below, above = np.empty((m, m)), np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    for k in range(m):
        q = free[k]
        for other in range(k + 1):
            F[k, other] = K[q % n, free[other] % n]
        d[k], group[k] = g[q % n], 1.0 if q >= first else 0.0
        below[k], above[k] = x[q] - lower[q], upper[q] - x[q]
    slope, after, old, change, before, largest = d.copy(), np.empty(m), np.empty(m), np.empty(m), g.copy(), 0.0
    for k in range(m):
        largest = max(largest, F[k, k])
    if not direction(F, d, group):
        return False, spent
    step, last = room(d, below, above)
    for k in range(m):
        q = free[k]
        old[k] = x[q]
        x[q] = land(old[k] + step * d[k], lower[q], upper[q])
        if k == last:
            x[q] = upper[q] if d[k] > 0.0 else lower[q]
        change[k] = x[q] - old[k]
        _add(-change[k], K[q % n], g)
    for k in range(m):
        after[k] = g[free[k] % n]
    if not gains(change, slope, after, largest):
        for k in range(m):
            x[free[k]] = old[k]
        copy_to(g, before)
        return False, spent
    return last >= 0, spent
