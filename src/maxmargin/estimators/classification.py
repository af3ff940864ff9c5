"""What all classifiers share: labels, class weights, and the binary problems of several classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from maxmargin.errors import InvalidInput
from maxmargin.estimators.base import Machine
from maxmargin.estimators.parameters import ClassParameters
from maxmargin.models.classes import Split, splits
from maxmargin.problem.validation import plain
from maxmargin.training.samples import Samples, class_weights, weighted_costs


class Classifier(ClassParameters, ClassifierMixin, Machine):
    """A machine that tells classes apart."""

    multi_class: str
    classes_: np.ndarray
    class_weight_: np.ndarray

    def _labelled(self, X: Any, y: Any, sample_weight: Any) -> Samples:
        """The rows of positive weight with their classes and weights; sets `classes_` and `class_weight_`."""
        checked, y_checked = self._check_training(X, y)
        if not _surely_labels(y_checked):
            check_classification_targets(y_checked)
        weights, used = self._check_weights(sample_weight, checked)
        classes, codes = np.unique(y_checked[used], return_inverse=True)
        if len(classes) < 2:
            self._refuse_one_class(classes[0], used.size < len(y_checked))
        self.classes_ = classes
        self.class_weight_ = class_weights(self.class_weight, classes, codes, weights)
        rows = self._rows_of(checked, used)
        objects = X if getattr(self, "_of_objects", False) else None
        costs = weighted_costs(weights, self.class_weight_, codes)
        return Samples(rows, weights, costs, used, len(y_checked), codes, len(classes), objects)

    def _refuse_one_class(self, label: Any, masked: bool) -> None:
        if masked:
            raise InvalidInput("Invalid input - all samples with positive weights belong to the same class.")
        raise InvalidInput(
            f"The number of classes has to be greater than one; got 1 class: all samples are {plain(label)!r}"
        )

    def _problems(self, data: Samples, against: str) -> list[Split]:
        """Every binary problem: one class against the rest, or against one other."""
        return splits(
            data.codes, data.classes, "binary" if data.classes == 2 else "ovr" if against == "rest" else "ovo"
        )

    def _names(self, problems: list[Split]) -> list[object]:
        """What each problem is about: a label, or a pair of them."""
        labels = [plain(label) for label in self.classes_]
        about = [tuple(labels[k] for k in split.classes) for split in problems]
        return [name if len(name) == 2 else name[0] for name in about]

    def _splits(self, data: Samples, against: str) -> list[tuple[object, np.ndarray, np.ndarray]]:
        """Every binary problem as its name (a label, or a pair of them), its rows and its targets −1/+1."""
        found = self._problems(data, against)
        return [(name, split.rows, split.target) for name, split in zip(self._names(found), found, strict=True)]


def _surely_labels(y: np.ndarray) -> bool:
    """Whether these are labels at first sight; scikit-learn's own look takes as long as a small fit."""
    return y.ndim == 1 and (y.dtype.kind in "biuU" or (y.dtype.kind == "f" and bool((y == np.floor(y)).all())))
