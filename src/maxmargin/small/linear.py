"""Small linear problems in one compiled call: by Newton's method on the primal for a squared loss.

Problem:  min_{w,b}  ½‖w‖² + Σ_i C_i ℓ_i(⟨w, x_i⟩ + b)     ℓ a squared loss: −C ℓ'(z) = u(z) is piecewise linear

Features as people bring them differ by orders of magnitude and lie far from 0. Newton's method does not mind in exact
arithmetic; in floating point it is run on columns of mean 0 and deviation 1 (deviation only, where the bias is not
free), with the penalty ½ Σ (w_j/σ_j)² that belongs to them. The certificate is about the rows as they are.

    1. z = Xw + b;  u = −C ℓ'(z);  the gradient is (w − Xᵀu, −Σu).
    2. The gap of the pair (w, u) is ½‖w − Xᵀu‖²; if it is small enough, certify (β = u, made to sum to 0), and end.
    3. Newton's direction: (I + Xᵀ diag(a) X) with a the slopes of −u, by Cholesky.
    4. An exact line search: the derivative along the direction is piecewise linear and rises.

Many rows begin where every so many-th of them, with as much more weight, ends.

Mangasarian, "A finite Newton method for classification", Optimization Methods and Software 17, 2002; Keerthi & DeCoste,
JMLR 6, 2005. Losses of straight pieces go to `interior.py`; what does not get there goes to the general loop.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.losses import DualForm
from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.row_blocks import RowBlocks
from maxmargin.numeric.sums import combination, copy_lower, inner, product, sum_of
from maxmargin.problem import Problem
from maxmargin.result import Iterate, Reason, Result, Status
from maxmargin.small.cholesky import factor, substitute
from maxmargin.small.interior import solve_by_interior_point
from maxmargin.small.judge import judged
from maxmargin.small.proof import SHORTEST, Proved, SmallFit, converged_text, dual_of, pull
from maxmargin.solvers.base import registry as solvers

#: The most features, and the most multiply-adds of one Newton matrix (some hundredths of a second).
MOST_FEATURES, MOST_WORK = 300, 1e8
#: The same for an interior point, which needs more of them.
MOST_INTERIOR = 1e7
#: The most numbers of rows that are kept in float64, centred and scaled.
MOST_NUMBERS = 4e6
#: Newton steps, at most; five to fifteen are usual.
MOST_STEPS = 60
#: The part of the tolerance at which the gap is worth a certificate.
ENOUGH = 0.1
#: A sample is every so many-th row at most, solved to such a gap, where a Newton matrix takes so many multiply-adds.
APART, ROUGH, WORTH = 8, 1e-2, 2e6


class Rows(NamedTuple):
    """The rows as they are, and with columns centred and scaled: X = S·σ + μ."""

    X: np.ndarray
    S: np.ndarray
    centre: np.ndarray
    scale: np.ndarray
    #: The largest ‖x‖².
    largest: float


@dataclass(frozen=True, eq=False)
class LinearFit(SmallFit):
    """A solved small linear problem: also w, without the constant feature."""

    w: np.ndarray


def small_rows(X: Any, centred: bool) -> Rows | None:
    """The rows, ready for all problems on them; None where they are too large."""
    if isinstance(X, RowBlocks):
        return None
    n, d = X.shape
    if d > MOST_FEATURES or n * d > MOST_NUMBERS or n * d * d > MOST_WORK:
        return None
    X = np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    S, centre, scale, largest = _standardised(X, centred)
    squares = scale * scale
    if not (np.isfinite(squares.sum()) and np.isfinite(largest) and (squares > 0.0).all()):
        return None
    return Rows(X, S, centre, scale, largest)


@compiled
def _standardised(X, centred):
    """S, the centre and the scale of the columns (1 for a constant one), and the largest ‖x‖²."""
    n, d = X.shape
    S, centre, scale, largest = np.empty((n, d)), np.zeros(d), np.zeros(d), 0.0
    if centred:
        for i in range(n):
            for j in range(d):
                centre[j] += X[i, j]
        for j in range(d):
            centre[j] /= n
    for i in range(n):
        square = 0.0
        for j in range(d):
            square += X[i, j] * X[i, j]
            S[i, j] = X[i, j] - centre[j]
            scale[j] += S[i, j] * S[i, j]
        largest = max(largest, square)
    for j in range(d):
        scale[j] = np.sqrt(scale[j] / n)
        if scale[j] == 0.0:
            scale[j] = 1.0
    for i in range(n):
        for j in range(d):
            S[i, j] /= scale[j]
    return S, centre, scale, largest


def is_small_loss(form: DualForm | None, rows: Rows) -> bool:
    """Whether the loss is a squared one (its dual has a ridge), or of straight pieces and the rows are few."""
    if form is None or form.total:
        return False
    if (form.ridge > 0.0).all():
        return True
    n, d = rows.X.shape
    bounded = bool(np.isfinite(form.upper).all() and np.isfinite(form.lower).all())
    return bounded and not form.ridge.any() and n * d * d <= MOST_INTERIOR


def solve_small_linear(problem: Problem, tol: float, max_time: float | None) -> Result | None:
    """The result; None where the problem is not a small one, or it did not get there."""
    form = problem.form
    if not problem.linear or form is None or problem.hard or (max_time is not None and max_time < SHORTEST):
        return None
    rows = small_rows(problem.X, problem.bias == "free")
    if rows is None or not is_small_loss(form, rows):
        return None
    constant = problem.bias_scale if problem.bias == "augmented" else 0.0
    fit = run(rows, form, problem.C, problem.bias == "free", constant, tol)
    if not fit.done:
        return None
    certificate = fit.certificate(problem.X.dtype)
    point = Iterate(
        k=fit.proved.steps,
        w=np.append(fit.w, fit.proved.b / constant if constant else 0.0),
        b=fit.proved.b if problem.bias == "free" else None,
        beta=fit.beta,
        linked=False,
    )
    trace = fit.trace(certificate, problem.task == "classification")
    status = Status(Reason.CONVERGED, converged_text(certificate, tol))
    solver = solvers["truncated-newton" if form.ridge.any() else "interior-point"]
    return Result(problem, solver, status, point, certificate, trace, tol, chosen=True)


def run(rows: Rows, form: DualForm, C: np.ndarray, free: bool, constant: float, tol: float) -> LinearFit:
    """Solve a problem on these rows; `constant` is the feature of an augmented bias, 0 where there is none."""
    began = perf_counter()
    n, d = rows.X.shape
    w, beta, codes = np.zeros(d), np.empty(n), np.empty(n, np.int8)
    dual = dual_of(form, C)
    if not form.ridge.any():
        proved = Proved(*solve_by_interior_point(rows, dual, free, constant, tol, w, beta, codes))
        return LinearFit(beta, codes, proved, perf_counter() - began, w)
    v = _first_point(rows, form, C, free, constant)
    proved = Proved(*_solve_and_certify(rows, dual, free, constant, tol, v, w, beta, codes))
    return LinearFit(beta, codes, proved, perf_counter() - began, w)


def _first_point(rows: Rows, form: DualForm, C: np.ndarray, free: bool, constant: float) -> np.ndarray:
    """0, or near the solution on every so many-th row, where that spares Newton steps on all of them."""
    n, d = rows.S.shape
    v, apart = np.zeros(d + 1), min(APART, n // (2 * d))
    if n * d * d > WORTH and apart > 2:
        part = form.of(np.arange(0, n, apart))
        part = replace(part, ridge=part.ridge / apart, lower=part.lower * apart, upper=part.upper * apart)
        S, z = rows.S[::apart].copy(), np.zeros(len(part.target))
        _newton(S, rows.scale, dual_of(part, apart * C[::apart]), free, constant, ROUGH, v, z)
    return v if np.isfinite(v).all() else np.zeros(d + 1)


@compiled
def _solve_and_certify(rows, dual, free, constant, tol, v, w, beta, codes):
    """Steps 1. to 4. from v; fills w (of the rows as they are), β and the kinds, and returns the fields of `Proved`."""
    z = product(rows.S, v)
    for i in range(len(z)):
        z[i] += v[len(w)]
    enough, steps = ENOUGH * tol, 0
    while True:
        more = _newton(rows.S, rows.scale, dual, free, constant, enough, v, z)
        b = _unscaled(rows, v, w)
        if more < 0:
            return -1, b, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        steps += more
        proved = _certified(rows, dual, free, constant, tol, w, b, beta, codes, steps)
        if proved[0] >= 0 or enough <= 1e-9 * tol:
            return proved
        enough *= 1e-3


@compiled
def _newton(S, scale, dual, free, constant, enough, v, z):
    """Steps 1. to 4. until the relative gap is `enough`; v and z move. How many steps there were, −1 where stuck."""
    n, d = S.shape
    penalty = np.empty(d)
    for j in range(d):
        penalty[j] = 1.0 / (scale[j] * scale[j])
    biased = free or constant > 0.0
    bias_penalty = 1.0 / (constant * constant) if constant > 0.0 else 0.0
    u, a, gradient = np.empty(n), np.empty(n), np.empty(d + 1)
    for step in range(MOST_STEPS):
        # 1.
        value = _pulls(dual, z, u, a)
        pulled = combination(u, S)
        for j in range(d):
            gradient[j] = penalty[j] * v[j] - pulled[j]
        gradient[d] = bias_penalty * v[d] - sum_of(u) if biased else 0.0
        # 2.
        gap, size = 0.0, 0.0
        for j in range(d):
            gap += 0.5 * (scale[j] * gradient[j]) ** 2
            size += 0.5 * penalty[j] * v[j] * v[j]
        if constant > 0.0:
            gap += 0.5 * (constant * gradient[d]) ** 2
            size += 0.5 * bias_penalty * v[d] * v[d]
        off = abs(gradient[d]) * abs(v[d]) if free else 0.0
        if gap + off <= enough * (size + value):
            return step
        # 3.
        direction = _direction(S, a, penalty, bias_penalty, biased, gradient)
        if not np.isfinite(sum_of(direction)):
            break
        # 4.
        dz = product(S, direction)
        for i in range(n):
            dz[i] += direction[d]
        t = _line_search(dual, z, dz, v, direction, penalty, bias_penalty)
        if not t > 0.0:
            break
        for j in range(d + 1):
            v[j] += t * direction[j]
        for i in range(n):
            z[i] += t * dz[i]
    return -1


@compiled
def _unscaled(rows, v, w):
    """Fill w, for the rows as they are, and return b.

    A sum in the loop that writes would be taken in one order or another by where the arrays are in memory.
    """
    for j in range(len(w)):
        w[j] = v[j] / rows.scale[j]
    return v[len(w)] - inner(rows.centre, w)


@compiled
def _pulls(dual, z, u, a):
    """U = −C ℓ'(z) and the slopes a of −u; returns the sum of the losses."""
    total = 0.0
    for i in range(len(z)):
        u[i] = pull(dual, i, z[i])
        inside = u[i] != 0.0 and dual.lower[i] < u[i] < dual.upper[i]
        a[i] = dual.steepness[i] if inside else 0.0
        total += (dual.target[i] - z[i]) * u[i] - dual.tube[i] * abs(u[i]) - 0.5 * dual.ridge[i] * u[i] * u[i]
    return total


