"""What goes through the loop and what comes out: Event, Iterate, Trace, Status, Result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.problem import Problem

if TYPE_CHECKING:
    from maxmargin.certificate import Certificate
    from maxmargin.certificate.kkt import KKT
    from maxmargin.solvers.base import Solver


@dataclass(frozen=True)
class Event:
    """One single update of a solver that makes its updates visible (``grain=1``).

    A dual method moves the dual variables of one or two samples. Of a primal method these are the coefficients in
    w = Σ coefficient_i φ(x_i), and of the perceptron its signed counts of corrections.

    Attributes
    ----------
    indices : tuple of int
        The samples whose variables moved.
    before, after : tuple of float
        Their values before and after the update.
    unclipped : float
        How far the first of them would have moved without its bounds.
    gain : float, default nan
        What the update gained in the dual; NaN for an algorithm that does not climb it.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1])
    >>> result = solve(problem, "smo", grain=1, every=1, snapshots=True)
    >>> result.trace.snapshots[0].event.indices
    (2, 1)
    """

    indices: tuple[int, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    unclipped: float
    gain: float = float("nan")


@dataclass(frozen=True, eq=False)
class Iterate:
    """The point of a solver after one step. Its arrays change when the solver goes on; the loop copies what it keeps.

    Parameters
    ----------
    k : int, default 0
        The solver's own count: epochs, steps or iterations.
    w : array, default None
        The weights in the problem's space: d + 1 numbers for the linear kernel, n coefficients for any other. None
        where the solver has only β.
    b : float, default None
        The free bias; None where the best one for w is meant, or there is none.
    beta : array, default None
        The dual point; None where the solver has only w.
    linked : bool, default True
        Whether w is w(β) up to rounding, so that a look need not compute it.
    scores : array, default None
        Kβ as the solver keeps it, so that a look costs no pass over the data.
    work : float, default 0.0
        Multiply-adds since the last iterate: decides how often the loop can afford to look.
    estimate : float, default None
        The solver's own guess of the relative gap; it makes the loop look, and is never believed.
    raw : array, default None
        The solver's own β, where it is not feasible: `beta` is then the feasible point made from it.
    event : Event, default None
        The single update that led here, where the solver makes them visible.
    related : Related, default None
        The problem that the solver is really working on, and its point there (the penalty method).
    answer : bool, default False
        Whether it is the solver's answer, to be kept whatever its gap (the perceptron does not minimise one).

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Iterate, Problem, certify
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1])
    >>> round(certify(problem, Iterate(w=np.array([1.0, 0.0]), b=-2.0)).primal, 6)
    0.5
    """

    k: int = 0
    w: np.ndarray | None = None
    b: float | None = None
    beta: np.ndarray | None = None
    linked: bool = True
    scores: np.ndarray | None = None
    work: float = 0.0
    estimate: float | None = None
    raw: np.ndarray | None = None
    event: Event | None = None
    related: Related | None = None
    answer: bool = False

    def kept(self) -> Iterate:
        """A copy that does not change when the solver goes on."""

        def copy(a: np.ndarray | None) -> np.ndarray | None:
            return None if a is None else a.copy()

        return replace(self, w=copy(self.w), beta=copy(self.beta), scores=None, raw=copy(self.raw))


@dataclass(frozen=True, eq=False)
class Related:
    """Another problem and a point of its dual, to be certified beside the one that was asked for."""

    name: str
    problem: Problem
    beta: np.ndarray


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One moment of a run, for figures and animations: the hyperplane and the duals."""

    iteration: int
    seconds: float
    w: np.ndarray
    b: float
    beta: np.ndarray
    #: The solver's own β before it was made feasible; equal to `beta` where there was nothing to do.
    raw_beta: np.ndarray
    #: The single update that led here, where the solver makes them visible.
    event: Event | None = None


COLUMNS = (
    "iteration",
    "seconds",
    "primal",
    "dual",
    "gap",
    "relative_gap",
    "kkt_violation",
    "accuracy",
    "support",
    "free",
    "bound",
    "beta_sum",
)


@dataclass(eq=False)
class Trace:
    """What the loop saw, one row per look; ``trace["gap"]`` is a column. The clock stood still while it looked.

    The columns are ``iteration``, ``seconds``, ``primal``, ``dual``, ``gap``, ``relative_gap``, ``kkt_violation``,
    ``accuracy``, ``support``, ``free``, ``bound`` and ``beta_sum``, which is Σβ of the solver's own β before it is made
    feasible.

    Attributes
    ----------
    rows : list of tuple, default empty
        The looks, with the columns in this order.
    snapshots : list of Snapshot, default empty
        The hyperplane and the duals of each look, where ``solve(snapshots=True)`` asked for them.
    solver_seconds : float, default 0.0
        Seconds that the solver ran.
    look_seconds : float, default 0.0
        Seconds that the loop spent on looking and certifying.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> trace = solve(Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]), "smo", every=1).trace
    >>> len(trace["gap"]) == len(trace), float(trace["accuracy"][-1])
    (True, 1.0)
    """

    rows: list[tuple[float, ...]] = field(default_factory=list)
    snapshots: list[Snapshot] = field(default_factory=list)
    solver_seconds: float = 0.0
    look_seconds: float = 0.0

    def add(
        self,
        iteration: int,
        seconds: float,
        certificate: Certificate,
        accuracy: float = np.nan,
        beta_sum: float = np.nan,
    ) -> None:
        """One more row: a look at an iteration, and what was proved there."""
        counts = certificate.kinds.counts
        proved = (certificate.primal, certificate.dual, certificate.gap, certificate.relative_gap)
        support = (counts["free"] + counts["bound"], counts["free"], counts["bound"])
        self.rows.append((iteration, seconds, *proved, certificate.kkt_violation, accuracy, *support, beta_sum))

    def __getitem__(self, column: str) -> np.ndarray:
        return np.array([row[COLUMNS.index(column)] for row in self.rows], dtype=np.float64)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, float]]:
        return (dict(zip(COLUMNS, row, strict=True)) for row in self.rows)


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


@dataclass(frozen=True, eq=False)
class Result:
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
    def w(self) -> np.ndarray | None:
        """The normal of the hyperplane; None where it has no coordinates (a kernel): see `coef`."""
        return self._weights[: self.problem.X.shape[1]] if self.problem.linear else None

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
    def b(self) -> float:
        """The bias, of whichever mode."""
        return self.problem.space.bias(self._weights) + (self.point.b or 0.0)

    @property
    def beta(self) -> np.ndarray:
        """The signed dual point, β_i = y_i α_i for classification."""
        assert self.point.beta is not None
        return self.point.beta

    @property
    def raw_beta(self) -> np.ndarray:
        """The solver's own β before it was made feasible; `beta` itself for most solvers.

        The penalty method keeps Σβ = 0 only nearly, and the perceptron counts corrections.
        """
        return self.beta if self.point.raw is None else self.point.raw

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

        return kkt_of(self.problem, self.point)

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

    def report(self, path: str | PathLike[str]) -> Path:
        """Write this fit as one self-contained HTML file: verdict, certificate, figures, advice; returns its path."""
        from maxmargin.report import report

        return report(self, path)

    @property
    def _weights(self) -> np.ndarray:
        assert self.point.w is not None
        return self.point.w

    def __str__(self) -> str:
        return f"{self.problem!r}\nby {self.solver}\n{self.certificate}\n{self.status}"
