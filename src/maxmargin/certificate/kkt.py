"""The KKT conditions of a primal-dual pair: one by one, in LIBSVM's measure, and as kinds of vectors.

A pair (w, b), β is optimal exactly when

    primal feasibility        y_i z_i ≥ 1 − ξ_i,  ξ_i ≥ 0                     (the hinge; ξ = 0 for a hard margin)
    dual feasibility          lower_i ≤ β_i ≤ upper_i                         (0 ≤ α_i ≤ C_i)
    stationarity              w = Σ β_i φ(x_i),  and Σβ = total for a free bias
    complementary slackness   C_i [ℓ_i(z_i) + ℓ_i*(−β_i/C_i)] + β_i z_i = 0   (α_i (y_i z_i − 1 + ξ_i) = 0 and
                                                                               (C_i − α_i) ξ_i = 0)

The left side of the last line is at least 0, and over all samples it sums to the duality gap (with ½‖w − w(β)‖²), so
that a small gap leaves no room for a violated condition.

One rule decides what is *at* a bound, for the kinds of vectors and for LIBSVM's measure alike: a dual variable that is
as near to it as rounding can tell (`ROUNDING` times the reach of its interval, or the largest |β| if that is less).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maxmargin.numeric.compiled import compiled
from maxmargin.problem import CrammerSingerProblem, Problem
from maxmargin.regularizers import Regularizer
from maxmargin.result import Iterate

KINDS = ("outside", "candidate", "free", "bound")
OUTSIDE, CANDIDATE, FREE, BOUND = range(4)

#: A dual variable this near to a bound, in units of its interval (or of the largest |β|), is at the bound.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Kinds:
    """The four kinds of vectors (α = yβ, m = yz), as one code per sample.

    outside: α = 0 off the margin; candidate: α = 0 on the margin; free: 0 < α < C; bound: α = C.
    """

    codes: np.ndarray
    #: How many there are of each kind, where that is all that was kept.
    kept: dict[str, int] | None = None

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each kind."""
        if self.kept is not None:
            return self.kept
        counted = _counted(self.codes, np.zeros(len(KINDS), np.int64))
        return {kind: int(count) for kind, count in zip(KINDS, counted, strict=True)}

    def __getitem__(self, kind: str) -> np.ndarray:
        return np.flatnonzero(self.codes == KINDS.index(kind))

    def without_codes(self) -> Kinds:
        """Their counts only, for a file that does not grow with the samples."""
        return Kinds(np.empty(0, np.int8), self.counts)

    @property
    def outside(self) -> np.ndarray:
        """Indices of the vectors that do not matter."""
        return self["outside"]

    @property
    def candidate(self) -> np.ndarray:
        """Indices of the vectors on the margin that are not needed."""
        return self["candidate"]

    @property
    def free(self) -> np.ndarray:
        """Indices of the essential support vectors."""
        return self["free"]

    @property
    def bound(self) -> np.ndarray:
        """Indices of the support vectors at their bound."""
        return self["bound"]

    @property
    def support(self) -> np.ndarray:
        """A mask of the support vectors, free and bound."""
        return self.codes >= KINDS.index("free")


def kkt_violation(problem: Problem, beta: np.ndarray, scores: np.ndarray) -> float:
    """LIBSVM's measure, with g = ∂D/∂β: max_{β<upper} g − min_{β>lower} g for a free bias.

    Without a free bias it is the largest projected gradient. A dual variable at 0 inside a tube has two slopes.
    """
    form, bounds = problem.form, problem.bounds
    if form is not None:
        most, least = extreme_slopes(form.target, scores, form.ridge, form.tube, *bounds, beta)
    else:
        slopes, nothing = problem.loss.dual_slope(beta, problem.target, problem.C), np.zeros(problem.n)
        most, least = extreme_slopes(slopes, scores, nothing, nothing, *bounds, beta)
    violation = most - least if problem.bias == "free" else max(most, -least)
    return max(float(violation), 0.0)  # in this order NaN stays NaN


