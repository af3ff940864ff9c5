"""Explicit feature transforms Φ, an alternative to a kernel: w stays a vector that can be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from maxmargin.errors import InvalidInput


@dataclass(frozen=True)
class PolynomialTransform:
    """All products of up to `degree` features (without the constant: that is the bias).

    Parameters
    ----------
    degree : int, default 2
        The most factors of a product, at least 1.

    Examples
    --------
    >>> from maxmargin.transforms import PolynomialTransform
    >>> PolynomialTransform(degree=2)([[2.0, 3.0]])
    array([[2., 3., 4., 6., 9.]])
    """

    degree: int = 2

    def __post_init__(self) -> None:
        if self.degree != int(self.degree) or self.degree < 1:
            raise InvalidInput(f"degree is {self.degree}; it must be a whole number ≥ 1")

    def __call__(self, X: Any) -> Any:
        from sklearn.preprocessing import PolynomialFeatures

        return PolynomialFeatures(self.degree, include_bias=False).fit_transform(X)
