"""Landmark features: Φ with ΦΦᵀ = K̃, the Nyström approximation of K by some of the samples, which may grow in number.

With landmarks z_1..z_m, K̃ = K_nm K_mm⁻¹ K_mn is the kernel of the φ(x_i) projected onto the span of the φ(z_j). By a
Cholesky factor K_mm = LLᵀ the features are Φ = K_nm L⁻ᵀ, and a weight vector w of theirs is Σ c_j φ(z_j) with Lᵀc = w.
Landmarks that come later add columns and change none (a partial Cholesky factor of K):

    1. R = K_SS − Φ_S Φ_Sᵀ, what the candidates S are outside the span; its pivoted Cholesky factor leaves out those
       that are in it, or in that of the others, but for rounding.
    2. New columns: (K_nS − Φ Φ_Sᵀ) R⁻ᵀᐟ², in blocks of rows.
    3. r_i = k(x_i, x_i) − ‖Φ_i‖², the squared distance of φ(x_i) from the span.

Cost: n·m kernel values and n·m² multiply-adds of BLAS. Memory: n·m numbers, under the cap in bytes.

Williams & Seeger, NIPS 13, 2001; Fine & Scheinberg, JMLR 2, 2001 (partial Cholesky factor).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from maxmargin.errors import MemoryLimit, bytes_text
from maxmargin.kernels.base import sqnorms
from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.parallel import over_blocks
from maxmargin.problem import Problem
from maxmargin.problem.space import KernelSpace, LinearSpace
from maxmargin.solvers import clock
from maxmargin.solvers.kernel.settings import NystroemSettings

settings = NystroemSettings()


class LandmarkFeatures:
    """Φ over all samples, its landmarks, and how far each sample is from their span."""

    def __init__(self, problem: Problem, most: int) -> None:
        space = problem.space
        assert isinstance(space, KernelSpace)
        self.kernel, self.X, self.offset = problem.kernel, problem.X, space.constant**2
        self.n = problem.n
        double = 8.0 * self.n * most <= min(settings.double_bytes, problem.cache_bytes)
        self.dtype = np.dtype(np.float64 if double else np.float32)
        #: How many landmarks there may be.
        self.capacity = int(min(most, problem.cache_bytes // (self.n * self.dtype.itemsize)))
        if self.capacity < 1:
            raise MemoryLimit(
                f"the features of one landmark need {bytes_text(self.n * self.dtype.itemsize)}, more than the cap of"
                f" {bytes_text(problem.cache_bytes)}; raise cache_bytes"
            )
        # np.empty reserves addresses, not memory: pages are taken as landmarks arrive.
        self._numbers = np.empty(self.n * self.capacity, self.dtype)
        self._sqnorms = sqnorms(self.X) if not self.kernel.given else np.empty(0)
        self.values = self._numbers[:0].reshape(self.n, 0)
        #: The landmarks, their factor L, and r.
        self.index, self.factor = np.empty(0, np.int64), np.empty((0, 0))
        self.rest = space.diag().copy()
        #: What is nearer to the span than this is inside it, but for rounding.
        near = settings.inside_double if double else settings.inside_single
        self.near = near * float(self.rest.max(initial=0.0))

    @property
    def size(self) -> int:
        """The number of landmarks."""
        return len(self.index)

    def space(self) -> LinearSpace:
        """Where the weights of the features live."""
        return LinearSpace(self.values, 0.0)

    def extend(self, candidates: np.ndarray) -> int:
        """Take candidates as landmarks but those that add nothing; how many these were."""
        from scipy.linalg import solve_triangular
        from scipy.linalg.lapack import dpstrf

        # 1.
        old = self.values[candidates].astype(np.float64)
        against = self.kernel.against(self.X, candidates, self._sqnorms, np.float64)
        rest = against(candidates).astype(np.float64) + self.offset - old @ old.T
        L, order, rank, _ = dpstrf(rest, tol=self.near, lower=1)
        if rank == 0:
            return 0
        kept, L = order[:rank] - 1, np.tril(L[:rank, :rank])
        inverse = solve_triangular(L, np.eye(rank), lower=True)
        chosen, old = candidates[kept], old[kept]
        self._widen(rank)
        self._fill(chosen, old, inverse)
        size = len(self.index)
        factor = np.zeros((size + rank, size + rank))
        factor[:size, :size], factor[size:, :size], factor[size:, size:] = self.factor, old, L
        self.index, self.factor = np.concatenate([self.index, chosen]), factor
        return rank

    def _widen(self, more: int) -> None:
        """Room for more columns; the rows move apart in place."""
        before = self.values.shape[1]
        self.values = self._numbers[: self.n * (before + more)].reshape(self.n, before + more)
        if before:
            _spread(self._numbers, self.n, before, before + more)

    def _fill(self, chosen: np.ndarray, old: np.ndarray, inverse: np.ndarray) -> None:
        """The columns of new landmarks, and r (2. and 3.)."""
        before, dtype = old.shape[1], self.dtype
        against = self.kernel.against(self.X, chosen, self._sqnorms, np.float64)
        old, turn = old.T.astype(dtype), inverse.T.astype(dtype)

        def fill(first: int, start: int, stop: int) -> None:
            start, stop = first + start, first + stop
            block = (against(np.arange(start, stop)) + self.offset).astype(dtype, copy=False)
            if before:
                block -= self.values[start:stop, :before] @ old
            new = block @ turn
            self.values[start:stop, before:] = new
            lost = np.einsum("ij,ij->i", new, new, dtype=np.float64)
            np.maximum(self.rest[start:stop] - lost, 0.0, out=self.rest[start:stop])

        for first in range(0, self.n, settings.chunk * settings.rows):
            clock.check()
            size = min(self.n - first, settings.chunk * settings.rows)
            over_blocks(partial(fill, first), size, settings.rows)

    def coefficients(self, w: np.ndarray) -> np.ndarray:
        """The weights w of the features as coefficients of the samples, 0 but for the landmarks."""
        from scipy.linalg import solve_triangular

        out = np.zeros(self.n)
        out[self.index] = solve_triangular(self.factor, w[: self.size], lower=True, trans="T", check_finite=False)
        return out


@compiled
def _spread(numbers, n, before, after):
    """Move n rows of a length to their places among longer rows: from the last one on."""
    for i in range(n - 1, 0, -1):
        for j in range(before - 1, -1, -1):
            numbers[i * after + j] = numbers[i * before + j]
