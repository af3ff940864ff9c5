"""SVR: ε-insensitive regression with a kernel and a certificate; what all regressors share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from maxmargin.estimators.base import Machine
from maxmargin.estimators.callbacks import with_callbacks
from maxmargin.estimators.kernel_machine import KernelMachine
from maxmargin.estimators.parameters import (
    ApproximationParameters,
    BiasParameters,
    CostParameters,
    WidthParameters,
    estimator,
)
from maxmargin.losses import Loss
from maxmargin.losses.epsilon_insensitive import EpsilonInsensitive
from maxmargin.training.samples import Samples
from maxmargin.training.train import Task


class Regressor(RegressorMixin, Machine):
    """A machine that predicts a number."""

    def _measured(self, X: Any, y: Any, sample_weight: Any) -> tuple[Samples, np.ndarray]:
        """The rows of positive weight, and their targets."""
        checked, y_checked = self._check_training(X, y, y_numeric=True)
        weights, used = self._check_weights(sample_weight, checked)
        target = np.asarray(y_checked, dtype=np.float64)[used]
        objects = X if getattr(self, "_of_objects", False) else None
        codes = np.zeros(used.size, dtype=np.intp)
        rows = self._rows_of(checked, used)
        return Samples(rows, weights, weights, used, len(y_checked), codes, 1, objects), target


class KernelRegressor(KernelMachine, Regressor):
    """What SVR and NuSVR share."""

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows; the kernel matrix for ``kernel="precomputed"``.
        y : array of length n_samples
            The values to predict.
        sample_weight : array of length n_samples
            Multiplies C for each row; 0 leaves the row out.

        Returns
        -------
        self
        """
        budget = self._budget()
        data, target = self._measured(X, y, sample_weight)
        self._loss()  # a bad parameter is refused before any kernel value is computed
        setting = self._setting(data, self._kernel(data.X, data.repeats))
        make = self._maker(setting.kernel, data, budget, 1)
        everything = np.arange(len(target))
        (start,) = self._warm([None], data.used, setting.C)
        tasks = [Task(None, everything, lambda: make(everything, target, setting.loss, setting.C), start)]
        self._train(tasks, budget, setting, (X, y, sample_weight))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The values of rows."""
        return self._scores(self._check_new(X))[:, 0]


@estimator
class SVR(CostParameters, WidthParameters, BiasParameters, ApproximationParameters, KernelRegressor):
    """ε-support vector regression with a kernel: min ½‖w‖² + C Σ max(0, |z − t| − ε).

    Attributes
    ----------
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
    - The intercept is the best one for w, the middle where several are equally good.
    - New rows may be sparse or dense whatever the training rows were, and indices may be 64 bits wide.
    - ``C=inf`` is refused.
    - `random_state`, `bias`, `solver`, `approximation`, `n_landmarks`, `max_time` and `warm_start` are ours.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import SVR
    >>> X = np.linspace(0.0, 6.0, 50)[:, None]
    >>> model = SVR(C=10.0, epsilon=0.05, gamma=1.0).fit(X, np.sin(X[:, 0]))
    >>> round(model.score(X, np.sin(X[:, 0])), 2), len(model.support_) < 25
    (1.0, True)
    >>> model.certificate_.relative_gap < 1e-4
    True
    """

    def _loss(self) -> Loss:
        return EpsilonInsensitive(self.epsilon)
