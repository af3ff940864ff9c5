"""RBF (Gaussian): k(a, b) = exp(−γ‖a − b‖²).

‖a − b‖² = ‖a‖² + ‖b‖² − 2⟨a, b⟩ costs one matrix product and one pass. But rows that are long for their distances
cancel in that sum: its error is a few times eps·(‖a‖² + ‖b‖²), and γ times that is the relative error of K. Where it
could show (`CANCELS`), the block is computed with care: dense rows about their mean, which changes no distance, and
rows that are still too long, or sparse, from the differences of their entries. Then k(x, x) is 1 exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from maxmargin.kernels.base import Kernel, check_gamma, dot, exponential_rounding, scale_gamma, sqnorms
from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.exponential import exponential
from maxmargin.numeric.rows import CSR, rows_of

#: The relative error of K, but for a factor of the number of features, above which the three-term sum is not used.
CANCELS = {np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-12}


@dataclass(frozen=True)
class RBF(Kernel):
    """exp(−γ‖a − b‖²).

    Parameters
    ----------
    gamma : float, "scale" or "auto", default "scale"
        The width: "scale" is 1/(d·var(X)) and "auto" is 1/d, as in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import RBF
    >>> RBF(gamma=0.5).block(np.zeros((1, 2)), np.ones((1, 2))).round(4)
    array([[0.3679]])
    """

    name: ClassVar[str] = "rbf"

    gamma: float | str = "scale"

    def __post_init__(self) -> None:
        check_gamma(self.gamma)

    def fitted(self, X, weights=None):
        return replace(self, gamma=scale_gamma(self.gamma, X, weights))

    def block(self, A, B, a2=None, b2=None):
        a2 = sqnorms(A) if a2 is None else a2
        b2 = sqnorms(B) if b2 is None else b2
        if self._cancels(A, B, a2, b2):
            return self._with_care(A, B)
        return self._of_products(A, B, a2, b2)

    def exact_block(self, A, B):
        return np.exp(-float(self.gamma) * _by_differences(A, B))

    def diag(self, A):
        return np.ones(A.shape[0])

    def rounding(self, width, largest):
        # Three terms of up to `largest`, each with the error of a sum over `width` products; exp adds a few units.
        unit = np.finfo(np.float64).eps
        cancels = min(float(self.gamma) * unit * 2.0 * largest, CANCELS[np.dtype(np.float64)])
        bound = (width + 4) * max(cancels, unit)
        return bound, max(bound, exponential_rounding(width)[1])

    def exact_rounding(self, width, largest):
        return exponential_rounding(width)

    def _cancels(self, A: Any, B: Any, a2: np.ndarray, b2: np.ndarray) -> bool:
        dtype = np.result_type(A.dtype, B.dtype)
        largest = float(a2.max(initial=0.0)) + float(b2.max(initial=0.0))
        return float(self.gamma) * float(np.finfo(dtype).eps) * largest > CANCELS[np.dtype(dtype)]

    def _of_products(self, A: Any, B: Any, a2: np.ndarray, b2: np.ndarray) -> np.ndarray:
        K = dot(A, B)
        if K.flags.c_contiguous:
            exponential(K, a2, b2, float(self.gamma))
        else:
            exponential(K.T, b2, a2, float(self.gamma))
        return K

    def _with_care(self, A: Any, B: Any) -> np.ndarray:
        dtype = np.result_type(A.dtype, B.dtype)
        if not sp.issparse(A) and not sp.issparse(B):
            centre = B.mean(axis=0, dtype=np.float64).astype(dtype)
            near_A, near_B = A - centre, B - centre
            a2, b2 = sqnorms(near_A), sqnorms(near_B)
            if not self._cancels(near_A, near_B, a2, b2):
                return self._of_products(near_A, near_B, a2, b2)
        # Differences of the rows as they are: where one row is far away, so is the centre, and moving the others there
        # would cost them their digits.
        return self.exact_block(A, B).astype(dtype, copy=False)


def _by_differences(A: Any, B: Any) -> np.ndarray:
    """‖a − b‖² for all rows, from the differences of their entries, in float64."""
    if sp.issparse(A) and sp.issparse(B):
        out = np.empty((A.shape[0], B.shape[0]))
        _merged(_sorted(A), _sorted(B), out)
        return out
    from scipy.spatial.distance import cdist

    A, B = (Z.toarray() if sp.issparse(Z) else Z for Z in (A, B))
    return cdist(A, B, "sqeuclidean")


def _sorted(A: Any) -> CSR:
    """The rows with their entries in the order of the columns, each column once."""
    ordered = sp.csr_array(A, copy=True).astype(np.float64)
    ordered.sum_duplicates()
    return rows_of(ordered)


@compiled
def _merged(A, B, out):
    """out[a, b] = Σ_j (A[a, j] − B[b, j])², going through both rows together."""
    for a in range(out.shape[0]):
        for b in range(out.shape[1]):
            p, last_p = A.indptr[a], A.indptr[a + 1]
            q, last_q = B.indptr[b], B.indptr[b + 1]
            total = 0.0
            while p < last_p or q < last_q:
                if q == last_q or (p < last_p and A.indices[p] < B.indices[q]):
                    difference = A.data[p]
                    p += 1
                elif p == last_p or B.indices[q] < A.indices[p]:
                    difference = B.data[q]
                    q += 1
                else:
                    difference = A.data[p] - B.data[q]
                    p += 1
                    q += 1
                total += difference * difference
            out[a, b] = total
