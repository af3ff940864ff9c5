"""The rows that a fit is about, and how much each of them counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInput
from maxmargin.kernels import Kernel
from maxmargin.problem.validation import is_number, plain

#: Sparse rows of so few numbers in all are made dense, and of so many where this share of them is not 0: products of
#: dense rows are faster then, and have the same bits as those of rows that were given dense.
FEW_NUMBERS, MANY_NUMBERS, FULL = 2**16, 2**20, 0.2


@dataclass(frozen=True, eq=False)
class Samples:
    """The rows of positive weight: a row of weight 0 is left out."""

    X: Any
    #: Their own weights: a row of weight 2 is the row written twice.
    repeats: np.ndarray
    #: What multiplies C: their own weights times those of their classes.
    weights: np.ndarray
    #: Their places among the rows that were given.
    used: np.ndarray
    #: How many rows were given.
    given: int
    #: The class of each as a number; all 0 where there are no classes.
    codes: np.ndarray
    #: How many classes there are.
    classes: int = 1
    #: What the rows stand for, where X is the matrix of a kernel function on texts, graphs, ...
    objects: Any = None

    @property
    def weighted(self) -> bool:
        """Whether rows have weights of their own: a saved model says whether its proof needs them again."""
        return self.used.size < self.given or bool((self.repeats != 1.0).any())

    @property
    def n(self) -> int:
        """How many rows count."""
        return len(self.codes)

    def rows_for(self, kernel: Kernel) -> Any:
        """The rows as the problems take them: small sparse ones are dense, but not for a function of the user's."""
        return self._rows if kernel.converts else self.X

    @cached_property
    def _rows(self) -> Any:
        if not sp.issparse(self.X):
            return self.X
        numbers = float(self.X.shape[0]) * self.X.shape[1]
        small = numbers <= FEW_NUMBERS or (numbers <= MANY_NUMBERS and self.X.nnz >= FULL * numbers)
        return self.X.toarray() if small else self.X


def rows_that_count(X: Any, used: np.ndarray, square: bool = False) -> Any:
    """The rows of X that have a weight (and, of a square kernel matrix, the columns)."""
    if used.size == X.shape[0]:
        return X
    return X[np.ix_(used, used)] if square else X[used]


def class_weights(given: Any, classes: np.ndarray, codes: np.ndarray, repeats: np.ndarray) -> np.ndarray:
    """The weight of each class: 1, as in a mapping by label, or "balanced": the same sum of weights for all classes.

    A row of weight 2 counts twice. A label that a mapping does not name has weight 1; a name that is not a label is
    refused, unless every label is named (the rows at hand may be a part of the data).
    """
    if given is None:
        return np.ones(len(classes))
    if isinstance(given, str) and given == "balanced":
        return repeats.sum() / (len(classes) * np.bincount(codes, repeats, len(classes)))
    if not isinstance(given, Mapping):
        raise InvalidInput(f"class_weight is {given!r}; it must be 'balanced' or a dict of label: weight")
    labels = [plain(label) for label in classes]
    unknown = next((label for label in given if label not in labels), None)
    if unknown is not None and not all(label in given for label in labels):
        known = ", ".join(map(repr, labels[:8]))
        raise InvalidInput(f"class_weight names {unknown!r}, which is not among the labels: {known}")
    weights = [given.get(label, 1.0) for label in labels]
    for label, weight in zip(labels, weights, strict=True):
        if not is_number(weight) or not 0.0 < weight < np.inf:
            raise InvalidInput(
                f"class_weight of {label!r} is {weight!r}; it must be a number > 0: to leave a class out, drop its rows"
            )
    return np.array(weights, dtype=np.float64)


def weighted_costs(repeats: np.ndarray, by_class: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """What C is multiplied with for each row: its own weight times that of its class."""
    with np.errstate(over="ignore"):
        costs = repeats * by_class[codes]
    if not np.isfinite(costs).all():
        raise InvalidInput("the weights of classes times those of the rows overflow: make them smaller")
    return costs
