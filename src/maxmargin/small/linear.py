"""Small linear problems with a squared loss in one compiled call: Newton's method on the primal, and its certificate.

Problem:  min_{w,b}  ½‖w‖² + Σ_i C_i ℓ_i(⟨w, x_i⟩ + b)     ℓ a squared loss: −C ℓ'(z) = u(z) is piecewise linear

Features as people bring them differ by orders of magnitude and lie far from 0. Newton's method does not mind in exact
arithmetic; in floating point it is run on columns of mean 0 and deviation 1 (deviation only, where the bias is not
free), with the penalty ½ Σ (w_j/σ_j)² that belongs to them. The certificate is about the rows as they are.

    1. z = Xw + b;  u = −C ℓ'(z);  the gradient is (w − Xᵀu, −Σu).
    2. The gap of the pair (w, u) is ½‖w − Xᵀu‖²; if it is small enough, certify (β = u, made to sum to 0), and end.
    3. Newton's direction: (I + Xᵀ diag(a) X) with a the slopes of −u, by Cholesky.
    4. An exact line search: the derivative along the direction is piecewise linear and rises.

Mangasarian, "A finite Newton method for classification", Optimization Methods and Software 17, 2002; Keerthi & DeCoste,
JMLR 6, 2005. What does not get there goes to the general loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.certificate.kkt import extreme_slopes, fill_codes
from maxmargin.losses import DualForm
from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.row_blocks import RowBlocks
from maxmargin.problem import Problem
from maxmargin.result import Iterate, Reason, Result, Status
from maxmargin.small.proof import (
    EPS,
    SHORTEST,
    Proved,
    SmallFit,
    Sums,
    converged_text,
    correct,
    dual_of,
    objectives,
    pull,
)
from maxmargin.solvers.base import registry as solvers

#: The most features, and the most multiply-adds of one Newton matrix (some hundredths of a second).
MOST_FEATURES, MOST_WORK = 300, 1e8
#: The most numbers of rows that are kept in float64, centred and scaled.
MOST_NUMBERS = 4e6
#: Newton steps, at most; five to fifteen are usual.
MOST_STEPS = 60
#: The part of the tolerance at which the gap is worth a certificate.
ENOUGH = 0.1


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
    with np.errstate(over="ignore", invalid="ignore"):
        centre = X.mean(axis=0) if centred else np.zeros(d)
        S = X - centre
        scale = np.sqrt(np.einsum("ij,ij->j", S, S) / n)
        largest = float(np.einsum("ij,ij->i", X, X).max(initial=0.0))
    if not (np.isfinite(scale).all() and np.isfinite(largest) and (scale * scale > 0.0)[scale > 0.0].all()):
        return None
    scale[scale == 0.0] = 1.0
    S /= scale
    return Rows(X, S, centre, scale, largest)


def is_small_loss(form: DualForm | None) -> bool:
    """Whether the loss is a squared one: its dual has a ridge."""
    return form is not None and bool((form.ridge > 0.0).all()) and not form.total


def solve_small_linear(problem: Problem, tol: float, max_time: float | None) -> Result | None:
    """The result; None where the problem is not a small one, or it did not get there."""
    if not problem.linear or not is_small_loss(problem.form) or (max_time is not None and max_time < SHORTEST):
        return None
    rows = small_rows(problem.X, problem.bias == "free")
    if rows is None:
        return None
    form = problem.form
    assert form is not None
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
    return Result(problem, solvers["truncated-newton"], status, point, certificate, trace, tol, chosen=True)


def run(rows: Rows, form: DualForm, C: np.ndarray, free: bool, constant: float, tol: float) -> LinearFit:
    """Solve a problem on these rows; `constant` is the feature of an augmented bias, 0 where there is none."""
    began = perf_counter()
    n, d = rows.X.shape
    w, beta, codes = np.zeros(d), np.empty(n), np.empty(n, np.int8)
    dual = dual_of(form, C)
    proved = Proved(*_solve_and_certify(rows, dual, free, constant, tol, w, beta, codes))
    return LinearFit(beta, codes, proved, perf_counter() - began, w)


@compiled
def _solve_and_certify(rows, dual, free, constant, tol, w, beta, codes):
    """Steps 1. to 4.; fills w (of the rows as they are), β and the kinds, and returns the fields of `Proved`."""
    n, d = rows.S.shape
    penalty = 1.0 / (rows.scale * rows.scale)
    biased = free or constant > 0.0
    bias_penalty = 1.0 / (constant * constant) if constant > 0.0 else 0.0
    v, z, u, a = np.zeros(d + 1), np.zeros(n), np.empty(n), np.empty(n)
    b, enough = 0.0, ENOUGH * tol
    for step in range(MOST_STEPS):
        # 1.
        value = _pulls(dual, z, u, a)
        gradient = np.empty(d + 1)
        gradient[:d] = penalty * v[:d] - np.dot(u, rows.S)
        gradient[d] = bias_penalty * v[d] - u.sum() if biased else 0.0
        gap, size = 0.0, 0.0
        for j in range(d):
            gap += 0.5 * (rows.scale[j] * gradient[j]) ** 2
            size += 0.5 * penalty[j] * v[j] * v[j]
        if constant > 0.0:
            gap += 0.5 * (constant * gradient[d]) ** 2
            size += 0.5 * bias_penalty * v[d] * v[d]
        off = abs(gradient[d]) * abs(v[d]) if free else 0.0
        # 2.
        if gap + off <= enough * (size + value):
            w[:] = v[:d] / rows.scale
            b = v[d] - np.dot(rows.centre, w)
            proved = _certified(rows, dual, free, constant, tol, w, b, beta, codes, step)
            if proved[0] >= 0 or enough <= 1e-9 * tol:
                return proved
            enough *= 1e-3
        # 3.
        direction = _direction(rows.S, a, penalty, bias_penalty, biased, gradient)
        if not np.isfinite(direction.sum()):
            break
        # 4.
        dz = np.dot(rows.S, direction[:d]) + direction[d]
        t = _line_search(dual, z, dz, v, direction, penalty, bias_penalty)
        if not t > 0.0:
            break
        v += t * direction
        z += t * dz
    w[:] = v[:d] / rows.scale
    b = v[d] - np.dot(rows.centre, w)
    return -1, b, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


@compiled
def _pulls(dual, z, u, a):
    """U = −C ℓ'(z) and the slopes a of −u; returns the sum of the losses."""
    total = 0.0
    for i in range(len(z)):
        u[i] = pull(dual, i, z[i])
        inside = u[i] != 0.0 and dual.lower[i] < u[i] < dual.upper[i]
        a[i] = 1.0 / dual.ridge[i] if inside else 0.0
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
        H[:d, :d] = np.dot(T.T, T)
    for j in range(d):
        H[j, j] += penalty[j]
    H[d, d] += bias_penalty
    if not biased or H[d, d] == 0.0:
        H[d, :] = 0.0
        H[d, d] = 1.0
    return _cholesky_solve(H, -gradient)


