"""One-class (ν): ℓ(z) = max(0, −z) with the free bias b = −ρ rewarded by νΣC; novelty detection.

P(w, b) = ½‖w‖² + Σ C_i max(0, −z_i) + ν ΣC · b,  so that the dual is  −½βᵀKβ  with  0 ≤ β ≤ C,  Σβ = ν ΣC,
which with C = 1 is LIBSVM's scale (Schölkopf et al., Neural Computation 13, 2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.losses.base import DualForm, Loss, Task, zeros_like


@dataclass(frozen=True)
class OneClass(Loss):
    """max(0, −z), for novelty detection: a sample on the wrong side of the hyperplane is an outlier.

    Parameters
    ----------
    nu : float, default 0.5
        In (0, 1]: a bound on the share of outliers, and at most the share of support vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.losses import OneClass
    >>> OneClass(nu=0.1).value(np.array([0.5, -2.0]), np.array([1.0, 1.0]))
    array([0., 2.])
    """

    name: ClassVar[str] = "one-class"
    task: ClassVar[Task] = "novelty"
    curvature: ClassVar[float] = np.inf
    steepest: ClassVar[float] = 1.0

    nu: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 < self.nu <= 1.0:
            raise InvalidInput(f"nu is {self.nu}; it must lie in (0, 1]")

    def value(self, z, t):
        return np.maximum(0.0, -z)

    def slope(self, z, t):
        return np.where(z < 0.0, -1.0, 0.0)

    def conjugate(self, u, t):
        return np.where((u >= -1.0) & (u <= 0.0), 0.0, np.inf)

    def bounds(self, t, C):
        return np.zeros(len(C)), +C

    def dual_form(self, t, C):
        lower, upper = self.bounds(t, C)
        return DualForm(zeros_like(t), zeros_like(t), zeros_like(t), lower, upper, self.total(C))

    def kinks(self, t):
        return [zeros_like(t)]

    def total(self, C):
        return self.nu * float(C.sum())
