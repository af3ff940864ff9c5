"""The certificate of Crammer and Singer's problem (`problem/crammer_singer.py`): weak duality, class by class.

For any W, and any α with Σ_m α_im = 0 and α_im ≤ C_i [m = y_i], with F the scores of W,

    P − D = ½ Σ_m ‖w_m − w_m(α)‖² + Σ_i { C_i max_m (f_im + e_im) − Σ_m (C_i [m = y_i] − α_im)(f_im + e_im) }  ≥  0,

because the numbers C_i [m = y_i] − α_im are at least 0 and sum to C_i: a weighted mean is no larger than the maximum.

Rounding: scores and sums are off by what `rounding.py` says of them, for each class. Where Σ_m α_im is off by r_i,
there is a feasible point whose α_i differs by at most 2 r_i in all, and that changes D by at most
Σ 2 r_i (max_m |f_im| + 1) + ½ R² (Σ 2 r_i)².
"""

from __future__ import annotations

import numpy as np

from maxmargin.certificate.certificate import Certificate, Examined
from maxmargin.certificate.kkt import BOUND, CANDIDATE, FREE, KKT, OUTSIDE, ROUNDING, Condition, Kinds, of_samples
from maxmargin.certificate.rounding import EPS
from maxmargin.problem import CrammerSingerProblem
from maxmargin.result import Iterate


def examine_crammer_singer(problem: CrammerSingerProblem, iterate: Iterate, fresh: bool = True) -> Examined:
    """Certify the point of an iterate: α and W(α), or a W of the solver's own where that is the better one."""
    space = problem.space
    beta, w, kept = iterate.beta, iterate.w, None if fresh else iterate.scores
    if beta is not None and not np.isfinite(beta.sum()):  # an overflow: it says nothing
        beta, w, kept = np.zeros(problem.duals), None, None
    linked = iterate.linked and beta is not None
    if beta is not None and not problem.is_feasible(beta):
        beta, kept = problem.feasible(beta), None
        w = None if linked else w
    if beta is None:
        assert w is not None, "an iterate has w or β"
        kept = space.scores(w)
        beta = problem.dual_point(kept, 0.0)
    v = space.combine(beta) if w is None or fresh or not linked else w
    w = v if w is None or linked else w
    scores = space.scores(w) if kept is None else kept
    if w is not v and fresh:  # W(α) may be as good, and is what the dual says
        others = space.scores(v)
        if _primal(problem, v, others) <= _primal(problem, w, scores):
            w, scores = v, others
    linked = w is v
    table = problem.wrong(scores)
    violation, kinds = _conditions(problem, beta, table)
    certificate = Certificate(
        primal=_primal(problem, w, scores),
        dual=problem.dual_terms(beta) - 0.5 * space.sqnorm(v),
        infeasibility=float(np.abs(problem.row_sums(beta)).max()),
        kkt_violation=violation,
        kinds=kinds,
        precision=f"recomputed in float64 from {problem.X.dtype} data" if fresh else "running sums of the solver",
        rounding=_rounding(problem, w, v, beta, table) if fresh else 0.0,
    )
    point = Iterate(k=iterate.k, w=w, beta=beta, linked=linked)
    used = problem.C > 0
    right = (problem.by_class(scores).argmax(axis=1) == problem.target) & used
    return Examined(point, certificate, float(np.count_nonzero(right) / np.count_nonzero(used)))


def _primal(problem: CrammerSingerProblem, w: np.ndarray, scores: np.ndarray) -> float:
    return 0.5 * float(problem.space.sqnorm(w)) + problem.loss_sum(scores)


def _conditions(problem: CrammerSingerProblem, beta: np.ndarray, table: np.ndarray) -> tuple[float, Kinds]:
    """The KKT violation, and what kind each sample is by its own class's variable; `table` is F + e − f_y.

    A variable that can still grow has no smaller slope than one that can fall: no F + e above the least of those below
    their bounds.
    """
    C, own = problem.C, problem.by_class(beta)[problem.mine]
    near = ROUNDING * C  # a variable that is as near to its bound as rounding can tell is at it
    below = problem.by_class(beta) < problem.by_class(problem.bounds[1]) - near[:, None]
    most = table.max(axis=1)
    violation = most - np.where(below, table, np.inf).min(axis=1)
    violation[C <= 0] = 0.0
    worst = max(0.0, float(violation.max()))
    codes = np.where(own >= C - near, BOUND, np.where(own > near, FREE, OUTSIDE))
    others = table.copy()
    others[problem.mine] = -np.inf
    at_margin = np.abs(others.max(axis=1)) <= min(max(worst, 1e-8), 1e-3)
    codes[(own <= near) & at_margin & (C > 0)] = CANDIDATE
    codes[(C <= 0)] = OUTSIDE
    return worst, Kinds(codes.astype(np.int8))


def _rounding(
    problem: CrammerSingerProblem, w: np.ndarray, v: np.ndarray, beta: np.ndarray, table: np.ndarray
) -> float:
    """How much rounding may have changed P − D, at most."""
    space, alpha = problem.space, np.abs(problem.by_class(beta))
    R, width = float(np.sqrt(space.largest)), space.one.width
    longest = float(np.linalg.norm(space.planes(w), axis=1).max())
    e = 2.0 * (width + 1) * EPS * R * longest + 4.0 * EPS * float(np.abs(table).max() + 1.0)
    own = len(w) * EPS * float(w @ w)
    primal = 0.5 * own + float(problem.C.sum()) * e + (problem.n + 4) * EPS * abs(_sum_of(problem, table))
    norms = np.linalg.norm(space.planes(v), axis=1)
    apart = np.count_nonzero(alpha, axis=0) * EPS * R * alpha.sum(axis=0)
    dual = 0.5 * len(v) * EPS * float(v @ v) + float((apart * (norms + apart)).sum())
    sizes = alpha.sum(axis=1)
    terms = (np.count_nonzero(alpha) + 8) * EPS * float(sizes.sum())
    missing = float((np.abs(problem.row_sums(beta)) + problem.k * EPS * sizes).sum())
    slope = R * float((norms + apart).max()) + 1.0
    return primal + dual + terms + 2.0 * missing * (slope + R * R * missing)


def _sum_of(problem: CrammerSingerProblem, table: np.ndarray) -> float:
    return float(problem.C @ table.max(axis=1))


def conditions_of(problem: CrammerSingerProblem, point: Iterate) -> KKT:
    """The KKT conditions at a complete point, recomputed from the data."""
    assert point.w is not None and point.beta is not None
    w, beta, space = point.w, point.beta, problem.space
    lower, upper = problem.bounds
    table = problem.wrong(space.scores(w))
    size = max(_primal(problem, w, space.scores(w)), float(np.finfo(float).tiny))
    outside = problem.by_class(np.maximum(np.maximum(lower - beta, beta - upper), 0.0)).max(axis=1)
    largest = max(float(np.abs(beta).max()), float(np.finfo(float).tiny))
    share = problem.C * table.max(axis=1) + (problem.by_class(beta) * table).sum(axis=1)
    apart = w - space.combine(beta)
    sums = np.abs(problem.row_sums(beta))
    return KKT(
        (
            of_samples("dual feasibility", "α_m ≤ C [m = y]", outside / largest),
            of_samples("dual feasibility in the sums", "Σ_m α_m = 0", sums / largest),
            Condition("stationarity in W", "w_m = Σ α_m x", (float(apart @ apart) / (2.0 * size)) ** 0.5, None),
            of_samples("complementary slackness", "(C [m = y] − α_m)(max f + e − f_m − e_m) = 0", np.abs(share) / size),
        )
    )
