"""Squared ε-insensitive: ℓ(z) = max(0, |z − t| − ε)². Dual: a tube ε|β| and a ridge 1/(2C), no bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.losses.base import DualForm, Loss, Task, ridge_of
from maxmargin.losses.epsilon_insensitive import check_epsilon


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(Loss):
    """max(0, |z − t| − ε)².

    Parameters
    ----------
    epsilon : float, default 0.1
        The width of the tube: errors up to it cost nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.losses import SquaredEpsilonInsensitive
    >>> SquaredEpsilonInsensitive(epsilon=0.5).value(np.array([1.25, 3.0]), np.array([1.0, 1.0]))
    array([0.  , 2.25])
    """

    name: ClassVar[str] = "squared-epsilon-insensitive"
    task: ClassVar[Task] = "regression"
    curvature: ClassVar[float] = 2.0

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)

    def value(self, z, t):
        return np.maximum(0.0, np.abs(z - t) - self.epsilon) ** 2

    def slope(self, z, t):
        return 2.0 * np.sign(z - t) * np.maximum(0.0, np.abs(z - t) - self.epsilon)

    def second_derivative(self, z, t):
        return np.where(np.abs(z - t) >= self.epsilon, 2.0, 0.0)  # ≥: without a tube it is 2 everywhere

    def conjugate(self, u, t):
        return u * t + self.epsilon * np.abs(u) + 0.25 * u * u

    def bounds(self, t, C):
        reach = np.where(C > 0, np.inf, 0.0)
        return -reach, reach

    def dual_form(self, t, C):
        lower, upper = self.bounds(t, C)
        tube = np.full(len(t), self.epsilon)
        return DualForm(t, ridge_of(C), tube, lower, upper, self.total(C))