@compiled
def _cholesky_solve(H, x):
    """H⁻¹x for the lower triangle of H, in place; NaN where H is not positive definite."""
    n = len(x)
    for j in range(n):
        pivot = H[j, j] - np.dot(H[j, :j], H[j, :j])
        if not pivot > 1e-14 * H[j, j]:
            pivot = 1e-14 * max(H[j, j], 1e-300)
        H[j, j] = np.sqrt(pivot)
        for i in range(j + 1, n):
            H[i, j] = (H[i, j] - np.dot(H[i, :j], H[j, :j])) / H[j, j]
    for i in range(n):
        x[i] = (x[i] - np.dot(H[i, :i], x[:i])) / H[i, i]
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - np.dot(H[i + 1 :, i].copy(), x[i + 1 :])) / H[i, i]
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
                bend += dz[i] * dz[i] / dual.ridge[i]
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
    X = rows.X
    n, d = X.shape
    scores = np.empty(n)
    positive, negative = 0.0, 0.0
    for i in range(n):
        scores[i] = np.dot(X[i], w)
        beta[i] = pull(dual, i, scores[i] + b)
        if beta[i] > 0.0:
            positive += beta[i]
        else:
            negative -= beta[i]
    if free and positive != negative:
        for i in range(n):  # the heavier side is scaled down, which keeps the box
            if beta[i] > 0.0 and positive > negative:
                beta[i] *= negative / positive
            elif beta[i] < 0.0 and negative > positive:
                beta[i] *= positive / negative
    v, count, size = np.dot(beta, X), 0, 0.0
    for i in range(n):
        count += beta[i] != 0.0
        size += abs(beta[i])
    inside = b / constant if constant > 0.0 else 0.0
    last = constant * beta.sum()
    sqnorm, dual_sqnorm = np.dot(w, w) + inside * inside, np.dot(v, v) + last * last
    dual_scores = np.empty(n)
    for i in range(n):
        dual_scores[i] = np.dot(X[i], v) + constant * last
    # The rounding of a score, of ‖w‖² and of ‖w(β)‖², as in `rounding.plain_errors`.
    largest = rows.largest + constant * constant
    R, norm, dual_norm = np.sqrt(largest), np.sqrt(sqnorm), np.sqrt(dual_sqnorm)
    apart = count * EPS * R * size
    sums = Sums(
        sqnorm,
        dual_sqnorm,
        (d + 2) * EPS * R * norm,
        (d + 1) * EPS * sqnorm,
        (d + 1) * EPS * dual_sqnorm + 2.0 * apart * (dual_norm + apart),
        largest,
    )
    # An augmented bias is a part of the scores.
    primal, value, rounding, rest = objectives(dual, 0.0, free, beta, scores, b, dual_scores, sums)
    gap = max(0.0, primal - value) + rounding
    if not gap <= tol * max(abs(primal), abs(value)) or rounding > 0.1 * max(primal - value, tol * abs(primal)):
        return -1, b, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    most, least = extreme_slopes(dual.target, dual_scores, dual.ridge, dual.tube, dual.lower, dual.upper, beta)
    kkt = max(most - least if free else max(most, -least), 0.0)
    z = scores + b
    fill_codes(dual.target, z, dual.tube, dual.lower, dual.upper, dual.C, beta, min(max(kkt, 1e-8), 1e-3), codes)
    return steps, b, primal, value, rounding, rest, kkt, correct(dual, z)
