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
from maxmargin.problem.nu import NuProblem
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
    above, below = problem.rooms
    target, half = problem.form.target, problem.half
    r = target - scores
    a, c = problem.thresholds(scores)
    losses = float(above @ np.maximum(0.0, r - a)) + float(below @ np.maximum(0.0, c - r))
    primal = 0.5 * sqnorm + losses + half * (a - c)
    terms = float(target @ beta)
    v = problem.sides(beta)
    near = 1e-9 * np.minimum(problem.C, float(np.abs(beta).max(initial=0.0)))
    violation = 0.0
    for side, lower, upper in ((v[0], 0.0, above), (v[1], -below, 0.0)):
        rises, falls = r[side < upper - near], r[side > lower + near]
        if rises.size and falls.size:
            violation = max(violation, float(rises.max() - falls.min()))
    rounding = 0.0
    if errors is not None:
        e = float(np.max(errors.score)) + EPS * (1.0 + float(np.abs(r).max()))
        sizes = float(np.abs(target) @ np.abs(beta))
        count = np.count_nonzero(beta)
        rounding = 2.0 * half * e + 0.5 * (errors.sqnorm + errors.dual_sqnorm)
        rounding += (problem.n + 4) * EPS * (abs(primal) + losses + half * (abs(a) + abs(c)))
        rounding += (count + 8) * EPS * sizes
        missing = problem.apart(beta) + count * EPS * half
        slope = float(np.abs(r).max())
        rounding += missing * (1.01 * slope + missing * problem.space.largest)
    codes = np.empty(problem.n, np.int8)
    close = min(max(violation, 1e-8), 1e-3)
    tau = 0.5 * abs(c - a)
    middle = problem.target * tau if problem.of_classes else target
    tube = np.full(problem.n, 0.0 if problem.of_classes else tau)
    fill_codes(middle, scores + 0.5 * (a + c), tube, -below, above, problem.C, beta, close, codes)
    how = "in float64" if errors is not None else None
    certificate = Certificate(
        primal=primal,
        dual=terms - 0.5 * sqnorm,
        infeasibility=problem.apart(beta),
        kkt_violation=violation,
        kinds=Kinds(codes),
        precision=f"recomputed {how} from {problem.X.dtype} data" if how else "running sums of the solver",
        positive=problem.kernel.positive,
        rounding=rounding,
    )
    return certificate, (a, c)
