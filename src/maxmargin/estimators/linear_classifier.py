"""LinearSVC: linear classification with a certificate, a free intercept, and support vectors."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from maxmargin.estimators.base import check_option
from maxmargin.estimators.callbacks import with_callbacks
from maxmargin.estimators.classification import Classifier
from maxmargin.estimators.layout import rest_from_pairs, votes_of_pairs
from maxmargin.estimators.linear_machine import LinearMachine
from maxmargin.estimators.training import Task


class LinearSVC(LinearMachine, Classifier):
    """Linear support vector classification."""

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: Any = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = -1,
        bias: str = "free",
        solver: Any = "auto",
        max_time: float | None = None,
        warm_start: bool = False,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.bias = bias
        self.solver = solver
        self.max_time = max_time
        self.warm_start = warm_start

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows.
        y : array of length n_samples
            Labels of any kind.
        sample_weight : array of length n_samples
            Multiplies C for each row; 0 leaves the row out.

        Returns
        -------
        self
        """
        self._check_linear(("hinge", "squared_hinge"), "hinge")
        check_option("multi_class", self.multi_class, ("ovr", "ovo", "crammer_singer"))
        budget = self._budget()
        data = self._labelled(X, y, sample_weight)
        splits = self._splits(data, "one" if self.multi_class == "ovo" else "rest")
        starts = self._warm([name for name, _, _ in splits], data.used, self.C)
        tasks = [
            Task(
                name,
                rows,
                partial(self._problem, data, rows, signs, self.loss),
                None if start is None else start[rows],
            )
            for (name, rows, signs), start in zip(splits, starts, strict=True)
        ]
        self._train(tasks, budget, data, self.C, (X, y, sample_weight))
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """How far rows are on which side: one value a row for two classes, else one column a class."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return scores[:, 0]
        return rest_from_pairs(scores, len(self.classes_)) if self.multi_class == "ovo" else scores

    def predict(self, X: Any) -> np.ndarray:
        """The labels of rows."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return self.classes_[(scores[:, 0] > 0).astype(int)]
        if self.multi_class == "ovo":
            scores, _ = votes_of_pairs(scores, len(self.classes_))
        return self.classes_[np.argmax(scores, axis=1)]
