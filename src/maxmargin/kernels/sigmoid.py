"""Sigmoid: k(a, b) = tanh(γ⟨a, b⟩ + c). Indefinite: a fit is a stationary point, its gap no proof of optimality."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from maxmargin.kernels.base import Kernel, check_constant, check_gamma, dot, scale_gamma, sqnorms
from maxmargin.numeric.double_double import exact_dot


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """tanh(γ⟨a, b⟩ + coef0), which is indefinite: a fit is a stationary point.

    Parameters
    ----------
    gamma : float, "scale" or "auto", default "scale"
        The factor: "scale" is 1/(d·var(X)) and "auto" is 1/d, as in scikit-learn.
    coef0 : float, default 0.0
        The constant that is added.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Sigmoid
    >>> Sigmoid(gamma=1.0).block(np.array([[1.0]]), np.array([[2.0]])).round(4)
    array([[0.964]])
    """

    name: ClassVar[str] = "sigmoid"

    gamma: float | str = "scale"
    coef0: float = 0.0

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        check_constant(self.coef0)

    @property
    def positive(self):
        return False

    def fitted(self, X, weights=None):
        return replace(self, gamma=scale_gamma(self.gamma, X, weights))

    def block(self, A, B, a2=None, b2=None):
        return self._of_dot(dot(A, B))

    def diag(self, A):
        return self._of_dot(sqnorms(A))

    def exact_block(self, A, B):
        return self._of_dot(exact_dot(A, B))

    def exact_rounding(self, width, largest):
        return self.rounding(0, largest)

    def rounding(self, width, largest):
        unit = np.finfo(np.float64).eps  # tanh is nowhere steeper than 1
        return (width + 4) * unit * (self.gamma * largest + abs(self.coef0) + 1.0), np.inf

    def _of_dot(self, K: np.ndarray) -> np.ndarray:
        K *= self.gamma
        K += self.coef0
        return np.tanh(K, out=K)
