"""The two objectives of a pair, a primal point (w, b) and a feasible dual point β: in float64 or more precisely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maxmargin.certificate.exact import combination, decisions, kernel_scores, square
from maxmargin.certificate.rounding import (
    Errors,
    exact_kernel_error,
    exact_linear_errors,
    hard_rounding,
    plain_errors,
    soft_rounding,
)
from maxmargin.problem import Problem
from maxmargin.problem.space import KernelSpace, LinearSpace

#: Kernel values that Kβ of a point whose w is another may take, besides those of βᵀKβ: it tells the KKT violation, and
#: a better bound on the rounding of Σβ.
MOST_VALUES = 2e9
#: Multiply-adds that differences of rows may take.
MOST_DIFFERENCES = 2e9


@dataclass(frozen=True, eq=False)
class Values:
    """What the two objectives of a pair are, and what they were made from."""

    primal: float
    dual: float
    #: A bound on the rounding of P − D; 0 for running sums.
    rounding: float
    #: Decision values of the primal point (of (w, b)/m for a hard margin) and Kβ (of θβ).
    z: np.ndarray
    dual_scores: np.ndarray | None
    dual_sqnorm: float
    #: The feasible dual point.
    beta: np.ndarray
    #: The m and θ of a hard margin; 1 for any other.
    margin: float = 1.0
    theta: float = 1.0
    exact: bool = False
    #: How far the weights are from what the dual says of them, where they are not w(β).
    dual_violation: float = 0.0


@dataclass(frozen=True, eq=False)
class Pair:
    """A primal point (w, b) and a feasible dual point β, to be evaluated."""

    problem: Problem
    w: np.ndarray
    b: float
    beta: np.ndarray
    #: Whether w is w(β).
    linked: bool
    #: A relative rounding below this need not be bounded any better.
    enough: float

    def plain(self, scores: np.ndarray, fresh: bool) -> Values:
        """In float64; an unlinked pair pays for Kβ only when it is certified for good."""
        space, w, beta = self.problem.space, self.w, self.beta
        sqnorm = space.sqnorm(w, scores)
        if self.linked:
            dual_sqnorm, dual_scores = sqnorm, scores
        elif fresh and proves_kkt(self.problem, beta):
            v = space.combine(beta)
            dual_scores = space.scores(v)
            dual_sqnorm = space.sqnorm(v, dual_scores)
        else:
            dual_scores, dual_sqnorm = None, space.sqnorm(space.combine(beta))
        errors = plain_errors(self.problem, w, beta, dual_sqnorm) if fresh else None
        return self._values(scores + self.b, sqnorm, dual_scores, dual_sqnorm, errors)

    def _longest(self) -> tuple[float, np.ndarray]:
        """Σ|β_j|√k_jj and √k_ii: the length of w(β) is at most the first, and |(Kβ)_i| the product of both."""
        lengths = np.sqrt(self.problem.space.diag())
        return 1.001 * float(np.abs(self.beta) @ lengths), lengths  # more than any rounding of this sum

    def bounded(self, scores: np.ndarray) -> Values:
        """In float64, with bounds in the place of Kβ and of βᵀKβ: |(Kβ)_i| ≤ √k_ii Σ|β_j|√k_jj for a positive K."""
        longest, lengths = self._longest()
        errors = plain_errors(self.problem, self.w, self.beta, longest * longest)
        sqnorm = self.problem.space.sqnorm(self.w, scores)
        return self._values(scores + self.b, sqnorm, -longest * lengths, longest * longest, errors)

    def exact(self, plain: Values) -> Values:
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
    ) -> Values:
        problem, b, beta = self.problem, self.b, self.beta
        if not problem.hard:
            primal = 0.5 * sqnorm + problem.loss_sum(z) + (problem.total or 0.0) * b
            dual = problem.dual_terms(beta) - 0.5 * dual_sqnorm
            rounding = 0.0
            if errors is not None:
                known = dual_scores
                if known is None:
                    longest, lengths = self._longest()
                    known = -longest * lengths
                rounding = soft_rounding(problem, z, b, primal, beta, known, errors, self.enough * abs(primal))
            return Values(primal, dual, rounding, z, dual_scores, dual_sqnorm, beta, exact=exact)
        m, primal, theta, dual = _hard(problem, z, beta, sqnorm, dual_sqnorm)
        rounding = 0.0
        if errors is not None and dual_scores is not None and np.isfinite(primal):
            rounding = hard_rounding(problem, self.w, m, sqnorm, beta, theta, z, b, dual_scores, errors)
        if not np.isfinite(rounding):  # the least margin is 0 but for rounding: no hyperplane is proved to separate
            m, primal, rounding = 1.0, np.inf, 0.0
        dual_scores = None if dual_scores is None else dual_scores * theta
        return Values(primal, dual, rounding, z / m, dual_scores, dual_sqnorm, beta, m, theta, exact)


def proves_kkt(problem: Problem, beta: np.ndarray) -> bool:
    """Whether Kβ is worth its kernel values to the certificate of a point whose w is not w(β)."""
    if not isinstance(problem.space, KernelSpace) or problem.kernel.given or problem.hard:
        return True
    return bool(float(problem.n) * np.count_nonzero(beta) <= MOST_VALUES)


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
