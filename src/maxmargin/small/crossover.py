"""From an interior point to a vertex: duals at their bounds, and the others as their equations have them.

An interior point is never at a bound, and its duals are known to the square root of what the objective is known to. The
variables are those of `interior.Boxed`.
"""

from __future__ import annotations

import numpy as np

from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.sums import combination, copy_to, inner, mean_size, places_of, product, sum_of
from maxmargin.small.cholesky import factor, substitute


@compiled
def betas(boxed, a, rest, beta):
    """Β from the variables: from what is left up to the bound where that is less, so that no digit of it is lost."""
    copy_to(beta, boxed.base)
    for k in range(len(a)):
        i, s = boxed.sample[k], boxed.sign[k]
        if a[k] <= rest[k]:
            beta[i] += s * a[k]
        else:
            beta[i] += s * boxed.c[k]
            beta[i] -= s * rest[k]


@compiled
def crossed_over(boxed, at, free, beta, inside):
    """β with the settled variables at their bounds and Σβ = 0 for a free bias; False where the sum cannot be mended."""
    size = max(mean_size(boxed.q), 1e-300)
    m = len(at.a)
    a, rest = np.empty(m), np.empty(m)
    for k in range(m):
        c = boxed.c[k]
        if at.a[k] * size < at.low[k] * c:
            a[k], rest[k] = 0.0, c
        elif at.rest[k] * size < at.high[k] * c:
            a[k], rest[k] = c, 0.0
        else:
            a[k], rest[k], inside[k] = at.a[k], at.rest[k], True
    if free:
        for _ in range(3):  # again for what rounding leaves
            betas(boxed, a, rest, beta)
            excess, room = sum_of(beta), 0.0
            for k in range(m):
                if inside[k]:
                    room += min(a[k], rest[k])
            if abs(excess) <= 1e-15 * sum_of(boxed.c):  # the certificate counts the rest as rounding
                break
            if abs(excess) >= room:
                return False
            for k in range(m):
                if inside[k]:
                    change = boxed.sign[k] * excess * (min(a[k], rest[k]) / room)
                    a[k] -= change
                    rest[k] += change
    betas(boxed, a, rest, beta)
    return True


@compiled
def _normal(rows, beta):
    """Σ β_i x_i of the centred rows."""
    w = combination(beta, rows.S)
    for j in range(len(w)):
        w[j] *= rows.scale[j]
    return w


@compiled
def polish(rows, dual, boxed, inside, free, constant, b, beta):
    """Newton steps on the β inside their bounds alone, so that they satisfy their equations z = target ∓ tube exactly.

    They are kept where they stay inside their bounds.
    """
    chosen, most = places_of(inside), rows.S.shape[1] + 1 + (free or constant > 0.0)
    m = len(chosen)
    if m == 0 or m > most:
        return
    T = np.empty((m, rows.S.shape[1]))
    for k in range(m):
        for j in range(T.shape[1]):
            T[k, j] = rows.scale[j] * rows.S[boxed.sample[chosen[k]], j]
    K, trace = np.empty((m, m)), 0.0
    for k in range(m):
        for p in range(k + 1):
            K[k, p] = inner(T[k], T[p]) + constant * constant
        trace += K[k, k]
    for k in range(m):
        K[k, k] += 1e-13 * trace / m
    factor(K)
    ones = np.ones(m)
    substitute(K, ones)
    moved, bias = beta.copy(), b + inner(rows.centre, _normal(rows, beta))
    for _ in range(3):
        z, shift = product(T, _normal(rows, moved)), bias if free else constant * constant * sum_of(moved)
        step = np.empty(m)
        for k in range(m):
            i, s = boxed.sample[chosen[k]], boxed.sign[chosen[k]]
            step[k] = dual.target[i] - s * dual.tube[i] * (dual.tube[i] > 0.0) - z[k] - shift
        substitute(K, step)
        if free:
            shift = (sum_of(step) + sum_of(moved)) / sum_of(ones)
            for k in range(m):
                step[k] -= shift * ones[k]
            bias += shift
        for k in range(m):
            moved[boxed.sample[chosen[k]]] += step[k]
    for k in range(m):
        i, s = boxed.sample[chosen[k]], boxed.sign[chosen[k]]
        low, high = s * boxed.base[i], s * boxed.base[i] + boxed.c[chosen[k]]
        if not low < s * moved[i] < high:
            return
    copy_to(beta, moved)


@compiled
def balanced(boxed, at, free, beta):
    """β as it is, its heavier side scaled down until Σβ = 0 for a free bias."""
    betas(boxed, at.a, at.rest, beta)
    if not free:
        return True
    positive, negative = 0.0, 0.0
    for value in beta:
        positive += max(value, 0.0)
        negative += max(-value, 0.0)
    if not min(positive, negative) > 0.0:
        return False
    for i in range(len(beta)):
        if beta[i] > 0.0 and positive > negative:
            beta[i] *= negative / positive
        elif beta[i] < 0.0 and negative > positive:
            beta[i] *= positive / negative
    return True
