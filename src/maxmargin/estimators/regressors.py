"""SVR and LinearSVR: ε-insensitive regression with a certificate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from maxmargin.estimators.base import Data, Machine
from maxmargin.estimators.callbacks import with_callbacks
from maxmargin.estimators.kernel_machine import KernelMachine
from maxmargin.estimators.linear_machine import LinearMachine
from maxmargin.estimators.training import Solution, Task
from maxmargin.losses import Loss
from maxmargin.losses.epsilon_insensitive import EpsilonInsensitive
from maxmargin.losses.squared_epsilon_insensitive import SquaredEpsilonInsensitive

LOSSES: dict[str, Callable[[float], Loss]] = {
    "epsilon_insensitive": EpsilonInsensitive,
    "squared_epsilon_insensitive": SquaredEpsilonInsensitive,
}


class Regressor(RegressorMixin, Machine):
    """A machine that predicts a number."""

    def _measured(self, X: Any, y: Any, sample_weight: Any) -> tuple[Data, np.ndarray]:
        """The rows of positive weight, and their targets."""
        checked, y_checked = self._check_training(X, y, y_numeric=True)
        weights, used = self._check_weights(sample_weight, checked)
        target = np.asarray(y_checked, dtype=np.float64)[used]
        objects = X if getattr(self, "_of_objects", False) else None
        codes = np.zeros(used.size, dtype=np.intp)
        return Data(self._rows_of(checked, used), weights, used, len(y_checked), codes, 1, objects), target


class KernelRegressor(KernelMachine, Regressor):
    """What SVR and NuSVR share."""

    def _loss(self) -> Loss:
        raise NotImplementedError

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
        loss = self._loss()
        data, target = self._measured(X, y, sample_weight)
        self.kernel_, make = self._problem_maker(data, budget, 1)
        everything = np.arange(len(target))
        (start,) = self._warm([None], data.used, self.C)
        self._train(
            [Task(None, everything, lambda: make(everything, target, loss, self.C), start)],
            budget,
            data,
            self.C,
            (X, y, sample_weight),
        )
        return self

    def _fitted(self, data: Data, tasks: Sequence[Task], solutions: list[Solution]) -> dict[str, Any]:
        return {**super()._fitted(data, tasks, solutions), "n_iter_": solutions[0].iterations}

    def predict(self, X: Any) -> np.ndarray:
        """The values of rows."""
        return self._scores(self._check_new(X))[:, 0]


class SVR(KernelRegressor):
    """ε-support vector regression with a kernel."""

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 1000,
        verbose: bool = False,
        max_iter: int = -1,
        random_state: Any = None,
        bias: str = "free",
        solver: Any = "auto",
        max_time: float | None = None,
        warm_start: bool = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.random_state = random_state
        self.bias = bias
        self.solver = solver
        self.max_time = max_time
        self.warm_start = warm_start

    def _loss(self) -> Loss:
        return EpsilonInsensitive(self.epsilon)


class LinearSVR(LinearMachine, Regressor):
    """Linear ε-support vector regression."""

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: Any = "auto",
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = -1,
        bias: str | None = None,
        solver: Any = "auto",
        max_time: float | None = None,
        warm_start: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
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
            The values to predict.
        sample_weight : array of length n_samples
            Multiplies C for each row; 0 leaves the row out.

        Returns
        -------
        self
        """
        self._check_linear(tuple(LOSSES), "epsilon_insensitive")
        budget = self._budget()
        loss = LOSSES[self.loss](self.epsilon)
        data, target = self._measured(X, y, sample_weight)
        everything = np.arange(len(target))
        (start,) = self._warm([None], data.used, self.C)
        self._train(
            [Task(None, everything, lambda: self._problem(data, everything, target, loss), start)],
            budget,
            data,
            self.C,
            (X, y, sample_weight),
        )
        return self

    def _fitted(self, data: Data, tasks: Sequence[Task], solutions: list[Solution]) -> dict[str, Any]:
        attributes = super()._fitted(data, tasks, solutions)
        return {**attributes, "coef_": attributes["coef_"][0]}

    def predict(self, X: Any) -> np.ndarray:
        """The values of rows."""
        return self._scores(X)[:, 0]
