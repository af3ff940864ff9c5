"""SMO: two dual variables at a time, so that Σβ stays what it must be.

Problem:  max_β  targetᵀβ − Σ tube_i|β_i| − ½ βᵀ(K + diag(ridge))β   s.t.  lower ≤ β ≤ upper,  Σβ = total

    1. β ← a feasible point; keep g = target − (K + ridge)β.
    2. i ← the coordinate that gains most by rising:  argmax g_i over β_i < upper_i.
    3. j ← the partner that falls: the least g_j over β_j > lower_j (first order), or the one whose exact step gains
       most, argmax (g_i − g_j)² / (K_ii + K_jj − 2K_ij) (second order).
    4. t ← (g_i − g_j) / (K_ii + K_jj − 2K_ij + ridge_i + ridge_j), clipped so that both stay within their bounds
       (and, with a tube, on their side of 0).
    5. β_i ← β_i + t, β_j ← β_j − t, g ← g − t(K_i − K_j): two rows of K.

Platt, "Fast training of SVMs using sequential minimal optimization", 1998; Keerthi et al., Neural Computation 13, 2001
(maximal violating pair); Fan, Chen & Lin, JMLR 6, 2005 (second order).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import scipy.sparse as sp

from maxmargin.gram import Gram
from maxmargin.losses import DualForm
from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.rows import LANES, place_of_largest
from maxmargin.problem import NuProblem, Problem
from maxmargin.result import Event, Iterate
from maxmargin.solvers.base import Solver, Starts, refuse_bias, refuse_without_form, registry, start_beta
from maxmargin.solvers.steps import check_positive
from maxmargin.solvers.textbook.nu_smo import nu_iterates
from maxmargin.solvers.translation import about_the_mean

#: Rows fetched together when one is missing: the next likely partners come almost for free with it.
TOGETHER = 16
#: K is computed at once where that takes no more multiply-adds: row by row, a small matrix takes longer.
AT_ONCE = 2e7
#: Kernel values, in multiply-adds, after which it shows where it stands: on large data a row takes long.
MOST_WORK = 1e8
#: Pairs between two iterates, at most.
MOST_PAIRS = 1000
#: The least curvature along a step: K may be singular.
FLAT = 1e-12


@dataclass(frozen=True)
class SMO(Solver):
    """Sequential minimal optimisation, by the maximal violating pair or by second-order selection.

    Parameters
    ----------
    selection : "second-order" or "first-order", default "second-order"
        How the partner is chosen: the exact step that gains most, or the maximal violating pair.
    grain : int, default None
        Yield after this many pairs instead of after n/10, later n; with ``grain=1`` every pair is an `Event`.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import SMO
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1])
    >>> result = solve(problem, SMO(grain=1), tol=1e-6, every=1, snapshots=True)
    >>> result.trace.snapshots[0].event.indices  # the first pair that was moved
    (2, 1)
    """

    name: ClassVar[str] = "smo"
    paper: ClassVar[str] = "Platt 1998; Keerthi et al. 2001; Fan, Chen & Lin, JMLR 2005"

    starts: ClassVar[Starts] = ("beta",)
    families: ClassVar[tuple[str, ...]] = ("ordinary", "nu")

    selection: Literal["second-order", "first-order"] = "second-order"
    grain: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.grain is not None:
            check_positive("grain", self.grain, whole=True)

    def accepts(self, problem: Problem) -> str | None:
        refusal = refuse_bias(problem, "free") or refuse_without_form(problem)
        if refusal is None and problem.kernel.positive is False:
            if np.isinf(problem.bounds[1]).any():
                return (
                    f"with the indefinite kernel {problem.kernel.name!r} a dual without bounds has no maximum;"
                    f" use loss='hinge' or 'epsilon-insensitive' with a finite C"
                )
        return refusal

    @about_the_mean
    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        if isinstance(problem, NuProblem):
            yield from nu_iterates(problem, start, self.grain)
            return
        form = problem.form
        assert form is not None
        gram = Gram(problem.kernel, problem.X, 0.0, problem.cache_bytes)
        row_work = problem.X.nnz if sp.issparse(problem.X) else problem.X.size
        if not gram.whole and gram.n * row_work <= AT_ONCE and gram.capacity == gram.n:
            gram.full()
        beta = start_beta(problem, start)  # 1.
        g = form.target - form.ridge * beta
        if beta.any():
            g -= problem.space.product(beta) if problem.linear else gram.product(beta)
        second = self.selection == "second-order"
        chunk = max(10, min(problem.n // 10, MOST_PAIRS)) if self.grain is None else int(self.grain)
        k = 0
        while True:
            done, fetched, ended = 0, gram.fetched, False
            before = (beta.copy(), g.copy()) if self.grain == 1 else None
            while done < chunk:
                steps, missing = pair_steps(
                    gram.rows, k + done, chunk - done, second, 0.0, gram.diag, form.arrays, beta, g
                )
                done += steps
                ended = missing < 0 and done < chunk  # no pair is left that rises and falls
                if missing < 0 or (done > 0 and (gram.fetched - fetched) * row_work > MOST_WORK):
                    break
                gram.fetch(_likely(missing, g, beta, form.lower, form.upper, gram), k + done)
            k += done
            work = 1.5 * done * problem.n + (gram.fetched - fetched) * row_work
            event = _event(gram, form, *before, beta) if before else None
            scores, estimate = form.target - form.ridge * beta - g, _relative_gap(form, beta, g)
            yield Iterate(k, beta=beta, scores=scores, work=work, estimate=estimate, event=event)
            if ended:
                return
            if self.grain is None:
                chunk = max(chunk, min(2 * chunk, problem.n, MOST_PAIRS))


def _event(gram: Gram, form: DualForm, old: np.ndarray, g: np.ndarray, beta: np.ndarray) -> Event | None:
    """The pair that moved from `old` to β, where the gradient was g: the one that rose comes first."""
    moved = np.flatnonzero(beta != old)
    if len(moved) != 2:  # no pair was left, or one of the two steps was below the spacing of its numbers
        return None
    i, j = moved if beta[moved[0]] > old[moved[0]] else moved[::-1]
    up, _ = kinks(old[i], form.tube[i], form.lower[i], form.upper[i])
    _, down = kinks(old[j], form.tube[j], form.lower[j], form.upper[j])
    slope = (g[i] + up) - (g[j] + down)
    row = gram.cache[gram.slot[i]]
    curvature = gram.diag[i] + gram.diag[j] - 2.0 * float(row[j]) + form.ridge[i] + form.ridge[j]
    t = beta[i] - old[i]
    before, after = (float(old[i]), float(old[j])), (float(beta[i]), float(beta[j]))
    gain = slope * t - 0.5 * curvature * t * t
    return Event((int(i), int(j)), before, after, float(slope / max(curvature, FLAT)), float(gain))


def _likely(
    missing: int, g: np.ndarray, beta: np.ndarray, lower: np.ndarray, upper: np.ndarray, gram: Gram
) -> np.ndarray:
    """The missing row, and those of the strongest violators that are missing too."""
    half = min(TOGETHER // 2, gram.capacity // 8)
    if half == 0 or len(g) <= TOGETHER:
        return np.array([missing])
    rising = np.where((beta < upper) & (gram.slot < 0), g, -np.inf)
    falling = np.where((beta > lower) & (gram.slot < 0), g, np.inf)
    first = np.argpartition(-rising, half)[:half]
    last = np.argpartition(falling, half)[:half]
    chosen = np.r_[first[np.isfinite(rising[first])], last[np.isfinite(falling[last])], missing]
    return np.unique(chosen)


def _relative_gap(form: DualForm, beta: np.ndarray, g: np.ndarray) -> float | None:
    """The relative gap with the bias half-way between the steepest rise and fall; None where there is none yet."""
    gap, dual = gap_and_dual(*form.arrays, beta, g)
    scale = max(abs(dual), abs(dual + gap))
    return gap / scale if np.isfinite(gap) and scale > 0.0 else None


@compiled
def gap_and_dual(target, ridge, tube, lower, upper, beta, g):
    """What all samples could add to the dual, each alone and at that bias, and the dual itself.

    A sample adds max_u φ(u) − φ(β), where φ(u) = slope·u − tube|u| − ½ ridge u² and lower ≤ u ≤ upper.
    """
    high, low = -np.inf, np.inf
    for p in range(len(beta)):
        up, down = kinks(beta[p], tube[p], lower[p], upper[p])
        high, low = max(high, g[p] + up), min(low, g[p] + down)
    b, gap, dual = 0.5 * (high + low), 0.0, 0.0
    for p in range(len(beta)):
        slope = g[p] + ridge[p] * beta[p] - b
        steep = max(slope - tube[p], 0.0) + min(slope + tube[p], 0.0)
        best = 0.0
        if steep != 0.0:
            best = steep / ridge[p] if ridge[p] > 0.0 else np.inf * steep
        for u, sign in ((min(max(best, lower[p]), upper[p]), 1.0), (beta[p], -1.0)):
            gap += sign * (slope * u - tube[p] * abs(u) - 0.5 * ridge[p] * u * u)
        dual += 0.5 * beta[p] * (target[p] + g[p]) - tube[p] * abs(beta[p])
    return gap, dual


@compiled
def pair_steps(rows, now, steps, second, enough, diag, dual, beta, g):
    """Up to `steps` pair steps, until no pair of slopes is more than `enough` apart.

    `rows` are `CachedRows` and `dual` are `DualArrays`; β and g are changed in place. Returns the steps taken, and the
    row that must be fetched first where one is missing (else −1).
    """
    n = len(g)
    if n == 0:
        return 0, -1
    cache, slot, stamp = rows
    _, ridge, tube, lower, upper = dual
    up, down, rise = np.empty(n), np.empty(n), np.empty(n)
    unit = slopes(beta, tube, lower, upper, g, up, down, rise)
    curvature = (diag + ridge).astype(cache.dtype)
    slope, won = np.empty_like(curvature), np.empty_like(curvature)
    rises, gains = np.empty(LANES), np.empty(LANES, cache.dtype)
    for k in range(steps):
        # 2.
        i = place_of_largest(rise, rises)
        if not rise[i] > -np.inf:  # NaN, too, leaves nothing to do
            return k, -1
        if slot[i] < 0:
            return k, i
        stamp[slot[i]] = now + k
        row_i = cache[slot[i]]
        # 3.
        fall(rise[i], unit, g, down, slope)
        j = place_of_largest(slope, gains)
        if not slope[j] > unit * enough:
            return k, -1
        if second:
            gain(slope, curvature, curvature[i], row_i, cache.dtype.type(FLAT), won)
            j = place_of_largest(won, gains)
        if slot[j] < 0:
            return k, j
        stamp[slot[j]] = now + k
        row_j = cache[slot[j]]
        # 4.
        t = (rise[i] - g[j] - down[j]) / max(diag[i] + diag[j] - 2.0 * row_i[j] + ridge[i] + ridge[j], FLAT)
        room_i = -beta[i] if beta[i] < 0.0 and tube[i] > 0.0 else upper[i] - beta[i]
        room_j = beta[j] if beta[j] > 0.0 and tube[j] > 0.0 else beta[j] - lower[j]
        room_i, room_j = min(room_i, upper[i] - beta[i]), min(room_j, beta[j] - lower[j])
        # 5.
        if t >= room_i and room_i <= room_j:
            t = room_i
        elif t >= room_j:
            t = room_j
        old_i, old_j = beta[i], beta[j]
        beta[i] = land(old_i + t, lower[i], upper[i])
        beta[j] = land(old_j - t, lower[j], upper[j])
        if beta[i] == old_i and beta[j] == old_j:
            return k, -1  # the step is below the spacing of floating-point numbers
        up[i], down[i] = kinks(beta[i], tube[i], lower[i], upper[i])
        up[j], down[j] = kinks(beta[j], tube[j], lower[j], upper[j])
        g[i] -= ridge[i] * t
        g[j] += ridge[j] * t
        follow(t, row_i, row_j, g, up, rise)
    return steps, -1


# The passes over all samples; each is one plain loop over arrays, so that the processor takes many samples at a time.


@compiled
def slopes(beta, tube, lower, upper, g, up, down, rise):
    """The slopes g + up of rising and g + down of falling; returns the size of 1 among their differences."""
    most, least = -np.inf, np.inf
    for p in range(len(g)):
        up[p], down[p] = kinks(beta[p], tube[p], lower[p], upper[p])
        rise[p] = g[p] + up[p]
        most, least = max(most, rise[p]), min(least, g[p] + down[p])
    return 1.0 / (most - least) if 0.0 < most - least < np.inf else 1.0


@compiled
def kinks(beta, tube, lower, upper):
    """What rising and falling add to the slope g: a tube has a kink at 0, and a bound forbids."""
    up = (-tube if beta >= 0.0 else tube) if beta < upper else -np.inf
    down = (-tube if beta > 0.0 else tube) if beta > lower else np.inf
    return up, down


@compiled
def fall(highest, unit, g, down, slope):
    """How much steeper i rises than each p falls, in units that suit K's precision; 0 where that gains nothing."""
    for p in range(len(g)):
        steeper = unit * (highest - (g[p] + down[p]))
        slope[p] = steeper if steeper > 0.0 else 0.0


@compiled
def gain(slope, curvature, own, row_i, flat, won):
    """What the exact step with each partner gains."""
    for p in range(len(slope)):
        along = own + curvature[p] - (row_i[p] + row_i[p])
        won[p] = slope[p] * slope[p] / (along if along > flat else flat)


@compiled
def follow(t, row_i, row_j, g, up, rise):
    """The gradient after the step."""
    for p in range(len(g)):
        g[p] -= t * (np.float64(row_i[p]) - np.float64(row_j[p]))
        rise[p] = g[p] + up[p]


@compiled
def land(value, lower, upper):
    """Within the bounds, and exactly on one that only rounding keeps it from."""
    if upper < np.inf and upper - value <= 1e-14 * abs(upper):
        return upper
    if lower > -np.inf and value - lower <= 1e-14 * abs(lower):
        return lower
    return min(max(value, lower), upper)


registry.register(SMO.name, SMO())