def kinds_of(problem: Problem, beta: np.ndarray, z: np.ndarray, violation: float) -> Kinds:
    """Which kind each sample is; a sample is on the margin when it is as near to it as the point is to KKT."""
    close = min(max(violation, 1e-8), 1e-3) if np.isfinite(violation) else 1e-3
    form = problem.form
    if form is not None:
        target, tube = form.target, form.tube
    else:  # no margin, so no sample is on it
        target, tube, close = problem.target, np.zeros(problem.n), -1.0
    codes = np.empty(problem.n, np.int8)
    fill_codes(target, z, tube, *problem.bounds, problem.C, beta, close, codes)
    return Kinds(codes)


@compiled
def _largest(beta):
    largest = 0.0
    for i in range(len(beta)):
        largest = max(largest, abs(beta[i]))
    return largest


@compiled
def _near(lower, upper, largest):
    """How near to a bound, or to 0, a dual variable counts as being there: the one rule."""
    return ROUNDING * min(upper - lower, largest)


@compiled
def extreme_slopes(target, scores, ridge, tube, lower, upper, beta):
    """The largest ∂D/∂β of a step up and the smallest of a step down, of the samples that can take one."""
    largest, most, least = _largest(beta), -np.inf, np.inf
    for i in range(len(beta)):
        v, near = beta[i], _near(lower[i], upper[i], largest)
        g = target[i] - scores[i] - ridge[i] * v
        if np.isnan(g):
            return np.nan, np.nan
        zero = abs(v) <= near
        if v < upper[i] - near:
            most = max(most, g - tube[i] if v >= 0.0 or zero else g + tube[i])
        if v > lower[i] + near:
            least = min(least, g - tube[i] if v > 0.0 and not zero else g + tube[i])
    return most, least


@compiled
def fill_codes(target, z, tube, lower, upper, C, beta, close, codes):
    """The places in KINDS of all samples."""
    largest = _largest(beta)
    for i in range(len(beta)):
        v, near = beta[i], _near(lower[i], upper[i], largest)
        if abs(v) <= near:
            on_margin = abs(abs(target[i] - z[i]) - tube[i]) <= close and C[i] > 0.0
            codes[i] = CANDIDATE if on_margin else OUTSIDE
        else:
            codes[i] = BOUND if v <= lower[i] + near or v >= upper[i] - near else FREE


@compiled
def _counted(codes, counts):
    for code in codes:
        counts[code] += 1
    return counts


# One by one


@dataclass(frozen=True)
class Condition:
    """One KKT condition: what it says, how far it is from holding, and for which sample that is worst."""

    name: str
    formula: str
    #: 0 where it holds. Without a unit: relative to the margin 1, to the size of β, or to the objective.
    residual: float
    #: The index of the worst sample; None where the condition is not about single samples, or holds for all.
    worst: int | None


@dataclass(frozen=True)
class KKT:
    """The KKT conditions of a point; prints as a table."""

    conditions: tuple[Condition, ...]

    @property
    def largest(self) -> float:
        """The largest residual."""
        return max(condition.residual for condition in self.conditions)

    def __str__(self) -> str:
        rows = [("condition", "formula", "residual", "worst sample")]
        for one in self.conditions:
            rows.append((one.name, one.formula, f"{one.residual:.2g}", "-" if one.worst is None else str(one.worst)))
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join(line.rstrip() for line in lines)


