"""Precomputed: X is the kernel matrix itself; to predict, pass the kernel between new and training samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInput
from maxmargin.kernels.base import Kernel


@dataclass(frozen=True)
class Precomputed(Kernel):
    """K is given: a square symmetric matrix at training, one column per training sample at prediction.

    Parameters
    ----------
    source : Kernel, default None
        The kernel that the matrix was computed by, where it is known: it is symmetric, and positive if that is.
    error : float, default 0.0
        A bound on the rounding of its values, where they were computed; values that are given are exact.
    samples : callable, default None
        Gives the rows that it was computed from, for those who need its values with less rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem, solve
    >>> X = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> result = solve(Problem(X @ X.T, [-1, -1, 1, 1], kernel="precomputed"))
    >>> result.predict(np.array([[5.0]]) @ X.T)
    array([1])
    """

    name: ClassVar[str] = "precomputed"
    given: ClassVar[bool] = True
    converts: ClassVar[bool] = False

    source: Kernel | None = None
    error: float = 0.0
    samples: Callable[[], Any] | None = None

    def rounding(self, width, largest):
        return self.error, np.inf if self.error else 0.0

    @property
    def positive(self):
        return None if self.source is None else self.source.positive

    def fitted(self, X, weights=None):
        if X.shape[0] != X.shape[1]:
            raise InvalidInput(f"a precomputed kernel must be square; X has shape {X.shape}")
        if sp.issparse(X):
            raise InvalidInput("a precomputed kernel must be dense; pass X.toarray()")
        if self.source is not None:
            return self
        spread = np.abs(X).max(initial=0.0) * (1e-4 if X.dtype == np.float32 else 1e-8)
        for start in range(0, len(X), 1024):
            off = np.abs(X[start : start + 1024] - X[:, start : start + 1024].T) > spread
            if off.any():
                row, column = np.argwhere(off)[0]
                row += start
                raise InvalidInput(
                    f"a precomputed kernel must be symmetric; K[{row}, {column}] = {X[row, column]:g}"
                    f" but K[{column}, {row}] = {X[column, row]:g}"
                )
        return self

    def block(self, A, B, a2=None, b2=None):
        raise InvalidInput("a precomputed kernel has no function; pass the matrix of kernel values")

    def diag(self, A):
        return np.diagonal(A).astype(np.float64)

    def rows(self, X, index, a2, start, stop):
        return X[index, start:stop]

    def between(self, X, rows, columns, a2):
        return X[np.ix_(rows, columns)]

    def against(self, X, columns, a2, dtype):
        return lambda rows: X[np.ix_(rows, columns)]

    def cross(self, Z, X, support):
        if Z.shape[1] != len(X):
            raise InvalidInput(f"pass the kernel against all {len(X)} training samples; got {Z.shape[1]} columns")
        return Z[:, support]
