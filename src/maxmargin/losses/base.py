"""What a loss is: a convex function of the score, its slope, its conjugate, and the arrays of its dual.

Conventions: `z` are scores, `t` targets (labels −1/+1 for classification), `C` the weights, all float64 arrays of
one length. A loss is a function of one sample; the objective sums C_i ℓ_i(z_i).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from maxmargin.registry import Registry

registry: Registry[type[Loss]] = Registry("loss", "maxmargin.losses")

Task = Literal["classification", "regression", "novelty"]


class DualArrays(NamedTuple):
    """The arrays of a quadratic dual, one number per sample each, as compiled loops take them; see `DualForm`.

    A loop unpacks them before its first step: to read an array out of a tuple in every step costs a third of the time.
    """

    target: np.ndarray
    ridge: np.ndarray
    tube: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


@dataclass(frozen=True, eq=False)
class DualForm:
    """The dual as arrays; dual solvers see these and never a loss's name.

    max  targetᵀβ − Σ tube_i|β_i| − ½ βᵀ(K + diag(ridge))β    s.t. lower ≤ β ≤ upper [, Σβ = total]
    """

    target: np.ndarray
    ridge: np.ndarray
    tube: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    #: What Σβ must be; None where the bias is not free and the box is all there is.
    total: float | None

    def of(self, samples: np.ndarray) -> DualForm:
        """The arrays of some samples; what their Σβ must be is for the caller to know."""
        target, ridge, tube, lower, upper = (array[samples] for array in self.arrays)
        return DualForm(target, ridge, tube, lower, upper, None)

    @property
    def arrays(self) -> DualArrays:
        """The arrays, as compiled loops take them."""
        return DualArrays(self.target, self.ridge, self.tube, self.lower, self.upper)

    def value(self, beta: np.ndarray) -> float:
        """Everything in the dual but −½βᵀKβ."""
        return float(self.target @ beta - self.tube @ np.abs(beta) - 0.5 * (self.ridge * beta) @ beta)

    def best_multiple(self, beta: np.ndarray, sqnorm: float) -> float:
        """The maximiser of θ ↦ D(θβ) on [0, 1], where βᵀKβ = sqnorm."""
        curvature = sqnorm + float((self.ridge * beta) @ beta)
        slope = float(self.target @ beta - self.tube @ np.abs(beta))
        return min(1.0, max(0.0, slope / curvature)) if curvature > 0 else 1.0


class Loss(ABC):
    """A convex loss of one score; subclasses are frozen dataclasses whose fields are the loss's parameters.

    A new loss is one new file in this folder; CONTRIBUTING.md tells what it holds.

    Examples
    --------
    >>> from maxmargin import list_losses
    >>> list_losses()[:3]
    ['epsilon-insensitive', 'hinge', 'least-squares']
    """

    name: ClassVar[str]
    task: ClassVar[Task]
    #: The largest ℓ''; infinite where the slope jumps.
    curvature: ClassVar[float]
    #: The largest |ℓ'|; infinite where there is none.
    steepest: ClassVar[float] = np.inf
    #: Whether it is a power of the slack ξ = max(0, 1 − yz): it has a margin, which samples may be inside of.
    margin: ClassVar[bool] = False
    #: Whether C = ∞ is allowed: the hard margin.
    hard_margin: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        registry.register(cls.name, cls)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """What it can be used for, its usual task first."""
        return (self.task,)

    @property
    def smooth(self) -> bool:
        """Whether the slope is continuous."""
        return self.curvature < np.inf

    @abstractmethod
    def value(self, z: np.ndarray, t: np.ndarray) -> np.ndarray:
        """ℓ(z)."""

    @abstractmethod
    def slope(self, z: np.ndarray, t: np.ndarray) -> np.ndarray:
        """ℓ'(z), or one sub-gradient at a kink."""

    def second_derivative(self, z: np.ndarray, t: np.ndarray) -> np.ndarray:
        """ℓ''(z), from either side where it jumps; 0 between the kinks of a piecewise linear loss."""
        return np.zeros(len(z))

    @abstractmethod
    def conjugate(self, u: np.ndarray, t: np.ndarray) -> np.ndarray:
        """ℓ*(u) = sup_z uz − ℓ(z); +inf outside its domain."""

    @abstractmethod
    def bounds(self, t: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The lower and upper end of β, from the domain of the conjugate."""

    @abstractmethod
    def dual_form(self, t: np.ndarray, C: np.ndarray) -> DualForm | None:
        """The arrays of the dual, or None where the dual is not quadratic."""

    def dual_slope(self, beta: np.ndarray, t: np.ndarray, C: np.ndarray) -> np.ndarray:
        """The derivative of −C ℓ*(−β/C) with respect to β: of everything in the dual but −½βᵀKβ.

        A loss without a dual form has one of its own. Otherwise it is read off the form; at the kink of a tube it is
        the slope half-way.
        """
        form = self.dual_form(t, C)
        assert form is not None, "a loss whose dual is not quadratic has a dual_slope of its own"
        return form.target - form.ridge * beta - form.tube * np.sign(beta)

    def best_multiple(self, beta: np.ndarray, t: np.ndarray, C: np.ndarray, sqnorm: float) -> float:
        """The maximiser of θ ↦ D(θβ) on [0, 1], where βᵀKβ = sqnorm; a loss without a dual form has one of its own."""
        form = self.dual_form(t, C)
        assert form is not None, "a loss whose dual is not quadratic has a best_multiple of its own"
        return form.best_multiple(beta, sqnorm)

    def kinks(self, t: np.ndarray) -> list[np.ndarray]:
        """Scores at which the slope jumps by one, in increasing order; empty for a smooth loss."""
        return []

    def total(self, C: np.ndarray) -> float:
        """What Σβ must be when the bias is free."""
        return 0.0


def zeros_like(t: np.ndarray) -> np.ndarray:
    """An array of zeros, one per sample."""
    return np.zeros(len(t))


def ridge_of(C: np.ndarray) -> np.ndarray:
    """The ridge 1/(2C) of a squared loss; a sample of weight 0 has none, as its bounds hold it at 0."""
    return np.divide(0.5, C, out=np.zeros(len(C)), where=C > 0)


def one_sided(t: np.ndarray, reach: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bounds 0 ≤ tβ ≤ reach for labels t."""
    return np.where(t > 0, 0.0, -reach), np.where(t > 0, reach, 0.0)
