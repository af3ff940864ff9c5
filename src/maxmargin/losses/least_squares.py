"""Least squares (MSE): ℓ(z) = (t − z)², which is (1 − yz)² for labels. Its dual is a linear system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.losses.base import DualForm, Loss, Task, ridge_of, zeros_like


@dataclass(frozen=True)
class LeastSquares(Loss):
    """The squared error (t − z)²; a regression unless the problem says ``task="classification"``.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.losses import LeastSquares
    >>> LeastSquares().value(np.array([1.0, 3.0]), np.array([1.0, 1.0]))
    array([0., 4.])
    """

    name: ClassVar[str] = "least-squares"
    task: ClassVar[Task] = "regression"
    curvature: ClassVar[float] = 2.0

    @property
    def tasks(self):
        return "regression", "classification"

    def value(self, z, t):
        return (t - z) ** 2

    def slope(self, z, t):
        return -2.0 * (t - z)

    def second_derivative(self, z, t):
        return np.full(len(z), 2.0)

    def conjugate(self, u, t):
        return u * t + 0.25 * u * u

    def bounds(self, t, C):
        reach = np.where(C > 0, np.inf, 0.0)
        return -reach, reach

    def dual_form(self, t, C):
        lower, upper = self.bounds(t, C)
        return DualForm(t, ridge_of(C), zeros_like(t), lower, upper, self.total(C))
