"""ν-problems through the problems that they are in disguise: a search for the right margin or tube.

A ν-problem leaves a parameter τ to the data (the margin ρ of ν-SVC, the tube ε of ν-SVR) and prescribes the mass
S = ν ΣC of the dual variables instead:

    ν-SVC   min ½‖w‖² + Σ W_i max(0, ρ − y_i z_i) − S ρ          over w, b, ρ     dual: −½‖w(α)‖², 0 ≤ α ≤ W
    ν-SVR   min ½‖w‖² + Σ C_i max(0, |z_i − t_i| − ε) + S ε       over w, b, ε     dual: tᵀβ − ½‖w(β)‖², |β| ≤ C

For a fixed τ this is an ordinary problem, whose solution has a mass m(τ): monotone and piecewise linear in τ, as the
dual variables are. Where m(τ) = S its certificate is, up to the constant Sτ (and the scale ρ²), that of the ν-problem:

    1. Solve at τ, starting from the last point; it goes to the side of too little or of too much mass.
    2. The mixture of both sides whose mass is S is feasible for the ν-problem, and optimal once they share a piece.
    3. Certify it, recomputed from the data, at the τ that is best for its scores; stop when the gap is within tol.
    4. Go on at the τ between theirs (the secant), or far to where a side is missing.

Schölkopf, Smola, Williamson & Bartlett, "New support vector algorithms", Neural Computation 12, 2000; Chang & Lin,
"Training ν-support vector classifiers", Neural Computation 13, 2001 (the equivalence with C-SVC).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from maxmargin.certificate import Certificate, certify
from maxmargin.errors import InvalidInput
from maxmargin.loop.run import Callback
from maxmargin.losses.epsilon_insensitive import EpsilonInsensitive
from maxmargin.losses.one_class import OneClass
from maxmargin.numeric.stopwatch import now
from maxmargin.problem import Problem
from maxmargin.problem.bias import kinked_bias
from maxmargin.result import Iterate, Reason, Status, Trace
from maxmargin.training.budget import Budget
from maxmargin.training.train import Solution

#: Steps of the search; a handful is usual.
STEPS = 60
#: The problems on the way are solved to this share of the gap asked for.
INNER = 0.1
#: The gap of a rough solution, and how near to S its mass must be to need a better one.
ROUGH, CLOSE = 1e-2, 0.1
#: A margin this much smaller than the first guess is none.
VANISHED = 1e-5


@dataclass(frozen=True, eq=False)
class Side:
    """A point with too little or too much mass, and the τ that it solves."""

    tau: float
    beta: np.ndarray
    mass: float
    #: False for an end that is known without solving.
    solved: bool = True


class Search(ABC):
    """One ν-problem; `problem` is the ordinary one, with the weights C and any τ."""

    def __init__(self, problem: Problem, nu: float) -> None:
        self.problem = problem
        self.weights = problem.C
        self.total = nu * float(problem.C.sum())
        self.low, self.high = self.ends()
        #: How often in a row the same side was replaced: positive for the low one, negative for the high one.
        self.streak = 0

    @abstractmethod
    def ends(self) -> tuple[Side, Side]:
        """The solutions of least and of most mass, without solving anything."""

    @abstractmethod
    def at(self, tau: float) -> Problem:
        """The ordinary problem for a fixed τ."""

    @abstractmethod
    def scale(self, tau: float) -> float:
        """What turns the dual variables of the ν-problem into those of `at(tau)`."""

    @abstractmethod
    def best(self, scores: np.ndarray) -> float:
        """The best τ for the scores of w, the bias being free."""

    @abstractmethod
    def rewritten(self, certificate: Certificate, tau: float, mass: float) -> Certificate:
        """The certificate of `at(tau)` as that of the ν-problem, for a point of the given mass."""

    @abstractmethod
    def least(self, first: float) -> float:
        """The smallest τ that makes sense, given the first."""

    @abstractmethod
    def first(self) -> float:
        """Where to begin."""

    def take(self, side: Side) -> None:
        """A solved τ replaces the side that it is on."""
        if side.mass < self.total:
            self.low, self.streak = side, max(1, self.streak + 1)
        else:
            self.high, self.streak = side, min(-1, self.streak - 1)

    def mixture(self) -> np.ndarray:
        """The feasible point between the two sides."""
        span = self.high.mass - self.low.mass
        share = 1.0 if span <= 0.0 else min(1.0, (self.total - self.low.mass) / span)
        return self.low.beta + share * (self.high.beta - self.low.beta)

    def next(self, tau: float, guess: float) -> float:
        """Where to go on: between two sides that are solved, else towards the one that is missing.

        Between them by the secant; where one side stays put, its weight is halved each time (the Illinois rule), so
        that it is replaced, too: the mixture is sparse only when both are near.
        """
        if self.low.solved and self.high.solved:
            missing = (self.total - self.low.mass) * 0.5 ** max(0, -self.streak - 1)
            surplus = (self.high.mass - self.total) * 0.5 ** max(0, self.streak - 1)
            share = missing / (missing + surplus) if surplus > 0.0 else 0.5
            return self.low.tau + share * (self.high.tau - self.low.tau)
        least, most = sorted((self.low.tau, self.high.tau))
        if least < guess < most and not 0.8 < guess / tau < 1.25:
            return guess
        return 4.0 * tau if np.isinf(most) else 0.25 * tau


class Margin(Search):
    """ν-SVC: τ is the margin ρ, and the ordinary problem is C-SVC with C = 1/ρ."""

    def ends(self) -> tuple[Side, Side]:
        positive = self.problem.target > 0
        room = [float(self.weights[side].sum()) for side in (positive, ~positive)]
        most = min(room)
        full = self.problem.target * self.weights * np.where(positive, most / room[0], most / room[1])
        return Side(0.0, np.zeros(self.problem.n), 0.0, False), Side(np.inf, full, 2.0 * most, False)

    def at(self, tau: float) -> Problem:
        return self.problem.with_cost(1.0 / tau)

    def scale(self, tau: float) -> float:
        return 1.0 / tau

    def best(self, scores: np.ndarray) -> float:
        return 0.5 * sum(
            -_threshold(self.weights[side], 0.5 * self.total, sign * scores[side])
            for sign, side in ((1.0, self.problem.target > 0), (-1.0, self.problem.target < 0))
        )

    def rewritten(self, certificate: Certificate, tau: float, mass: float) -> Certificate:
        return replace(
            certificate,
            primal=tau**2 * certificate.primal - tau * self.total,
            dual=tau**2 * certificate.dual - tau * mass,
            infeasibility=tau * certificate.infeasibility + abs(mass - self.total),
            kkt_violation=tau * certificate.kkt_violation,
            rounding=tau**2 * certificate.rounding + 1e-15 * tau * (self.total + mass),
        )

    def least(self, first: float) -> float:
        return VANISHED * first

    def first(self) -> float:
        beta = self.mixture()
        scores = self.problem.space.scores(self.problem.space.combine(beta))
        sqnorm = float(beta @ scores)
        return max(self.best(scores), sqnorm / self.total, 1e-300)


class Tube(Search):
    """ν-SVR: τ is the tube's half-width ε, and the ordinary problem is ε-SVR."""

    def ends(self) -> tuple[Side, Side]:
        none = np.zeros(self.problem.n)
        return Side(np.inf, none, 0.0, False), Side(0.0, none, np.inf, False)

    def at(self, tau: float) -> Problem:
        return self.problem.with_cost(1.0, EpsilonInsensitive(tau))

    def scale(self, tau: float) -> float:
        return 1.0

    def best(self, scores: np.ndarray) -> float:
        residual = self.problem.target - scores
        above = _threshold(self.weights, 0.5 * self.total, -residual)
        below = -_threshold(self.weights, 0.5 * self.total, residual)
        return max(0.0, 0.5 * (above - below))

    def mixture(self) -> np.ndarray:
        # Where nothing that is solved has too much mass, less of it is feasible, too.
        return super().mixture() if self.high.solved else self.low.beta

    def next(self, tau: float, guess: float) -> float:
        # Unlike a margin, a tube may vanish: ε = 0 is a problem like any other, and the other end.
        return super().next(tau, guess) if self.high.solved else 0.0

    def rewritten(self, certificate: Certificate, tau: float, mass: float) -> Certificate:
        return replace(
            certificate,
            primal=certificate.primal + tau * self.total,
            dual=certificate.dual + tau * mass,
            rounding=certificate.rounding + 1e-15 * tau * (self.total + mass),
        )

    def least(self, first: float) -> float:
        return 0.0

    def first(self) -> float:
        return max(0.5 * self.best(np.zeros(self.problem.n)), 1e-300)


