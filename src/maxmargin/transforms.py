"""Explicit feature transforms Φ, an alternative to a kernel: w stays a vector that can be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from maxmargin.errors import InvalidInput


@dataclass(frozen=True)
class PolynomialTransform:
    """All products of up to `degree` features (without the constant: that is the bias)."""

    degree: int = 2

    def __post_init__(self) -> None:
        if self.degree != int(self.degree) or self.degree < 1:
            raise InvalidInput(f"degree is {self.degree}; it must be a whole number ≥ 1")

    def __call__(self, X: Any) -> Any:
        from sklearn.preprocessing import PolynomialFeatures

        return PolynomialFeatures(self.degree, include_bias=False).fit_transform(X)
