"""certify(problem, iterate): primal, dual, gap, KKT and the kinds of vectors, from any point of any solver.

Whatever a solver hands over becomes a pair: a feasible β (repaired or read off w where need be) and a primal point
(w(β) and the best bias where none is given). Then, with the weak duality that holds for any such pair,

    P(w,b) − D(β) = ½‖w − w(β)‖² + Σ_i C_i [ ℓ_i(z_i) + ℓ_i*(−β_i/C_i) + β_i z_i / C_i ] − b (Σβ − total)  ≥  0

the gap bounds how far either side is from the optimum. A *fresh* certificate is recomputed in float64 from β, w, b
and the data; a running one, for looks along the way, may use what the solver keeps (w(β), Kβ). A fresh one also carries
a bound on its own rounding, which its gap includes; where that bound matters, the sums are done again with twice the
precision (`exact.py`), and the kernel with the least rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from maxmargin.certificate.exact import combination, decisions, kernel_scores, square
from maxmargin.certificate.kkt import KINDS, Kinds, kinds_of, kkt_violation
from maxmargin.certificate.rounding import (
    Errors,
    exact_kernel_error,
    exact_linear_errors,
    hard_rounding,
    plain_errors,
    soft_rounding,
)
from maxmargin.certificate.separability import Inseparable
from maxmargin.errors import InvalidInput
from maxmargin.problem import Problem
from maxmargin.problem.projection import repaired
from maxmargin.problem.space import LinearSpace
from maxmargin.result import Iterate

#: The relative gap that a certificate is expected to prove by default.
WANTED = 1e-9
#: Multiply-adds that differences of rows may take.
MOST_DIFFERENCES = 2e9
#: Rounding is told of where it is more than this share of a gap that is not tiny.
ROUNDING_SHOWN = 0.1


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is proved about a point; prints as a small table.

    Attributes
    ----------
    primal, dual : float
        P(w, b) and D(β): the optimum lies between them.
    infeasibility : float
        |Σβ − total|, the rounding that is left of it.
    kkt_violation : float
        LIBSVM's measure of the KKT conditions; `Result.kkt` has them one by one.
    kinds : Kinds
        Which samples are outside, candidates, free and bound.
    precision : str
        What was recomputed, and at what precision.
    positive : bool or None, default True
        Whether the kernel is positive semi-definite; False makes the gap a measure of stationarity only.
    inseparable : Inseparable, default None
        The proof that no hyperplane separates the classes, for a hard margin that has none.
    rounding : float, default 0.0
        How much rounding may have changed P − D, at most; 0 for running sums, which prove nothing.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> certificate = solve(Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]), tol=1e-6).certificate
    >>> certificate.holds(1e-6), round(certificate.primal, 4), certificate.kinds.counts["free"]
    (True, 0.5, 2)
    """

    primal: float
    dual: float
    infeasibility: float
    kkt_violation: float
    kinds: Kinds
    precision: str
    positive: bool | None = True
    inseparable: Inseparable | None = None
    rounding: float = 0.0

    @property
    def gap(self) -> float:
        """P − D, at least 0, and what rounding may have hidden of it; infinite where one side is not there."""
        apart = self.primal - self.dual
        return max(0.0, apart) + self.rounding if np.isfinite(self.primal + self.dual) else np.inf

    @property
    def relative_gap(self) -> float:
        """Gap / max(|P|, |D|); 0 if both are 0, and infinite if they are so but for rounding."""
        scale = max(abs(self.primal), abs(self.dual))
        if scale == 0.0:
            return 0.0 if self.gap == 0.0 else np.inf
        return self.gap / scale if np.isfinite(self.gap) else np.inf

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
            return "holds if the kernel is positive semi-definite, which has not been checked"
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
        if self.rounding > ROUNDING_SHOWN * self.gap and self.relative_gap > WANTED:
            rows.insert(3, ("rounding", f"{self.rounding:.3g} of the gap, at most"))
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
    """The certificate of a point, recomputed in float64 from the data, with a bound on its own rounding.

    Parameters
    ----------
    problem : Problem
        The problem that the point is a solution of, more or less.
    iterate : Iterate
        A dual point ``beta``, a primal point ``w`` and ``b``, or both. A side that is missing is made from the other;
        a β that is not feasible is repaired.

    Returns
    -------
    Certificate
        Primal, dual and gap of the pair, its KKT violation and the kinds of its samples.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Iterate, Problem, certify
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1])
    >>> certify(problem, Iterate(beta=np.array([0.0, -0.5, 0.5, 0.0]))).relative_gap < 1e-12
    True
    """
    return examine(problem, iterate).certificate


