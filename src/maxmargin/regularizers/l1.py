"""Lasso: r(w) = ‖w‖₁ = Σ|w_j|, which leaves most weights at 0. r* is 0 where all |v_j| ≤ 1, and infinite beyond."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.regularizers.base import Regularizer


@dataclass(frozen=True)
class L1(Regularizer):
    """The sum of the sizes Σ|w_j|.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.regularizers import L1
    >>> L1().value(np.array([3.0, -4.0])), L1().reach(np.array([0.5, -4.0]))
    (7.0, 0.25)
    """

    name: ClassVar[str] = "l1"

    def value(self, w):
        return float(np.abs(w).sum())

    def conjugate(self, v):
        return 0.0 if float(np.abs(v).max(initial=0.0)) <= 1.0 else np.inf

    def reach(self, v):
        largest = float(np.abs(v).max(initial=0.0))
        return 1.0 / largest if largest > 0.0 else np.inf

    def gaps(self, w, v):
        return np.abs(w) - w * v
