"""What small problems prove in compiled code: objectives, the bound on their rounding, and the fit that holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificate import Certificate
from maxmargin.certificate.exact import compensated_sum
from maxmargin.certificate.kkt import Kinds
from maxmargin.losses import DualForm
from maxmargin.numeric.compiled import compiled
from maxmargin.result import Trace

#: Seconds below which a time budget goes to the general loop, which looks at the clock more often.
SHORTEST = 1.0

EPS = float(np.finfo(np.float64).eps)


class Dual(NamedTuple):
    """The arrays of a quadratic dual, as in `DualForm`, 1/ridge, and the weights of the samples."""

    target: np.ndarray
    ridge: np.ndarray
    #: Infinite where there is no ridge: then the slope of the loss jumps.
    steepness: np.ndarray
    tube: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    C: np.ndarray


def dual_of(form: DualForm, C: np.ndarray) -> Dual:
    """The arrays of a form, for compiled code."""
    with np.errstate(divide="ignore"):
        return Dual(form.target, form.ridge, 1.0 / form.ridge, form.tube, form.lower, form.upper, C)


class Proved(NamedTuple):
    """What the compiled call proves of β; `steps` < 0 where it did not get there."""

    steps: int
    b: float
    primal: float
    dual: float
    rounding: float
    infeasibility: float
    kkt_violation: float
    correct: float


@dataclass(frozen=True, eq=False)
class SmallFit:
    """A solved small problem, or the point that it came to."""

    beta: np.ndarray
    codes: np.ndarray
    proved: Proved
    seconds: float

    @property
    def done(self) -> bool:
        """Whether the gap is proved."""
        return self.proved.steps >= 0

    def certificate(self, dtype: Any, positive: bool | None = True) -> Certificate:
        """The certificate, for rows of this precision and a kernel that is (as far as is known) positive."""
        one = self.proved
        return Certificate(
            primal=one.primal,
            dual=one.dual,
            infeasibility=one.infeasibility,
            kkt_violation=one.kkt_violation,
            kinds=Kinds(self.codes),
            precision=f"recomputed in float64 from {dtype} data",
            positive=positive,
            rounding=one.rounding,
        )

    def trace(self, certificate: Certificate, classes: bool) -> Trace:
        """The one look that there was."""
        trace = Trace(solver_seconds=self.seconds)
        accuracy = self.proved.correct if classes else np.nan
        trace.add(self.proved.steps, self.seconds, certificate, accuracy, float(self.beta.sum()))
        return trace


def converged_text(certificate: Certificate, tol: float) -> str:
    """The words of a status."""
    return f"relative gap {certificate.relative_gap:.2g}, asked for {tol:g}"


class Sums(NamedTuple):
    """‖w‖² and ‖w(β)‖², bounds on the rounding of a score and of these two, and the largest k(x, x)."""

    sqnorm: float
    dual_sqnorm: float
    off: float
    off_sqnorm: float
    off_dual_sqnorm: float
    largest: float


@compiled
def objectives(dual, total, free, beta, scores, b, dual_scores, sums):
    """Primal, dual, the bound on the rounding of their difference (`rounding.soft_rounding`), and |Σβ − total|."""
    n = len(beta)
    losses, moved, terms, sizes, ridge, steepest, size, count = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0
    for p in range(n):
        target, tube, v = dual.target[p], dual.tube[p], beta[p]
        z = scores[p] + b
        u = pull(dual, p, z)
        losses += (target - z) * u - tube * abs(u) - 0.5 * dual.ridge[p] * u * u
        e = sums.off + EPS * (1.0 + abs(z) + abs(b) + abs(target))
        moved += e * max(abs(pull(dual, p, z - e)), abs(pull(dual, p, z + e)))
        terms += target * v - tube * abs(v) - 0.5 * dual.ridge[p] * v * v
        sizes += abs(v) * (abs(target) + tube + 0.5 * dual.ridge[p] * abs(v))
        ridge = max(ridge, dual.ridge[p])
        steepest = max(steepest, abs(target - dual_scores[p] - dual.ridge[p] * v) + tube)
        size += abs(v)
        count += v != 0.0
    primal = 0.5 * sums.sqnorm + losses + total * b
    value = terms - 0.5 * sums.dual_sqnorm
    rounding = 0.5 * sums.off_sqnorm + (n + 4) * EPS * (abs(primal) + abs(total * b) + losses) + moved
    rounding += 0.5 * sums.off_dual_sqnorm + (count + 8) * EPS * sizes
    rest = 0.0
    if free:  # what it costs to make Σβ exactly the total by changing one variable
        whole, lost = compensated_sum(beta)
        rest = abs(whole + lost - total)
        missing = rest + EPS * abs(whole) + (n * EPS) * (n * EPS) * size
        rounding += missing * (1.01 * steepest + missing * (sums.largest + ridge))
    return primal, value, rounding, rest


@compiled
def pull(dual, p, z):
    """The u that attains C ℓ(z) = max_u (target − z)u − tube|u| − ½ ridge u²: −C ℓ'(z)."""
    slope = dual.target[p] - z
    steep = max(slope - dual.tube[p], 0.0) + min(slope + dual.tube[p], 0.0)
    u = steep * dual.steepness[p] if steep != 0.0 else 0.0
    return min(max(u, dual.lower[p]), dual.upper[p])


@compiled
def correct(dual, z):
    """The share of samples on the right side, of those that count."""
    right, used = 0, 0
    for p in range(len(z)):
        if dual.C[p] > 0.0:
            used += 1
            right += (z[p] > 0.0) == (dual.target[p] > 0.0)
    return right / max(used, 1)