def examine(
    problem: Problem, iterate: Iterate, fresh: bool = True, wanted: float = WANTED, bounded: bool = False
) -> Examined:
    """Complete an iterate to a primal-dual pair and certify it.

    `wanted` is the relative gap that is asked for: where rounding could be a tenth of it, it is worth more precision.
    A dual point that is only to be `bounded` costs no kernel values: for large problems without time.
    """
    pair, scores = _completed(problem, iterate, fresh, wanted)  # 1.
    # 2. and 3. The scores and norms, and both objectives; again with more precision where rounding matters.
    values = pair.bounded(scores) if bounded else pair.plain(scores, fresh)
    if fresh and not bounded and values.rounding > 0.1 * max(values.primal - values.dual, wanted * abs(values.primal)):
        values = min(values, pair.exact(values), key=lambda one: one.rounding)
    w, b, beta = pair.w, pair.b, pair.beta
    if problem.hard:
        beta = beta * values.theta
        if not iterate.answer:  # an answer stays as its algorithm gave it
            w, b = w / values.margin, b / values.margin
    # 4. What else there is to say.
    kkt = np.inf if bounded else np.nan
    if values.dual_scores is not None and not bounded:
        kkt = kkt_violation(problem, beta, values.dual_scores)
    certificate = Certificate(
        primal=values.primal,
        dual=values.dual,
        infeasibility=0.0 if problem.total is None else abs(float(beta.sum()) - problem.total),
        kkt_violation=kkt,
        kinds=kinds_of(problem, beta, values.z, kkt),
        precision=_precision(problem, fresh, values.exact),
        positive=_positive(problem, beta, values, fresh),
        rounding=values.rounding,
    )
    raw = iterate.beta if iterate.raw is None else iterate.raw
    point = Iterate(
        k=iterate.k,
        w=w,
        b=b if problem.bias == "free" else None,
        beta=beta,
        linked=pair.linked,
        raw=None if raw is beta else raw,
        event=iterate.event,
        related=iterate.related,
        answer=iterate.answer,
    )
    return Examined(point, certificate, _accuracy(problem, values.z))


@dataclass(frozen=True, eq=False)
class _Values:
    """What the two objectives of a pair are, and what they were made from."""

    primal: float
    dual: float
    #: A bound on the rounding of P − D; 0 for running sums.
    rounding: float
    #: Decision values of the primal point (of (w, b)/m for a hard margin) and Kβ (of θβ).
    z: np.ndarray
    dual_scores: np.ndarray | None
    dual_sqnorm: float
    #: The m and θ of a hard margin; 1 for any other.
    margin: float = 1.0
    theta: float = 1.0
    exact: bool = False


@dataclass(frozen=True, eq=False)
class _Pair:
    """A primal point (w, b) and a feasible dual point β, to be evaluated."""

    problem: Problem
    w: np.ndarray
    b: float
    beta: np.ndarray
    #: Whether w is w(β).
    linked: bool
    #: A relative rounding below this need not be bounded any better.
    enough: float

    def plain(self, scores: np.ndarray, fresh: bool) -> _Values:
        """In float64; an unlinked pair pays for Kβ only when it is certified for good."""
        space, w, beta = self.problem.space, self.w, self.beta
        sqnorm = space.sqnorm(w, scores)
        if self.linked:
            dual_sqnorm, dual_scores = sqnorm, scores
        elif fresh:
            v = space.combine(beta)
            dual_scores = space.scores(v)
            dual_sqnorm = space.sqnorm(v, dual_scores)
        else:
            dual_scores, dual_sqnorm = None, space.sqnorm(space.combine(beta))
        errors = plain_errors(self.problem, w, beta, dual_sqnorm) if fresh else None
        return self._values(scores + self.b, sqnorm, dual_scores, dual_sqnorm, errors)

    def bounded(self, scores: np.ndarray) -> _Values:
        """In float64, with bounds in the place of Kβ and of βᵀKβ: |(Kβ)_i| ≤ √k_ii Σ|β_j|√k_jj for a positive K."""
        lengths = np.sqrt(self.problem.space.diag())
        longest = 1.001 * float(np.abs(self.beta) @ lengths)  # more than any rounding of this sum
        errors = plain_errors(self.problem, self.w, self.beta, longest * longest)
        sqnorm = self.problem.space.sqnorm(self.w, scores)
        return self._values(scores + self.b, sqnorm, -longest * lengths, longest * longest, errors)

    def exact(self, plain: _Values) -> _Values:
        """With the least rounding that there is."""
        space, w, b, beta = self.problem.space, self.w, self.b, self.beta
        dual_scores = None if plain.dual_scores is None else plain.dual_scores / plain.theta
        if isinstance(space, LinearSpace):
            z = decisions(space, w, b)
            dual_sqnorm = square(*combination(space, beta))
            errors = exact_linear_errors(space, w, beta, z, dual_sqnorm)
            return self._values(z, space.sqnorm(w), dual_scores, dual_sqnorm, errors, exact=True)
        # The least rounding takes the differences of rows one by one, which is too long for many long ones.
        least = np.count_nonzero(w) * space.work / space.n <= MOST_DIFFERENCES
        bounds = space.exact_rounding if least else space.rounding
        scores, sizes = kernel_scores(space, w, least)
        error, own = exact_kernel_error(w, scores, sizes, bounds)
        sqnorm = dual_sqnorm = float(w @ scores)
        dual_own, dual_scores = own, scores
        if not self.linked:
            dual_scores, sizes = kernel_scores(space, beta, least)
            dual_own = exact_kernel_error(beta, dual_scores, sizes, bounds)[1]
            dual_sqnorm = float(beta @ dual_scores)
        errors = Errors(error, own, dual_own)
        return self._values(scores + b, sqnorm, dual_scores, dual_sqnorm, errors, exact=True)

    def _values(
        self,
        z: np.ndarray,
        sqnorm: float,
        dual_scores: np.ndarray | None,
        dual_sqnorm: float,
        errors: Errors | None,
        exact: bool = False,
    ) -> _Values:
        problem, b, beta = self.problem, self.b, self.beta
        if not problem.hard:
            primal = 0.5 * sqnorm + problem.loss_sum(z) + (problem.total or 0.0) * b
            dual = problem.dual_terms(beta) - 0.5 * dual_sqnorm
            rounding = 0.0
            if errors is not None and dual_scores is not None:
                rounding = soft_rounding(problem, z, b, primal, beta, dual_scores, errors, self.enough * abs(primal))
            return _Values(primal, dual, rounding, z, dual_scores, dual_sqnorm, exact=exact)
        m, primal, theta, dual = _hard(problem, z, beta, sqnorm, dual_sqnorm)
        rounding = 0.0
        if errors is not None and dual_scores is not None and np.isfinite(primal):
            rounding = hard_rounding(problem, self.w, m, sqnorm, beta, theta, z, b, dual_scores, errors)
        if not np.isfinite(rounding):  # the least margin is 0 but for rounding: no hyperplane is proved to separate
            m, primal, rounding = 1.0, np.inf, 0.0
        dual_scores = None if dual_scores is None else dual_scores * theta
        return _Values(primal, dual, rounding, z / m, dual_scores, dual_sqnorm, m, theta, exact)


