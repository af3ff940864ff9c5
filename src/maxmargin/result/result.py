"""Result and Status: the best point of a run with its proof, and why the run ended."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.problem import NuProblem, Problem
from maxmargin.result.iterate import Iterate
from maxmargin.result.trace import Trace
from maxmargin.shown import Shown

if TYPE_CHECKING:
    from maxmargin.certificate import Certificate
    from maxmargin.certificate.kkt import KKT
    from maxmargin.page import Page
    from maxmargin.solvers.base import Solver


class Reason(Enum):
    """Why a run ended: ``result.status.reason``; its value is the reason in words.

    Examples
    --------
    >>> from maxmargin import Problem, Reason, solve
    >>> result = solve(Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]))
    >>> result.status.reason is Reason.CONVERGED
    True
    """

    CONVERGED = "converged"
    MAX_ITER = "iteration budget used up"
    MAX_TIME = "time budget used up"
    INTERRUPTED = "interrupted"
    CALLBACK = "stopped by a callback"
    STALLED = "no further progress"
    DIVERGED = "diverged"
    FINISHED = "the algorithm has ended"
    INSEPARABLE = "not separable"


@dataclass(frozen=True)
class Status:
    """Why the run ended, in words, and what to do next; prints as one line.

    Attributes
    ----------
    reason : Reason
        Why it ended.
    text : str
        The gap that was reached, and what to do where that is not enough.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> status = solve(Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1])).status
    >>> str(status).split(":")[0]
    'converged'
    """

    reason: Reason
    text: str

    def __str__(self) -> str:
        return f"{self.reason.value}: {self.text}"

    def __getstate__(self) -> dict[str, str]:
        return {"reason": self.reason.name, "text": self.text}

    def __setstate__(self, state: dict[str, str]) -> None:
        vars(self).update(reason=Reason[state["reason"]], text=state["text"])


@dataclass(frozen=True, eq=False)
class Result(Shown):
    """A fit with its proof: the point, the certificate, the trace, and the problem they belong to.

    Attributes
    ----------
    problem : Problem
        What was solved.
    solver : Solver
        What solved it.
    status : Status
        Why the run ended.
    point : Iterate
        The point that the certificate speaks of: w in the problem's space, the free bias, the dual point.
    certificate : Certificate
        What is proved of it.
    trace : Trace
        What the loop saw on the way.
    tol : float
        The relative gap that was asked for.
    related : dict, default empty
        Certificates of problems that the solver really worked on, by name (the penalty method).
    chosen : bool, default False
        Whether "auto" chose the solver.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> result = solve(Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]), tol=1e-6)
    >>> result.support, result.beta[result.support].round(3), round(result.margin_width, 3)
    (array([1, 2]), array([-0.5,  0.5]), 2.0)
    """

    problem: Problem
    solver: Solver
    status: Status
    point: Iterate
    certificate: Certificate
    trace: Trace
    tol: float
    related: dict[str, Certificate] = field(default_factory=dict)
    chosen: bool = False

    @cached_property
    def ordinary(self) -> Result:
        """The same fit as one of the ordinary problem whose margin or tube a ν-problem has found; itself for others.

        The ν of the classes has a margin ρ, which becomes 1: w, b and β are divided by it, and so is C.
        """
        problem, point, one = self.problem, self.point, self.certificate
        if not isinstance(problem, NuProblem):
            return self
        tau = point.tau or 0.0
        scale = tau if problem.of_classes and tau > 0.0 else 1.0
        assert point.w is not None and point.b is not None and point.beta is not None
        moved = tau * float(np.abs(point.beta).sum()) * (1.0 if problem.of_classes else -1.0)
        certificate = one.scaled(scale, moved)
        ordinary = problem.at(scale if problem.of_classes else tau)
        beta = np.clip(point.beta / scale, *ordinary.bounds)
        point = replace(point, w=point.w / scale if problem.linear else beta, b=point.b / scale, beta=beta)
        return replace(self, problem=ordinary, point=point, certificate=certificate)

    @cached_property
    def w(self) -> np.ndarray | None:
        """The normal of the hyperplane, or one row a class; None where it has no coordinates (a kernel): see `coef`."""
        return self.problem.normal(self._weights) if self.problem.linear else None

    @cached_property
    def coef(self) -> np.ndarray | None:
        """The coefficients of w = Σ coef_i φ(x_i): β for a dual method, signed counts for the perceptron; or None."""
        if self.point.answer:
            return self.raw_beta
        if not self.problem.linear:
            return self._weights
        if not self.point.linked:
            return None
        if not self.problem.hard:
            return self.beta
        along = self.problem.space.combine(self.beta)  # a hard margin's w is a multiple of w(β), near 1
        return self.beta * float(self._weights @ along) / max(float(along @ along), np.finfo(float).tiny)

    @cached_property
    def b(self) -> Any:
        """The bias, of whichever mode; one for each class where all are in one problem."""
        return self.problem.space.bias(self._weights) + (self.point.b or 0.0)

    @property
    def beta(self) -> np.ndarray:
        """The signed dual point, β_i = y_i α_i for two classes; one column a class where all are in one problem."""
        assert self.point.beta is not None
        return self.problem.by_class(self.point.beta)

    @property
    def raw_beta(self) -> np.ndarray:
        """The solver's own β before it was made feasible; `beta` itself for most solvers.

        The penalty method keeps Σβ = 0 only nearly, and the perceptron counts corrections.
        """
        return self.beta if self.point.raw is None else self.problem.by_class(self.point.raw)

    @property
    def alpha(self) -> np.ndarray:
        """The multipliers of the margin constraints, α_i = y_i β_i ≥ 0; only for classes."""
        return self.problem.signs("alpha") * self.beta

    @property
    def slack(self) -> np.ndarray:
        """ξ_i = max(0, 1 − y_i z_i): how far each sample is inside its margin; only for classes."""
        y = self.problem.signs("slack")
        return np.maximum(0.0, 1.0 - y * (self.problem.space.scores(self._weights) + (self.point.b or 0.0)))

    @property
    def slack_multipliers(self) -> np.ndarray:
        """The multipliers C_i − α_i of ξ_i ≥ 0; only for classes."""
        return self.problem.C - self.alpha

    @property
    def margin_width(self) -> float:
        """The distance 2/‖w‖ between the two margins, in the space of φ; infinite for w = 0."""
        norm = self.problem.sqnorm_without_bias(self._weights) ** 0.5
        return 2.0 / norm if norm > 0.0 else np.inf

    @property
    def support_biases(self) -> np.ndarray:
        """The bias that each free support vector gives, y_i − ⟨w, φ(x_i)⟩; at the optimum all of them are b.

        In the order of ``certificate.kinds.free``; only for classes.
        """
        free = self.certificate.kinds.free
        scores = self.problem.space.scores(self._weights) - self.problem.space.bias(self._weights)
        return self.problem.signs("support_biases")[free] - scores[free]

    @cached_property
    def kkt(self) -> KKT:
        """The KKT conditions one by one, with the residual and the worst sample of each; prints as a table."""
        from maxmargin.certificate.kkt import kkt_of

        ordinary = self.ordinary
        return kkt_of(ordinary.problem, ordinary.point)

    @property
    def support(self) -> np.ndarray:
        """The indices of the support vectors, free and bound."""
        return np.flatnonzero(self.certificate.kinds.support)

    @property
    def converged(self) -> bool:
        """Whether the recomputed relative gap is within the tolerance asked for."""
        return self.status.reason is Reason.CONVERGED

    @property
    def iterations(self) -> int:
        """The solver's own count at the point that was kept."""
        return self.point.k

    def decision_function(self, Z: Any) -> np.ndarray:
        """⟨w, φ(z)⟩ + b for new rows."""
        Z = self.problem.check_new(Z)
        return self.problem.space.decision(Z, self._weights) + (self.point.b or 0.0)

    def predict(self, Z: Any) -> np.ndarray:
        """Labels (or values, for a regression) for new rows."""
        return self.problem.labels(self.decision_function(Z))

    def certify(self) -> Certificate:
        """The certificate again, recomputed from β, w, b and the data."""
        from maxmargin.certificate import examine

        return examine(self.problem, self.point, wanted=self.tol).certificate

    def report(self, path: str | PathLike[str] | None = None) -> Path | Page:
        """Write this fit as one self-contained HTML file: verdict, certificate, figures, advice; returns its path.

        Without a path it returns the page itself, which a notebook shows inline.
        """
        from maxmargin.report import report

        return report(self.ordinary, path)

    @property
    def _weights(self) -> np.ndarray:
        assert self.point.w is not None
        return self.point.w

    def __str__(self) -> str:
        return f"{self.problem!r}\nby {self.solver}\n{self.certificate}\n{self.status}"