def search(
    task: Search, start: np.ndarray | None, budget: Budget, problems: int, watch: tuple[Callback, ...]
) -> tuple[Solution, float]:
    """The solution of a ν-problem, and its τ."""
    began = now()
    trace, iterations = Trace(), 0
    first = tau = task.first()
    beta = start
    while True:
        # 1.
        scale = task.scale(tau)
        problem = task.at(tau)
        tight = INNER * budget.tol
        # While there is one side only, a rough solution tells which one this is, unless its mass is close to S.
        rough = tight if task.low.solved and task.high.solved else max(tight, ROUGH)
        result = budget.solve(problem, problems, None if beta is None else scale * beta, watch, tol=rough)
        if rough > tight and abs(np.abs(result.beta).sum() / scale - task.total) < CLOSE * task.total:
            result = budget.solve(problem, problems, result, watch, tol=tight)
        iterations += result.iterations
        solved = result.beta / scale
        task.take(Side(tau, solved, float(np.abs(solved).sum())))
        # 2.
        beta = task.mixture()
        # 3.
        scores = task.problem.space.scores(task.problem.space.combine(beta))
        guess = task.best(scores)
        certified = guess if guess > 0.0 else task.least(first)
        problem = task.at(certified)
        point = Iterate(beta=task.scale(certified) * beta)
        certificate = task.rewritten(certify(problem, point), certified, float(np.abs(beta).sum()))
        trace.add(iterations, now() - began, certificate)
        ended = result.status.reason in (Reason.MAX_ITER, Reason.MAX_TIME, Reason.INTERRUPTED, Reason.CALLBACK)
        if certificate.relative_gap <= budget.tol or ended or len(trace) == STEPS:
            break
        # 4.
        tau = task.next(tau, guess)
        if tau < task.least(first):
            weight = float(task.weights.sum())
            raise InvalidInput(
                f"nu={task.total / weight:.4g} is too small for this data: its margin, if there is one, is below"
                f" {task.high.tau:.2g}; raise nu above {task.high.mass / weight:.4g}, scale the features, or use SVC"
            )
    status = _status(certificate, budget.tol, result.status)
    return _solution(problem, point, certificate, status, trace, iterations), certified


def _threshold(weights: np.ndarray, mass: float, scores: np.ndarray) -> float:
    """The minimiser of Σ W max(0, −(s + b)) + mass·b: below −b lies the given mass of samples."""
    return kinked_bias(OneClass(), np.ones(len(scores)), weights, mass, scores)


def _status(certificate: Certificate, tol: float, inner: Status) -> Status:
    gap = f"relative gap {certificate.relative_gap:.2g}, asked for {tol:g}"
    if certificate.relative_gap <= tol:
        return Status(Reason.CONVERGED, gap)
    if inner.reason is Reason.CONVERGED:
        return Status(Reason.STALLED, f"{gap}; the search for the margin or tube came to an end: ask for a larger tol")
    return Status(inner.reason, f"{gap}; {inner.text}")


def _solution(
    problem: Problem, point: Iterate, certificate: Certificate, status: Status, trace: Trace, iterations: int
) -> Solution:
    beta = point.beta
    assert beta is not None
    w = problem.space.combine(beta)
    b = problem.best_bias(problem.space.scores(w))
    normal = w[: problem.X.shape[1]] if problem.linear else None
    return Solution(beta, normal, b, certificate, status, trace, max(1, iterations))