@compiled
def _direction(S, a, penalty, bias_penalty, biased, gradient):
    """−H⁻¹ gradient, H = diag(penalty) + [S 1]ᵀ diag(a) [S 1]; NaN where H is singular."""
    n, d = S.shape
    used = 0
    for i in range(n):
        used += a[i] > 0.0
    T = np.empty((used, d))
    H, k = np.zeros((d + 1, d + 1)), 0
    for i in range(n):
        if a[i] > 0.0:
            root = np.sqrt(a[i])
            for j in range(d):
                T[k, j] = root * S[i, j]
                H[d, j] += a[i] * S[i, j]
            H[d, d] += a[i]
            k += 1
    if used > 0:
        copy_lower(H, np.dot(T.T, T))
    for j in range(d):
        H[j, j] += penalty[j]
    H[d, d] += bias_penalty
    if not biased or H[d, d] == 0.0:
        for j in range(d):
            H[d, j] = 0.0
        H[d, d] = 1.0
    x = np.empty(d + 1)
    for j in range(d + 1):
        x[j] = -gradient[j]
    factor(H)
    substitute(H, x)
    return x


@compiled
def _line_search(dual, z, dz, v, direction, penalty, bias_penalty):
    """The t > 0 at which the objective along the direction is least: where its derivative is 0."""
    d = len(penalty)
    base, square = 0.0, 0.0
    for j in range(d):
        base += penalty[j] * v[j] * direction[j]
        square += penalty[j] * direction[j] * direction[j]
    base += bias_penalty * v[d] * direction[d]
    square += bias_penalty * direction[d] * direction[d]
    t, low, high = 1.0, 0.0, np.inf
    for _ in range(50):
        slope, bend = base + t * square, square
        for i in range(len(z)):
            u = pull(dual, i, z[i] + t * dz[i])
            slope -= u * dz[i]
            if u != 0.0 and dual.lower[i] < u < dual.upper[i]:
                bend += dz[i] * dz[i] * dual.steepness[i]
        if slope > 0.0:
            high = t
        else:
            low = t
        if abs(slope) <= 1e-10 * abs(base) or high - low <= 1e-12 * high:
            break
        step = t - slope / bend if bend > 0.0 else np.inf
        if low < step < high:
            t = step
        elif np.isfinite(high):
            t = 0.5 * (low + high)
        else:
            t *= 2.0
    return t


@compiled
def _certified(rows, dual, free, constant, tol, w, b, beta, codes, steps):
    """The certificate of (w, b) and β = −C ℓ'(z), from the rows as they are; `Proved` with steps < 0 where it fails."""
    n = len(beta)
    positive, negative = 0.0, 0.0
    scores = product(rows.X, w)
    for i in range(n):
        beta[i] = pull(dual, i, scores[i] + b)
    for value in beta:
        positive += max(value, 0.0)
        negative += max(-value, 0.0)
    if free and positive != negative:
        for i in range(n):  # the heavier side is scaled down, which keeps the box
            if beta[i] > 0.0 and positive > negative:
                beta[i] *= negative / positive
            elif beta[i] < 0.0 and negative > positive:
                beta[i] *= positive / negative
    return judged(rows, dual, free, constant, tol, w, b, beta, codes, steps)
