"""Ridge: r(w) = ½‖w‖², its own conjugate. What a maximum margin means: the margin is 1/‖w‖."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.regularizers.base import Regularizer


@dataclass(frozen=True)
class L2(Regularizer):
    """Half the squared norm ½‖w‖².

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.regularizers import L2
    >>> L2().value(np.array([3.0, -4.0]))
    12.5
    """

    name: ClassVar[str] = "l2"
    quadratic: ClassVar[bool] = True

    def value(self, w):
        return 0.5 * float(w @ w)

    def conjugate(self, v):
        return 0.5 * float(v @ v)

    def reach(self, v):
        return np.inf

    def gaps(self, w, v):
        return 0.5 * (w - v) ** 2
