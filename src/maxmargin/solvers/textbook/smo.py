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
                steps, missing = _pairs(
                    gram.cache, gram.slot, gram.stamp, k + done, chunk - done, second, *arrays, beta, g
                )
                done += steps
                if missing < 0:
                    break
                gram.fetch(_likely(missing, g, beta, form.lower, form.upper, gram), k + done)
            k += done
            work = 4.0 * done * problem.n + (gram.fetched - fetched) * row_work
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
def _pairs(cache, slot, stamp, now, steps, second, diag, ridge, tube, lower, upper, beta, g):
    """Up to `steps` pair steps; stops early at a row that must be fetched first (its index), or at the optimum (−1)."""
    n = len(g)
    for k in range(steps):
        # 2.
        i, highest = -1, -np.inf
        for p in range(n):
            rise = g[p] - tube[p] if beta[p] >= 0.0 else g[p] + tube[p]
            if beta[p] < upper[p] and rise > highest:
                i, highest = p, rise
        if i < 0:
            return k, -1
        if slot[i] < 0:
            return k, i
        stamp[slot[i]] = now + k
        row_i = cache[slot[i]]
        # 3.
        j, most = -1, 0.0
        for p in range(n):
            if beta[p] > lower[p]:
                fall = g[p] - tube[p] if beta[p] > 0.0 else g[p] + tube[p]
                gain = highest - fall
                if gain > 0.0 and p != i:
                    if second:
                        curvature = diag[i] + diag[p] - 2.0 * row_i[p] + ridge[i] + ridge[p]
                        gain = gain * gain / max(curvature, 1e-12)
                    if gain > most:
                        j, most = p, gain
        if j < 0:
            return k, -1
        if slot[j] < 0:
            return k, j
        stamp[slot[j]] = now + k
        row_j = cache[slot[j]]
        # 4.
        fall = g[j] - tube[j] if beta[j] > 0.0 else g[j] + tube[j]
        curvature = max(diag[i] + diag[j] - 2.0 * row_i[j] + ridge[i] + ridge[j], 1e-12)
        t = (highest - fall) / curvature
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
        for p in range(n):
            g[p] -= t * (row_i[p] - row_j[p])
        g[i] -= ridge[i] * t
        g[j] += ridge[j] * t
    return steps, -1


@compiled
def _land(value, lower, upper):
    """Within the bounds, and exactly on one that rounding missed by a hair."""
    if upper < np.inf and upper - value <= 1e-14 * abs(upper):
        return upper
    if lower > -np.inf and value - lower <= 1e-14 * abs(lower):
        return lower
    return min(max(value, lower), upper)


registry.register(SMO.name, SMO())
