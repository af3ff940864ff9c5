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

from maxmargin.compiled import compiled
from maxmargin.kernels import Gram
from maxmargin.problem import Problem
from maxmargin.result import Iterate
from maxmargin.solvers.base import Solver, refuse_bias, refuse_without_form, registry, start_beta

#: Rows fetched together when one is missing: the next likely partners come almost for free with it.
TOGETHER = 16
#: The least curvature along a step: K may be singular.
FLAT = 1e-12
#: How many values are compared side by side.
LANES = 128


@dataclass(frozen=True)
class SMO(Solver):
    """Sequential minimal optimisation, by the maximal violating pair or by second-order selection."""

    name: ClassVar[str] = "smo"
    paper: ClassVar[str] = "Platt 1998; Keerthi et al. 2001; Fan, Chen & Lin, JMLR 2005"

    selection: Literal["second-order", "first-order"] = "second-order"

    def accepts(self, problem: Problem) -> str | None:
        refusal = refuse_bias(problem, "free") or refuse_without_form(problem)
        if refusal is None and problem.kernel.positive is False:
            if np.isinf(problem.bounds[1]).any():
                return (
                    f"with the indefinite kernel {problem.kernel.name!r} a dual without bounds has no maximum;"
                    f" use loss='hinge' or 'epsilon-insensitive' with a finite C"
                )
        return refusal

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        form = problem.form
        assert form is not None
        gram = Gram(problem.kernel, problem.X, 0.0, problem.cache_bytes)
        beta = start_beta(problem, start)  # 1.
        g = form.target - form.ridge * beta
        if beta.any():
            g -= gram.product(beta)
        arrays = (gram.diag, form.ridge, form.tube, form.lower, form.upper)
        second = self.selection == "second-order"
        chunk = max(10, min(problem.n // 10, 1000))
        row_work = problem.X.nnz if hasattr(problem.X, "nnz") else problem.X.size
        k = 0
        while True:
            done, fetched = 0, gram.fetched
            while done < chunk:
                steps, missing = pair_steps(
                    gram.cache, gram.slot, gram.stamp, k + done, chunk - done, second, 0.0, *arrays, beta, g
                )
                done += steps
                if missing < 0:
                    break
                gram.fetch(_likely(missing, g, beta, form.lower, form.upper, gram), k + done)
            k += done
            work = 1.5 * done * problem.n + (gram.fetched - fetched) * row_work
            yield Iterate(k, beta=beta, scores=form.target - form.ridge * beta - g, work=work)
            if done < chunk:
                return  # no pair is left that rises and falls


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


@compiled
def pair_steps(cache, slot, stamp, now, steps, second, enough, diag, ridge, tube, lower, upper, beta, g):
    """Up to `steps` pair steps, until no pair of slopes is more than `enough` apart.

    Returns the steps taken, and the row that must be fetched first where one is missing (else −1).
    """
    n = len(g)
    up, down, rise = np.empty(n), np.empty(n), np.empty(n)
    unit = _slopes(beta, tube, lower, upper, g, up, down, rise)
    curvature = (diag + ridge).astype(cache.dtype)
    slope, gain = np.empty_like(curvature), np.empty_like(curvature)
    rises, gains = np.empty(LANES), np.empty(LANES, cache.dtype)
    for k in range(steps):
        # 2.
        i = _largest(rise, rises)
        if rise[i] == -np.inf:
            return k, -1
        if slot[i] < 0:
            return k, i
        stamp[slot[i]] = now + k
        row_i = cache[slot[i]]
        # 3.
        _fall(rise[i], unit, g, down, slope)
        j = _largest(slope, gains)
        if not slope[j] > unit * enough:
            return k, -1
        if second:
            _gain(slope, curvature, curvature[i], row_i, cache.dtype.type(FLAT), gain)
            j = _largest(gain, gains)
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
        beta[i] = _land(old_i + t, lower[i], upper[i])
        beta[j] = _land(old_j - t, lower[j], upper[j])
        if beta[i] == old_i and beta[j] == old_j:
            return k, -1  # the step is below the spacing of floating-point numbers
        up[i], down[i] = kinks(beta[i], tube[i], lower[i], upper[i])
        up[j], down[j] = kinks(beta[j], tube[j], lower[j], upper[j])
        g[i] -= ridge[i] * t
        g[j] += ridge[j] * t
        _follow(t, row_i, row_j, g, up, rise)
    return steps, -1


# The passes over all samples; each is one plain loop over arrays, so that the processor takes many samples at a time.


@compiled
def _slopes(beta, tube, lower, upper, g, up, down, rise):
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
def _fall(highest, unit, g, down, slope):
    """How much steeper i rises than each p falls, in units that suit K's precision; 0 where that gains nothing."""
    for p in range(len(g)):
        steeper = unit * (highest - (g[p] + down[p]))
        slope[p] = steeper if steeper > 0.0 else 0.0


@compiled
def _gain(slope, curvature, own, row_i, flat, gain):
    """What the exact step with each partner gains."""
    for p in range(len(slope)):
        bend = own + curvature[p] - (row_i[p] + row_i[p])
        gain[p] = slope[p] * slope[p] / (bend if bend > flat else flat)


@compiled
def _follow(t, row_i, row_j, g, up, rise):
    """The gradient after the step."""
    for p in range(len(g)):
        g[p] -= t * (np.float64(row_i[p]) - np.float64(row_j[p]))
        rise[p] = g[p] + up[p]


@compiled
def _largest(values, lanes):
    """The place of the largest value: first the largest of each lane (every LANES-th value), side by side."""
    n = len(values)
    lanes[:] = -np.inf
    for start in range(0, n, LANES):
        part = values[start : min(start + LANES, n)]
        for p in range(len(part)):
            lanes[p] = part[p] if part[p] > lanes[p] else lanes[p]
    best = 0
    for p in range(min(n, LANES)):
        if lanes[p] > lanes[best]:
            best = p
    most = lanes[best]
    while values[best] != most:
        best += LANES
    return best


@compiled
def _land(value, lower, upper):
    """Within the bounds, and exactly on one that rounding missed by a hair."""
    if upper < np.inf and upper - value <= 1e-14 * abs(upper):
        return upper
    if lower > -np.inf and value - lower <= 1e-14 * abs(lower):
        return lower
    return min(max(value, lower), upper)


registry.register(SMO.name, SMO())
