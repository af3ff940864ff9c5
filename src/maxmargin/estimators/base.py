"""What all estimators share: parameters, data at the border, budgets, fitted attributes, warnings.

A fit is: validate → the binary problems → solve each → fitted attributes. Subclasses say which problems there are and
what their solutions mean; everything else is here.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from maxmargin.certificate import Certificate
from maxmargin.certificate.kkt import BOUND
from maxmargin.errors import InvalidInput
from maxmargin.estimators.callbacks import CallbackSupportMixin, Monitor
from maxmargin.estimators.html_repr import HTMLRepr
from maxmargin.models import Model, model_of
from maxmargin.numeric.interrupts import interruptible
from maxmargin.numeric.parallel import one_blas_thread
from maxmargin.problem.validation import is_number
from maxmargin.result import Reason, Status, Trace
from maxmargin.training.budget import Budget
from maxmargin.training.expansion import kinds_as_text
from maxmargin.training.samples import Samples, rows_that_count
from maxmargin.training.summary import CertificateSummary, certificate_of, status_of
from maxmargin.training.train import Method, Solution, Task, Together, by_solve, scaled_start, train

#: How rows come in: dense or CSR, float32 or float64, nothing copied that is right already.
ROWS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C"}


class Machine(HTMLRepr, CallbackSupportMixin, BaseEstimator):
    """The base of all estimators."""

    # The parameters that every estimator has.
    solver: Any
    tol: float
    max_iter: int
    max_time: float | None
    random_state: Any
    verbose: Any
    warm_start: bool
    # What every fit leaves behind.
    certificate_: Certificate | CertificateSummary
    status_: Status
    trace_: Trace | list[Trace]
    support_: np.ndarray
    dual_coef_: Any
    intercept_: np.ndarray
    #: The kinds of the support vectors, one row a problem: 1 byte each, where their names would take 36.
    _kind_codes: np.ndarray

    #: How a problem is solved; the nu-machines have a way of their own.
    _method: Method = staticmethod(by_solve)

    # Data at the border

    def _check_training(self, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
        """X and y as scikit-learn checks them."""
        if isinstance(y, str):  # "no_validation": a machine without targets
            return validate_data(self, X, y, **ROWS, **options), y
        return validate_data(self, X, y, **ROWS, **options)

    def _check_new(self, X: Any) -> Any:
        """New rows, with the features of the training rows."""
        check_is_fitted(self)
        return validate_data(self, X, reset=False, **ROWS)

    def _check_weights(self, sample_weight: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The weights, and the rows of positive weight: a weight of 0 or less leaves its row out."""
        if sample_weight is None:
            self._weighted = False
            return np.ones(X.shape[0]), np.arange(X.shape[0])
        given = np.asarray(sample_weight)
        if given.ndim == 1 and not (given > 0).any():
            raise InvalidInput("Invalid input - all samples have zero or negative weights.")
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        self._weighted = bool((weights != 1.0).any())  # a saved model says whether its proof needs them again
        used = np.flatnonzero(weights > 0)
        return weights[used], used

    def _rows_of(self, X: Any, used: np.ndarray) -> Any:
        """The rows that count."""
        return rows_that_count(X, used)

    # Training

    def _budget(self) -> Budget:
        seed = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))
        return Budget(
            self.max_time,
            bool(self.verbose),
            solver=self._solver(),
            tol=self.tol,
            max_iter=self.max_iter,
            seed=seed,
        )

    def _solver(self) -> Any:
        return self.solver

    def _train(
        self,
        tasks: Sequence[Task],
        budget: Budget,
        data: Samples,
        C: float,
        given: tuple[Any, Any, Any],
        together: Together | None = None,
    ) -> None:
        """Solve all problems and set the fitted attributes; `given` is (X, y, sample_weight) for the callbacks."""
        monitor = Monitor(self, len(tasks), *given)
        names = [task.name for task in tasks]

        def fitted(solutions: list[Solution]) -> dict[str, Any]:
            return {
                "certificate_": certificate_of(names, [one.certificate for one in solutions]),
                "trace_": solutions[0].trace if len(tasks) == 1 else [one.trace for one in solutions],
                "status_": budget.judged(status_of(names, [one.status for one in solutions])),
                **self._fitted(data, tasks, solutions),
            }

        with one_blas_thread(), interruptible():  # once for all problems: finding out about BLAS takes milliseconds
            solutions = train(tasks, self._method, budget, monitor, fitted, together)
        attributes = fitted(solutions)
        self.__dict__.update(attributes)
        if self.warm_start:
            self._last = names, C, self._expansion()
        monitor.finish(attributes)
        self._warn()

    def _warm(self, names: Sequence[object], used: np.ndarray, C: float) -> list[np.ndarray | None]:
        """A dual point for each problem from the last fit: those at the bound follow C, new rows begin at 0."""
        if not self.warm_start or not hasattr(self, "_last"):
            return [None] * len(names)
        last_names, last_C, last_coef = self._last
        known = dict(zip(last_names, zip(last_coef, self._kind_codes, strict=True), strict=True))
        starts: list[np.ndarray | None] = []
        ratio = C / last_C
        reach = max(int(used.max(initial=0)), int(self.support_.max(initial=0))) + 1
        for name in names:
            if name not in known:
                starts.append(None)
                continue
            coef, kinds = known[name]
            beta = np.zeros(reach)
            beta[self.support_] = scaled_start(coef, kinds == BOUND, ratio)
            starts.append(beta[used])
        return starts

    def _expansion(self) -> np.ndarray:
        """The coefficients from `dual_coef_`, one row a problem."""
        return self.dual_coef_.toarray() if sp.issparse(self.dual_coef_) else np.asarray(self.dual_coef_)

    def _dual_points(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The certified dual point of each problem: the rows whose β is not 0, in increasing order, and their β."""
        order = np.argsort(self.support_)
        rows = self.support_[order].astype(np.int64)
        return [(rows[beta[order] != 0.0], beta[order[beta[order] != 0.0]]) for beta in self._expansion()]

    @property
    def support_kinds_(self) -> np.ndarray:
        """What kind each support vector is in each problem, as text; empty where it takes no part."""
        check_is_fitted(self)
        return kinds_as_text(self._kind_codes)

    @property
    def model_(self) -> Model:
        """What was fitted, as the command line has it: predicts, is saved, and can be checked against its data."""
        check_is_fitted(self)
        return model_of(self)

    def _fitted(self, data: Samples, tasks: Sequence[Task], solutions: list[Solution]) -> dict[str, Any]:
        """The attributes that the solutions mean."""
        raise NotImplementedError

    def _warn(self) -> None:
        """Say that the fit did not get there, and what to do."""
        status = self.status_
        if status.reason is Reason.CONVERGED:
            return
        early = ""
        if status.reason is Reason.MAX_ITER:
            early = (
                f"Solver terminated early (max_iter={self.max_iter}).  Consider pre-processing your data with"
                f" StandardScaler or MinMaxScaler. "
            )
        warnings.warn(f"{early}{type(self).__name__}: {status}", ConvergenceWarning, stacklevel=4)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def check_option(name: str, value: Any, options: Sequence[Any]) -> None:
    """Refuse a value that is not among the options."""
    if not any(value is option or (isinstance(value, str) and value == option) for option in options):
        raise InvalidInput(f"{name} is {value!r}; it must be one of: {', '.join(repr(option) for option in options)}")


def check_nu(nu: Any) -> None:
    """Refuse a nu outside (0, 1]."""
    if not is_number(nu) or not 0.0 < nu <= 1.0:
        raise InvalidInput(f"nu is {nu!r}; it must be a number in (0, 1]")


def like(X: Any, dense: np.ndarray) -> Any:
    """A small dense matrix in the storage of X: scikit-learn's machines answer sparse data with sparse coefficients."""
    return type(X)(dense) if sp.issparse(X) else dense
