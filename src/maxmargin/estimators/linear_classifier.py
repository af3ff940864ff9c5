"""LinearSVC: linear classification with a certificate, a free intercept, and support vectors."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.estimators.base import check_option, like
from maxmargin.estimators.callbacks import Monitor, with_callbacks
from maxmargin.estimators.classification import Classifier
from maxmargin.estimators.linear_machine import LinearMachine, fitted_on_dask, is_on_dask, on_dask
from maxmargin.models.classes import rest_from_pairs, votes_of_pairs
from maxmargin.numeric.parallel import one_blas_thread
from maxmargin.training.budget import Budget
from maxmargin.training.crammer_singer import solve_crammer_singer
from maxmargin.training.samples import Samples
from maxmargin.training.train import Task


class LinearSVC(LinearMachine, Classifier):
    """Linear support vector classification.

    Parameters
    ----------
    penalty : "l2"
        There for scikit-learn's sake; "l1" is refused.
    loss : "hinge" or "squared_hinge"
        max(0, 1 − y z), or its square.
    dual : "auto", True or False
        There for scikit-learn's sake: every fit has a primal and a dual, and `solver` chooses the algorithm.
    C : float
        The weight of the loss.
    multi_class : "ovr", "ovo" or "crammer_singer"
        One class against the rest, one against one, or all in one problem (hinge loss, augmented intercepts).
    fit_intercept : bool
        False is ``bias="none"``.
    intercept_scaling : float
        The constant feature of ``bias="augmented"``, by which the intercept is penalised less.
    class_weight : dict or "balanced"
        Multiplies C for each class.
    bias : "free", "augmented" or "none"
        None is "free", and "augmented" for Crammer–Singer.
    tol : float
        The relative duality gap to reach, (P − D)/max(|P|, |D|).
    max_iter : int
        The solver's own iterations for each binary problem; −1 for no limit.
    max_time : float
        Seconds for the whole fit; the best certified model so far is kept when they are over.
    solver : str or Solver
        A name from `maxmargin.list_solvers()`, or "auto": what `solve` chooses for the problem.
    random_state : int, RandomState or None
        For solvers that shuffle; None is a fixed seed, so that a fit can be repeated.
    verbose : bool
        Show progress.
    warm_start : bool
        Begin where the last fit ended: after a change of parameters, or with more rows appended.

    Attributes
    ----------
    coef_, intercept_ : arrays
        One hyperplane for each binary problem (for each class, by Crammer–Singer).
    support_, support_vectors_, n_support_, dual_coef_ : arrays
        The samples that matter and their coefficients, one row a problem: ``dual_coef_ @ support_vectors_`` is `coef_`.
    certificate_ : Certificate or CertificateSummary
        The proof: that of the one binary problem, or one for each by its labels, with their sum and worst.
    support_kinds_ : array of text, one row a binary problem
        "free", "bound", "candidate" or "outside"; empty where a vector takes no part.
    status_, trace_
        Why the fit ended and what to do; what was seen along the way (a list, for several problems).
    n_iter_ : int
        The solver's iterations.

    Notes
    -----
    *Differences from scikit-learn*

    - The intercept is free: liblinear penalises it, and so needs features around 0. ``bias="augmented"`` is theirs.
    - `tol` is the relative duality gap, which bounds the error of the objective. scikit-learn's is a KKT violation.
    - `max_iter` counts the iterations of the solver at hand and has no limit by default.
    - There are support vectors and dual variables.
    - ``penalty="l1"`` is refused: it is not a maximum margin problem.
    - ``multi_class="ovo"``, `bias`, `solver`, `max_time` and `warm_start` are ours.
    """

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: Any = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = -1,
        bias: str | None = None,
        solver: Any = "auto",
        max_time: float | None = None,
        warm_start: bool = False,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.bias = bias
        self.solver = solver
        self.max_time = max_time
        self.warm_start = warm_start

    _last_alpha: np.ndarray
    _last_C: float

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            The rows.
        y : array of length n_samples
            Labels of any kind.
        sample_weight : array of length n_samples
            Multiplies C for each row; 0 leaves the row out.

        Returns
        -------
        self
        """
        if is_on_dask(X):
            return fitted_on_dask(self, X, y, sample_weight)
        self._check_linear(("hinge", "squared_hinge"), "hinge")
        check_option("multi_class", self.multi_class, ("ovr", "ovo", "crammer_singer"))
        budget = self._budget()
        data = self._labelled(X, y, sample_weight)
        if self.multi_class == "crammer_singer":
            self._fit_together(data, budget, (X, y, sample_weight))
            return self
        splits = self._splits(data, "one" if self.multi_class == "ovo" else "rest")
        starts = self._warm([name for name, _, _ in splits], data.used, self.C)
        tasks = [
            Task(
                name,
                rows,
                partial(self._problem, data, rows, signs, self.loss),
                None if start is None else start[rows],
            )
            for (name, rows, signs), start in zip(splits, starts, strict=True)
        ]
        together = None
        if len(splits) == 1 or self.multi_class == "ovr":
            together = self._together(data, [signs for _, _, signs in splits], self.loss, budget)
        self._train(tasks, budget, data, self.C, (X, y, sample_weight), together)
        return self

    def _bias(self) -> Any:
        if self.multi_class != "crammer_singer":
            return super()._bias()
        if self.bias == "free":
            raise InvalidInput("bias='free' is not possible with multi_class='crammer_singer'; use bias='augmented'")
        return (self.bias or "augmented") if self.fit_intercept else "none"

    def _fit_together(self, data: Samples, budget: Budget, given: tuple[Any, Any, Any]) -> None:
        """All classes in one problem."""
        if self.solver != "auto":
            raise InvalidInput(
                f"solver={self.solver!r} is for binary problems; multi_class='crammer_singer' has a method of its own"
            )
        monitor = Monitor(self, 0, *given)
        constant = float(self.intercept_scaling) if self._bias() == "augmented" else 0.0
        start = None
        if (
            self.warm_start
            and hasattr(self, "_last_alpha")
            and self._last_alpha.shape == (len(data.codes), data.classes)
        ):
            start = self._last_alpha * min(1.0, self.C / self._last_C)
        with one_blas_thread():
            solved = solve_crammer_singer(data.X, data.codes, self.C * data.weights, constant, budget, start)
        support = np.flatnonzero(solved.alpha.any(axis=1))
        support = support[np.argsort(data.codes[support], kind="stable")]
        coef, intercept = solved.W, solved.b
        if data.classes == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        attributes = {
            "coef_": coef,
            "intercept_": intercept,
            "support_": data.used[support].astype(np.int32),
            "support_vectors_": data.X[support],
            "dual_coef_": like(data.X, solved.alpha[support].T),
            "n_support_": np.bincount(data.codes[support], minlength=data.classes).astype(np.int32),
            "_kind_codes": solved.certificate.kinds.codes[None, support],
            "n_iter_": solved.epochs,
            "certificate_": solved.certificate,
            "trace_": solved.trace,
            "status_": solved.status,
        }
        self.__dict__.update(attributes)
        if self.warm_start:
            self._last_alpha, self._last_C = solved.alpha, self.C
        monitor.finish(attributes)
        self._warn()

    def decision_function(self, X: Any) -> np.ndarray:
        """How far rows are on which side: one value a row for two classes, else one column a class."""
        if is_on_dask(X):
            return on_dask(self).decision_function(X)
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return scores[:, 0]
        return rest_from_pairs(scores, len(self.classes_)) if self.multi_class == "ovo" else scores

    def predict(self, X: Any) -> np.ndarray:
        """The labels of rows."""
        if is_on_dask(X):
            return on_dask(self).predict(X)
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return self.classes_[(scores[:, 0] > 0).astype(int)]
        if self.multi_class == "ovo":
            scores, _ = votes_of_pairs(scores, len(self.classes_))
        return self.classes_[np.argmax(scores, axis=1)]
