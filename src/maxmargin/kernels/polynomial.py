"""Polynomial: k(a, b) = (γ⟨a, b⟩ + c)^p."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.kernels.base import Kernel, check_constant, check_gamma, dot, scale_gamma, sqnorms
from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.double_double import exact_dot


@dataclass(frozen=True)
class Polynomial(Kernel):
    """(γ⟨a, b⟩ + coef0)^degree.

    Parameters
    ----------
    degree : int, default 3
        The power, at least 1.
    gamma : float, "scale" or "auto", default "scale"
        The factor: "scale" is 1/(d·var(X)) and "auto" is 1/d, as in scikit-learn.
    coef0 : float, default 0.0
        The constant that is added.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Polynomial
    >>> Polynomial(degree=2, gamma=1.0, coef0=1.0).block(np.array([[1.0]]), np.array([[2.0]]))
    array([[9.]])
    """

    name: ClassVar[str] = "polynomial"

    degree: int = 3
    gamma: float | str = "scale"
    coef0: float = 0.0

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        if self.degree != int(self.degree) or self.degree < 1:
            raise InvalidInput(f"degree is {self.degree}; it must be a whole number ≥ 1")
        check_constant(self.coef0)

    @property
    def positive(self):
        return self.coef0 >= 0.0

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
        unit = np.finfo(np.float64).eps
        base = self.gamma * largest + abs(self.coef0)  # the largest |γ⟨a, b⟩ + c|
        with np.errstate(over="ignore"):
            bound = (int(self.degree) * (width + 4) + 2) * unit * np.float64(base) ** int(self.degree)
        return float(bound), np.inf

    def _of_dot(self, K: np.ndarray) -> np.ndarray:
        rows = K.reshape(1, -1) if K.ndim == 1 else K if K.flags.c_contiguous else K.T
        _powers(rows, K.dtype.type(self.gamma), K.dtype.type(self.coef0), int(self.degree))
        return K


@compiled
def _powers(K, gamma, coef0, degree):
    """(γK + c)^degree in place, row by row; what overflows is infinite, and the border refuses such data."""
    base = np.empty(K.shape[1], K.dtype)
    for i in range(K.shape[0]):
        row, left = K[i], degree
        for j in range(len(row)):
            base[j] = gamma * row[j] + coef0
            row[j] = 1.0
        while left > 0:
            if left % 2 == 1:
                for j in range(len(row)):
                    row[j] *= base[j]
            left //= 2
            if left > 0:
                for j in range(len(row)):
                    base[j] *= base[j]
