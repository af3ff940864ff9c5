"""What all estimators share: parameters, data at the border, budgets, fitted attributes, warnings.

A fit is: validate → the binary problems → solve each → fitted attributes. Subclasses say which problems there are and
what their solutions mean; everything else is here.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from maxmargin.certificate import Certificate
from maxmargin.certificate.kkt import BOUND
from maxmargin.errors import InvalidInput
from maxmargin.estimators.callbacks import CallbackSupportMixin, Monitor
from maxmargin.estimators.callers import in_a_loop_of_others
from maxmargin.estimators.checked import checked_new, checked_training
from maxmargin.estimators.html_repr import HTMLRepr
from maxmargin.estimators.parameters import FitParameters
from maxmargin.kernels import Kernel, Linear, Precomputed
from maxmargin.losses import Loss
from maxmargin.models.build import assembled, training_of
from maxmargin.models.classes import Scheme
from maxmargin.models.model import Model, Training
from maxmargin.numeric.interrupts import interruptible
from maxmargin.numeric.parallel import one_blas_thread
from maxmargin.problem.validation import is_number, plain
from maxmargin.regularizers import Regularizer
from maxmargin.regularizers.l2 import L2
from maxmargin.result import Reason, Status, Trace
from maxmargin.training.budget import Budget
from maxmargin.training.expansion import Support, gather
from maxmargin.training.samples import Samples, rows_that_count
from maxmargin.training.summary import CertificateSummary, certificate_of, status_of
from maxmargin.training.train import Solution, Task, Together, scaled_start, train


@dataclass(frozen=True, eq=False)
class Setting:
    """What the problems of a fit have in common."""

    data: Samples
    kernel: Kernel
    loss: Loss
    C: float
    bias: Any
    bias_scale: float = 1.0
    #: What the decision values of the classes are divided by to give probabilities.
    temperature: float | None = None
    nu: float | None = None
    regularizer: Regularizer = field(default_factory=L2)


class Machine(HTMLRepr, FitParameters, CallbackSupportMixin, BaseEstimator):
    """The base of all estimators."""

    # What every fit leaves behind.
    model_: Model
    certificate_: Certificate | CertificateSummary
    status_: Status
    trace_: Trace | list[Trace]
    #: The support vectors; None where a pickle went without them.
    _support: Support | None

    # Data at the border

    def _check_training(self, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
        """X and y as scikit-learn checks them."""
        return checked_training(self, X, y, **options)

    def _check_new(self, X: Any) -> Any:
        """New rows, with the features of the training rows."""
        check_is_fitted(self)
        return checked_new(self, X)

    def _check_weights(self, sample_weight: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """The weights, and the rows of positive weight: a weight of 0 or less leaves its row out."""
        if sample_weight is None:
            return np.ones(X.shape[0]), np.arange(X.shape[0])
        given = np.asarray(sample_weight)
        if given.ndim == 1 and not (given > 0).any():
            raise InvalidInput("Invalid input - all samples have zero or negative weights.")
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        used = np.flatnonzero(weights > 0)
        return weights[used], used

    def _rows_of(self, X: Any, used: np.ndarray) -> Any:
        """The rows that count."""
        return rows_that_count(X, used)

    # Training

    def _check_parameters(self) -> None:
        """The numbers among the parameters are numbers that mean something; what a kernel does not use may be any."""
        for name, infinite in (("C", True), ("cache_size", False), ("intercept_scaling", False)):
            value = getattr(self, name, 1.0)
            if not is_number(value) or not 0.0 < value < np.inf:
                if infinite and is_number(value) and value == np.inf:
                    continue
                more = " (C=inf for a hard margin)" if infinite else ""
                raise InvalidInput(f"{name} is {value!r}; it must be a number > 0{more}")
        gamma = getattr(self, "gamma", 1.0)
        if not isinstance(gamma, str) and (not is_number(gamma) or not 0.0 < gamma < np.inf):
            raise InvalidInput(f"gamma is {gamma!r}; it must be 'scale', 'auto' or a finite number > 0")
        coef0 = getattr(self, "coef0", 0.0)
        if not is_number(coef0) or not np.isfinite(coef0):
            raise InvalidInput(f"coef0 is {coef0!r}; it must be a finite number")

    def _budget(self) -> Budget:
        self._check_parameters()
        seed = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))
        return Budget(
            self.max_time,
            bool(self.verbose),
            solver=self._solver(),
            tol=self.tol,
            max_iter=self.max_iter,
            seed=seed,
            leaving=in_a_loop_of_others(),
        )

    def _solver(self) -> Any:
        return self.solver

    def _train(
        self,
        tasks: Sequence[Task],
        budget: Budget,
        setting: Setting,
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
                **self._fitted(setting, tasks, solutions),
            }

        with one_blas_thread(), interruptible():  # once for all problems: finding out about BLAS takes milliseconds
            solutions = train(tasks, budget, monitor, fitted, together)
        attributes = fitted(solutions)
        self.__dict__.update(attributes)
        if self.warm_start:
            # The dual points of ν-problems of classes are ρ times their coefficients.
            margins = [one.tau if one.tau and setting.loss.task == "classification" else 1.0 for one in solutions]
            self._last = names, setting.C, self._expansion() * np.array(margins)[:, None]
        monitor.finish(attributes)
        self._warn()

    def _setting(self, data: Samples, kernel: Kernel, temperature: float | None = None) -> Setting:
        """What the problems of a fit have in common."""
        scale = getattr(self, "intercept_scaling", 1.0) if self._bias() == "augmented" else 1.0
        return Setting(data, kernel, self._loss(), self._cost(), self._bias(), float(scale), temperature, self._nu())

    def _nu(self) -> float | None:
        """The share of a ν-problem."""
        return None

    def _cost(self) -> float:
        """The C of the problems."""
        return getattr(self, "C", 1.0)

    def _loss(self) -> Loss:
        """The loss of the problems."""
        raise NotImplementedError

    def _bias(self) -> Any:
        """How the hyperplane may leave the origin."""
        raise NotImplementedError

    def _warm(self, names: Sequence[object], used: np.ndarray, C: float) -> list[np.ndarray | None]:
        """A dual point for each problem from the last fit: those at the bound follow C, new rows begin at 0."""
        if not self.warm_start or not hasattr(self, "_last"):
            return [None] * len(names)
        last_names, last_C, last_coef = self._last
        support = self._kept_support()
        known = dict(zip(last_names, zip(last_coef, support.codes, strict=True), strict=True))
        starts: list[np.ndarray | None] = []
        ratio = C / last_C
        reach = max(int(used.max(initial=0)), int(support.rows.max(initial=0))) + 1
        for name in names:
            if name not in known:
                starts.append(None)
                continue
            coef, kinds = known[name]
            beta = np.zeros(reach)
            beta[support.rows] = scaled_start(coef, kinds == BOUND, ratio)
            starts.append(beta[used])
        return starts

    # What a fit leaves behind

    def _fitted(self, setting: Setting, tasks: Sequence[Task], solutions: list[Solution]) -> dict[str, Any]:
        """The model, its support vectors, and the solver's iterations."""
        data, kernel = setting.data, setting.kernel
        linear = isinstance(kernel, Linear)
        classes = getattr(self, "classes_", None)
        names = getattr(self, "feature_names_in_", None)
        scheme: Scheme = "binary"
        if classes is not None and len(classes) > 2:
            scheme = self.multi_class.replace("_", "-")  # type: ignore[attr-defined]
        planes = [(task.rows, one) for task, whole in zip(tasks, solutions, strict=True) for one in whole.planes()]
        model = assembled(
            setting.loss.task,
            kernel,
            [one.coef if one.w is None else one.w for _, one in planes],
            np.array([one.b for _, one in planes]),
            [rows for rows, _ in planes],
            data.X,
            scheme,
            data.codes,
            classes=classes,
            names=None if names is None else tuple(str(name) for name in names),
            temperature=setting.temperature,
            training=self._training(setting, tasks, solutions),
        )
        if isinstance(kernel, Precomputed) and data.n < data.given:
            w = np.zeros((model.machines, data.given))
            w[:, data.used] = model.w
            model = replace(model, w=w, columns=data.given)
        return {
            "model_": model,
            "_support": gather(data, planes, self._crisp, linear, linear and self._keeps_vectors()),
            "n_iter_": self._iterations(solutions),
        }

    def _training(self, setting: Setting, tasks: Sequence[Task], solutions: list[Solution]) -> Training | None:
        """How the model was trained, with the proof of each problem."""
        data = setting.data
        weights = getattr(self, "class_weight_", np.ones(1))
        told = None
        if (weights != 1.0).any():
            told = tuple(zip(map(plain, self.classes_), weights.tolist(), strict=True))  # type: ignore[attr-defined]
        rows = [data.used[task.rows] for task in tasks]
        solved = [one.solved() for one in solutions]
        return training_of(setting, solved, rows, data.given, setting.C, float(self.tol), told, data.weighted)

    #: Whether support vectors are those that the certificate calls so; else all rows with a coefficient.
    _crisp = False

    def _keeps_vectors(self) -> bool:
        """Whether the support vectors stay, where the model does not need them."""
        return True

    def _iterations(self, solutions: list[Solution]) -> Any:
        """What `n_iter_` is."""
        return max(one.iterations for one in solutions)

    def _kept_support(self) -> Support:
        """The support vectors; an AttributeError says where they are not."""
        check_is_fitted(self)
        if self._support is None:
            raise AttributeError(
                "this copy went without its support vectors and proof; fit with keep_support=True to have them in"
                " pickles and copies"
            )
        return self._support

    def _expansion(self) -> np.ndarray:
        """The coefficients of the support vectors, one row a problem."""
        support, model = self._kept_support(), self.model_
        if support.coef is not None:
            return support.coef
        if model.coef is not None:
            return model.coef
        assert model.w is not None
        return model.w[:, support.rows]

    def _packed(self, coef: np.ndarray) -> np.ndarray:
        """The coefficients in the shape of `dual_coef_`."""
        return coef

    @property
    def support_(self) -> np.ndarray:
        """The places of the support vectors among the training rows."""
        return self._kept_support().rows

    @property
    def n_support_(self) -> np.ndarray:
        """How many support vectors there are of each class."""
        return self._kept_support().counts

    @property
    def dual_coef_(self) -> Any:
        """The coefficients of the support vectors."""
        return like(self._kept_support().storage, self._packed(self._expansion()))

    @property
    def support_vectors_(self) -> Any:
        """The support vectors."""
        support = self._kept_support()
        if support.vectors is not None:
            return support.vectors
        vectors = self.model_.vectors.astype(support.dtype, copy=False)
        return support.storage(vectors) if sp.issparse(vectors) else vectors

    @property
    def support_kinds_(self) -> np.ndarray:
        """What kind each support vector is in each problem, as text; empty where it takes no part."""
        return self._kept_support().kinds()

    @property
    def intercept_(self) -> np.ndarray:
        """The intercept of each hyperplane."""
        check_is_fitted(self)
        return self.model_.b

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


def like(storage: type, dense: np.ndarray) -> Any:
    """A small dense matrix in the storage of the rows: scikit-learn's machines answer sparse with sparse."""
    return dense if storage is np.ndarray else storage(dense)
