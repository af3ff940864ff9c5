"""certify(problem, iterate): primal, dual, gap, KKT and the kinds of vectors, from any point of any solver.

Whatever a solver hands over becomes a pair: a feasible β (repaired or read off w where need be) and a primal point
(w(β) and the best bias where none is given). Then, with the weak duality that holds for any such pair,

    P(w,b) − D(β) = ½‖w − w(β)‖² + Σ_i C_i [ ℓ_i(z_i) + ℓ_i*(−β_i/C_i) + β_i z_i / C_i ] − b (Σβ − total)  ≥  0

the gap bounds how far either side is from the optimum. A *fresh* certificate is recomputed in float64 from β, w, b
and the data; a running one, for looks along the way, may use what the solver keeps (w(β), Kβ).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.parallel import blocks
from maxmargin.problem import BLOCK, Problem
from maxmargin.projection import project
from maxmargin.result import Iterate
from maxmargin.separability import Inseparable

KINDS = ("outside", "candidate", "free", "bound")


@dataclass(frozen=True, eq=False)
class Kinds:
    """The four kinds of vectors (α = yβ, m = yz), as one code a sample.

    outside: α = 0 off the margin; candidate: α = 0 on the margin; free: 0 < α < C; bound: α = C.
    """

    codes: np.ndarray

    @property
    def counts(self) -> dict[str, int]:
        """How many there are of each kind."""
        counted = np.bincount(self.codes, minlength=len(KINDS))
        return {kind: int(count) for kind, count in zip(KINDS, counted, strict=True)}

    def __getitem__(self, kind: str) -> np.ndarray:
        return np.flatnonzero(self.codes == KINDS.index(kind))

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


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is proved about a point; prints as a small table."""

    primal: float
    dual: float
    #: |Σβ − total|, the rounding that is left of it.
    infeasibility: float
    #: How far β is outside its box: 0, as the certified β is within it.
    box_violation: float
    kkt_violation: float
    kinds: Kinds
    #: What was recomputed, and at what precision.
    precision: str
    #: Whether the kernel is positive semi-definite; False makes the gap a measure of stationarity only.
    positive: bool | None = True
    #: The proof that no hyperplane separates the classes, for a hard margin that has none.
    inseparable: Inseparable | None = None

    @property
    def gap(self) -> float:
        """P − D, at least 0; infinite where one side is not there."""
        return max(0.0, self.primal - self.dual) if np.isfinite(self.primal + self.dual) else np.inf

    @property
    def relative_gap(self) -> float:
        """Gap / max(|P|, |D|); 0 if both are 0."""
        scale = max(abs(self.primal), abs(self.dual))
        return 0.0 if scale == 0.0 else self.gap / scale if np.isfinite(self.gap) else np.inf

    def holds(self, tol: float) -> bool:
        """Whether this proves the point optimal to the relative gap `tol`."""
        return self.positive is not False and self.relative_gap <= tol

    @cached_property
    def remark(self) -> str:
        """What a reader must know besides the numbers; empty when there is nothing."""
        if self.inseparable is not None:
            return str(self.inseparable)
        if self.positive is False:
            return "the kernel is indefinite: the gap shows a stationary point, not an optimum"
        if self.positive is None:
            return "holds if the kernel is positive semi-definite, which nobody has checked"
        return ""

    def __str__(self) -> str:
        counts = self.kinds.counts
        rows = [
            ("primal", f"{self.primal:.10g}"),
            ("dual", f"{self.dual:.10g}"),
            ("gap", f"{self.gap:.3g}  (relative {self.relative_gap:.3g})"),
            ("KKT violation", f"{self.kkt_violation:.3g}"),
            ("infeasibility", f"{self.infeasibility:.3g}"),
            ("vectors", ", ".join(f"{counts[kind]} {kind}" for kind in KINDS)),
            ("precision", self.precision),
        ]
        if self.remark:
            rows.append(("remark", self.remark))
        return "\n".join(f"{name:<13}  {value}" for name, value in rows)


@dataclass(frozen=True, eq=False)
class Examined:
    """A certified pair: the point that the certificate speaks of, the certificate, and the training accuracy."""

    point: Iterate
    certificate: Certificate
    accuracy: float


