"""Small linear problems with a loss of straight pieces in one compiled call: a primal-dual interior point in w.

Problem:  max_β  Σ_i target_i β_i − tube_i|β_i| − ½‖Σ β_i x_i‖²     lower ≤ β ≤ upper  [Σβ = 0]

This is the hinge and the ε-insensitive loss, on which pair steps crawl where features are not scaled. Each β is split
into variables 0 ≤ a ≤ c, one for each sign that its box allows, with β = Σ s a and the cost q = tube − s·target. An
iteration costs one matrix of d × d, whatever the scale of the features; columns are centred and scaled as in
`linear.py`.

    1. Residuals, and the gap of the pair (w, β). If it is small enough: 6.
    2. θ = l/a + u/(c − a), with l and u the multipliers of the two bounds; H = penalty + Sᵀ diag(Σ 1/θ) S, factored.
    3. The affine direction, and how far it may go.
    4. The centred and corrected direction: σ = (μ after the affine step / μ)³.
    5. A step of 0.995 of the way to the nearest bound, the same for all variables.
    6. Variables that their multipliers hold at a bound are put there, the others take up what Σβ is off. The
       certificate is about that β, w(β) and the middle of the biases that suit it; where it fails, about w as it was,
       and then β as it was, its heavier side scaled down.

Mehrotra, SIAM J. Optimization 2, 1992; Ferris & Munson, SIAM J. Optimization 13, 2002.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.certificate.kkt import extreme_slopes
from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.sums import combination, copy_lower, copy_to, inner, mean_size, product, sum_of
from maxmargin.small.cholesky import factor, substitute
from maxmargin.small.crossover import balanced, betas, crossed_over, polish
from maxmargin.small.judge import judged
from maxmargin.small.proof import pull

#: Iterations, at most; fifteen to thirty are usual.
MOST_STEPS = 80
#: The relative gap at which the kinds of the vectors are clear, whatever the tolerance.
CLEAR = 1e-9
#: Features up to which the matrix is made by loops of our own: BLAS is no faster then.
MOST_BY_HAND = 40
#: The part of the way to the nearest bound.
SHORT = 0.995


class Boxed(NamedTuple):
    """The variables 0 ≤ a ≤ c: the sample of each, the sign with which it counts, its bound and its cost.

    β is `base` where all of them are 0.
    """

    base: np.ndarray
    sample: np.ndarray
    sign: np.ndarray
    c: np.ndarray
    q: np.ndarray


class Point(NamedTuple):
    """A point of the method: a, c − a, the multipliers l of a ≥ 0 and u of a ≤ c, and v = (w, bias).

    c − a is kept, as a difference would be 0 where a is nearly c.
    """

    a: np.ndarray
    rest: np.ndarray
    low: np.ndarray
    high: np.ndarray
    v: np.ndarray


class Inverse(NamedTuple):
    """1/a, 1/(c − a) and 1/θ: what both directions of a step divide by."""

    a: np.ndarray
    rest: np.ndarray
    theta: np.ndarray


class Step(NamedTuple):
    """A direction: the change of a point."""

    a: np.ndarray
    low: np.ndarray
    high: np.ndarray
    v: np.ndarray


@compiled
def solve_by_interior_point(rows, dual, free, constant, tol, w, beta, codes):
    """Steps 1. to 6.; fills w (of the rows as they are), β and the kinds, and returns the fields of `Proved`."""
    n, d = rows.S.shape
    T = _columns(rows.S)
    biased = free or constant > 0.0
    penalty = np.empty(d + 1)
    for j in range(d):
        penalty[j] = 1.0 / (rows.scale[j] * rows.scale[j])
    penalty[d] = 1.0 / (constant * constant) if constant > 0.0 else 0.0
    boxed = _boxed(dual)
    at = _first_point(boxed, d)
    best, since = np.inf, 0
    enough = min(CLEAR, 0.01 * tol)
    H, scaled = np.empty((d + 1, d + 1)), np.empty((d, n))
    step = 0
    while step < MOST_STEPS:
        # 1.
        z = _scores(T, at.v)
        betas(boxed, at.a, at.rest, beta)
        gap, size, residual = _gap(T, dual, penalty, biased, z, beta, at.v)
        if gap < 0.5 * best:
            best, since = gap, 0
        else:
            since += 1
        if gap <= enough * size or since > 4 or not np.isfinite(gap):
            break
        # 2.
        inverse, diagonal = _curvatures(boxed, at, n)
        _matrix(T, diagonal, penalty, biased, H, scaled)
        factor(H)
        # 3.
        mu, zeros = _mean_product(at), np.zeros(len(boxed.c))
        affine = _direction(T, H, boxed, at, inverse, z, residual, zeros, zeros)
        t = _longest(at, affine, inverse)
        after = _mean_product_after(at, affine, t)
        # 4.
        sigma = (after / mu) ** 3
        to_low, to_high = np.empty(len(zeros)), np.empty(len(zeros))
        for k in range(len(zeros)):
            to_low[k] = sigma * mu - affine.a[k] * affine.low[k]
            to_high[k] = sigma * mu + affine.a[k] * affine.high[k]
        direction = _direction(T, H, boxed, at, inverse, z, residual, to_low, to_high)
        # 5.
        t = min(1.0, SHORT * _longest(at, direction, inverse))
        _move(at, direction, t)
        step += 1
    # 6.
    for j in range(d):
        w[j] = at.v[j] / rows.scale[j]
    b = at.v[d] - inner(rows.centre, w)
    if not np.isfinite(best):
        return -1, b, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    return _vertex(rows, dual, (boxed, at), (free, constant), tol, (w, b, beta, codes), step)


@compiled
def _vertex(rows, dual, inner_point, bias, tol, found, steps):
    """Step 6.: the fields of `Proved`."""
    boxed, at = inner_point
    free, constant = bias
    w, b, beta, codes = found
    proved, inside = (-1, b, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), np.zeros(len(boxed.c), np.bool_)
    if crossed_over(boxed, at, free, beta, inside):
        polish(rows, dual, boxed, inside, free, constant, b, beta)
        linked = combination(beta, rows.X)
        middle = _middle_bias(rows, dual, beta, linked, b) if free else constant * constant * sum_of(beta)
        proved = judged(rows, dual, free, constant, tol, linked, middle, beta, codes, steps)
        if proved[0] >= 0:
            copy_to(w, linked)
        else:
            proved = judged(rows, dual, free, constant, tol, w, b, beta, codes, steps)
    if proved[0] < 0 and balanced(boxed, at, free, beta):
        proved = judged(rows, dual, free, constant, tol, w, b, beta, codes, steps)
    return proved


@compiled
def _columns(S):
    """The columns of S, each in one piece: loops over rows are long, those over few columns are not."""
    n, d = S.shape
    T = np.empty((d, n))
    for i in range(n):
        for j in range(d):
            T[j, i] = S[i, j]
    return T


@compiled
def _scores(T, v):
    """⟨w, s⟩ + b of every row."""
    d, n = T.shape
    z = np.empty(n)
    for i in range(n):
        z[i] = v[d]
    for j in range(d):
        column, factor_j = T[j], v[j]
        for i in range(n):
            z[i] += factor_j * column[i]
    return z


@compiled
def _pulled(T, u):
    """Σ u_i s_i."""
    out = np.empty(len(T))
    for j in range(len(T)):
        out[j] = inner(u, T[j])
    return out


@compiled
def _middle_bias(rows, dual, beta, w, b):
    """Half-way between the steepest rise and fall of the dual; b where nothing can move."""
    scores = product(rows.X, w)
    most, least = extreme_slopes(dual.target, scores, dual.ridge, dual.tube, dual.lower, dual.upper, beta)
    middle = 0.5 * (most + least)
    return middle if np.isfinite(middle) else b


@compiled
def _boxed(dual):
    """One variable for each sign that a sample's box allows; one for both where there is no tube between them."""
    n = len(dual.target)
    base, sample, sign = np.zeros(n), np.empty(2 * n, np.int64), np.empty(2 * n)
    c, q = np.empty(2 * n), np.empty(2 * n)
    k = 0
    for i in range(n):
        if dual.tube[i] == 0.0:
            base[i] = dual.lower[i]
        for s in (1.0, -1.0):
            bound = dual.upper[i] - base[i] if s > 0.0 else base[i] - dual.lower[i]
            if bound > 0.0:
                sample[k], sign[k], c[k], q[k] = i, s, bound, dual.tube[i] - s * dual.target[i]
                k += 1
    return Boxed(base, sample[:k], sign[:k], c[:k], q[:k])


