"""Logistic: ℓ(z) = log(1 + e^{−yz}). Its dual is an entropy, not a quadratic: dual_form is None."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.losses.base import Loss, Task, one_sided


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + e^{−yz})."""

    name: ClassVar[str] = "logistic"
    task: ClassVar[Task] = "classification"
    curvature: ClassVar[float] = 0.25
    steepest: ClassVar[float] = 1.0

    def value(self, z, t):
        return np.logaddexp(0.0, -t * z)

    # SciPy's special functions take a while to import: only who uses this loss waits for them.

    def slope(self, z, t):
        from scipy.special import expit

        return -t * expit(-t * z)

    def bend(self, z, t):
        from scipy.special import expit

        a = expit(-t * z)
        return a * (1.0 - a)

    def conjugate(self, u, t):
        from scipy.special import xlog1py, xlogy

        a = -t * u
        inside = (a >= 0.0) & (a <= 1.0)
        a = np.where(inside, a, 0.0)
        return np.where(inside, xlogy(a, a) + xlog1py(1.0 - a, -a), np.inf)

    def bounds(self, t, C):
        return one_sided(t, C)

    def dual_form(self, t, C):
        return None
