"""The search for the best C (and gamma) by cross-validation, without doing anything twice.

    1. For each gamma, compute the kernel matrix of all rows once, in float32, if it fits `cache_size`.
    2. For each fold, take its block; every binary problem of several classes takes a block of that.
    3. Go through C in increasing order, each fit starting where the last one ended (if the two are near).
    4. Score each fit on the rows that were left out: their kernel values are in the matrix, too.
    5. Refit on all rows with the best C and gamma; the smallest of equals, which is the smoothest model.

The fits on the way are certified as well, on the matrix that they used; `worst_gap_` is the worst of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from maxmargin.errors import InvalidInput
from maxmargin.estimators.base import Data
from maxmargin.estimators.training import Budget, Solution, Task, scaled_start
from maxmargin.kernels import Gram, Kernel, Linear, Precomputed
from maxmargin.parallel import one_blas_thread

#: A fit starts from that of the last C if the next is at most so many times as large: further apart, the old solution
#: is no better a beginning than 0, and has to be read in first.
NEAR = 2.0


@dataclass(frozen=True, eq=False)
class Fold:
    """What one fold of one gamma is trained on and scored on."""

    machine: Any
    data: Data
    tasks: list[Task]
    test: Any


class Search(BaseEstimator):
    """What the searches share."""

    Cs: Any
    tol: float
    cv_tol: float
    cv: Any
    scoring: Any
    refit: bool
    max_time: float | None
    verbose: Any

    # The search

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Search, and train the best on all rows.

        Parameters
        ----------
        X, y, sample_weight
            As for the estimator; scores are not weighted.

        Returns
        -------
        self
        """
        base = self._machine()
        budget = base._budget()
        data, targets = self._border(base, X, y, sample_weight)
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(base, name):
                setattr(self, name, getattr(base, name))
        self.Cs_ = _values("Cs", self.Cs)
        kernels = self._kernels(base, data)
        self.gammas_ = np.array([getattr(kernel, "gamma", np.nan) for kernel in kernels], dtype=np.float64)
        folds = self._folds(base, data, targets, X, y)
        scorer = check_scoring(base, self.scoring)
        scores = np.full((len(self.Cs_), len(kernels), len(folds)), np.nan)
        self.worst_gap_ = 0.0
        left = scores.size
        with one_blas_thread():
            for g, kernel in enumerate(kernels):
                matrix = self._matrix(base, kernel, data)  # 1.
                for f, (train, test) in enumerate(folds):
                    fold = self._fold(base, kernel, matrix, data, targets, train, test)  # 2.
                    for c, machine in enumerate(self._along_C(fold, budget, left)):  # 3.
                        scores[c, g, f] = scorer(machine, fold.test, targets[test])  # 4.
                    left -= len(self.Cs_)
                    self._tell(g, f, scores)
        self._conclude(scores)
        if self.refit:  # 5.
            self.best_estimator_ = clone(base).set_params(**self.best_params_, max_time=budget.share(1))
            self.best_estimator_.fit(X, y, sample_weight)
        return self

    def _folds(self, base: Any, data: Data, targets: np.ndarray, X: Any, y: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """The rows to train on and to score on, among those that count; a given splitter splits all rows."""
        if self.cv is None or isinstance(self.cv, int):
            return list(check_cv(self.cv, targets, classifier=is_classifier(base)).split(data.X, targets))
        place = np.full(data.given, -1)
        place[data.used] = np.arange(data.used.size)
        return [
            (place[train][place[train] >= 0], place[test][place[test] >= 0])
            for train, test in check_cv(self.cv, y, classifier=is_classifier(base)).split(X, y)
        ]

    def _along_C(self, fold: Fold, budget: Budget, fits: int) -> Iterator[Any]:
        """The fitted machine for each C, in increasing order; none where time is up."""
        solutions: list[list[Solution]] = [[] for _ in self.Cs_]
        for k, task in enumerate(fold.tasks):
            problem = task.make()
            start = None
            # With all of K at hand there is nothing to save by working sets.
            whole = budget.solver == "auto" and isinstance(problem.kernel, Precomputed) and problem.bias == "free"
            for c, C in enumerate(self.Cs_):
                left = fits * len(fold.tasks) - k * len(self.Cs_) - c + 1  # and the refit
                solver = "smo" if whole else None
                result = budget.solve(problem.with_cost(C), left, start, tol=self.cv_tol, solver=solver)
                solution = Solution.of(result)
                start = None
                if c + 1 < len(self.Cs_) and self.Cs_[c + 1] <= NEAR * C:
                    bound = np.zeros(problem.n, bool)
                    bound[solution.certificate.kinds.bound] = True
                    start = scaled_start(solution.coef, bound, self.Cs_[c + 1] / C)
                solutions[c].append(solution)
        if budget.spent:
            return
        for C, ones in zip(self.Cs_, solutions, strict=True):
            self.worst_gap_ = max(self.worst_gap_, *(one.certificate.relative_gap for one in ones))
            machine = copy(fold.machine)
            machine.C = C
            machine.__dict__.update(machine._fitted(fold.data, fold.tasks, ones))
            yield machine

    def _fold(self, base: Any, kernel: Kernel, matrix: Any, data: Data, y: np.ndarray, train: Any, test: Any) -> Fold:
        """The machine, the problems and the rows of one fold."""
        machine = copy(base)
        machine.__dict__.pop("feature_names_in_", None)
        rows, seen = data.X[train], data.X[test]
        if matrix is not None:
            machine.kernel = Precomputed(source=None if isinstance(kernel, Precomputed) else kernel)
            rows, seen = matrix[np.ix_(train, train)], matrix[np.ix_(test, train)]
        elif hasattr(machine, "kernel"):
            machine.kernel = machine.kernel_ = kernel
        machine.n_features_in_ = rows.shape[1]
        part = replace(
            data,
            X=rows,
            weights=data.weights[train],
            used=np.arange(len(train)),
            given=len(train),
            codes=data.codes[train],
        )
        return Fold(machine, part, self._tasks(machine, part, y[train]), seen)

    def _tell(self, gamma: int, fold: int, scores: np.ndarray) -> None:
        if self.verbose:
            from rich.console import Console

            done, so_far = np.isfinite(scores).sum(), np.nanmax(scores, initial=-np.inf)
            Console(stderr=True).print(
                f"{type(self).__name__}: gamma {gamma + 1} of {scores.shape[1]}, fold {fold + 1} of {scores.shape[2]};"
                f" {done} of {scores.size} fits, best fold score {so_far:.4g}"
            )

    def _conclude(self, scores: np.ndarray) -> None:
        """Set what was found; a cell counts when all of its folds were scored."""
        self.fold_scores_ = scores
        self.scores_ = scores.mean(axis=2)
        if not np.isfinite(self.scores_).any():
            raise InvalidInput("the time was up before any value of C was scored in every fold; raise max_time")
        best = float(np.nanmax(self.scores_))
        c, g = np.argwhere(self.scores_ == best)[0]
        self.best_score_ = best
        self.best_index_ = (int(c), int(g))
        self.best_params_ = {"C": float(self.Cs_[c])}
        if np.isfinite(self.gammas_).any():
            self.best_params_["gamma"] = float(self.gammas_[g])
        self.n_splits_ = scores.shape[2]

    def summary(self) -> str:
        """The best parameters and how sure that is, in a few lines."""
        check_is_fitted(self)
        c, g = self.best_index_
        spread = float(self.fold_scores_[c, g].std())
        chosen = ", ".join(f"{name} = {value:.4g}" for name, value in self.best_params_.items())
        cells = int(np.isfinite(self.scores_).sum())
        edge = " (at the edge of Cs: try beyond)" if len(self.Cs_) > 1 and c in (0, len(self.Cs_) - 1) else ""
        return (
            f"best: {chosen}, score {self.best_score_:.4g} ± {spread:.2g} over {self.n_splits_} folds{edge}\n"
            f"tried: {cells} of {self.scores_.size} settings; worst relative gap of a fit {self.worst_gap_:.2g}"
        )

    # What differs between machines

    def _machine(self) -> Any:
        """The machine with everything but C and gamma set."""
        raise NotImplementedError

    def _border(self, base: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Data, np.ndarray]:
        """The rows that count, and their labels or targets."""
        raise NotImplementedError

    def _tasks(self, machine: Any, data: Data, y: np.ndarray) -> list[Task]:
        """The binary problems of a fold, with C = 1."""
        raise NotImplementedError

    def _kernels(self, base: Any, data: Data) -> Sequence[Kernel]:
        return [Linear()]

    def _matrix(self, base: Any, kernel: Kernel, data: Data) -> np.ndarray | None:
        """The kernel matrix of all rows, where there is one and it fits."""
        n = data.X.shape[0]
        if isinstance(kernel, Precomputed):
            return data.X
        if isinstance(kernel, Linear) or 4 * n * n > base.cache_size * 1e6:
            return None
        rows = data.X.astype(np.float32, copy=False)
        if sp.issparse(rows):
            rows = rows.tocsr()
        return Gram(kernel, rows, cache_bytes=base.cache_size * 1e6).full()

    # Answers

    def predict(self, X: Any) -> np.ndarray:
        """What the best machine predicts."""
        return self._best().predict(X)

    def _best(self) -> Any:
        check_is_fitted(self)
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} was fitted with refit=False: there is no model to predict by")
        return self.best_estimator_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _values(name: str, given: Any) -> np.ndarray:
    values = np.unique(np.asarray(given, dtype=np.float64))
    if values.size == 0 or not (np.isfinite(values) & (values > 0)).all():
        raise InvalidInput(f"{name} must be a list of finite numbers > 0; got {given!r}")
    return values
