"""The certificate of a small linear problem, from w, b, β and the rows as they are."""

from __future__ import annotations

import numpy as np

from maxmargin.certificate.kkt import extreme_slopes, fill_codes
from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.sums import combination, inner, product, sum_of
from maxmargin.small.proof import EPS, Sums, correct, objectives


@compiled
def judged(rows, dual, free, constant, tol, w, b, beta, codes, steps):
    """The fields of `Proved`, and the kinds; steps < 0 where the gap is not proved. β sums to 0 for a free bias."""
    X = rows.X
    n, d = X.shape
    for i in range(n):
        if not dual.lower[i] <= beta[i] <= dual.upper[i]:
            return -1, b, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    scores = product(X, w)
    v, count, size = combination(beta, X), 0, 0.0
    for i in range(n):
        count += beta[i] != 0.0
        size += abs(beta[i])
    inside = b / constant if constant > 0.0 else 0.0
    last = constant * sum_of(beta)
    sqnorm, dual_sqnorm = inner(w, w) + inside * inside, inner(v, v) + last * last
    dual_scores, z = product(X, v), np.empty(n)
    for i in range(n):
        dual_scores[i] += constant * last
        z[i] = scores[i] + b
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
    proved = gap <= tol * max(abs(primal), abs(value)) and value - primal <= rounding  # or one of the two is wrong
    if not proved or rounding > 0.1 * max(primal - value, tol * abs(primal)):
        return -1, b, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    most, least = extreme_slopes(dual.target, dual_scores, dual.ridge, dual.tube, dual.lower, dual.upper, beta)
    kkt = max(most - least if free else max(most, -least), 0.0)
    fill_codes(dual.target, z, dual.tube, dual.lower, dual.upper, dual.C, beta, min(max(kkt, 1e-8), 1e-3), codes)
    return steps, b, primal, value, rounding, rest, kkt, correct(dual, z)
