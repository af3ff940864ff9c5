"""OneClassSVM: novelty detection with a certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OutlierMixin

from maxmargin.estimators.base import check_nu
from maxmargin.estimators.callbacks import with_callbacks
from maxmargin.estimators.kernel_machine import KernelMachine
from maxmargin.estimators.parameters import NuParameters, estimator
from maxmargin.losses import Loss
from maxmargin.losses.one_class import OneClass
from maxmargin.training.samples import Samples
from maxmargin.training.train import Task

#: The free support vectors lie on the threshold, where the last bits of a sum must not decide.
ROUNDING = 1e-12


@estimator
class OneClassSVM(NuParameters, OutlierMixin, KernelMachine):
    """Novelty detection: the half-space (of the kernel's space) that holds all but a share nu of the rows.

    Parameters
    ----------
    nu : float in (0, 1], default 0.5
        At most this share of the rows is outside, and at least this share are support vectors.

    Attributes
    ----------
    offset_ : array
        The threshold: decision_function = score_samples − offset_.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, certificate_, support_kinds_, status_, trace_
        As for `SVC`; there is one problem.
    n_iter_ : int
        The solver's iterations.

    Notes
    -----
    *Differences from scikit-learn*

    - `tol` is the relative duality gap, which bounds the error of the objective. scikit-learn's is a KKT violation.
    - `max_iter` counts the iterations of the solver at hand, looked at after each of its steps (of several iterations).
    - A row of weight w is the row written w times, so that ``gamma="scale"`` (and ``class_weight="balanced"``) count by
      weight; in scikit-learn they do not look at `sample_weight`.
    - New rows may be sparse or dense whatever the training rows were, and indices may be 64 bits wide.
    - A row whose decision value is below rounding is on the threshold: 0, and usual.
    - `random_state`, `solver`, `max_time` and `warm_start` are ours.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import OneClassSVM
    >>> usual = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = OneClassSVM(nu=0.1, gamma=0.5).fit(usual)
    >>> model.predict([[0.0, 0.0], [4.0, 4.0]])
    array([ 1, -1])
    >>> bool(model.certificate_.relative_gap < 1e-4)
    True
    """

    #: The threshold is a free bias by definition.
    bias = "free"

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Train.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows; the kernel matrix for ``kernel="precomputed"``.
        y : ignored
            There for scikit-learn's contract.
        sample_weight : array of length n_samples
            How much each row counts; 0 leaves the row out.

        Returns
        -------
        self
        """
        check_nu(self.nu)
        budget = self._budget()
        checked, _ = self._check_training(X, "no_validation")
        weights, used = self._check_weights(sample_weight, checked)
        rows = self._rows_of(checked, used)
        objects = X if self._of_objects else None
        codes = np.zeros(used.size, dtype=np.intp)
        data = Samples(rows, weights, weights, used, checked.shape[0], codes, 1, objects)
        setting = self._setting(data, self._kernel(rows, weights))
        make = self._maker(setting.kernel, data, budget, 1)
        everything = np.arange(used.size)
        (start,) = self._warm([None], used, 1.0)
        tasks = [Task(None, everything, lambda: make(everything, None, setting.loss, 1.0), start)]
        self._train(tasks, budget, setting, (X, y, sample_weight))
        return self

    def _loss(self) -> Loss:
        return OneClass(self.nu)

    @property
    def offset_(self) -> np.ndarray:
        """The threshold: decision_function = score_samples − offset_."""
        return -self.intercept_

    def decision_function(self, X: Any) -> np.ndarray:
        """How far rows are inside (positive) or outside; 0 where the difference is below rounding."""
        distance = self._scores(self._check_new(X))[:, 0]
        rounding = ROUNDING * (np.abs(distance + self.offset_) + np.abs(self.offset_))
        return np.where(np.abs(distance) <= rounding, 0.0, distance)

    def score_samples(self, X: Any) -> np.ndarray:
        """⟨w, φ(x)⟩: the decision value without the threshold `offset_`."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """+1 for rows that are like those seen, −1 for novel ones."""
        return np.where(self.decision_function(X) >= 0, 1, -1).astype(np.intp)
