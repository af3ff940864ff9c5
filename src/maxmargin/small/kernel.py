"""Small kernel problems in one compiled call: solve, certify and sort the vectors, without a step back into Python.

A fit of a few hundred rows takes a fraction of a millisecond, and the general loop (`run.py`) needs several for its
looks. Here the same things happen in the same order, for a problem with a quadratic dual, a free bias and its kernel
values in float64:

    1. Pair steps (`solvers/textbook/smo.py`), until the relative gap, by the running gradient, is within tol.
    2. The certificate from β and the kernel values alone: scores Kβ, the bias half-way between the steepest rise and
       fall, primal, dual, and the bound on their rounding (`rounding.py`, for the kernel).
    3. If that proves the gap: the KKT violation, and which kind each vector is. If not: 1. again, with a smaller gap.

The loss of a sample is read off the dual's arrays, the conjugate of its conjugate:
C ℓ(z) = max_u (target − z)u − tube|u| − ½ ridge u² over the box.
What does not get there (a step limit, rounding) goes to the general loop.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from maxmargin.certificate.kkt import extreme_slopes, fill_codes
from maxmargin.kernels import Linear, Precomputed
from maxmargin.losses import DualForm
from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.rows import LANES, place_of_largest
from maxmargin.numeric.sums import copy_to
from maxmargin.problem import Problem
from maxmargin.problem.space import KernelSpace
from maxmargin.result import Iterate, Reason, Result, Status
from maxmargin.small.free import PAIR, cost, direction, gains, room
from maxmargin.small.proof import (
    EPS,
    SHORTEST,
    Dual,
    Proved,
    SmallFit,
    Sums,
    converged_text,
    correct,
    dual_of,
    objectives,
)
from maxmargin.small.values import Values, add_row, diagonal_of, row_of, square_of, values_of
from maxmargin.solvers.base import registry as solvers
from maxmargin.solvers.kernel.outlying import lowest_first
from maxmargin.solvers.textbook.smo import FLAT, fall, follow, gain, gap_and_dual, kinks, land, slopes

#: The most rows of a small problem: its kernel matrix has at most 40 MB.
MOST_ROWS = 2200
#: The most steps times rows (some tenths of a second): a problem that needs more is not small, whatever its size.
MOST_WORK = 2e8
#: The same for a linear problem, which has solvers that need no kernel values.
MOST_WORK_WIDE = 2e7
#: The rows whose time a step takes at least, however few there are, with its share of steps on all free variables.
LEAST_ROWS = 1000
#: Pair steps between two looks at the gap, which costs about one of them.
BETWEEN = 16
#: Kinks that the best bias is looked for at, at most: it is a few away.
MOST_KINKS = 50
#: The part of the tolerance to aim at: the last digits are cheap, and peers have them.
AIM = 0.1
#: Up to so many steps times rows (some microseconds) a problem is solved to the last digits, that is to such a gap.
LEAST_WORK, LAST = 2e4, 1e-13


def is_small(problem: Problem, max_time: float | None) -> bool:
    """Whether a problem is one for `solve_small_kernel`."""
    kernel, n = problem.kernel, problem.n
    return (
        n <= MOST_ROWS
        and problem.bias == "free"
        and not isinstance(kernel, Precomputed)
        and (not isinstance(kernel, Linear) or (is_wide(problem.X) and problem.task != "novelty"))
        and kernel.positive is True
        and 8.0 * n * n <= problem.cache_bytes
        and (max_time is None or max_time >= SHORTEST)
        and not problem.hard
        and problem.form is not None
    )


def is_wide(X: Any) -> bool:
    """Whether rows have so many features that a linear problem is better solved on the matrix of their products."""
    return isinstance(X, np.ndarray) and len(X) <= min(X.shape[1], MOST_ROWS)


def solve_small_kernel(problem: Problem, tol: float, max_time: float | None) -> Result | np.ndarray | None:
    """The result; a feasible point to go on from where it did not get there; None where the problem is not small."""
    if not is_small(problem, max_time):
        return None
    form = problem.form
    assert form is not None and form.total is not None
    X, space = problem.X.astype(np.float64, copy=False), problem.space
    K = problem.kernel.block(X, X)
    start = np.zeros(problem.n) if form.total == 0.0 else lowest_first(problem, K.sum(axis=1))
    if isinstance(space, KernelSpace):
        error, most = space.rounding[0], MOST_WORK
    else:
        error, most = problem.kernel.rounding(X.shape[1], space.largest)[0], MOST_WORK_WIDE
    fit = run(values_of(np.ascontiguousarray(K)), form, problem.C, error, tol, start, most)
    if not fit.done:
        return fit.beta
    certificate = fit.certificate(problem.X.dtype)
    b = fit.proved.b
    point = Iterate(k=fit.proved.steps, w=space.combine(fit.beta), b=b, beta=fit.beta, linked=True)
    trace = fit.trace(certificate, problem.task == "classification")
    status = Status(Reason.CONVERGED, converged_text(certificate, tol))
    return Result(problem, solvers["smo"], status, point, certificate, trace, tol, chosen=True)


def run(
    values: Values,
    form: DualForm,
    C: np.ndarray,
    error: float,
    tol: float,
    beta: np.ndarray,
    most: float = MOST_WORK,
) -> SmallFit:
    """Solve from a feasible β, which moves; `error` bounds the rounding of K's values, `most` the steps times rows."""
    began = perf_counter()
    codes = np.empty(len(beta), np.int8)
    total = float(form.total or 0.0)
    proved = Proved(*_solve_and_certify(values, dual_of(form, C), total, error, tol, beta, codes, most))
    return SmallFit(beta, codes, proved, perf_counter() - began)


