"""What all classifiers share: labels, class weights, and the binary problems of several classes.

One against one trains k(k−1)/2 problems on the rows of two classes each; one against the rest trains k problems on
all rows. With two classes both are one problem, in which the second class is the positive one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from maxmargin.errors import InvalidInput
from maxmargin.estimators.base import Data, Machine
from maxmargin.estimators.layout import pairs
from maxmargin.validation import plain


class Classifier(ClassifierMixin, Machine):
    """A machine that tells classes apart."""

    class_weight: Any
    multi_class: str
    classes_: np.ndarray
    class_weight_: np.ndarray

    def _labelled(self, X: Any, y: Any, sample_weight: Any) -> Data:
        """The rows of positive weight with their classes and weights; sets `classes_` and `class_weight_`."""
        checked, y_checked = self._check_training(X, y)
        check_classification_targets(y_checked)
        weights, used = self._check_weights(sample_weight, checked)
        classes, codes = np.unique(y_checked[used], return_inverse=True)
        if len(classes) < 2:
            self._refuse_one_class(classes[0], used.size < len(y_checked))
        self.classes_ = classes
        self.class_weight_ = self._class_weights(classes, codes, weights)
        if (self.class_weight_ <= 0).any():
            label = plain(classes[int(np.argmin(self.class_weight_))])
            raise InvalidInput(f"class_weight of {label!r} is not positive; leave the class out instead")
        rows = self._rows_of(checked, used)
        objects = X if getattr(self, "_of_objects", False) else None
        return Data(rows, weights * self.class_weight_[codes], used, len(y_checked), codes, len(classes), objects)

    def _refuse_one_class(self, label: Any, masked: bool) -> None:
        if masked:
            raise InvalidInput("Invalid input - all samples with positive weights belong to the same class.")
        raise InvalidInput(
            f"The number of classes has to be greater than one; got 1 class: all samples are {plain(label)!r}"
        )

    def _class_weights(self, classes: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The weight of each class; "balanced" counts by weight, so that a weight of 2 is the row written twice."""
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            return weights.sum() / (len(classes) * np.bincount(codes, weights))
        return compute_class_weight(self.class_weight, classes=classes, y=classes[codes])

    def _splits(self, data: Data, against: str) -> list[tuple[object, np.ndarray, np.ndarray]]:
        """Every binary problem as its name, its rows and its targets −1/+1."""
        everything = np.arange(len(data.codes))
        labels = [plain(label) for label in self.classes_]
        if data.classes == 2:
            return [((labels[0], labels[1]), everything, np.where(data.codes == 1, 1.0, -1.0))]
        if against == "rest":
            return [(labels[k], everything, np.where(data.codes == k, 1.0, -1.0)) for k in range(data.classes)]
        splits: list[tuple[object, np.ndarray, np.ndarray]] = []
        for i, j in pairs(data.classes):
            rows = np.flatnonzero((data.codes == i) | (data.codes == j))
            splits.append(((labels[i], labels[j]), rows, np.where(data.codes[rows] == i, 1.0, -1.0)))
        return splits