def _completed(problem: Problem, iterate: Iterate, fresh: bool, wanted: float) -> tuple[_Pair, np.ndarray]:
    """The two sides of an iterate: β feasible, w = w(β) unless the solver has a w of its own; and the scores of w."""
    space = problem.space
    if iterate.b is not None and problem.bias != "free":
        raise InvalidInput(f"the point has a bias b, which a problem with bias={problem.bias!r} does not have")
    beta, w, scores = iterate.beta, iterate.w, None if fresh else iterate.scores
    linked = iterate.linked and beta is not None
    if beta is not None and not np.isfinite(beta.sum()):  # an overflow: it says nothing
        beta, scores = problem.feasible(np.zeros(problem.n)), None
        w = None if linked else w
    if beta is not None and not problem.is_feasible(beta):
        beta = repaired(beta, *problem.bounds, problem.total)
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
    return _Pair(problem, w, b, beta, linked, 0.01 * wanted), scores


def _positive(problem: Problem, beta: np.ndarray, values: _Values, fresh: bool) -> bool | None:
    """Whether the kernel is positive semi-definite: as it says, unless the numbers show that it is not."""
    if _shown_indefinite(problem, beta, values.dual_sqnorm):
        return False
    # A dual value above a primal one beyond rounding: no positive semi-definite kernel does that either.
    if fresh and problem.kernel.positive is None and values.primal - values.dual < -values.rounding:
        return False
    return problem.kernel.positive


def _shown_indefinite(problem: Problem, beta: np.ndarray, sqnorm: float) -> bool:
    """Whether βᵀKβ is negative beyond its rounding: no positive semi-definite kernel does that."""
    if problem.linear or sqnorm >= 0.0:
        return False
    terms = float(np.abs(beta) @ np.sqrt(np.abs(problem.space.diag())))
    rounding = problem.n * float(np.finfo(problem.X.dtype).eps) * terms * terms
    return sqnorm < -rounding


def _hard(
    problem: Problem, z: np.ndarray, beta: np.ndarray, sqnorm: float, dual_sqnorm: float
) -> tuple[float, float, float, float]:
    """The hard margin: (w, b)/m is feasible for m = min yz > 0, and the best multiple θβ maximises the dual.

    Returns m (1 where it is not positive), the primal value, θ (1 where there is none) and the dual value.
    """
    m = problem.margin(z)
    primal = 0.5 * sqnorm / m / m if m > 0 else np.inf
    slope = float(problem.target @ beta)
    theta = slope / dual_sqnorm if dual_sqnorm > 0 else 0.0
    if not (np.isfinite(theta) and theta > 0):
        theta, slope = 1.0, 0.0
    return m if m > 0 else 1.0, primal, theta, 0.5 * theta * slope


def _precision(problem: Problem, fresh: bool, exact: bool) -> str:
    if not fresh:
        return "running sums of the solver"
    how = "with twice the precision of float64" if exact else "in float64"
    return f"recomputed {how} from {problem.X.dtype} data"


def _accuracy(problem: Problem, z: np.ndarray) -> float:
    if problem.task != "classification":
        return np.nan
    used = problem.C > 0
    return float(np.count_nonzero(((z > 0) == (problem.target > 0)) & used) / np.count_nonzero(used))