def kkt_of(problem: Problem, point: Iterate) -> KKT:
    """The conditions at a complete point (w, b, β), recomputed from the data."""
    if isinstance(problem, CrammerSingerProblem):
        from maxmargin.certificate.crammer_singer import conditions_of  # which is made of the parts of this module

        return conditions_of(problem, point)
    w, beta = point.w, point.beta
    assert w is not None and beta is not None
    z = problem.space.scores(w) + (point.b or 0.0)
    scale = problem.margin(z) if problem.hard else 1.0  # a hard margin may come unscaled: (w, b)/m is its point
    if problem.hard and scale > 0.0:
        w, z = w / scale, z / scale
    v, regularizer = problem.space.combine(beta), problem.regularizer
    lower, upper = problem.bounds
    outside = np.maximum(np.maximum(lower - beta, beta - upper), 0.0) / max(float(np.abs(beta).max()), _TINY)
    gaps, objective = sample_gaps(problem, beta, z), problem.regularization(w)
    if not problem.hard:
        objective += problem.loss_sum(z)
    conditions = []
    if problem.loss.margin:
        slack = np.zeros(problem.n) if problem.hard else np.maximum(0.0, 1.0 - problem.target * z)
        short = np.where(problem.C > 0, np.maximum(0.0, 1.0 - slack - problem.target * z), 0.0)
        conditions.append(of_samples("primal feasibility", "y z ≥ 1 − ξ, ξ ≥ 0", short))
    conditions.append(of_samples("dual feasibility", "lower ≤ β ≤ upper", outside))
    # ½‖w − w(β)‖² is a part of the gap, so it is measured as the gap is: by the objective, which ‖w‖² may be tiny for.
    size = max(abs(objective), _TINY)
    if regularizer.quadratic:
        residual = float(max(0.0, problem.space.sqnorm(w - v)) / (2.0 * size)) ** 0.5
        conditions.append(Condition("stationarity in w", "w = Σ β φ(x)", residual, None))
    else:
        residual = abs(float(regularizer.gaps(w, v).sum())) / size
        conditions.append(Condition("dual feasibility in v", "r*(v) < ∞, v = Σ β φ(x)", _beyond(regularizer, v), None))
        conditions.append(Condition("stationarity in w", "r(w) + r*(v) = ⟨w, v⟩", residual, None))
    if problem.total is not None:
        size = max(float(np.abs(beta).sum()), _TINY)
        off = abs(float(beta.sum()) - problem.total) / size
        conditions.append(Condition("stationarity in b", f"Σβ = {problem.total:g}", off, None))
    hinge = problem.loss.margin and not problem.loss.smooth
    formula = "α(yz − 1 + ξ) = (C − α)ξ = 0" if hinge else "C(ℓ(z) + ℓ*(−β/C)) + βz = 0"
    share = gaps / max(abs(objective), _TINY)
    conditions.append(of_samples("complementary slackness", formula, share))
    return KKT(tuple(conditions))


_TINY = np.finfo(np.float64).tiny


def _beyond(regularizer: Regularizer, v: np.ndarray) -> float:
    """How far v is beyond the reach of the conjugate, but for the rounding of one multiplication."""
    beyond = 1.0 / regularizer.reach(v) - 1.0
    return beyond if beyond > 4 * np.finfo(float).eps else 0.0


def of_samples(name: str, formula: str, residuals: np.ndarray) -> Condition:
    """A condition of each sample, by its worst one."""
    worst = int(np.argmax(residuals))
    return Condition(name, formula, float(residuals[worst]), worst if residuals[worst] > 0.0 else None)


def sample_gaps(problem: Problem, beta: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The duality gap of each sample, C_i[ℓ_i(z_i) + ℓ_i*(−β_i/C_i)] + β_i z_i ≥ 0 by Fenchel and Young.

    What is within the rounding of its own terms counts as 0. Of a hard margin, a sample inside the margin by more than
    rounding has an infinite gap.
    """
    if problem.family == "crammer-singer":
        problem.signs("the share of each sample in the gap")
    if problem.form is not None:
        form = problem.form
        conjugate = 0.5 * form.ridge * beta**2 + form.tube * np.abs(beta) - form.target * beta
    else:
        used = problem.C > 0
        conjugate = np.zeros(problem.n)
        C = problem.C[used]
        conjugate[used] = C * problem.loss.conjugate(-beta[used] / C, problem.target[used])
    if problem.hard:
        inside = (problem.target * z < 1.0 - 1e-9) & (problem.C > 0)
        loss = np.where(inside, np.inf, 0.0)
    else:
        loss = problem.C * problem.loss.value(z, problem.target)
    gaps = loss + conjugate + beta * z
    rounding = 8 * np.finfo(float).eps * (np.abs(loss) + np.abs(conjugate) + np.abs(beta * z))
    gaps[np.isfinite(gaps) & (np.abs(gaps) <= rounding)] = 0.0
    return gaps
