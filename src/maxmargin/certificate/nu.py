"""The certificate of a ν-problem: weak duality with the margin or the tube as a variable (`problem/nu.py`).

For any w, thresholds a ≥ c or a ≤ c, and feasible β = p − m, with r = t − scores of w,

    P − D = ½‖w − w(β)‖² + Σ [U max(0, r − a) − p (r − a)] + Σ [L max(0, c − r) − m (c − r)]  ≥  0,

because Σp = Σm = ½S turns ½S(a − c) into Σ p a − Σ m c. The scores matter by the two quantiles only: as the maximum of
p r over all feasible p, either changes by at most ½S e where the scores are off by e.
"""

from __future__ import annotations

import numpy as np

from maxmargin.certificate.certificate import Certificate, Examined
from maxmargin.certificate.kkt import Kinds, fill_codes
from maxmargin.certificate.rounding import EPS, Errors, plain_errors
from maxmargin.numeric.compiled import compiled
from maxmargin.problem.nu import NuProblem, quantile
from maxmargin.result import Iterate


def examine_nu(problem: NuProblem, iterate: Iterate, fresh: bool = True) -> Examined:
    """Certify the dual point of an iterate, with w(β) and the best thresholds as its primal side."""
    beta, space, kept = iterate.beta, problem.space, None if fresh else iterate.scores
    if beta is None or not np.isfinite(beta.sum()):
        scores = np.zeros(problem.n) if iterate.w is None else space.scores(iterate.w)
        beta, kept = problem.dual_point(scores, 0.0), None
    elif not problem.is_feasible(beta):
        beta, kept = problem.feasible(beta), None
    w = space.combine(beta)
    scores = space.scores(w) if kept is None else kept
    sqnorm = space.sqnorm(w, scores)
    certificate, (a, c) = judged(
        problem, beta, scores, sqnorm, plain_errors(problem, w, beta, sqnorm) if fresh else None
    )
    b = 0.5 * (a + c)
    tau = 0.5 * (c - a) if problem.of_classes else max(0.0, 0.5 * (a - c))
    point = Iterate(k=iterate.k, w=w, b=b, beta=beta, event=iterate.event, tau=tau)
    accuracy = np.nan
    if problem.of_classes:
        used = problem.C > 0
        right = ((scores + b > 0) == (problem.target > 0)) & used
        accuracy = float(np.count_nonzero(right) / np.count_nonzero(used))
    return Examined(point, certificate, accuracy)


def judged(
    problem: NuProblem, beta: np.ndarray, scores: np.ndarray, sqnorm: float, errors: Errors | None
) -> tuple[Certificate, tuple[float, float]]:
    """The certificate of β and the scores of w(β), and the thresholds a and c."""
    codes, off = np.empty(problem.n, np.int8), (-1.0, 0.0, 0.0)
    if errors is not None:
        off = float(np.max(errors.score)), errors.sqnorm + errors.dual_sqnorm, problem.space.largest
    a, c, primal, dual, rounding, apart, violation = prove(problem.arrays, beta, scores, sqnorm, off, codes)
    certificate = Certificate(
        primal=primal,
        dual=dual,
        infeasibility=apart,
        kkt_violation=violation,
        kinds=Kinds(codes),
        precision="running sums of the solver"
        if errors is None
        else f"recomputed in float64 from {problem.X.dtype} data",
        positive=problem.kernel.positive,
        rounding=rounding,
    )
    return certificate, (a, c)


@compiled
def prove(nu, beta, scores, sqnorm, off, codes):
    """The thresholds a and c, primal, dual, the bound on their rounding, how far the sums are off, the KKT violation.

    `off` bounds the rounding of a score, and of ‖w‖² and ‖w(β)‖² together, and has the largest k(x, x); the first is
    below 0 where the scores are running sums. The kinds are filled in.
    """
    n = len(beta)
    r, below_r = np.empty(n), np.empty(n)
    for p in range(n):
        r[p] = nu.target[p] - scores[p]
        below_r[p] = -r[p]
    a, c = quantile(r, nu.above, nu.half), -quantile(below_r, nu.below, nu.half)
    losses, terms, sizes, slope, largest, count, rises, falls = 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0.0, 0.0
    for p in range(n):
        losses += nu.above[p] * max(0.0, r[p] - a) + nu.below[p] * max(0.0, c - r[p])
        terms += nu.target[p] * beta[p]
        sizes += abs(nu.target[p] * beta[p])
        slope, largest = max(slope, abs(r[p])), max(largest, abs(beta[p]))
        count += beta[p] != 0.0
        rises += max(0.0, beta[p])
        falls += max(0.0, -beta[p])
    primal, dual = 0.5 * sqnorm + losses + nu.half * (a - c), terms - 0.5 * sqnorm
    apart = abs(rises - falls) + max(0.0, rises - nu.half)
    if nu.of_classes:
        apart = abs(rises - nu.half) + abs(falls - nu.half)
    rounding = 0.0
    if off[0] >= 0.0:
        rounding = 2.0 * nu.half * (off[0] + EPS * (1.0 + slope)) + 0.5 * off[1] + (count + 8) * EPS * sizes
        rounding += (n + 4) * EPS * (abs(primal) + losses + nu.half * (abs(a) + abs(c)))
        missing = apart + count * EPS * nu.half
        rounding += missing * (1.01 * slope + missing * off[2])
    violation = _violation(nu, beta, r, 0.0 if nu.of_classes else nu.half - rises, largest)
    tau, close = 0.5 * abs(c - a), min(max(violation, 1e-8), 1e-3)
    middle, z, tube, lower = r, np.empty(n), below_r, np.empty(n)  # r is not needed any more
    for p in range(n):
        z[p], lower[p] = scores[p] + 0.5 * (a + c), -nu.below[p]
        if nu.of_classes:
            middle[p], tube[p] = tau if nu.above[p] > 0.0 else -tau, 0.0
        else:
            middle[p], tube[p] = nu.target[p], tau
    fill_codes(middle, z, tube, lower, nu.above, nu.C, beta, close, codes)
    return a, c, primal, dual, rounding, apart, violation


@compiled
def _violation(nu, beta, r, rest, largest):
    """How much steeper one sample of a side rises than another one falls; `rest` is on both sides of some samples."""
    rise, fall, rise_below, fall_below = -np.inf, np.inf, -np.inf, np.inf
    for p in range(len(beta)):
        near, added = 1e-9 * min(nu.C[p], largest), 0.0
        if rest > 0.0:
            added = min(rest, nu.C[p] - abs(beta[p]))
            rest -= added
        up, down = max(0.0, beta[p]) + added, min(0.0, beta[p]) - added
        if up < nu.above[p] - near:
            rise = max(rise, r[p])
        if up > near:
            fall = min(fall, r[p])
        if down < -near:
            rise_below = max(rise_below, r[p])
        if down > near - nu.below[p]:
            fall_below = min(fall_below, r[p])
    return max(0.0, rise - fall, rise_below - fall_below)
