"""The saddle function G(w, α): convex in w, concave in α, with the primal on one side and the dual on the other.

    G(w, b, α) = ½‖w‖² − Σ β_i z_i − Σ C_i ℓ_i*(−β_i/C_i),   β_i = y_i α_i,  z_i = ⟨w, φ(x_i)⟩ + b

which for the hinge is ½‖w‖² + Σ α_i (1 − y_i z_i) with 0 ≤ α_i ≤ C_i. Then

    max_α G(w, b, α) = P(w, b),   at α_i = C_i where the sample is inside its margin and 0 elsewhere
    min_w G(w, b, α) = D(α),      at w = Σ α_i y_i φ(x_i)

and the two meet: min_w max_α G = max_α min_w G. Source 003 writes it for Σ hinge + (λ/2)‖w‖², which is λ times ours
with λ times our α; ``objective="lam"`` speaks of that one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.problem import Problem
from maxmargin.solvers.steps import Objective, lam_of, refuse_objective


@dataclass(frozen=True, eq=False)
class Saddle:
    """G(w, α) of a linear problem with two classes, its minimiser over w and its maximiser over α.

    Parameters
    ----------
    problem : Problem
        A linear classification problem with a finite C.
    objective : "C" or "lam", default "C"
        Whose G this is: of ½‖w‖² + C Σℓ with 0 ≤ α ≤ C, or of Σℓ + (λ/2)‖w‖² with λ = 1/C and 0 ≤ α ≤ 1.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem, Saddle
    >>> problem = Problem([[1.0], [-1.0]], [1, -1], bias="none", lam=0.5)
    >>> G = Saddle(problem, objective="lam")
    >>> w = G.best_w([0.25, 0.25])
    >>> w, G(w, [0.25, 0.25])
    (array([1.]), 0.25)
    """

    problem: Problem
    objective: Objective = "C"

    def __post_init__(self) -> None:
        self.problem.signs("the saddle function")
        if not self.problem.linear or self.problem.hard or not self.problem.regularizer.quadratic:
            raise InvalidInput("the saddle function is there for linear problems with a finite C and regularizer='l2'")
        if self.objective not in ("C", "lam"):
            raise InvalidInput(f"objective is {self.objective!r}; it must be 'C' or 'lam'")
        refusal = refuse_objective(self.objective, self.problem)
        if refusal is not None:
            raise InvalidInput(refusal)

    def __call__(self, w: Any, alpha: Any, b: float = 0.0) -> float:
        """G(w, b, α); −∞ for an α outside its box."""
        problem, beta = self.problem, self._beta(alpha)
        lower, upper = problem.bounds
        if (beta < lower).any() or (beta > upper).any():
            return -np.inf
        inside = self._inside(w, b)
        z = problem.space.scores(inside) + self._free(b)
        value = 0.5 * problem.space.sqnorm(inside) - float(beta @ z) + problem.dual_terms(beta)
        return self._scale * value

    def best_w(self, alpha: Any) -> np.ndarray:
        """argmin_w G(w, α) = Σ α_i y_i x_i (divided by λ in the other scale)."""
        return self.problem.space.combine(self._beta(alpha))[: self.problem.X.shape[1]]

    def best_alpha(self, w: Any, b: float = 0.0) -> np.ndarray:
        """argmax_α G(w, α): the slope of the loss at each margin, one of them where it has a kink."""
        problem = self.problem
        z = problem.space.scores(self._inside(w, b)) + self._free(b)
        return -problem.target * problem.loss.slope(z, problem.target) * problem.C * self._scale

    @property
    def _scale(self) -> float:
        return lam_of(self.problem) if self.objective == "lam" else 1.0

    def _beta(self, alpha: Any) -> np.ndarray:
        alpha = np.asarray(alpha, dtype=np.float64)
        if alpha.shape != (self.problem.n,):
            raise InvalidInput(
                f"alpha has shape {alpha.shape}; one number per sample is needed, {self.problem.n} in all"
            )
        return self.problem.target * alpha / self._scale

    def _inside(self, w: Any, b: float) -> np.ndarray:
        """(w, b) as a point of the problem's space, where an augmented bias has a place of its own."""
        w, d, constant = np.asarray(w, dtype=np.float64), self.problem.X.shape[1], self.problem.space.constant
        if w.shape != (d,):
            raise InvalidInput(f"w has shape {w.shape}; one number per feature is needed, {d} in all")
        if b and self.problem.bias == "none":
            raise InvalidInput("b is not 0, and the problem has bias='none'")
        return np.append(w, b / constant if constant else 0.0)

    def _free(self, b: float) -> float:
        return b if self.problem.bias == "free" else 0.0
