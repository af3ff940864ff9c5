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

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from maxmargin.certificate.constrained_pair import ConstrainedPair
from maxmargin.certificate.kkt import KINDS, Kinds, kinds_of, kkt_violation
from maxmargin.certificate.pair import Pair, Values, proves_kkt
from maxmargin.certificate.separability import Inseparable
from maxmargin.errors import InvalidInput
from maxmargin.problem import CrammerSingerProblem, NuProblem, Problem
from maxmargin.problem.projection import repaired
from maxmargin.result import Iterate
from maxmargin.shown import Shown

#: The relative gap that a certificate is expected to prove by default.
WANTED = 1e-9
#: Rounding is told of where it is more than this share of a gap that is not tiny.
ROUNDING_SHOWN = 0.1


@dataclass(frozen=True, eq=False)
class Certificate(Shown):
    """What is proved about a point; prints as a small table.

    Attributes
    ----------
    primal, dual : float
        P(w, b) and D(β): the optimum lies between them.
    infeasibility : float
        |Σβ − total|, the rounding that is left of it.
    kkt_violation : float
        LIBSVM's measure of the KKT conditions; `Result.kkt` has them one by one. NaN where it was not computed: of
        running sums of a w that is not w(β), and of landmarks' w where it would take too many kernel values.
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
        """P − D, at least 0, and what rounding may have hidden of it; infinite where one side is not there.

        A dual above the primal by more than rounding means that one of the two is wrong: then it is their distance.
        """
        apart = self.primal - self.dual
        if apart < -self.rounding:
            apart = -apart
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

    def scaled(self, scale: float, moved: float) -> Certificate:
        """That of the ordinary problem which a ν-problem has found: its point is divided by `scale`.

        Both objectives are `moved` up and divided by the square of it.
        """
        return replace(
            self,
            primal=(self.primal + moved) / scale**2,
            dual=(self.dual + moved) / scale**2,
            rounding=self.rounding / scale**2,
            infeasibility=self.infeasibility / scale,
            kkt_violation=self.kkt_violation / scale,
        )

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
            ("KKT violation", "not computed" if np.isnan(self.kkt_violation) else f"{self.kkt_violation:.3g}"),
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
    if isinstance(problem, NuProblem):
        from maxmargin.certificate.nu import examine_nu  # which is made of the parts of this module

        return examine_nu(problem, iterate, fresh)
    if isinstance(problem, CrammerSingerProblem):
        from maxmargin.certificate.crammer_singer import examine_crammer_singer

        return examine_crammer_singer(problem, iterate, fresh)
    pair, scores = _completed(problem, iterate, fresh, wanted)  # 1.
    # 2. and 3. The scores and norms, and both objectives; again with more precision where rounding matters.
    values = pair.bounded(scores) if bounded else pair.plain(scores, fresh)
    enough = 0.1 * max(values.primal - values.dual, wanted * abs(values.primal))
    if fresh and not bounded and values.rounding > enough and (pair.linked or proves_kkt(problem, pair.beta)):
        values = min(values, pair.exact(values), key=lambda one: one.rounding)
    w, b, beta = pair.w, pair.b, values.beta
    if problem.hard:
        beta = beta * values.theta
        if not iterate.answer:  # an answer stays as its algorithm gave it
            w, b = w / values.margin, b / values.margin
    # 4. What else there is to say.
    kkt = np.nan if values.dual_scores is None else kkt_violation(problem, beta, values.dual_scores)
    kkt = np.inf if bounded else kkt
    kkt = max(kkt, values.dual_violation)  # in this order NaN stays NaN
    certificate = Certificate(
        primal=values.primal,
        dual=values.dual,
        infeasibility=0.0 if problem.total is None else abs(float(beta.sum()) - problem.total),
        kkt_violation=kkt,
        kinds=kinds_of(problem, beta, values.z, 0.0 if np.isnan(kkt) else kkt),
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


def _completed(problem: Problem, iterate: Iterate, fresh: bool, wanted: float) -> tuple[Pair, np.ndarray]:
    """The two sides of an iterate: β feasible, w = w(β) unless the solver has a w of its own; and the scores of w."""
    space = problem.space
    if iterate.b is not None and problem.bias != "free":
        raise InvalidInput(f"the point has a bias b, which a problem with bias={problem.bias!r} does not have")
    beta, w, scores = iterate.beta, iterate.w, None if fresh else iterate.scores
    quadratic = problem.regularizer.quadratic
    linked = iterate.linked and beta is not None and quadratic
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
        w = space.combine(beta) if quadratic else np.zeros(space.size)
    scores = space.scores(w) if scores is None else scores
    # A hard margin rescales its point: a bias that was kept belongs to another multiple of w(β).
    b = problem.best_bias(scores) if iterate.b is None or (problem.hard and linked) else iterate.b
    if beta is None:
        beta = problem.dual_point(scores, b)
    kind = Pair if quadratic else ConstrainedPair
    return kind(problem, w, b, beta, linked, 0.01 * wanted), scores


def _positive(problem: Problem, beta: np.ndarray, values: Values, fresh: bool) -> bool | None:
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
