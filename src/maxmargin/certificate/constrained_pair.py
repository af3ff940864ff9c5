"""The two objectives of a pair where the regulariser bounds the dual: r* is 0 or infinite, as for ‖w‖₁.

    P(w,b) = r(w) + Σ C_i ℓ_i(z_i)          D(β) = −Σ C_i ℓ_i*(−β_i/C_i)   for a v = Σ β_i φ(x_i) that r* reaches

    1. θ = min(1, reach(v)) makes θβ feasible, and D(θβ) ≥ θ D(β) + (1 − θ) D(0), as D is concave, and D(0) ≥ 0.
    2. Where the rounding of v, or that of the products θβ_i, may hide that θβ is outside by a share e, (1 − e) θβ is
       inside, and costs at most e |D|.

There is no w(β): how far w is from what v says of it is the violation of 0 ∈ ∂r(w) − v. For ‖w‖₁ this is
max |v_j − sign w_j| over the weights that are not 0.
"""

from __future__ import annotations

import numpy as np

from maxmargin.certificate.exact import combination, decisions, sum_of
from maxmargin.certificate.pair import Pair, Values
from maxmargin.certificate.rounding import (
    EPS,
    Errors,
    combination_error,
    constrained_rounding,
    exact_linear_errors,
    plain_errors,
)
from maxmargin.problem.space import LinearSpace


class ConstrainedPair(Pair):
    """A primal point (w, b) and a dual point β, which is made feasible, to be evaluated."""

    def plain(self, scores: np.ndarray, fresh: bool) -> Values:
        """In float64."""
        space, beta = self.problem.space, self.beta
        assert isinstance(space, LinearSpace)
        v = space.combine(beta)
        if not fresh:
            return self._evaluated(scores, v, 0.0, None)
        wrong = combination_error(space, beta)
        return self._evaluated(scores, v, wrong, plain_errors(self.problem, self.w, beta, 0.0))

    def exact(self, plain: Values) -> Values:
        """With twice the precision."""
        space, beta = self.problem.space, self.beta
        assert isinstance(space, LinearSpace)
        z = decisions(space, self.w, self.b)
        v, lost = combination(space, beta)
        v = v + lost
        wrong = EPS * float(np.abs(v).max(initial=0.0)) + combination_error(space, beta, exact=True)
        return self._evaluated(z - self.b, v, wrong, exact_linear_errors(space, self.w, beta, z, 0.0), z, exact=True)

    def _evaluated(
        self,
        scores: np.ndarray,
        v: np.ndarray,
        wrong: float,
        errors: Errors | None,
        z: np.ndarray | None = None,
        exact: bool = False,
    ) -> Values:
        problem, w, b = self.problem, self.w, self.b
        regularizer = problem.regularizer
        z = scores + b if z is None else z
        # 1.
        theta = min(1.0, regularizer.reach(v))
        beta, v = self.beta * theta, v * theta
        own = regularizer.value(w)
        primal, dual = own + problem.loss_sum(z), problem.dual_terms(beta)
        rounding = 0.0
        if errors is not None:
            # 2. A free bias asks for Σβ = 0 besides: what is left of it is taken off one variable.
            rest = 0.0 if problem.total is None else sum(map(abs, sum_of(beta)))
            largest = problem.space.largest**0.5
            if theta < 1.0:
                wrong = wrong + EPS * largest * float(np.abs(beta).sum())
            outside = 1.0 / regularizer.reach(np.abs(v) + wrong + rest * largest) - 1.0
            slope = len(w) * EPS * own
            rounding = constrained_rounding(problem, z, b, primal, slope, beta, errors, rest, self.enough * abs(primal))
            rounding += max(0.0, outside) * abs(dual)
        used = w != 0.0
        gaps = regularizer.gaps(w, v)[used] / np.abs(w[used])
        return Values(
            primal, dual, rounding, z, scores, 0.0, beta, exact=exact, dual_violation=float(gaps.max(initial=0.0))
        )