def certify(problem: Problem, iterate: Iterate) -> Certificate:
    """The certificate of a point, recomputed in float64 from the data."""
    return examine(problem, iterate).certificate


def examine(problem: Problem, iterate: Iterate, fresh: bool = True) -> Examined:
    """Complete an iterate to a primal-dual pair and certify it."""
    space = problem.space
    if iterate.b is not None and problem.bias != "free":
        raise InvalidInput(f"the point has a bias b, which a problem with bias={problem.bias!r} does not have")
    # 1. The two sides: β feasible, and w = w(β) unless the solver has a w of its own.
    beta, w, scores, coef = iterate.beta, iterate.w, None if fresh else iterate.scores, iterate.coef
    linked = iterate.linked and beta is not None
    if beta is not None and not problem.is_feasible(beta):
        beta = _repaired(problem, beta)
        if not problem.total and not problem.hard:
            beta = beta * problem.best_multiple(beta)  # the repair may have cost much; a multiple is feasible too
        scores = None
        w = None if linked else w
    if w is None or (fresh and linked):
        assert beta is not None, "an iterate has w or β"
        w = space.combine(beta)
    scores = space.scores(w) if scores is None else scores
    # A hard margin rescales its point: a bias that was kept belongs to another multiple of w(β).
    b = problem.best_bias(scores) if iterate.b is None or (problem.hard and linked) else iterate.b
    if beta is None:
        beta = problem.dual_point(scores, b)
    # 2. ‖w‖², ‖w(β)‖² and Kβ; an unlinked pair pays for Kβ only when it is certified for good.
    sqnorm = space.sqnorm(w, scores)
    if linked:
        dual_sqnorm, dual_scores = sqnorm, scores
    elif fresh:
        v = space.combine(beta)
        dual_scores = space.scores(v)
        dual_sqnorm = space.sqnorm(v, dual_scores)
    else:
        dual_scores = None
        dual_sqnorm = space.sqnorm(space.combine(beta))
    # 3. Both objectives.
    if problem.hard:
        coef = beta if linked else coef
        w, b, beta, coef, scores, dual_scores, primal, dual = _hard(
            problem, w, b, beta, coef, scores, dual_scores, sqnorm, dual_sqnorm
        )
    else:
        primal = 0.5 * sqnorm + problem.loss_sum(scores + b) + (problem.total or 0.0) * b
        dual = problem.dual_terms(beta) - 0.5 * dual_sqnorm
    # 4. What else there is to say.
    kkt = _kkt_violation(problem, beta, dual_scores) if dual_scores is not None else np.nan
    certificate = Certificate(
        primal=primal,
        dual=dual,
        infeasibility=0.0 if problem.total is None else abs(float(beta.sum()) - problem.total),
        box_violation=_box_violation(problem, beta),
        kkt_violation=kkt,
        kinds=_kinds(problem, beta, scores + b, kkt),
        precision=_precision(problem, fresh),
        positive=False if _shown_indefinite(problem, beta, dual_sqnorm) else problem.kernel.positive,
    )
    point = Iterate(
        k=iterate.k,
        w=w,
        b=b if problem.bias == "free" else None,
        beta=beta,
        linked=linked,
        coef=coef,
        related=iterate.related,
        answer=iterate.answer,
    )
    return Examined(point, certificate, _accuracy(problem, scores + b))


def _repaired(problem: Problem, beta: np.ndarray) -> np.ndarray:
    """A feasible point near β: what is at a bound stays there, if the others can make up the sum."""
    lower, upper = problem.bounds
    clipped = np.clip(beta, lower, upper)
    free = (clipped > lower) & (clipped < upper)
    if problem.total is not None and free.any():
        rest = problem.total - float(clipped[~free].sum())
        if lower[free].sum() <= rest <= upper[free].sum():
            clipped[free] = project(clipped[free], lower[free], upper[free], rest)
            return clipped
    return problem.feasible(beta)


def _shown_indefinite(problem: Problem, beta: np.ndarray, sqnorm: float) -> bool:
    """Whether βᵀKβ is negative beyond its rounding: no positive semi-definite kernel does that."""
    if problem.linear or sqnorm >= 0.0:
        return False
    terms = float(np.abs(beta) @ np.sqrt(np.abs(problem.space.diag()))) ** 2
    rounding = problem.n * np.finfo(problem.X.dtype).eps * terms
    return sqnorm < -rounding


