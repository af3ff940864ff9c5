"""RBF (Gaussian): k(a, b) = exp(−γ‖a − b‖²)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from maxmargin.kernels.base import Kernel, check_gamma, dot, scale_gamma, sqnorms
from maxmargin.kernels.exponential import exponential


@dataclass(frozen=True)
class RBF(Kernel):
    """exp(−γ‖a − b‖²); gamma a number, "scale" = 1/(d·var(X)) or "auto" = 1/d."""

    name: ClassVar[str] = "rbf"

    gamma: float | str = "scale"

    def __post_init__(self) -> None:
        check_gamma(self.gamma)

    def fitted(self, X):
        return replace(self, gamma=scale_gamma(self.gamma, X))

    def block(self, A, B, a2=None, b2=None):
        a2 = sqnorms(A) if a2 is None else a2
        b2 = sqnorms(B) if b2 is None else b2
        K = dot(A, B)  # ‖a − b‖² = ‖a‖² + ‖b‖² − 2⟨a, b⟩, in place: one matrix product and one pass
        # Rows far from the origin cancel in that sum; where it would show in K, the differences are taken one by one.
        cancels = self.gamma * np.finfo(K.dtype).eps * (a2.max(initial=0.0) + b2.max(initial=0.0)) > 1e-3
        if cancels and not sp.issparse(A) and not sp.issparse(B):
            from scipy.spatial.distance import cdist

            K[...] = cdist(A, B, "sqeuclidean")
            K *= -float(self.gamma)
            return np.exp(K, out=K)
        if K.flags.c_contiguous:
            exponential(K, a2, b2, float(self.gamma))
        else:
            exponential(K.T, b2, a2, float(self.gamma))
        return K

    def diag(self, A):
        return np.ones(A.shape[0])
