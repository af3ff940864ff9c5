"""Where w lives: a vector for the linear kernel, coefficients of the samples for any other.

Both spaces answer the same questions, in float64 and without copying X:

    combine(u)  w = Σ u_i φ(x_i)          scores(w)  s_i = ⟨w, φ(x_i)⟩          sqnorm(w, s)  ‖w‖²

Whatever a linear problem needs of its rows is done for each row (`over_rows`) or summed over them (`parts_over_rows`,
`parts_over_some`), so that blocks which are not in memory serve as well (`BlockedSpace`).

With an augmented bias φ carries the constant s as one more feature (K → K + s²), and scores include it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import fsum

import numpy as np
import scipy.sparse as sp

from maxmargin.gram import Gram
from maxmargin.gram.cached_rows import COLUMNS
from maxmargin.kernels import Kernel, Precomputed
from maxmargin.kernels.base import slice_rows, sqnorms
from maxmargin.numeric.parallel import blocks, over_blocks
from maxmargin.numeric.row_blocks import Place, RowBlocks
from maxmargin.numeric.rows import Matrix, Rows, combine_rows, rows_of, scores_of_rows

#: w = Σ u_i x_i is summed in this many parts, whatever the number of threads: the bits stay the same.
PARTS = 4
#: Rows whose scores one thread computes at a time.
ROWS = 2**12

#: Multiply-adds of BLAS in the time of one that a pass over the rows makes. Tuned.
BLAS_SPEED = 20.0

#: What is done for rows start..stop of those at hand, the first of which is this sample.
ForRows = Callable[[Rows, int, int, int], object]
#: The same, added to a part of a sum.
AddRows = Callable[[Rows, int, int, int, np.ndarray], object]
#: What is added to a part of a sum for some rows of those at hand, and where these are among the samples asked for.
AddSome = Callable[[Matrix, np.ndarray, slice, np.ndarray], object]


class LinearSpace:
    """w is a vector of d + 1 numbers; the last belongs to the constant feature s (0 where there is none)."""

    #: Whether all rows are at hand at any time, in any order.
    in_memory = True

    def __init__(self, X: Matrix, constant: float) -> None:
        self.X = X
        self.rows = rows_of(X)
        self.constant = constant
        self.n, self.d = X.shape
        self.size = self.d + 1
        #: Multiply-adds of one pass over the data.
        self.work = int(X.nnz) if sp.issparse(X) else self.n * self.d

    @cached_property
    def width(self) -> int:
        """The most numbers of a row that are not 0, the constant feature included."""
        return _width(self.X) + (1 if self.constant else 0)

    @cached_property
    def largest(self) -> float:
        """The largest ‖φ(x)‖²."""
        return float(self.diag().max(initial=0.0))

    def over_rows(self, function: ForRows) -> None:
        """Do something for all rows, side by side."""
        over_blocks(lambda start, stop: function(self.rows, start, stop, 0), self.n, ROWS, self.work)

    def parts_over_rows(self, function: AddRows, shape: tuple[int, ...], u: np.ndarray) -> np.ndarray:
        """The parts of a sum over all rows but those with u_i = 0; the parts do not depend on the threads."""
        size = max(4096, -(-self.n // PARTS))
        parts = np.zeros((len(blocks(self.n, size)), *shape))
        over_blocks(
            lambda start, stop: function(self.rows, start, stop, 0, parts[start // size]), self.n, size, self.work
        )
        return parts

    def parts_over_some(self, function: AddSome, shape: tuple[int, ...], some: np.ndarray, least: int) -> np.ndarray:
        """The parts of a sum over some samples, in rising order; a part has at least `least` of them."""
        size = max(least, -(-len(some) // PARTS))
        parts = np.zeros((len(blocks(max(1, len(some)), size)), *shape))

        def add(start: int, stop: int) -> None:
            function(self.X, some[start:stop], slice(start, stop), parts[start // size])

        over_blocks(add, len(some), size)
        return parts

    def combine(self, u: np.ndarray) -> np.ndarray:
        def add(rows: Rows, start: int, stop: int, first: int, part: np.ndarray) -> None:
            combine_rows(rows, u[first:], start, stop, part)

        w: np.ndarray = self.parts_over_rows(add, (self.size,), u).sum(axis=0)
        w[-1] = self.constant * u.sum()
        return w

    def scores(self, w: np.ndarray) -> np.ndarray:
        s = np.empty(self.n)
        self.over_rows(lambda rows, start, stop, first: scores_of_rows(rows, w, start, stop, s[first:]))
        s += self.constant * w[-1]
        return s

    def sqnorm(self, w: np.ndarray, scores: np.ndarray | None = None) -> float:
        return float(w @ w)

    def sqnorm_without_bias(self, w: np.ndarray) -> float:
        """‖w‖² without the constant feature."""
        return float(w[:-1] @ w[:-1])

    def product(self, u: np.ndarray) -> np.ndarray:
        """K u = X(Xᵀu), two passes over the data."""
        return self.scores(self.combine(u))

    def diag(self) -> np.ndarray:
        """K_ii."""
        return sqnorms(self.X) + self.constant**2

    def bias(self, w: np.ndarray) -> float:
        """The bias inside w."""
        return self.constant * float(w[-1])

    def decision(self, Z: Matrix, w: np.ndarray) -> np.ndarray:
        """⟨w, φ(z)⟩ for new rows, the constant feature included."""
        out = np.empty(Z.shape[0])
        over_blocks(lambda start, stop: scores_of_rows(rows_of(Z), w, start, stop, out), Z.shape[0], ROWS)
        return out + self.bias(w)


class BlockedSpace(LinearSpace):
    """The same for rows that are not in memory: block after block of them, in PARTS chains side by side."""

    in_memory = False

    def __init__(self, X: RowBlocks, constant: float) -> None:
        self.X, self.constant = X, constant
        self.n, self.d = X.shape
        self.size, self.work = self.d + 1, X.entries

    @cached_property
    def width(self) -> int:
        """The most numbers of a row that are not 0, the constant feature included."""
        return self.X.width + (1 if self.constant else 0)

    def diag(self) -> np.ndarray:
        """K_ii."""
        diag: np.ndarray = self.X.sqnorms + self.constant**2
        return diag

    def over_rows(self, function: ForRows) -> None:
        """Do something for all rows, block by block."""
        places = self.X.places

        def work(start: int, stop: int) -> None:
            for place in places[start:stop]:
                function(rows_of(self.X.block(place)), 0, place.rows, place.first)

        over_blocks(work, len(places), 1)

    def parts_over_rows(self, function: AddRows, shape: tuple[int, ...], u: np.ndarray) -> np.ndarray:
        """The parts of a sum over all rows; a block whose u is 0 is not read."""

        def add(place: Place, part: np.ndarray) -> None:
            if u[place.part].any():
                function(rows_of(self.X.block(place)), 0, place.rows, place.first, part)

        return self._chains(add, shape)

    def parts_over_some(self, function: AddSome, shape: tuple[int, ...], some: np.ndarray, least: int) -> np.ndarray:
        """The parts of a sum over some samples, in rising order; a block that has none of them is not read."""

        def add(place: Place, part: np.ndarray) -> None:
            start, stop = np.searchsorted(some, (place.first, place.first + place.rows))
            if start < stop:
                function(self.X.block(place), some[start:stop] - place.first, slice(start, stop), part)

        return self._chains(add, shape)

    def _chains(self, add: Callable[[Place, np.ndarray], None], shape: tuple[int, ...]) -> np.ndarray:
        places = self.X.places
        size = -(-len(places) // PARTS)
        parts = np.zeros((len(blocks(len(places), size)), *shape))

        def work(start: int, stop: int) -> None:
            for place in places[start:stop]:
                add(place, parts[start // size])

        over_blocks(work, len(places), size)
        return parts


def linear_space(X: Matrix, constant: float) -> LinearSpace:
    """Where w lives for these rows."""
    return BlockedSpace(X, constant) if isinstance(X, RowBlocks) else LinearSpace(X, constant)


class KernelSpace:
    """w is Σ c_i φ(x_i), kept as its n coefficients c."""

    def __init__(self, kernel: Kernel, X: Matrix, constant: float, cache_bytes: float) -> None:
        self.kernel = kernel
        self.X = X
        self.constant = constant
        self.cache_bytes = cache_bytes
        self.n = self.size = X.shape[0]
        numbers = int(X.nnz) if sp.issparse(X) else X.size
        #: Multiply-adds of one product with K, whose values are there already where it is given.
        self.work = numbers if kernel.given else self.n * numbers
        #: Multiply-adds in whose time one value of the kernel is computed: BLAS makes those of dense rows.
        self.value_work = 1.0 if kernel.given else 4.0 + numbers / self.n / (1.0 if sp.issparse(X) else BLAS_SPEED)
        self._gram: Gram | None = None

    @cached_property
    def largest(self) -> float:
        """The largest k(x, x)."""
        return float(np.abs(self.diag()).max(initial=0.0))

    @cached_property
    def rounding(self) -> tuple[float, float]:
        """Bounds on the rounding of a value of the kernel as products with K compute it, absolute and relative."""
        return self._rounding(exact=False)

    @cached_property
    def exact_rounding(self) -> tuple[float, float]:
        """The same where the kernel is computed with the least rounding."""
        return self._rounding(exact=True)

    def source(self) -> tuple[Kernel, Matrix]:
        """The kernel and the rows that its values come from, also where a matrix of them was computed before."""
        kernel = self.kernel
        if isinstance(kernel, Precomputed) and kernel.source is not None and kernel.samples is not None:
            return kernel.source, kernel.samples()
        return kernel, self.X

    def _rounding(self, exact: bool) -> tuple[float, float]:
        kernel, X = self.source() if exact else (self.kernel, self.X)
        longest = float(sqnorms(X).max(initial=0.0)) if not kernel.given else 0.0
        bounds = kernel.exact_rounding if exact else kernel.rounding
        absolute, relative = bounds(entries_per_pair(X), longest)
        if self.constant:  # K + s² is rounded once more
            absolute += 2.0 * _EPS * self.largest
        return absolute, relative + 2.0 * _EPS

    def gram(self) -> Gram:
        """A new, empty cache of rows: what one run left behind must not change the bits of the next."""
        return Gram(self.kernel, self.X, self.constant**2, self.cache_bytes)

    def combine(self, u: np.ndarray) -> np.ndarray:
        return u.copy()

    def scores(self, w: np.ndarray) -> np.ndarray:
        return self._products().product(w)

    def scores_of(self, samples: np.ndarray, w: np.ndarray) -> np.ndarray:
        """The scores of some of the samples."""
        return self._products().product_of(samples, w)

    def sqnorm(self, w: np.ndarray, scores: np.ndarray | None = None) -> float:
        if scores is not None:
            return float(w @ scores)
        support = np.flatnonzero(w)  # no other kernel values than those between its own samples
        return float(w[support] @ self._products().product_among(support, w))

    def sqnorm_without_bias(self, w: np.ndarray) -> float:
        """‖w‖² without the constant feature."""
        inside = self.bias(w) / self.constant if self.constant else 0.0
        return max(0.0, self.sqnorm(w) - inside**2)

    def product(self, u: np.ndarray) -> np.ndarray:
        """K u, block by block."""
        return self.scores(u)

    def diag(self) -> np.ndarray:
        """K_ii."""
        return self._products().diag

    def bias(self, w: np.ndarray) -> float:
        """The bias inside w: s² Σ c_i, the sum rounded once."""
        return self.constant**2 * fsum(w) if self.constant else 0.0

    def decision(self, Z: Matrix, w: np.ndarray) -> np.ndarray:
        """⟨w, φ(z)⟩ for new rows, the constant feature included."""
        support = np.flatnonzero(w)
        out = np.full(Z.shape[0], self.bias(w))

        def add(start: int, stop: int) -> None:
            rows = slice_rows(Z, start, stop).astype(np.float64, copy=False)
            for first in range(0, support.size, COLUMNS):
                part = support[first : first + COLUMNS]
                out[start:stop] += self.kernel.cross(rows, self.X, part) @ w[part]

        over_blocks(add, Z.shape[0], 256)
        return out

    def _products(self) -> Gram:
        if self._gram is None:
            self._gram = self.gram()
        return self._gram


def _width(X: Matrix) -> int:
    """The most entries of a row."""
    return int(np.diff(X.indptr).max(initial=0)) if sp.issparse(X) else X.shape[1]


def entries_per_pair(X: Matrix) -> int:
    """The most columns in which one of two rows has an entry: so many differences make up their distance."""
    return min(X.shape[1], 2 * _width(X))


_EPS = float(np.finfo(np.float64).eps)
Space = LinearSpace | KernelSpace