def _hard(problem, w, b, beta, coef, scores, dual_scores, sqnorm, dual_sqnorm):
    """The hard margin: (w, b)/m is feasible for m = min yz > 0, and the best multiple of β maximises the dual."""
    m = problem.margin(scores + b)
    primal = np.inf
    if m > 0:
        w, b, scores, coef = w / m, b / m, scores / m, None if coef is None else coef / m
        primal = 0.5 * sqnorm / m / m
    slope = float(problem.target @ beta)
    theta = slope / dual_sqnorm if dual_sqnorm > 0 else 0.0
    if np.isfinite(theta) and theta > 0:
        beta = beta * theta
        dual_scores = None if dual_scores is None else dual_scores * theta
        return w, b, beta, coef, scores, dual_scores, primal, 0.5 * theta * slope
    return w, b, beta, coef, scores, dual_scores, primal, 0.0


def _kkt_violation(problem: Problem, beta: np.ndarray, scores: np.ndarray) -> float:
    """With g = ∂D/∂β: max_{β<upper} g − min_{β>lower} g for a free bias, else the largest projected gradient."""
    lower, upper = problem.bounds
    most, least = -np.inf, np.inf
    for start, stop in blocks(problem.n, BLOCK):
        part = slice(start, stop)
        v = beta[part]
        if problem.form is not None:
            form = problem.form
            g = form.target[part] - scores[part] - form.ridge[part] * v
            up = g - np.where(v >= 0, form.tube[part], -form.tube[part])
            down = g - np.where(v > 0, form.tube[part], -form.tube[part])
        else:  # logistic: ∂/∂β of its entropy is −y log(a/(1−a))
            tiny = np.finfo(np.float64).tiny
            a = np.divide(np.abs(v), problem.C[part], out=np.full(len(v), 0.5), where=problem.C[part] > 0)
            up = down = -scores[part] - problem.target[part] * np.log(np.maximum(a, tiny) / np.maximum(1 - a, tiny))
        most = max(most, up[v < upper[part]].max(initial=-np.inf))
        least = min(least, down[v > lower[part]].min(initial=np.inf))
    if problem.bias == "free":
        return max(0.0, most - least)
    return max(0.0, most, -least)


def _box_violation(problem: Problem, beta: np.ndarray) -> float:
    lower, upper = problem.bounds
    return max(0.0, float((lower - beta).max()), float((beta - upper).max()))


def _kinds(problem: Problem, beta: np.ndarray, z: np.ndarray, kkt: float) -> Kinds:
    """Which kind each sample is; a sample is on the margin when it is as near to it as the point is to KKT."""
    near = min(max(kkt, 1e-8), 1e-3) if np.isfinite(kkt) else 1e-3
    lower, upper = problem.bounds
    codes = np.empty(problem.n, np.int8)
    largest = float(np.abs(beta).max())
    for start, stop in blocks(problem.n, BLOCK):
        part = slice(start, stop)
        v = beta[part]
        reach = upper[part] - lower[part]
        crumb = 1e-9 * np.minimum(reach, largest)
        code = np.full(len(v), KINDS.index("free"), np.int8)
        code[(v >= upper[part] - crumb) | (v <= lower[part] + crumb)] = KINDS.index("bound")
        zero = np.abs(v) <= crumb
        if problem.form is not None:
            off = np.abs(np.abs(problem.form.target[part] - z[part]) - problem.form.tube[part])
            on_margin = (off <= near) & (problem.C[part] > 0)
        else:
            on_margin = np.zeros(len(v), bool)
        code[zero] = np.where(on_margin[zero], KINDS.index("candidate"), KINDS.index("outside"))
        codes[part] = code
    return Kinds(codes)


def _precision(problem: Problem, fresh: bool) -> str:
    if not fresh:
        return "running sums of the solver"
    return f"recomputed in float64 from {problem.X.dtype} data"


def _accuracy(problem: Problem, z: np.ndarray) -> float:
    if problem.task != "classification":
        return np.nan
    used = problem.C > 0
    return float(np.count_nonzero(((z > 0) == (problem.target > 0)) & used) / np.count_nonzero(used))