@compiled
def solve_each(K, rows, ends, dual, error, tol, most_work, beta, codes, proved):
    """Problems without a total on parts of one matrix: the rows of each end where those of the next begin.

    β and the kinds are filled in, and for each problem a row of `proved`.
    """
    for k in range(len(proved)):
        first, last = ends[k], ends[k + 1]
        own = square_of(K, rows[first:last])
        values = Values(own, np.empty((len(own), 0)), np.empty((0, len(own))), np.empty((0, 0)), np.zeros(0, np.bool_))
        part = Dual(
            dual.target[first:last],
            dual.ridge[first:last],
            dual.steepness[first:last],
            dual.tube[first:last],
            dual.lower[first:last],
            dual.upper[first:last],
            dual.C[first:last],
        )
        told = _solve_and_certify(values, part, 0.0, error, tol, beta[first:last], codes[first:last], most_work[k])
        proved[k, 0], proved[k, 1], proved[k, 2], proved[k, 3] = told[0], told[1], told[2], told[3]
        proved[k, 4], proved[k, 5], proved[k, 6], proved[k, 7] = told[4], told[5], told[6], told[7]


@compiled
def _solve_and_certify(values, dual, total, error, tol, beta, codes, most_work):
    """Steps 1. to 3.; the fields of `Proved`."""
    n = len(beta)
    g = np.empty(n)
    for j in range(n):
        g[j] = dual.target[j] - dual.ridge[j] * beta[j]
    for j in range(n):
        if beta[j] != 0.0:
            add_row(values, j, -beta[j], g)
    diag, largest = diagonal_of(values), 0.0
    for p in range(n):
        largest = max(largest, abs(diag[p]))
    wanted, steps, since = AIM * tol, 0, 0
    while steps * max(n, LEAST_ROWS) < most_work:
        # 1.
        done = _pair_steps(values, dual, diag, beta, g, BETWEEN)
        steps += done
        since += done
        ended = done < BETWEEN
        left, blocked = PAIR * since * n, not ended
        while blocked:
            blocked, spent = _free_step(values, dual, beta, g, left)
            left -= spent
            since = 0 if spent > 0.0 else since
        gap, value = gap_and_dual(dual.target, dual.ridge, dual.tube, dual.lower, dual.upper, beta, g)
        scale, size = max(abs(value), abs(value + gap)), 0.0
        for p in range(n):
            size += abs(beta[p])
        if not EPS * largest * size * size <= tol * scale:
            break  # the running slopes are rounding
        if gap <= (LAST if steps * n < LEAST_WORK else wanted) * scale or ended:
            # 2.
            b, primal, value, rounding, rest, scores = _certified(values, dual, diag, total, error, beta)
            size = max(abs(primal), abs(value))
            if max(0.0, primal - value) + rounding <= tol * size:
                if rounding > 0.1 * max(primal - value, tol * abs(primal)):
                    break  # worth more precision than there is here
                # 3.
                most, least = extreme_slopes(dual.target, scores, dual.ridge, dual.tube, dual.lower, dual.upper, beta)
                kkt = max(most - least, 0.0)
                z = np.empty(n)
                for p in range(n):
                    z[p] = scores[p] + b
                close = min(max(kkt, 1e-8), 1e-3)
                fill_codes(dual.target, z, dual.tube, dual.lower, dual.upper, dual.C, beta, close, codes)
                return steps, b, primal, value, rounding, rest, kkt, correct(dual, z)
            if ended or rounding > 0.5 * tol * size:
                break
            wanted *= 0.5
    return -1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


