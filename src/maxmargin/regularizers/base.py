"""What a regulariser is: a convex function r of the weights w, and its conjugate r*, which the dual has.

    primal   P(w,b) = r(w) + Σ C_i ℓ_i(z_i)
    dual     D(β)   = −r*(v) − Σ C_i ℓ_i*(−β_i/C_i)      with v = Σ β_i φ(x_i)

By Fenchel and Young r(w) + r*(v) ≥ ⟨w, v⟩, with equality where v is a slope of r at w: at the optimum. For ½‖w‖² that
is w = v, so that w can be read off β; any other regulariser keeps a w of its own beside β.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from maxmargin.registry import Registry

registry: Registry[type[Regularizer]] = Registry("regularizer", "maxmargin.regularizers")


class Regularizer(ABC):
    """A convex function of the weights, with r(0) = 0, that is a sum over them; subclasses are frozen dataclasses.

    Examples
    --------
    >>> from maxmargin import list_regularizers
    >>> list_regularizers()
    ['l1', 'l2']
    """

    name: ClassVar[str]
    #: Whether it is ½‖w‖²: then w = w(β), and any kernel goes with it.
    quadratic: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        registry.register(cls.name, cls)

    @abstractmethod
    def value(self, w: np.ndarray) -> float:
        """r(w)."""

    @abstractmethod
    def conjugate(self, v: np.ndarray) -> float:
        """r*(v) = sup_w ⟨v, w⟩ − r(w); +inf outside its domain."""

    @abstractmethod
    def reach(self, v: np.ndarray) -> float:
        """The largest θ for which θv is in the domain of r*; infinite where all multiples are."""

    @abstractmethod
    def gaps(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """r_j(w_j) + r_j*(v_j) − w_j v_j ≥ 0, for each weight; v is in the domain of r*."""
