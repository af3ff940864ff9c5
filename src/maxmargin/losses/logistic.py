"""Logistic: ℓ(z) = log(1 + e^{−yz}). Its dual is an entropy, not a quadratic, so that dual_form is None.

With a = |β|/C the dual is −Σ C [a log a + (1 − a) log(1 − a)] − ½βᵀKβ, whose slope is infinite at both ends of the box.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.losses.base import Loss, Task, one_sided


@dataclass(frozen=True)
class Logistic(Loss):
    """The logistic loss log(1 + e^{−yz}).

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.losses import Logistic
    >>> Logistic().value(np.array([0.0, 40.0]), np.array([1.0, -1.0]))
    array([ 0.69314718, 40.        ])
    """

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

    def second_derivative(self, z, t):
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

    def dual_slope(self, beta, t, C):
        tiny = np.finfo(np.float64).tiny
        a = np.divide(np.abs(beta), C, out=np.full(len(beta), 0.5), where=C > 0)
        return -(t * np.log(np.maximum(a, tiny) / np.maximum(1 - a, tiny)))

    def best_multiple(self, beta, t, C, sqnorm):
        """The slope of D(θβ) falls from +∞ at θ = 0; its root, on a logarithmic scale as it may be tiny."""
        from scipy.optimize import brentq

        size = np.abs(beta[beta != 0.0])
        log_share = np.log(size) - np.log(C[beta != 0.0])

        def slope_at(exponent: float) -> float:
            log_a = np.minimum(exponent + log_share, -1e-16)
            return -np.exp(exponent) * sqnorm - float(size @ (log_a - np.log(-np.expm1(log_a))))

        if size.size == 0 or slope_at(0.0) >= 0.0:
            return 1.0
        return float(np.exp(brentq(slope_at, -700.0, 0.0, xtol=1e-14)))