@compiled
def _pair_steps(values, dual, diag, beta, g, asked):
    """Up to as many steps as asked of `solvers/textbook/smo.py`, second order; returns how many there were."""
    n, a = len(g), values.aa.shape[0]
    up, down, rise = np.empty(n), np.empty(n), np.empty(n)
    slopes(beta, dual.tube, dual.lower, dual.upper, g, up, down, rise)
    curvature = np.empty(n)
    for p in range(n):
        curvature[p] = diag[p] + dual.ridge[p]
    slope, gains, lanes = np.empty(n), np.empty(n), np.empty(LANES)
    for k in range(asked):
        i = place_of_largest(rise, lanes)
        if not rise[i] > -np.inf:
            return k
        left, right = row_of(values, i)
        fall(rise[i], 1.0, g, down, slope)
        gain(slope[:a], curvature[:a], curvature[i], left, FLAT, gains[:a])
        gain(slope[a:], curvature[a:], curvature[i], right, FLAT, gains[a:])
        j = place_of_largest(gains, lanes)
        if not slope[j] > 0.0:
            return k
        t = slope[j] / max(curvature[i] + curvature[j] - 2.0 * (left[j] if j < a else right[j - a]), FLAT)
        room_i = -beta[i] if beta[i] < 0.0 and dual.tube[i] > 0.0 else dual.upper[i] - beta[i]
        room_j = beta[j] if beta[j] > 0.0 and dual.tube[j] > 0.0 else beta[j] - dual.lower[j]
        t = min(t, min(room_i, dual.upper[i] - beta[i]), min(room_j, beta[j] - dual.lower[j]))
        old_i, old_j = beta[i], beta[j]
        beta[i] = land(old_i + t, dual.lower[i], dual.upper[i])
        beta[j] = land(old_j - t, dual.lower[j], dual.upper[j])
        if beta[i] == old_i and beta[j] == old_j:
            return k  # the step is below the spacing of floating-point numbers
        up[i], down[i] = kinks(beta[i], dual.tube[i], dual.lower[i], dual.upper[i])
        up[j], down[j] = kinks(beta[j], dual.tube[j], dual.lower[j], dual.upper[j])
        g[i] -= dual.ridge[i] * t
        g[j] += dual.ridge[j] * t
        other_left, other_right = row_of(values, j)
        follow(t, left, other_left, g[:a], up[:a], rise[:a])
        follow(t, right, other_right, g[a:], up[a:], rise[a:])
    return asked


@compiled
def _free_step(values, dual, beta, g, left):
    """A step of `free.py`, where it may cost that; whether a bound (or a kink) ended it, and its cost."""
    n, a, m = len(beta), values.aa.shape[0], 0
    free = np.empty(n, np.int64)
    for p in range(n):
        if dual.lower[p] < beta[p] < dual.upper[p] and (beta[p] != 0.0 or dual.tube[p] == 0.0):
            free[m] = p
            m += 1
    spent = cost(m, n)
    if spent > left:
        return False, 0.0
    K, d, group, below, above = np.empty((m, m)), np.empty(m), np.zeros(m), np.empty(m), np.empty(m)
    for k in range(m):
        p = free[k]
        left, right = row_of(values, p)
        for other in range(k + 1):
            q = free[other]
            K[k, other] = left[q] if q < a else right[q - a]
        K[k, k] += dual.ridge[p]
        lowest, highest, tube = dual.lower[p], dual.upper[p], dual.tube[p]
        if tube > 0.0:
            lowest, highest = (0.0, highest) if beta[p] > 0.0 else (lowest, 0.0)
        d[k] = g[p] - (tube if beta[p] > 0.0 else -tube)
        below[k], above[k] = beta[p] - lowest, highest - beta[p]
    slope, after, old, change, before, largest = d.copy(), d.copy(), np.empty(m), np.empty(m), g.copy(), 0.0
    for k in range(m):
        largest = max(largest, K[k, k])
    if not direction(K, d, group):
        return False, spent
    step, last = room(d, below, above)
    for k in range(m):
        p = free[k]
        old[k], change[k] = beta[p], step * d[k]
        if k == last:
            change[k] = above[k] if d[k] > 0.0 else -below[k]
        beta[p] = land(old[k] + change[k], dual.lower[p], dual.upper[p])
        if dual.tube[p] > 0.0 and beta[p] * old[k] < 0.0:
            beta[p] = 0.0  # rounding took it over the kink
        change[k] = beta[p] - old[k]
        add_row(values, p, -change[k], g)
        g[p] -= dual.ridge[p] * change[k]
    for k in range(m):
        after[k] += g[free[k]] - before[free[k]]
    if not gains(change, slope, after, largest):
        for k in range(m):
            beta[free[k]] = old[k]
        copy_to(g, before)
        return False, spent
    return last >= 0, spent


