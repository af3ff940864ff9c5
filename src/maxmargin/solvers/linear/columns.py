"""Some columns of the rows as float64, dense or compressed by columns; the constant feature is one of them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.numeric.parallel import over_blocks
from maxmargin.numeric.rows import rows_of
from maxmargin.problem.space import LinearSpace
from maxmargin.solvers.linear.lasso_steps import ByColumn
from maxmargin.solvers.linear.newton_step import add_products
from maxmargin.solvers.linear.settings import ProximalNewtonSettings

settings = ProximalNewtonSettings()


class Columns:
    """The features of a linear problem, by columns; the last is the constant one."""

    def __init__(self, space: LinearSpace) -> None:
        self.space = space

    @cached_property
    def _by_column(self) -> Any:
        return sp.csc_array(self.space.X)

    def of(self, features: np.ndarray) -> Chosen:
        """The values of these features, rising."""
        space = self.space
        constant = len(features) > 0 and features[-1] == space.d
        own = features[:-1] if constant else features
        if sp.issparse(space.X):
            some = self._by_column[:, own].astype(np.float64)
            if some.nnz < settings.dense_share * space.n * max(1, len(own)):
                if constant:
                    column = sp.csc_array(np.full((space.n, 1), space.constant))
                    some = sp.hstack([some, column], format="csc")
                return Chosen(sp.csc_array(some))
            values = some.toarray(order="F")
        else:
            values = np.asfortranarray(space.X[:, own], dtype=np.float64)
        if constant:
            values = np.asfortranarray(np.column_stack([values, np.full(space.n, space.constant)]))
        return Chosen(values)


class Chosen:
    """Some columns A: products with them, and their weighted squares."""

    def __init__(self, values: Any) -> None:
        self.values = values
        self.sparse = sp.issparse(values)
        self.n, self.size = values.shape
        self.entries = int(values.nnz) if self.sparse else self.n * self.size

    def scores(self, step: np.ndarray) -> np.ndarray:
        """A step."""
        used = np.flatnonzero(step)
        if 4 * used.size < self.size:
            return np.asarray(self.values[:, used] @ step[used])
        return np.asarray(self.values @ step)

    def combine(self, u: np.ndarray) -> np.ndarray:
        """Aᵀu."""
        return np.asarray(self.values.T @ u)

    def few(self) -> bool:
        """Whether AᵀDA costs less than the sweeps it saves."""
        if self.sparse:
            return self.size <= settings.most_features and self.entries <= settings.most_entries * self.n
        return self.size <= settings.most_features and float(self.n) * self.size**2 <= settings.most_work

    def squares(self, h: np.ndarray, free: bool) -> np.ndarray:
        """AᵀDA with D = diag(h), about the mean by h for a free bias."""
        inside = np.flatnonzero(h)
        if self.sparse:
            return self._sparse_squares(h, inside, free)
        A, weights = (self.values, h) if 2 * inside.size > self.n else (self.values[inside], h[inside])
        total = float(weights.sum()) if free else 0.0
        if total > 0.0:
            A = A - (weights @ A) / total
        A = A * np.sqrt(weights)[:, None]
        return np.ascontiguousarray(A.T @ A)

    @cached_property
    def _by_row(self) -> Any:
        rows = sp.csr_array(self.values)
        return rows_of(rows)

    def _sparse_squares(self, h: np.ndarray, inside: np.ndarray, free: bool) -> np.ndarray:
        size = max(settings.least_rows, -(-inside.size // settings.parts))
        parts = np.zeros((-(-inside.size // size), self.size + 1, self.size + 1))

        def add(start: int, stop: int) -> None:
            some = inside[start:stop]
            add_products(self._by_row, some, h[some], 1.0, parts[start // size])

        self._by_row  # noqa: B018 (made once, before threads ask for it)
        over_blocks(add, inside.size, size)
        lower = parts.sum(axis=0)
        H = lower[:-1, :-1] + np.tril(lower[:-1, :-1], -1).T
        moments, total = lower[-1, :-1], lower[-1, -1]
        if free and total > 0.0:
            H -= np.outer(moments, moments / total)
        return H

    def arrays(self) -> ByColumn:
        """The values, their rows and where each column ends: dense columns, too."""
        if self.sparse:
            return ByColumn(self.values.data, self.values.indices, self.values.indptr)
        rows = np.tile(np.arange(self.n, dtype=np.int32), self.size)
        return ByColumn(self.values.ravel(order="F"), rows, np.arange(self.size + 1, dtype=np.int64) * self.n)
