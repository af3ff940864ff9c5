"""LinearSVR: linear ε-insensitive regression with a certificate, a free intercept, and support vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.estimators.callbacks import with_callbacks
from maxmargin.estimators.linear_machine import LinearMachine, fitted_on_dask, is_on_dask, on_dask
from maxmargin.estimators.parameters import estimator
from maxmargin.estimators.regressors import Regressor
from maxmargin.kernels import Linear
from maxmargin.losses import Loss
from maxmargin.losses.epsilon_insensitive import EpsilonInsensitive
from maxmargin.losses.squared_epsilon_insensitive import SquaredEpsilonInsensitive
from maxmargin.training.train import Task

LOSSES: dict[str, Callable[[float], Loss]] = {
    "epsilon_insensitive": EpsilonInsensitive,
    "squared_epsilon_insensitive": SquaredEpsilonInsensitive,
}


@estimator
class LinearSVR(LinearMachine, Regressor):
    """Linear ε-support vector regression.

    Parameters
    ----------
    epsilon : float, default 0.0
        The half-width of the tube in which errors cost nothing.
    loss : "epsilon_insensitive" or "squared_epsilon_insensitive", default "epsilon_insensitive"
        max(0, |z − t| − ε), or its square.

    Attributes
    ----------
    coef_, intercept_, support_, support_vectors_, n_support_, dual_coef_, certificate_, support_kinds_, status_, trace_
        As for `LinearSVC`; there is one problem.
    n_iter_ : int
        The solver's iterations.

    Notes
    -----
    *Differences from scikit-learn*

    - The intercept is free; ``bias="augmented"`` is liblinear's, which is penalised.
    - `tol` is the relative duality gap, which bounds the error of the objective. scikit-learn's is a KKT violation.
    - `max_iter` counts the iterations of the solver at hand and has no limit by default.
    - There are support vectors and dual variables.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import LinearSVR
    >>> X = np.arange(10.0)[:, None]
    >>> model = LinearSVR(C=10.0, epsilon=0.1).fit(X, 2.0 * X[:, 0] + 1.0)
    >>> model.coef_.round(2), model.predict([[20.0]]).round(0)
    (array([1.98]), array([41.]))
    """

    epsilon: float = 0.0
    loss: str = "epsilon_insensitive"

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows.
        y : array of length n_samples
            The values to predict.
        sample_weight : array of length n_samples
            Multiplies C for each row; 0 leaves the row out.

        Returns
        -------
        self
        """
        if is_on_dask(X):
            return fitted_on_dask(self, X, y, sample_weight)
        self._check_linear(tuple(LOSSES), "epsilon_insensitive")
        budget = self._budget()
        data, target = self._measured(X, y, sample_weight)
        everything = np.arange(len(target))
        (start,) = self._warm([None], data.used, self.C)
        setting = self._setting(data, Linear())
        tasks = [Task(None, everything, lambda: self._problem(setting, everything, target), start)]
        self._train(tasks, budget, setting, (X, y, sample_weight), self._together(setting, [target], budget))
        return self

    def _loss(self) -> Loss:
        return LOSSES[self.loss](self.epsilon)

    def _normals(self, w: Any) -> Any:
        return w[0]

    def predict(self, X: Any) -> np.ndarray:
        """The values of rows."""
        if is_on_dask(X):
            return on_dask(self).predict(X)
        return self._scores(self._check_new(X))[:, 0]
