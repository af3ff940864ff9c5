"""SMO for ν-problems: pairs within one side, so that the sum of either side stays what it must be.

Problem:  max_β  targetᵀβ − ½ βᵀKβ,   β = p − m,  0 ≤ p ≤ U,  0 ≤ m ≤ L,  Σp = Σm = ½S      (`problem/nu.py`)

    1. β ← each side filled with what is steepest at the scores of equal shares; keep g = target − Kβ.
    2. Of either side, the coordinate that gains most by rising and the one that gains most by falling; take the side
       where they are further apart.
    3. i ← the one that rises; j ← the partner whose exact step gains most, argmax (g_i − g_j)² / (K_ii + K_jj − 2K_ij).
    4. t ← (g_i − g_j) / (K_ii + K_jj − 2K_ij), clipped so that both stay within their bounds.
    5. The variable of i rises by t and that of j falls by t; g ← g − t(K_i − K_j): two rows of K.

Chang & Lin, "Training ν-support vector classifiers: theory and algorithms", Neural Computation 13, 2001.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInput
from maxmargin.gram import Gram
from maxmargin.gram.cached_rows import CachedRows, whole_rows
from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.rows import LANES, place_of_largest
from maxmargin.problem.nu import NuProblem
from maxmargin.result import Iterate

#: Pairs between two iterates, at most, and how many rows are fetched together.
MOST_PAIRS, TOGETHER = 1000, 16
#: K is computed at once where that takes no more multiply-adds; so many of them are work enough between two iterates.
AT_ONCE, MOST_WORK = 2e7, 1e8
#: The least curvature along a step: K may be singular.
FLAT = 1e-12
#: A margin below this share of the largest there could be is none.
VANISHED = 1e-5


def nu_iterates(problem: NuProblem, start: Iterate, grain: int | None) -> Iterator[Iterate]:
    """The iterates of SMO on a ν-problem."""
    gram = Gram(problem.kernel, problem.X, 0.0, problem.cache_bytes)
    row_work = problem.X.nnz if sp.issparse(problem.X) else problem.X.size
    if not gram.whole and gram.n * row_work <= AT_ONCE and gram.capacity == gram.n:
        gram.full()
    product = problem.space.product if problem.linear else gram.product
    beta = first_point(problem, product) if start.beta is None else problem.feasible(start.beta)  # 1.
    v = problem.sides(beta)
    g = problem.form.target - product(beta)
    chunk = max(10, min(problem.n // 10, MOST_PAIRS)) if grain is None else int(grain)
    k = 0
    while True:
        done, fetched, ended = 0, gram.fetched, False
        while done < chunk:
            steps, missing = side_steps(gram.rows, k + done, chunk - done, 0.0, gram.diag, *bounds(problem), v, g)
            done += steps
            ended = missing < 0 and done < chunk
            if missing < 0 or (done > 0 and (gram.fetched - fetched) * row_work > MOST_WORK):
                break
            gram.fetch(_likely(missing, g, v, problem, gram), k + done)
        k += done
        work = 2.0 * done * problem.n + (gram.fetched - fetched) * row_work
        beta = v[0] + v[1]
        scores = problem.form.target - g
        gap, dual = running_gap(problem, beta, g)
        if done:
            refuse_vanished(problem, beta, scores, gram.diag, whole_rows(gram.cache) if gram.whole else None)
        scale = max(abs(dual), abs(dual + gap))
        yield Iterate(k, beta=beta, scores=scores, work=work, estimate=gap / scale if scale > 0.0 else None)
        if ended:
            return
        if grain is None:
            chunk = max(chunk, min(2 * chunk, problem.n, MOST_PAIRS))


def first_point(problem: NuProblem, product: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Each side filled with what is steepest where all samples of a side have the same share."""
    if not problem.of_classes:
        return problem.steepest(np.zeros(problem.n))
    return problem.steepest(product(problem.feasible(np.zeros(problem.n))))


def bounds(problem: NuProblem) -> tuple[np.ndarray, np.ndarray]:
    """The lower and upper ends of both sides."""
    above, below = problem.rooms
    zeros = np.zeros(problem.n)
    return np.stack([zeros, -below]), np.stack([above, zeros])


def running_gap(problem: NuProblem, beta: np.ndarray, g: np.ndarray) -> tuple[float, float]:
    """What a maximiser of the slope alone would add to the dual, which is the gap; and the dual."""
    target = problem.form.target
    best = problem.steepest(target - g)
    return max(0.0, float(g @ (best - beta))), 0.5 * float(beta @ (target + g))


def refuse_vanished(
    problem: NuProblem, beta: np.ndarray, scores: np.ndarray, diag: np.ndarray, rows: CachedRows | None
) -> None:
    """Refuse a ν that leaves no margin: the two reduced hulls touch, and w is 0."""
    if not problem.of_classes:
        return
    largest = float(np.abs(diag).max(initial=0.0))
    if float(beta @ scores) > (VANISHED * problem.half) ** 2 * largest:
        return
    most = 2.0 * min(float(room.sum()) for room in problem.rooms) / float(problem.C.sum())
    least = problem.nu
    if rows is not None:
        high = most
        for _ in range(12):
            middle = 0.5 * (least + high)
            if _separates(NuProblem.of(problem.at(1.0), middle), rows, diag):
                high = middle
            else:
                least = middle
        least = high
    advice = f"raise nu above {least:.4g}, scale the features, or use SVC"
    if rows is not None and least >= most * (1.0 - 1e-3):
        advice = "no nu leaves one: its features do not tell the classes apart"
    raise InvalidInput(
        f"nu={problem.nu:.4g} is too small for this data: its margin, if there is one, is below"
        f" {VANISHED:g} of the size of the rows; {advice}"
    )


