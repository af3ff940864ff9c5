"""SVCCV, LinearSVCCV and SVRCV: estimators that choose their C (and gamma) by cross-validation; see `search`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from maxmargin.estimators.base import check_option
from maxmargin.estimators.classifiers import SVC
from maxmargin.estimators.linear_classifier import LinearSVC
from maxmargin.estimators.regressors import SVR
from maxmargin.estimators.search import Search
from maxmargin.kernels import Kernel
from maxmargin.losses.hinge import Hinge
from maxmargin.training.samples import Samples
from maxmargin.training.train import Task

if TYPE_CHECKING:
    from maxmargin.plots.selection import GridDisplay

#: The values of C to try.
CS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)


class ClassifierSearch(ClassifierMixin, Search):
    """A search among classifiers."""

    def _border(self, base: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Samples, np.ndarray]:
        data = base._labelled(X, y, sample_weight)
        return data, base.classes_[data.codes]

    def decision_function(self, X: Any) -> np.ndarray:
        """The decision values of the best machine."""
        return self._best().decision_function(X)


class KernelSearch(Search):
    """A search over gamma, too."""

    gammas: Any

    def _kernels(self, base: Any, data: Samples) -> Sequence[Kernel]:
        found = {}
        for gamma in self.gammas if isinstance(self.gammas, (list, tuple, np.ndarray)) else [self.gammas]:
            base.gamma = gamma if isinstance(gamma, str) else float(gamma)
            kernel = base._kernel(data.X, data.weights)
            found[getattr(kernel, "gamma", np.nan)] = kernel
        return [found[gamma] for gamma in sorted(found)]

    def plot(self, **options: Any) -> GridDisplay:
        """Draw the scores over C and gamma."""
        from maxmargin import plots

        check_is_fitted(self)
        return plots.grid(self.scores_, list(self.Cs_), list(self.gammas_), **options)


class SVCCV(KernelSearch, ClassifierSearch):
    """SVC with C and gamma chosen by cross-validation.

    Parameters
    ----------
    Cs : list of float
        The values of C to try.
    gammas : list of float, "scale" or "auto"
        The values of gamma to try; the kernel matrix is computed once for each.
    cv : int, splitter or iterable
        Folds, as for scikit-learn's `GridSearchCV`.
    scoring : str, callable or None
        Any scorer of scikit-learn's; accuracy (R²) by default.
    refit : bool
        Whether to train the best on all rows, to predict by.
    tol, cv_tol : float
        The relative gap of the refit, and of the fits in the folds.
    max_time : float
        Seconds for everything; folds that did not fit in are not scored.
    verbose : bool
        Say after each fold how far it is.
    kernel, degree, coef0, cache_size, class_weight, multi_class, bias, solver, random_state
        As for SVC.

    Attributes
    ----------
    best_params_, best_score_, best_estimator_
        What was found; ``summary()`` says it in words.
    scores_, fold_scores_ : arrays of shape (Cs, gammas) and (Cs, gammas, folds)
        ``plot()`` draws them.
    worst_gap_ : float
        The worst relative gap of a fit in a fold.
    """

    def __init__(
        self,
        *,
        Cs: Any = CS,
        gammas: Any = ("scale",),
        kernel: Any = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        cv: Any = 5,
        scoring: Any = None,
        refit: bool = True,
        tol: float = 1e-4,
        cv_tol: float = 1e-3,
        cache_size: float = 1000,
        class_weight: Any = None,
        multi_class: str = "ovo",
        bias: str = "free",
        solver: Any = "auto",
        max_time: float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.tol = tol
        self.cv_tol = cv_tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.bias = bias
        self.solver = solver
        self.max_time = max_time
        self.random_state = random_state
        self.verbose = verbose

    def _machine(self) -> SVC:
        return _like(self, SVC)

    def _tasks(self, machine: Any, data: Samples, y: np.ndarray) -> list[Task]:
        machine.temperature_ = None
        _, make = machine._problem_maker(data, machine._budget(), 1)
        splits = machine._splits(data, "rest" if self.multi_class == "ovr" else "one")
        return [Task(name, rows, partial(make, rows, signs, Hinge(), 1.0)) for name, rows, signs in splits]


class LinearSVCCV(ClassifierSearch):
    """LinearSVC with C chosen by cross-validation.

    Parameters
    ----------
    Cs : list of float
        The values of C to try.
    cv : int, splitter or iterable
        Folds, as for scikit-learn's `GridSearchCV`.
    scoring : str, callable or None
        Any scorer of scikit-learn's; accuracy (R²) by default.
    refit : bool
        Whether to train the best on all rows, to predict by.
    tol, cv_tol : float
        The relative gap of the refit, and of the fits in the folds.
    max_time : float
        Seconds for everything; folds that did not fit in are not scored.
    verbose : bool
        Say after each fold how far it is.
    loss, class_weight, multi_class, fit_intercept, bias, solver, random_state
        As for LinearSVC.

    Attributes
    ----------
    best_params_, best_score_, best_estimator_
        What was found; ``summary()`` says it in words.
    scores_, fold_scores_ : arrays of shape (Cs, gammas) and (Cs, gammas, folds)
        Scores; there is one column for gamma.
    worst_gap_ : float
        The worst relative gap of a fit in a fold.
    """

    def __init__(
        self,
        *,
        Cs: Any = CS,
        loss: str = "squared_hinge",
        cv: Any = 5,
        scoring: Any = None,
        refit: bool = True,
        tol: float = 1e-4,
        cv_tol: float = 1e-3,
        class_weight: Any = None,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        bias: str = "free",
        solver: Any = "auto",
        max_time: float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.Cs = Cs
        self.loss = loss
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.tol = tol
        self.cv_tol = cv_tol
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.bias = bias
        self.solver = solver
        self.max_time = max_time
        self.random_state = random_state
        self.verbose = verbose

    def _machine(self) -> LinearSVC:
        check_option("multi_class", self.multi_class, ("ovr", "ovo"))
        return _like(self, LinearSVC)

    def _tasks(self, machine: Any, data: Samples, y: np.ndarray) -> list[Task]:
        machine.C = 1.0
        splits = machine._splits(data, "one" if self.multi_class == "ovo" else "rest")
        return [
            Task(name, rows, partial(machine._problem, data, rows, signs, self.loss)) for name, rows, signs in splits
        ]


class SVRCV(RegressorMixin, KernelSearch):
    """SVR with C and gamma chosen by cross-validation.

    Parameters
    ----------
    Cs : list of float
        The values of C to try.
    gammas : list of float, "scale" or "auto"
        The values of gamma to try; the kernel matrix is computed once for each.
    cv : int, splitter or iterable
        Folds, as for scikit-learn's `GridSearchCV`.
    scoring : str, callable or None
        Any scorer of scikit-learn's; accuracy (R²) by default.
    refit : bool
        Whether to train the best on all rows, to predict by.
    tol, cv_tol : float
        The relative gap of the refit, and of the fits in the folds.
    max_time : float
        Seconds for everything; folds that did not fit in are not scored.
    verbose : bool
        Say after each fold how far it is.
    kernel, degree, coef0, epsilon, cache_size, bias, solver, random_state
        As for SVR.

    Attributes
    ----------
    best_params_, best_score_, best_estimator_
        What was found; ``summary()`` says it in words.
    scores_, fold_scores_ : arrays of shape (Cs, gammas) and (Cs, gammas, folds)
        ``plot()`` draws them.
    worst_gap_ : float
        The worst relative gap of a fit in a fold.
    """

    def __init__(
        self,
        *,
        Cs: Any = CS,
        gammas: Any = ("scale",),
        kernel: Any = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        epsilon: float = 0.1,
        cv: Any = 5,
        scoring: Any = None,
        refit: bool = True,
        tol: float = 1e-4,
        cv_tol: float = 1e-3,
        cache_size: float = 1000,
        bias: str = "free",
        solver: Any = "auto",
        max_time: float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.epsilon = epsilon
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.tol = tol
        self.cv_tol = cv_tol
        self.cache_size = cache_size
        self.bias = bias
        self.solver = solver
        self.max_time = max_time
        self.random_state = random_state
        self.verbose = verbose

    def _machine(self) -> SVR:
        return _like(self, SVR)

    def _border(self, base: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Samples, np.ndarray]:
        return base._measured(X, y, sample_weight)

    def _tasks(self, machine: Any, data: Samples, y: np.ndarray) -> list[Task]:
        _, make = machine._problem_maker(data, machine._budget(), 1)
        rows = np.arange(len(y))
        return [Task(None, rows, partial(make, rows, y, machine._loss(), 1.0))]


def _like(search: Search, made: type) -> Any:
    """The machine with the parameters that it shares with the search."""
    names = set(made().get_params()) & set(search.get_params()) - {"verbose"}
    return made(**{name: getattr(search, name) for name in names})