@compiled
def _first_point(boxed, d):
    """The middle of the box, w = 0, and multipliers that make it stationary."""
    size = max(mean_size(boxed.q), 1e-300)
    m = len(boxed.c)
    at = Point(np.empty(m), np.empty(m), np.empty(m), np.empty(m), np.zeros(d + 1))
    for k in range(m):
        at.a[k] = at.rest[k] = 0.5 * boxed.c[k]
        at.low[k], at.high[k] = max(boxed.q[k], 0.0) + size, max(-boxed.q[k], 0.0) + size
    return at


@compiled
def _gap(T, dual, penalty, biased, z, beta, v):
    """The gap of the pair, the size of the objective, and the residual of w = w(β) and the bias."""
    d, n = T.shape
    residual = np.empty(d + 1)
    copy_to(residual, _pulled(T, beta))
    residual[d] = sum_of(beta) if biased else 0.0
    primal, value = 0.0, 0.0
    for j in range(d + 1):
        if penalty[j] > 0.0:
            primal += 0.5 * penalty[j] * v[j] * v[j]
            value -= 0.5 * residual[j] * residual[j] / penalty[j]
    for j in range(d + 1):
        residual[j] -= penalty[j] * v[j]
    for i in range(n):
        u = pull(dual, i, z[i])
        primal += (dual.target[i] - z[i]) * u - dual.tube[i] * abs(u)
        value += dual.target[i] * beta[i] - dual.tube[i] * abs(beta[i])
    off = abs(residual[d] * v[d]) if penalty[d] == 0.0 else 0.0
    return abs(primal - value) + off, max(abs(primal), abs(value)), residual


