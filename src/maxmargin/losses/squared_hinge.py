"""Squared hinge: ℓ(z) = max(0, 1 − yz)². Smooth; its dual has no upper bound but a ridge 1/(2C)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.losses.base import DualForm, Loss, Task, one_sided, ridge_of, zeros_like


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """The squared hinge max(0, 1 − yz)².

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.losses import SquaredHinge
    >>> SquaredHinge().value(np.array([-1.0, 0.5, 2.0]), np.array([1.0, 1.0, 1.0]))
    array([4.  , 0.25, 0.  ])
    """

    name: ClassVar[str] = "squared-hinge"
    task: ClassVar[Task] = "classification"
    curvature: ClassVar[float] = 2.0
    margin: ClassVar[bool] = True

    def value(self, z, t):
        return np.maximum(0.0, 1.0 - t * z) ** 2

    def slope(self, z, t):
        return -2.0 * t * np.maximum(0.0, 1.0 - t * z)

    def second_derivative(self, z, t):
        return np.where(t * z < 1.0, 2.0, 0.0)

    def conjugate(self, u, t):
        a = -t * u
        return np.where(a >= 0.0, -a + 0.25 * a * a, np.inf)

    def bounds(self, t, C):
        return one_sided(t, np.where(C > 0, np.inf, 0.0))

    def dual_form(self, t, C):
        lower, upper = self.bounds(t, C)
        return DualForm(t, ridge_of(C), zeros_like(t), lower, upper, self.total(C))
