"""Laplacian: k(a, b) = exp(−γ‖a − b‖₁)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from maxmargin.kernels.base import Kernel, check_gamma, exponential_rounding, scale_gamma


@dataclass(frozen=True)
class Laplacian(Kernel):
    """exp(−γ‖a − b‖₁).

    Parameters
    ----------
    gamma : float, "scale" or "auto", default "scale"
        The width: "scale" is 1/(d·var(X)) and "auto" is 1/d, as in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Laplacian
    >>> Laplacian(gamma=0.5).block(np.zeros((1, 2)), np.ones((1, 2))).round(4)
    array([[0.3679]])
    """

    name: ClassVar[str] = "laplacian"

    gamma: float | str = "scale"

    def __post_init__(self) -> None:
        check_gamma(self.gamma)

    def fitted(self, X, weights=None):
        return replace(self, gamma=scale_gamma(self.gamma, X, weights))

    def block(self, A, B, a2=None, b2=None):
        distance = _city_block(A, B)
        distance *= -float(self.gamma)
        K = np.exp(distance, out=distance)
        return K.astype(np.float32) if A.dtype == B.dtype == np.float32 else K

    def diag(self, A):
        return np.ones(A.shape[0])

    def rounding(self, width, largest):
        return exponential_rounding(width)


def _city_block(A: Any, B: Any) -> np.ndarray:
    if sp.issparse(A) and sp.issparse(B):
        from sklearn.metrics.pairwise import manhattan_distances

        return manhattan_distances(_with_small_indices(A), _with_small_indices(B))
    from scipy.spatial.distance import cdist

    return cdist(_dense(A), _dense(B), "cityblock")


def _with_small_indices(A: Any) -> Any:
    """A CSR whose index arrays are int32, as the distance function wants them; the values are shared."""
    parts = (A.data, A.indices.astype(np.int32, copy=False), A.indptr.astype(np.int32, copy=False))
    return sp.csr_matrix(parts, shape=A.shape, copy=False)


def _dense(A: Any) -> np.ndarray:
    return A.toarray() if sp.issparse(A) else A
