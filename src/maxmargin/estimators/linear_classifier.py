"""LinearSVC: linear classification with a certificate, a free intercept, and support vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.estimators.base import check_option
from maxmargin.estimators.callbacks import with_callbacks
from maxmargin.estimators.classification import Classifier
from maxmargin.estimators.linear_machine import LinearMachine, fitted_on_dask, is_on_dask, on_dask
from maxmargin.estimators.parameters import estimator
from maxmargin.kernels import Linear
from maxmargin.losses import Loss
from maxmargin.losses import loss as loss_by_name
from maxmargin.models.classes import TOGETHER, rest_from_pairs, votes_of_pairs
from maxmargin.regularizers import regularizer
from maxmargin.training.budget import Budget
from maxmargin.training.problems import together_maker
from maxmargin.training.samples import Samples
from maxmargin.training.train import Task


@estimator
class LinearSVC(LinearMachine, Classifier):
    """Linear support vector classification.

    Parameters
    ----------
    penalty : "l2" or "l1", default "l2"
        What is made small besides the loss: ½‖w‖², or Σ|w_j|, which leaves most weights at 0 (not with the hinge).
    loss : "hinge", "squared_hinge" or "logistic", default "squared_hinge"
        max(0, 1 − y z), its square, or log(1 + exp(−y z)).
    multi_class : "ovr", "ovo" or "crammer_singer", default "ovr"
        One class against the rest, one against one, or all in one problem (hinge loss, augmented intercepts).

    Attributes
    ----------
    coef_, intercept_ : arrays
        One hyperplane for each binary problem (for each class, by Crammer–Singer).
    support_, support_vectors_, n_support_, dual_coef_ : arrays
        The samples that matter and their coefficients, one row a problem: ``dual_coef_ @ support_vectors_`` is `coef_`.
    certificate_ : Certificate or CertificateSummary
        The proof: that of the one binary problem, or one for each by its labels, with their sum and worst.
    support_kinds_ : array of text, one row a binary problem
        "free", "bound", "candidate" or "outside"; empty where a vector takes no part.
    status_, trace_
        Why the fit ended and what to do; what was seen along the way (a list, for several problems).
    n_iter_ : int
        The solver's iterations.

    Notes
    -----
    *Differences from scikit-learn*

    - The intercept is free: liblinear penalises it, and so needs features around 0. ``bias="augmented"`` is theirs.
    - `tol` is the relative duality gap, which bounds the error of the objective. scikit-learn's is a KKT violation.
    - `max_iter` counts the iterations of the solver at hand and has no limit by default.
    - There are support vectors and dual variables.
    - With ``penalty="l1"`` the duals in `dual_coef_` are those that prove the fit; `coef_` is not made of them.
    - Crammer–Singer with two classes is the binary problem with C doubled; its hinge is not squared.
    - The loss "logistic", ``multi_class="ovo"``, `bias`, `solver`, `max_time` and `warm_start` are ours.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearSVC(C=10.0).fit(X, y)
    >>> model.coef_.shape, round(model.score(X, y), 3)
    ((3, 4), 0.967)
    >>> model.certificate_.holds(1e-4)
    True
    """

    penalty: str = field(default="l2", kw_only=False)
    loss: str = field(default="squared_hinge", kw_only=False)
    multi_class: str = "ovr"

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
        if is_on_dask(X):
            return fitted_on_dask(self, X, y, sample_weight)
        self._check_linear(("hinge", "squared_hinge", "logistic"), "hinge")
        check_option("multi_class", self.multi_class, ("ovr", "ovo", "crammer_singer"))
        if self.multi_class == "crammer_singer" and self.penalty != "l2":
            raise InvalidInput(f"multi_class='crammer_singer' is for penalty='l2', not {self.penalty!r}; use 'ovr'")
        budget = self._budget()
        data = self._labelled(X, y, sample_weight)
        if self._together_in_one:
            self._fit_together(data, budget, (X, y, sample_weight))
            return self
        splits = self._splits(data, "one" if self.multi_class == "ovo" else "rest")
        starts = self._starts(splits, data)
        setting = replace(self._setting(data, Linear()), regularizer=regularizer(self.penalty))
        tasks = [
            Task(name, rows, partial(self._problem, setting, rows, signs), start)
            for (name, rows, signs), start in zip(splits, starts, strict=True)
        ]
        together = None
        if len(splits) == 1 or self.multi_class != "ovo":
            together = self._together(setting, [signs for _, _, signs in splits], budget)
        self._train(tasks, budget, setting, (X, y, sample_weight), together)
        return self

    def _starts(self, splits: Sequence[tuple[Any, np.ndarray, Any]], data: Samples) -> list[Any]:
        """Where each problem begins: at the duals of the last fit, or at its hyperplane, as its solver can use them."""
        if self.penalty == "l2":
            duals = self._warm([name for name, _, _ in splits], data.used, self.C)
            return [None if one is None else one[rows] for one, (_, rows, _) in zip(duals, splits, strict=True)]
        last = getattr(self, "model_", None) if self.warm_start else None
        if last is None or last.w is None or last.w.shape != (len(splits), data.X.shape[1]):
            return [None] * len(splits)
        return list(zip(last.w, last.b if self._bias() != "none" else np.zeros(len(splits)), strict=True))

    def _loss(self) -> Loss:
        return loss_by_name("hinge" if self.multi_class == "crammer_singer" else self.loss)

    def _bias(self) -> Any:
        if self.multi_class != "crammer_singer":
            return super()._bias()
        if self.bias == "free":
            raise InvalidInput("bias='free' is not possible with multi_class='crammer_singer'; use bias='augmented'")
        return (self.bias or "augmented") if self.fit_intercept else "none"

    @property
    def _together_in_one(self) -> bool:
        """Whether all classes are in one problem; with two, it is the binary one with C doubled."""
        return self.multi_class == "crammer_singer" and len(self.classes_) > 2

    def _cost(self) -> float:
        return 2.0 * self.C if self.multi_class == "crammer_singer" and len(self.classes_) == 2 else self.C

    def _fit_together(self, data: Samples, budget: Budget, given: tuple[Any, Any, Any]) -> None:
        """All classes in one problem."""
        setting = self._setting(data, Linear())
        make = together_maker(data, setting.bias, setting.bias_scale)
        everything = np.arange(data.n)
        last, start = getattr(self, "_last", None) if self.warm_start else None, None
        if last is not None and last[0] == [TOGETHER] and len(last[2]) == data.classes:
            rows = self._kept_support().rows
            alpha = np.zeros((max(int(data.used.max()), int(rows.max(initial=0))) + 1, data.classes))
            alpha[rows] = last[2].T * min(1.0, setting.C / last[1])
            start = alpha[data.used]
        made = partial(make, everything, data.codes, setting.loss, setting.C)
        self._train([Task(TOGETHER, everything, made, start)], budget, setting, given)

    def decision_function(self, X: Any) -> np.ndarray:
        """How far rows are on which side: one value a row for two classes, else one column a class."""
        if is_on_dask(X):
            return on_dask(self).decision_function(X)
        scores = self._scores(self._check_new(X))
        if scores.shape[1] == 1:
            return scores[:, 0]
        return rest_from_pairs(scores, len(self.classes_)) if self.multi_class == "ovo" else scores

    def predict(self, X: Any) -> np.ndarray:
        """The labels of rows."""
        if is_on_dask(X):
            return on_dask(self).predict(X)
        scores = self._scores(self._check_new(X))
        if scores.shape[1] == 1:
            return self.classes_[(scores[:, 0] > 0).astype(int)]
        if self.multi_class == "ovo":
            scores, _ = votes_of_pairs(scores, len(self.classes_))
        return self.classes_[np.argmax(scores, axis=1)]
