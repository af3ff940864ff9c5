"""NuProblem: the margin ρ of ν-SVC, or the tube ε of ν-SVR, is a variable, and the mass of the dual variables is given.

With the mass S = ν ΣC, and for every sample a room U_i for β_i > 0 and L_i for β_i < 0,

    primal   ½‖w‖² + Σ U_i max(0, r_i − a) + Σ L_i max(0, c − r_i) + ½S(a − c)    over w, a, c;  r_i = t_i − ⟨w, φ(x_i)⟩
    dual     tᵀβ − ½‖w(β)‖²       β = p − m,  0 ≤ p ≤ U,  0 ≤ m ≤ L,  Σp = Σm = ½S

    ν-SVC   t = 0, U = C for the second class and L = C for the first:  a = b − ρ, c = b + ρ
    ν-SVR   U = L = C:                                                   a = b + ε, c = b − ε

The two thresholds a and c are quantiles of r: above a lies the mass ½S of U, below c that of L.

Schölkopf, Smola, Williamson & Bartlett, "New support vector algorithms", Neural Computation 12, 2000.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.losses import DualForm
from maxmargin.losses.epsilon_insensitive import EpsilonInsensitive
from maxmargin.losses.hinge import Hinge
from maxmargin.numeric.compiled import compiled
from maxmargin.problem.problem import Problem
from maxmargin.problem.projection import project
from maxmargin.problem.validation import is_number

#: Halvings of the interval in which a quantile is, at most.
MOST_HALVINGS = 200


class NuArrays(NamedTuple):
    """A ν-problem as compiled code takes it: t, U, L, C, ½S, and whether it tells classes apart."""

    target: np.ndarray
    above: np.ndarray
    below: np.ndarray
    C: np.ndarray
    half: float
    of_classes: bool


@dataclass(frozen=True, eq=False, init=False, repr=False)
class NuProblem(Problem):
    """A maximum-margin problem with a share ν of the samples instead of a margin or a tube.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Samples in rows.
    y : array of length n, default None
        Two labels of any kind, or real targets for a regression.
    nu : float, default 0.5
        In (0, 1]: at most this share of the samples (by weight) is inside the margin or outside the tube, and at least
        this share are support vectors.
    loss : "hinge" or "epsilon-insensitive", default "hinge"
        For classes, or for a regression, whose ε is found.
    **more : any
        The other parameters of `Problem`: kernel, C, sample_weight, ...

    Examples
    --------
    >>> from maxmargin import NuProblem, solve
    >>> result = solve(NuProblem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], nu=0.5), tol=1e-6)
    >>> result.converged, round(result.point.tau, 3)
    (True, 3.0)
    """

    family: ClassVar[str] = "nu"

    nu: float

    def __init__(self, X: Any, y: Any = None, nu: float = 0.5, loss: Any = "hinge", **more: Any) -> None:
        vars(self).update(vars(NuProblem.of(Problem(X, y, loss, **more), nu)))

    @classmethod
    def of(cls, problem: Problem, nu: float) -> NuProblem:
        """The ν-problem on the same data, with the same weights."""
        if not is_number(nu) or not 0.0 < nu <= 1.0:
            raise InvalidInput(f"nu is {nu!r}; it must be a number in (0, 1]")
        if not isinstance(problem.loss, (Hinge, EpsilonInsensitive)):
            raise InvalidInput(f"the loss {problem.loss.name!r} has no nu; use 'hinge' or 'epsilon-insensitive'")
        if problem.bias != "free":
            raise InvalidInput("nu needs bias='free': its threshold is part of the problem")
        if problem.hard:
            raise InvalidInput("nu needs a finite C")
        other = object.__new__(cls)
        fields = {name: value for name, value in vars(problem).items() if name in Problem.__dataclass_fields__}
        vars(other).update(fields, nu=float(nu))
        room = min(float(other.rooms[0].sum()), float(other.rooms[1].sum()))
        if other.half > room * (1.0 + 1e-12):
            most = 2.0 * room / float(problem.C.sum())
            raise InvalidInput(
                f"specified nu is infeasible: nu={nu} needs as many support vectors of each class, and the smaller"
                f" class allows nu ≤ {most:.4g}"
            )
        return other

    # What it is

    @property
    def of_classes(self) -> bool:
        """Whether it tells classes apart."""
        return self.task == "classification"

    @cached_property
    def half(self) -> float:
        """½S: the mass of either side."""
        return 0.5 * self.nu * float(self.C.sum())

    @cached_property
    def rooms(self) -> tuple[np.ndarray, np.ndarray]:
        """U and L."""
        if not self.of_classes:
            return self.C, self.C
        return np.where(self.target > 0, self.C, 0.0), np.where(self.target > 0, 0.0, self.C)

    @cached_property
    def form(self) -> DualForm:
        """The arrays of the dual; that it has a second sum is for the solver to know."""
        zeros = np.zeros(self.n)
        above, below = self.rooms
        return DualForm(zeros if self.of_classes else self.target, zeros, zeros, -below, above, 0.0)

    @cached_property
    def arrays(self) -> NuArrays:
        """The same for compiled code."""
        return NuArrays(self.form.target, *self.rooms, self.C, self.half, self.of_classes)

    def __repr__(self) -> str:
        return f"Nu{super().__repr__()[:-1]}, nu={self.nu:g})"

    def at(self, tau: float) -> Problem:
        """The ordinary problem for a margin ρ (scaled to 1: C is divided by ρ) or a tube ε."""
        ordinary = object.__new__(Problem)
        vars(ordinary).update({name: getattr(self, name) for name in Problem.__dataclass_fields__})
        if self.of_classes:
            return ordinary.with_cost(1.0 / tau)
        return ordinary.with_cost(1.0, EpsilonInsensitive(tau))

    # Both sides

    def thresholds(self, scores: np.ndarray) -> tuple[float, float]:
        """The best a and c for the scores of w."""
        r = self.form.target - scores
        above, below = self.rooms
        return quantile(r, above, self.half), -quantile(-r, below, self.half)

    def tau(self, scores: np.ndarray) -> float:
        """The best margin ρ or tube ε for the scores of w."""
        a, c = self.thresholds(scores)
        return 0.5 * (c - a) if self.of_classes else max(0.0, 0.5 * (a - c))

    def best_bias(self, scores: np.ndarray) -> float:
        """The best bias for the scores of w."""
        return 0.5 * sum(self.thresholds(scores))

    def loss_sum(self, z: np.ndarray) -> float:
        """The least Σ C max(0, ρ − tz) − Sρ, or Σ C max(0, |t − z| − ε) + Sε."""
        u = -self.target * z if self.of_classes else np.abs(self.target - z)
        tau = quantile(u, self.C, 2.0 * self.half)
        return float(self.C @ np.maximum(0.0, u - tau)) + 2.0 * self.half * tau

    # The feasible set

    def sides(self, beta: np.ndarray) -> np.ndarray:
        """P and −m as two rows; where |β| of a regression is less than S, the rest is on both sides of some samples."""
        v = np.stack([np.maximum(beta, 0.0), np.minimum(beta, 0.0)])
        rest = self.half - float(v[0].sum())
        if self.of_classes or rest <= 0.0:
            return v
        room = np.cumsum(self.C - np.abs(beta))
        added = np.diff(np.minimum(room, rest), prepend=0.0)
        return v + np.stack([added, -added])

    def steepest(self, scores: np.ndarray) -> np.ndarray:
        """The β of the largest slope at these scores: each side filled from where r is largest, or least."""
        r = self.form.target - scores
        beta = np.zeros(self.n)
        for sign, room in zip((1.0, -1.0), self.rooms, strict=True):
            order = np.argsort(-sign * r, kind="stable")
            beta[order] += sign * np.diff(np.minimum(np.cumsum(room[order]), self.half), prepend=0.0)
        return beta

    def feasible(self, beta: np.ndarray) -> np.ndarray:
        """A feasible point near β: the nearest for classes."""
        above, below = self.rooms
        if self.of_classes:
            zeros = np.zeros(self.n)
            return project(beta, zeros, above, self.half) + project(beta, -below, zeros, -self.half)
        near = project(beta, -below, above, 0.0)
        size = float(np.abs(near).sum())
        return near * min(1.0, 2.0 * self.half / size) if size > 0.0 else near

    def is_feasible(self, beta: np.ndarray) -> bool:
        """Within the box exactly, and of the right sums up to the rounding of a sum."""
        lower, upper = self.bounds
        return not ((beta < lower).any() or (beta > upper).any()) and self.apart(beta) <= 1e-12 * self.half

    def apart(self, beta: np.ndarray) -> float:
        """How far the two sums are from what they must be."""
        rises, falls = float(beta[beta > 0.0].sum()), -float(beta[beta < 0.0].sum())
        if self.of_classes:
            return abs(rises - self.half) + abs(falls - self.half)
        return abs(rises - falls) + max(0.0, rises - self.half)

    def dual_point(self, scores: np.ndarray, b: float) -> np.ndarray:
        """A feasible β from the scores of w."""
        return self.feasible(self.steepest(scores))

    def with_cost(self, factor: float, loss: Any = None) -> NuProblem:
        """The same with every weight multiplied."""
        return NuProblem.of(Problem.with_cost(self.at(1.0), factor, loss), self.nu)


@compiled
def quantile(values, weights, mass):
    """The minimiser of Σ W max(0, v − a) + mass·a: above a lies that mass; the middle where several are as good."""
    place = element(values, weights, mass)
    total, below = 0.0, -np.inf
    for k in range(len(values)):
        if weights[k] > 0.0:
            if values[k] >= place:
                total += weights[k]
            else:
                below = max(below, values[k])
    return 0.5 * (place + below) if total <= mass * (1.0 + 1e-12) and below > -np.inf else place


@compiled
def element(values, weights, mass):
    """The largest of the values with at least that mass at it or above: found by halving, without an order of all."""
    low, high = np.inf, -np.inf
    for k in range(len(values)):
        if weights[k] > 0.0:
            low, high = min(low, values[k]), max(high, values[k])
    for _ in range(MOST_HALVINGS):
        if not low < high:
            break
        middle = low + 0.5 * (high - low)
        if not middle < high:
            middle = low
        total, up, down = 0.0, np.inf, -np.inf
        for k in range(len(values)):
            if weights[k] > 0.0:
                if values[k] > middle:
                    total += weights[k]
                    up = min(up, values[k])
                else:
                    down = max(down, values[k])
        if total >= mass * (1.0 - 1e-12):
            low = up
        else:
            high = down
    return low
