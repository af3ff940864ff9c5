"""Hinge: ℓ(z) = max(0, 1 − yz). Its dual lives in the box 0 ≤ yβ ≤ C; with C = ∞ it is the hard margin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.losses.base import DualForm, Loss, Task, one_sided, zeros_like


@dataclass(frozen=True)
class Hinge(Loss):
    """The hinge max(0, 1 − yz), the loss of the support vector machine; ``C=inf`` makes it the hard margin.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.losses import Hinge
    >>> Hinge().value(np.array([-1.0, 0.5, 2.0]), np.array([1.0, 1.0, 1.0]))
    array([2. , 0.5, 0. ])
    """

    name: ClassVar[str] = "hinge"
    task: ClassVar[Task] = "classification"
    curvature: ClassVar[float] = np.inf
    steepest: ClassVar[float] = 1.0
    margin: ClassVar[bool] = True
    hard_margin: ClassVar[bool] = True

    def value(self, z, t):
        return np.maximum(0.0, 1.0 - t * z)

    def slope(self, z, t):
        return np.where(t * z < 1.0, -t, 0.0)

    def conjugate(self, u, t):
        a = -t * u
        return np.where((a >= 0.0) & (a <= 1.0), -a, np.inf)

    def bounds(self, t, C):
        return one_sided(t, C)

    def dual_form(self, t, C):
        lower, upper = self.bounds(t, C)
        return DualForm(t, zeros_like(t), zeros_like(t), lower, upper, self.total(C))

    def kinks(self, t):
        return [t]