def _separates(problem: NuProblem, rows: CachedRows, diag: np.ndarray) -> bool:
    """Whether a ν leaves a margin."""
    beta = problem.steepest(np.zeros(problem.n))
    K = rows.cache
    v, g = problem.sides(beta), -(K @ beta)
    side_steps(rows, 0, 200 * problem.n, 0.0, diag, *bounds(problem), v, g)
    beta = v[0] + v[1]
    return bool(-float(beta @ g) > 4.0 * (VANISHED * problem.half) ** 2 * float(np.abs(diag).max()))


def _likely(missing: int, g: np.ndarray, v: np.ndarray, problem: NuProblem, gram: Gram) -> np.ndarray:
    """The missing row, and those of the strongest violators that are missing too."""
    half = min(TOGETHER // 4, gram.capacity // 8)
    if half == 0 or len(g) <= TOGETHER:
        return np.array([missing])
    chosen = [np.array([missing])]
    for side, lower, upper in zip(v, *bounds(problem), strict=True):
        for worth in (
            np.where((side < upper) & (gram.slot < 0), g, -np.inf),
            np.where((side > lower) & (gram.slot < 0), -g, -np.inf),
        ):
            best = np.argpartition(-worth, half)[:half]
            chosen.append(best[np.isfinite(worth[best])])
    return np.unique(np.concatenate(chosen))


@compiled
def side_steps(rows, now, steps, enough, diag, lower, upper, v, g):
    """Up to `steps` pair steps, until no two slopes of a side are more than `enough` apart.

    v (the two sides) and g are changed in place. Returns the steps taken, and the row that must be fetched first where
    one is missing (else −1).
    """
    n = len(g)
    if n == 0:
        return 0, -1
    cache, slot, stamp = rows
    up, down = np.empty((2, n)), np.empty((2, n))
    rise, sink = np.empty((2, n)), np.empty((2, n))
    for s in range(2):
        for p in range(n):
            up[s, p] = 0.0 if v[s, p] < upper[s, p] else -np.inf
            down[s, p] = 0.0 if v[s, p] > lower[s, p] else np.inf
    _apart(g, up, down, rise, sink)
    curvature = diag.astype(cache.dtype)
    slope, won = np.empty_like(curvature), np.empty_like(curvature)
    lanes, gains = np.empty(LANES), np.empty(LANES, cache.dtype)
    flat = cache.dtype.type(FLAT)
    for k in range(steps):
        # 2.
        side, i, widest = 0, 0, -np.inf
        for s in range(2):
            first, last = place_of_largest(rise[s], lanes), place_of_largest(sink[s], lanes)
            if rise[s, first] + sink[s, last] > widest:
                side, i, widest = s, first, rise[s, first] + sink[s, last]
        if not widest > enough:
            return k, -1
        if slot[i] < 0:
            return k, i
        stamp[slot[i]] = now + k
        row_i = cache[slot[i]]
        # 3.
        unit = 1.0 / widest if widest < np.inf else 1.0
        highest = rise[side, i]
        below = sink[side]
        for p in range(n):
            steeper = unit * (highest + below[p])
            slope[p] = steeper if steeper > 0.0 else 0.0
            along = curvature[i] + curvature[p] - (row_i[p] + row_i[p])
            won[p] = slope[p] * slope[p] / (along if along > flat else flat)
        j = place_of_largest(won, gains)
        if slot[j] < 0:
            return k, j
        stamp[slot[j]] = now + k
        row_j = cache[slot[j]]
        # 4. and 5.
        t = (highest + below[j]) / max(diag[i] + diag[j] - 2.0 * row_i[j], FLAT)
        t = _move(t, i, j, lower[side], upper[side], v[side], up[side], down[side])
        if t == 0.0:
            return k, -1  # the step is below the spacing of floating-point numbers
        for p in range(n):
            g[p] -= t * (np.float64(row_i[p]) - np.float64(row_j[p]))
        _apart(g, up, down, rise, sink)
    return steps, -1


@compiled
def _move(t, i, j, lower, upper, v, up, down):
    """Move i up and j down by t, or as far as both may; returns how far that was, 0 where neither moved."""
    room_i, room_j, old_i, old_j = upper[i] - v[i], v[j] - lower[j], v[i], v[j]
    t = min(t, room_i, room_j)
    v[i] = upper[i] if t == room_i else min(old_i + t, upper[i])
    v[j] = lower[j] if t == room_j else max(old_j - t, lower[j])
    for p in (i, j):
        up[p] = 0.0 if v[p] < upper[p] else -np.inf
        down[p] = 0.0 if v[p] > lower[p] else np.inf
    return t if v[i] != old_i or v[j] != old_j else 0.0


@compiled
def _apart(g, up, down, rise, sink):
    """The slopes of rising, and those of falling with their sign changed."""
    for s in range(2):
        for p in range(len(g)):
            rise[s, p] = g[p] + up[s, p]
            sink[s, p] = -g[p] - down[s, p]
