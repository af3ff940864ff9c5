"""SVC: kernel classification with a certificate; `sklearn.svm.SVC` with one import changed."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from maxmargin.errors import InvalidInput
from maxmargin.estimators.base import check_option
from maxmargin.estimators.callbacks import with_callbacks
from maxmargin.estimators.classification import Classifier
from maxmargin.estimators.kernel_machine import KernelMachine
from maxmargin.estimators.parameters import (
    ApproximationParameters,
    BiasParameters,
    CostParameters,
    KernelClassParameters,
    estimator,
)
from maxmargin.kernels import Kernel, Precomputed
from maxmargin.losses import Loss
from maxmargin.losses.hinge import Hinge
from maxmargin.models.classes import pack_pairs, rest_from_pairs, votes_of_pairs
from maxmargin.models.probability import by_class, softened
from maxmargin.result import Reason
from maxmargin.training.budget import Budget
from maxmargin.training.calibrate import calibrated
from maxmargin.training.pairs import shares_pairs, solve_pairs
from maxmargin.training.samples import Samples
from maxmargin.training.train import Solution, Task


class KernelClassifier(KernelClassParameters, KernelMachine, Classifier):
    """What SVC and NuSVC share: everything but how much a misclassified sample costs."""

    def _loss(self) -> Loss:
        return Hinge()

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows; the kernel matrix for ``kernel="precomputed"``.
        y : array of length n_samples
            Labels of any kind.
        sample_weight : array of length n_samples
            Multiplies C for each row; 0 leaves the row out.

        Returns
        -------
        self
        """
        check_option("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))
        check_option("multi_class", self.multi_class, ("ovo", "ovr"))
        budget = self._budget()
        data = self._labelled(X, y, sample_weight)
        splits = self._problems(data, "rest" if self.multi_class == "ovr" else "one")
        names = self._names(splits)
        self._check_splits(data, [(name, one.rows, one.target) for name, one in zip(names, splits, strict=True)])
        kernel = self._kernel(data.X, data.repeats)
        setting = self._setting(data, kernel)
        C, loss, cache = setting.C, setting.loss, self.cache_size * 1e6
        shared = self.multi_class == "ovo" and shares_pairs(kernel, self.bias, C, budget, len(splits))
        make = self._maker(kernel, data, budget, 1 if shared else len(splits))
        tasks = [
            Task(
                name, one.rows, partial(make, one.rows, one.target, loss, C), None if start is None else start[one.rows]
            )
            for name, one, start in zip(names, splits, self._warm(names, data.used, C), strict=True)
        ]
        together = partial(solve_pairs, data, kernel, loss, C, splits, cache, budget, setting.nu) if shared else None
        if self.probability:
            temperature = calibrated(partial(self._decide, data, kernel), data.codes, data.weights, budget)
            setting = self._setting(data, kernel, temperature)
        self._train(tasks, budget, setting, (X, y, sample_weight), together)
        return self

    def _decide(self, data: Samples, kernel: Kernel, train: np.ndarray, test: np.ndarray, budget: Budget) -> np.ndarray:
        """The decision values of some rows by a machine that was trained on others; the kernel is that of all rows."""
        pairwise = isinstance(kernel, Precomputed)
        machine = clone(self).set_params(
            kernel="precomputed" if pairwise else kernel,
            probability=False,
            class_weight=None,
            decision_function_shape="ovr",
            warm_start=False,
            max_time=budget.max_time,
        )
        if hasattr(machine, "set_callbacks"):
            machine.set_callbacks()  # they are about the fit to all rows
        rows = data.X[np.ix_(train, train)] if pairwise else data.X[train]
        machine.fit(rows, data.codes[train], data.weights[train])
        if machine.status_.reason is Reason.INTERRUPTED:
            budget.interrupt()
        return machine.decision_function(data.X[np.ix_(test, train)] if pairwise else data.X[test])

    def _check_splits(self, data: Samples, splits: Any) -> None:
        """Refuse what can be refused before any kernel value is computed."""

    def _iterations(self, solutions: list[Solution]) -> Any:
        return np.array([one.iterations for one in solutions], dtype=np.int32)

    def _packed(self, coef: np.ndarray) -> np.ndarray:
        return coef if self._by_rest(len(self.classes_)) else pack_pairs(coef, self.n_support_)

    @property
    def temperature_(self) -> float | None:
        """What decision values are divided by to give probabilities; None without `probability`."""
        check_is_fitted(self)
        return self.model_.temperature

    def _by_rest(self, classes: int) -> bool:
        return classes == 2 or self.multi_class == "ovr"

    # Answers

    def decision_function(self, X: Any) -> np.ndarray:
        """How far rows are on which side.

        Returns
        -------
        array
            Two classes: one value a row, positive for ``classes_[1]``. More: one column a class, or for
            ``decision_function_shape="ovo"`` one a pair of classes, positive for the first of the pair.
        """
        return self._shaped(self._scores(self._check_new(X)))

    def _shaped(self, scores: np.ndarray) -> np.ndarray:
        classes = len(self.classes_)
        if classes == 2:
            return scores[:, 0]
        if self.multi_class == "ovr":
            if self.decision_function_shape == "ovo":
                raise InvalidInput("decision_function_shape='ovo' needs multi_class='ovo': there are no pairs")
            return scores
        return rest_from_pairs(scores, classes) if self.decision_function_shape == "ovr" else scores

    def predict(self, X: Any) -> np.ndarray:
        """The labels of rows."""
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        scores = self._scores(self._check_new(X))
        classes = len(self.classes_)
        if classes == 2:
            return self.classes_[(scores[:, 0] > 0).astype(int)]
        if self.multi_class == "ovr":
            return self.classes_[np.argmax(scores, axis=1)]
        if self.break_ties or self.temperature_ is not None:  # probabilities know no ties
            return self.classes_[np.argmax(rest_from_pairs(scores, classes), axis=1)]
        return self.classes_[np.argmax(votes_of_pairs(scores, classes)[0], axis=1)]

    # Probabilities

    def _has_probabilities(self) -> bool:
        if not self.probability:
            raise AttributeError("predict_proba is not available when probability=False")
        return True

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes, in the order of the decision values; see `probability`."""
        check_is_fitted(self)
        if self.temperature_ is None:
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        scores = self._scores(self._check_new(X))
        classes = len(self.classes_)
        pairs = classes > 2 and self.multi_class == "ovo"
        decision = rest_from_pairs(scores, classes) if pairs else scores if classes > 2 else scores[:, 0]
        return softened(by_class(decision), self.temperature_)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of the probabilities."""
        return np.log(self.predict_proba(X))


@estimator
class SVC(CostParameters, BiasParameters, ApproximationParameters, KernelClassifier):
    """C-support vector classification with a kernel: min ½‖w‖² + C Σ max(0, 1 − y z).

    Attributes
    ----------
    support_, support_vectors_, n_support_ : arrays
        Which rows matter, those rows (in order of their classes), and how many there are of each class.
    dual_coef_ : array
        Their coefficients, in scikit-learn's layout.
    intercept_ : array
        One for each binary problem.
    coef_ : array
        The normals, for the linear kernel.
    certificate_ : Certificate or CertificateSummary
        The proof: that of the one binary problem, or one for each by its labels, with their sum and worst.
    support_kinds_ : array of text, one row a binary problem
        "free", "bound", "candidate" or "outside"; empty where a vector takes no part.
    status_, trace_
        Why the fit ended and what to do; what was seen along the way (a list, for several problems).
    n_iter_ : array, one a binary problem
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
    - `probability` is not deprecated, needs no `random_state`, and always agrees with `predict`; there is one
      `temperature_` in the place of `probA_` and `probB_`.
    - `cache_size` is 1000 MB rather than 200.
    - `multi_class`, `bias`, `solver`, `approximation`, `n_landmarks`, `max_time` and `warm_start` are ours.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=10.0).fit(X, y)
    >>> round(model.score(X, y), 3), model.n_support_.tolist()
    (0.987, [4, 11, 12])
    >>> model.certificate_.relative_gap < 1e-4  # the worst of the three pairs of classes
    True
    """