@compiled
def _curvatures(boxed, at, n):
    """1/θ of each variable, and its sum for each sample."""
    m = len(boxed.c)
    inverse, diagonal = Inverse(np.empty(m), np.empty(m), np.empty(m)), np.zeros(n)
    for k in range(m):
        inverse.a[k], inverse.rest[k] = 1.0 / at.a[k], 1.0 / at.rest[k]
        inverse.theta[k] = 1.0 / (at.low[k] * inverse.a[k] + at.high[k] * inverse.rest[k])
    for k in range(m):
        diagonal[boxed.sample[k]] += inverse.theta[k]
    return inverse, diagonal


@compiled
def _matrix(T, diagonal, penalty, biased, H, scaled):
    """H = diag(penalty) + [S 1]ᵀ diag(diagonal) [S 1], its lower triangle."""
    d, n = T.shape
    root = np.empty(n)
    for i in range(n):
        root[i] = np.sqrt(diagonal[i])
    for j in range(d):
        H[d, j] = inner(diagonal, T[j])
        row, column = scaled[j], T[j]
        for i in range(n):
            row[i] = root[i] * column[i]
    H[d, d] = sum_of(diagonal)
    if d <= MOST_BY_HAND:
        for j in range(d):
            for k in range(j + 1):
                H[j, k] = inner(scaled[j], scaled[k])
    else:
        copy_lower(H, np.dot(scaled, scaled.T))
    for j in range(d + 1):
        H[j, j] += penalty[j]
    if not biased:
        for j in range(d):
            H[d, j] = 0.0
        H[d, d] = 1.0


@compiled
def _mean_product(at):
    """μ: the mean of a·l and (c − a)·u."""
    total = 0.0
    for k in range(len(at.a)):
        total += at.a[k] * at.low[k] + at.rest[k] * at.high[k]
    return total / (2 * len(at.a))


@compiled
def _mean_product_after(at, step, t):
    """The same after a step."""
    total = 0.0
    for k in range(len(at.a)):
        move = t * step.a[k]
        total += (at.a[k] + move) * (at.low[k] + t * step.low[k])
        total += (at.rest[k] - move) * (at.high[k] + t * step.high[k])
    return total / (2 * len(at.a))


@compiled
def _direction(T, H, boxed, at, inverse, z, residual, to_low, to_high):
    """Newton's direction towards a·l = to_low and (c − a)·u = to_high; H is factored."""
    d, n = T.shape
    m = len(boxed.c)
    right, pulls = np.empty(m), np.zeros(n)
    for k in range(m):
        off = -(boxed.sign[k] * z[boxed.sample[k]] + boxed.q[k] - at.low[k] + at.high[k])
        right[k] = off + to_low[k] * inverse.a[k] - at.low[k] - to_high[k] * inverse.rest[k] + at.high[k]
        pulls[boxed.sample[k]] += boxed.sign[k] * right[k] * inverse.theta[k]
    v = residual.copy()
    pulled = _pulled(T, pulls)
    for j in range(d):
        v[j] += pulled[j]
    if H[d, d] != 1.0 or residual[d] != 0.0:
        v[d] += sum_of(pulls)
    substitute(H, v)
    dz = _scores(T, v)
    a, low, high = np.empty(m), np.empty(m), np.empty(m)
    for k in range(m):
        a[k] = (right[k] - boxed.sign[k] * dz[boxed.sample[k]]) * inverse.theta[k]
        low[k] = (to_low[k] - at.low[k] * a[k]) * inverse.a[k] - at.low[k]
        high[k] = (to_high[k] + at.high[k] * a[k]) * inverse.rest[k] - at.high[k]
    return Step(a, low, high, v)


@compiled
def _longest(at, step, inverse):
    """The longest step, at most 1, that keeps all within their bounds."""
    most = 1.0  # one over it: the largest share of its room that a variable takes
    for k in range(len(at.a)):
        most = max(most, max(-step.a[k] * inverse.a[k], step.a[k] * inverse.rest[k]))
        most = max(most, max(-step.low[k] / at.low[k], -step.high[k] / at.high[k]))
    return 1.0 / most


@compiled
def _move(at, step, t):
    for k in range(len(at.a)):
        at.a[k] += t * step.a[k]
        at.rest[k] -= t * step.a[k]
        at.low[k] += t * step.low[k]
        at.high[k] += t * step.high[k]
    for j in range(len(at.v)):
        at.v[j] += t * step.v[j]