@compiled
def _best_bias(dual, total, scores, b):
    """The bias of the least primal value, from one near it, for a loss of straight pieces: kink by kink.

    The slope of the primal value is total − Σu, and rises by a part of a sample's box where its score passes a kink.
    """
    n, right, left = len(scores), total, total  # the slope right and left of b
    lows, highs = np.empty(n), np.empty(n)
    for p in range(n):
        if dual.ridge[p] > 0.0:
            return b
        middle = dual.target[p] - scores[p]
        lows[p], highs[p] = middle - dual.tube[p], middle + dual.tube[p]
    for p in range(n):
        right -= dual.upper[p] if lows[p] > b else (0.0 if highs[p] > b else dual.lower[p])
        left -= dual.lower[p] if highs[p] < b else (0.0 if lows[p] < b else dual.upper[p])
    first = 1.0 if right < 0.0 else -1.0  # where it falls
    slope = right if right < 0.0 else left
    for _ in range(MOST_KINKS):
        if not slope * first < 0.0:
            break
        nearest, rise = first * np.inf, 0.0
        for p in range(n):
            low, high, tube = lows[p], highs[p], dual.tube[p]
            if first * low > first * b and first * low <= first * nearest:
                rise = dual.upper[p] - (dual.lower[p] if tube == 0.0 else 0.0) + (rise if low == nearest else 0.0)
                nearest = low
            if tube > 0.0 and first * high > first * b and first * high <= first * nearest:
                rise = -dual.lower[p] + (rise if high == nearest else 0.0)
                nearest = high
        if not np.isfinite(nearest):
            break
        b = nearest
        slope += first * rise
    return b


@compiled
def _certified(values, dual, diag, total, error, beta):
    """The bias, primal, dual, the bound on their rounding, |Σβ − total| and Kβ, from β and the kernel values."""
    n = len(beta)
    scores = np.zeros(n)
    count, size, largest = 0, 0.0, 0.0
    for j in range(n):
        largest = max(largest, abs(diag[j]))
        if beta[j] != 0.0:
            count += 1
            size += abs(beta[j])
            add_row(values, j, beta[j], scores)
    sqnorm, high, low = 0.0, -np.inf, np.inf
    for p in range(n):
        sqnorm += beta[p] * scores[p]
        slope = dual.target[p] - scores[p] - dual.ridge[p] * beta[p]
        if beta[p] < dual.upper[p]:
            high = max(high, slope + (-dual.tube[p] if beta[p] >= 0.0 else dual.tube[p]))
        if beta[p] > dual.lower[p]:
            low = min(low, slope + (-dual.tube[p] if beta[p] > 0.0 else dual.tube[p]))
    b = 0.5 * (high + low)
    if not np.isfinite(b):
        b = high if np.isfinite(high) else (low if np.isfinite(low) else 0.0)
    b = _best_bias(dual, total, scores, b)
    # The rounding of a score and of βᵀKβ, as in `rounding.plain_errors`.
    off = (error + (count + 1) * EPS * largest) * size
    off_sqnorm = size * off + count * EPS * largest * size * size
    sums = Sums(sqnorm, sqnorm, off, off_sqnorm, off_sqnorm, largest)
    primal, value, rounding, rest = objectives(dual, total, True, beta, scores, b, scores, sums)
    return b, primal, value, rounding, rest, scores
