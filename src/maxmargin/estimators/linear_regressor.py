"""LinearSVR: linear ε-insensitive regression with a certificate, a free intercept, and support vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from maxmargin.estimators.callbacks import with_callbacks
from maxmargin.estimators.linear_machine import LinearMachine, fitted_on_dask, is_on_dask, on_dask
from maxmargin.estimators.regressors import Regressor
from maxmargin.losses import Loss
from maxmargin.losses.epsilon_insensitive import EpsilonInsensitive
from maxmargin.losses.squared_epsilon_insensitive import SquaredEpsilonInsensitive
from maxmargin.training.samples import Samples
from maxmargin.training.train import Solution, Task

LOSSES: dict[str, Callable[[float], Loss]] = {
    "epsilon_insensitive": EpsilonInsensitive,
    "squared_epsilon_insensitive": SquaredEpsilonInsensitive,
}


class LinearSVR(LinearMachine, Regressor):
    """Linear ε-support vector regression.

    Parameters
    ----------
    epsilon : float
        The half-width of the tube in which errors cost nothing.
    loss : "epsilon_insensitive" or "squared_epsilon_insensitive"
        max(0, |z − t| − ε), or its square.
    tol, C, fit_intercept, intercept_scaling, dual, verbose, ...
        All others as for `LinearSVC`.

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
    """

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
        if is_on_dask(X):
            return fitted_on_dask(self, X, y, sample_weight)
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
            self._together(data, [target], loss, budget),
        )
        return self

    def _fitted(self, data: Samples, tasks: Sequence[Task], solutions: list[Solution]) -> dict[str, Any]:
        attributes = super()._fitted(data, tasks, solutions)
        return {**attributes, "coef_": attributes["coef_"][0]}

    def predict(self, X: Any) -> np.ndarray:
        """The values of rows."""
        if is_on_dask(X):
            return on_dask(self).predict(X)
        return self._scores(X)[:, 0]
