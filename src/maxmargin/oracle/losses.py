"""The losses once more, with bounds on their rounding; nothing here is shared with `maxmargin.losses`."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.oracle.setting import Setting


class Loss:
    """A loss as a function of a score, and as terms of the dual."""

    def __init__(self, setting: Setting, numbers: Any) -> None:
        self.setting, self.numbers = setting, numbers

    def parameter(self, name: str, default: float) -> Any:
        """Epsilon or nu, as a number of the oracle."""
        return self.numbers.of([float(self.setting.loss_parameters.get(name, default))])[0]

    def value(self, z: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, Any, Any]:
        """ℓ(z), and numbers a, c with |ℓ(z + e) − ℓ(z)| ≤ a|e| + c e²."""
        name = self.setting.loss
        if name == "hinge":
            return _positive(1 - t * z), 1, 0
        if name == "squared-hinge":
            slack = _positive(1 - t * z)
            return slack * slack, 2 * slack, 1
        if name == "least-squares":
            return (t - z) * (t - z), 2 * np.abs(t - z), 1
        if name == "logistic":
            m = t * z
            tail = self.numbers.exp(-np.abs(m))
            return _positive(-m) + _log1p(self.numbers, tail), 1, 0
        if name == "one-class":
            return _positive(-z), 1, 0
        epsilon = self.parameter("epsilon", 0.1)
        slack = _positive(np.abs(z - t) - epsilon)
        if name == "epsilon-insensitive":
            return slack, 1, 0
        if name == "squared-epsilon-insensitive":
            return slack * slack, 2 * slack, 1
        raise InvalidInput(f"the oracle does not know the loss {name!r}")

    def dual_terms(self, t: np.ndarray, C: np.ndarray, beta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """−C ℓ*(−β/C) for β within its box, and a bound of the rounding."""
        name, unit = self.setting.loss, self.numbers.unit
        if name == "one-class":
            return 0 * beta, 0 * beta
        if name == "logistic":
            a, rest = t * beta, C - t * beta  # a + rest = C, each with a relative error only
            parts = [C * _entropy(self.numbers, part / C) for part in (a, rest)]
            return -(parts[0] + parts[1]), 16 * unit * (np.abs(parts[0]) + np.abs(parts[1]) + np.abs(a))
        value, size = t * beta, np.abs(t * beta)
        if name in ("epsilon-insensitive", "squared-epsilon-insensitive"):
            tube = self.parameter("epsilon", 0.1) * np.abs(beta)
            value, size = value - tube, size + tube
        if name in ("squared-hinge", "least-squares", "squared-epsilon-insensitive"):
            ridge = beta * beta / (4 * C)
            value, size = value - ridge, size + ridge
        return value, 8 * unit * size


def box(loss: str, t: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where β may be: the domain of the conjugate."""
    none, far = np.zeros(len(C)), np.full(len(C), inf)
    if loss in ("hinge", "logistic"):
        return np.where(t > 0, none, -C), np.where(t > 0, C, none)
    if loss == "squared-hinge":
        return np.where(t > 0, none, -far), np.where(t > 0, far, none)
    if loss == "one-class":
        return none, C
    return (-C, C) if loss == "epsilon-insensitive" else (-far, far)


def _positive(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x, 0 * x)


def _log1p(numbers: Any, x: np.ndarray) -> np.ndarray:
    return np.log1p(x) if numbers.dtype is not object else numbers.log(1 + x)


def _entropy(numbers: Any, a: np.ndarray) -> np.ndarray:
    """A ln a, 0 at 0."""
    inside = a > 0
    return np.where(inside, a * numbers.log(np.where(inside, a, 1 + 0 * a)), 0 * a)
