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
from maxmargin.estimators.parameters import (
    BiasParameters,
    ClassParameters,
    KernelSearchParameters,
    WidthParameters,
    estimator,
)
from maxmargin.estimators.regressors import SVR
from maxmargin.estimators.search import Search
from maxmargin.kernels import Kernel, Linear
from maxmargin.losses.hinge import Hinge
from maxmargin.training.samples import Samples
from maxmargin.training.train import Task

if TYPE_CHECKING:
    from maxmargin.plots.selection import GridDisplay


class ClassifierSearch(ClassParameters, ClassifierMixin, Search):
    """A search among classifiers."""

    def _border(self, base: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Samples, np.ndarray]:
        data = base._labelled(X, y, sample_weight)
        return data, base.classes_[data.codes]

    def decision_function(self, X: Any) -> np.ndarray:
        """The decision values of the best machine."""
        return self._best().decision_function(X)


class KernelSearch(KernelSearchParameters, Search):
    """A search over gamma, too."""

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


@estimator
class SVCCV(BiasParameters, KernelSearch, ClassifierSearch):
    """SVC with C and gamma chosen by cross-validation.

    Parameters
    ----------
    multi_class : "ovo" or "ovr", default "ovo"
        Train one class against one (as scikit-learn does), or one against the rest.

    Attributes
    ----------
    best_params_, best_score_, best_estimator_
        What was found; ``summary()`` says it in words.
    scores_, fold_scores_ : arrays of shape (Cs, gammas) and (Cs, gammas, folds)
        ``plot()`` draws them.
    worst_gap_ : float
        The worst relative gap of a fit in a fold.

    Examples
    --------
    >>> from maxmargin import SVCCV
    >>> from maxmargin.data import toys
    >>> search = SVCCV(Cs=[0.1, 1.0, 10.0], gammas=["scale", 1.0], cv=3).fit(*toys.moons())
    >>> search.scores_.shape, sorted(search.best_params_)
    ((3, 2), ['C', 'gamma'])
    >>> search.best_estimator_.certificate_.holds(1e-4)
    True
    """

    multi_class: str = "ovo"

    def _machine(self) -> SVC:
        return _like(self, SVC)

    def _tasks(self, machine: Any, data: Samples, y: np.ndarray) -> list[Task]:
        _, make = machine._problem_maker(data, machine._budget(), 1)
        splits = machine._splits(data, "rest" if self.multi_class == "ovr" else "one")
        return [Task(name, rows, partial(make, rows, signs, Hinge(), 1.0)) for name, rows, signs in splits]


@estimator
class LinearSVCCV(ClassifierSearch):
    """LinearSVC with C chosen by cross-validation.

    Parameters
    ----------
    loss : "hinge" or "squared_hinge", default "squared_hinge"
        max(0, 1 − y z), or its square.
    multi_class : "ovr" or "ovo", default "ovr"
        One class against the rest, or one against one.
    fit_intercept : bool, default True
        False is ``bias="none"``.
    bias : "free", "augmented" or "none", default "free"
        An intercept that is not penalised, one that is (a constant feature 1), or none.

    Attributes
    ----------
    best_params_, best_score_, best_estimator_
        What was found; ``summary()`` says it in words.
    scores_, fold_scores_ : arrays of shape (Cs, gammas) and (Cs, gammas, folds)
        Scores; there is one column for gamma.
    worst_gap_ : float
        The worst relative gap of a fit in a fold.

    Examples
    --------
    >>> from maxmargin import LinearSVCCV
    >>> from maxmargin.data import toys
    >>> X, y = toys.overlapping()
    >>> search = LinearSVCCV(Cs=[0.01, 0.1, 1.0], cv=3).fit(X, y)
    >>> search.scores_.shape, search.best_params_["C"] in (0.01, 0.1, 1.0)
    ((3, 1), True)
    """

    loss: str = "squared_hinge"
    multi_class: str = "ovr"
    fit_intercept: bool = True
    bias: Any = "free"

    def _machine(self) -> LinearSVC:
        check_option("multi_class", self.multi_class, ("ovr", "ovo"))
        return _like(self, LinearSVC)

    def _tasks(self, machine: Any, data: Samples, y: np.ndarray) -> list[Task]:
        machine.C = 1.0
        splits = machine._splits(data, "one" if self.multi_class == "ovo" else "rest")
        setting = machine._setting(data, Linear())
        return [Task(name, rows, partial(machine._problem, setting, rows, signs)) for name, rows, signs in splits]


@estimator
class SVRCV(BiasParameters, WidthParameters, RegressorMixin, KernelSearch):
    """SVR with C and gamma chosen by cross-validation.

    Attributes
    ----------
    best_params_, best_score_, best_estimator_
        What was found; ``summary()`` says it in words.
    scores_, fold_scores_ : arrays of shape (Cs, gammas) and (Cs, gammas, folds)
        ``plot()`` draws them.
    worst_gap_ : float
        The worst relative gap of a fit in a fold.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import SVRCV
    >>> X = np.linspace(0.0, 6.0, 60)[:, None]
    >>> search = SVRCV(Cs=[1.0, 10.0], gammas=[0.1, 1.0], cv=3).fit(X, np.sin(X[:, 0]))
    >>> search.scores_.shape, search.best_estimator_.certificate_.holds(1e-4)
    ((2, 2), True)
    """

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
