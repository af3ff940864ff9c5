"""ε-insensitive: ℓ(z) = max(0, |z − t| − ε), support vector regression. Dual: a tube ε|β| and the box |β| ≤ C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.losses.base import DualForm, Loss, Task, zeros_like


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """max(0, |z − t| − ε), the loss of support vector regression.

    Parameters
    ----------
    epsilon : float, default 0.1
        The width of the tube: errors up to it cost nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.losses import EpsilonInsensitive
    >>> EpsilonInsensitive(epsilon=0.5).value(np.array([1.25, 3.0]), np.array([1.0, 1.0]))
    array([0. , 1.5])
    """

    name: ClassVar[str] = "epsilon-insensitive"
    task: ClassVar[Task] = "regression"
    curvature: ClassVar[float] = np.inf
    steepest: ClassVar[float] = 1.0

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)

    def value(self, z, t):
        return np.maximum(0.0, np.abs(z - t) - self.epsilon)

    def slope(self, z, t):
        return np.where(np.abs(z - t) > self.epsilon, np.sign(z - t), 0.0)

    def conjugate(self, u, t):
        return np.where(np.abs(u) <= 1.0, u * t + self.epsilon * np.abs(u), np.inf)

    def bounds(self, t, C):
        return -C, +C

    def dual_form(self, t, C):
        lower, upper = self.bounds(t, C)
        tube = np.full(len(t), self.epsilon)
        return DualForm(t, zeros_like(t), tube, lower, upper, self.total(C))

    def kinks(self, t):
        return [t - self.epsilon, t + self.epsilon]


def check_epsilon(epsilon: float) -> None:
    """Refuse a tube of negative or infinite width."""
    if not 0.0 <= epsilon < np.inf:
        raise InvalidInput(f"epsilon is {epsilon}; it must be a finite number ≥ 0")
