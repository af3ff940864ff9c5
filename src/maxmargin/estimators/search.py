"""The search for the best C (and gamma) by cross-validation, without doing anything twice.

    1. For each gamma, compute the kernel matrix of all rows once, in float32, if it fits `cache_size`.
    2. For each fold, take its block; every binary problem of several classes takes a block of that.
    3. Fit for each C, all cores at work on different folds and values of C; see `folds`.
    4. Score each fit on the rows that were left out: their kernel values are in the matrix, too.
    5. Refit on all rows with the best C and gamma; the smallest of equals, which is the smoothest model.

The fits on the way are certified as well, on the matrix that they used; `worst_gap_` is the worst of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from maxmargin.errors import InvalidInput
from maxmargin.estimators.folds import Shared, make_fold, runs
from maxmargin.interrupts import interruptible
from maxmargin.kernels import Kernel, Linear, Precomputed
from maxmargin.parallel import one_blas_thread, over_tasks, threads
from maxmargin.result import Reason, Status
from maxmargin.solvers import clock
from maxmargin.training.budget import SPENT, Budget
from maxmargin.training.kernel_matrix import shared_matrix
from maxmargin.training.samples import Samples
from maxmargin.training.train import Task

#: The share of the time that goes into the search where the best is fitted to all rows afterwards, and how much of the
#: rest that fit may use: looking at its data takes time, too.
SEARCH, SHORT = 0.6, 0.8


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
        pieces = runs(self.Cs_, apart=data.classes <= 2)  # several problems are enough to do for one thread
        scores = np.full((len(self.Cs_), len(kernels), len(folds)), np.nan)
        gaps = np.zeros_like(scores)
        searching = budget
        if self.refit and budget.max_time is not None:
            searching = replace(budget, max_time=SEARCH * budget.max_time)
        with one_blas_thread(), interruptible(), clock.until(searching.until):
            for g, kernel in enumerate(kernels):
                if searching.spent:
                    break
                try:
                    matrix = self._matrix(base, kernel, data)  # 1.
                except clock.TimeUp:
                    break
                make = partial(make_fold, base, kernel, matrix, data, targets, self._tasks)
                shared = [Shared(partial(make, *rows), len(pieces)) for rows in folds]  # 2.
                self._try(shared, pieces, scorer, searching, g, scores, gaps)
        if searching.interrupted:
            if not np.isfinite(scores).any():
                raise KeyboardInterrupt  # there is nothing to choose by
            budget.interrupt()
        self.worst_gap_ = float(gaps.max())
        self._conclude(scores)
        self.status_ = self._status(scores, budget)
        if self.refit:  # 5.
            left = max(SPENT, SHORT * budget.share(1)) if budget.max_time is not None else budget.share(1)
            self.best_estimator_ = clone(base).set_params(**self.best_params_, max_time=left)
            self.best_estimator_.fit(X, y, sample_weight)
            self.best_estimator_.max_time = self.max_time
            self.best_estimator_.status_ = budget.judged(self.best_estimator_.status_)
            if self.best_estimator_.status_.reason is Reason.INTERRUPTED:
                self.status_ = Status(
                    Reason.INTERRUPTED, f"{self.status_.text}; the last fit, on all rows, was not done"
                )
        return self

    def _status(self, scores: np.ndarray, budget: Budget) -> Status:
        """Whether the search came to its end."""
        done = f"{int(np.isfinite(scores).sum())} of {scores.size} fits were scored"
        if budget.interrupted:
            return Status(Reason.INTERRUPTED, done)
        if not np.isfinite(scores).all():
            return Status(Reason.MAX_TIME, f"{done}; raise max_time, or try fewer values")
        return Status(Reason.CONVERGED, done)

    def _try(
        self,
        folds: list[Shared],
        pieces: list[slice],
        scorer: Any,
        budget: Budget,
        g: int,
        scores: np.ndarray,
        gaps: np.ndarray,
    ) -> None:
        """Fit and score every C in every fold of one gamma; the largest C of a fold, which take longest, first."""
        jobs = [(f, piece) for f in range(len(folds)) for piece in reversed(pieces)]

        def work(k: int) -> None:
            f, piece = jobs[k]
            if budget.spent:  # not even its fold is made
                return
            left = (len(jobs) * (scores.shape[1] - g) - k) / threads()
            with folds[f].use() as fold:
                fits = fold.fits(self.Cs_[piece], budget, self.cv_tol, left)  # 3.
                for c, (machine, gap) in enumerate(fits, piece.start):
                    scores[c, g, f] = scorer(machine, fold.left_out, fold.truth)  # 4.
                    gaps[c, g, f] = gap
            if np.isfinite(scores[:, g, f]).all():
                self._tell(g, f, scores)

        try:
            over_tasks(work, len(jobs), budget.stop.set)
        except KeyboardInterrupt:
            budget.interrupt()  # what was scored before counts

    def _folds(
        self, base: Any, data: Samples, targets: np.ndarray, X: Any, y: Any
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """The rows to train on and to score on, among those that count; a given splitter splits all rows."""
        if self.cv is None or isinstance(self.cv, int):
            return list(check_cv(self.cv, targets, classifier=is_classifier(base)).split(data.X, targets))
        place = np.full(data.given, -1)
        place[data.used] = np.arange(data.used.size)
        return [
            (place[train][place[train] >= 0], place[test][place[test] >= 0])
            for train, test in check_cv(self.cv, y, classifier=is_classifier(base)).split(X, y)
        ]

    def _tell(self, gamma: int, fold: int, scores: np.ndarray) -> None:
        if self.verbose:
            from rich.console import Console

            done, so_far = np.isfinite(scores).sum(), np.nanmax(scores, initial=-np.inf)
            Console(stderr=True).print(
                f"{type(self).__name__}: gamma {gamma + 1} of {scores.shape[1]}, fold {fold + 1} of {scores.shape[2]};"
                f" {done} of {scores.size} fits, best fold score {so_far:.4g}"
            )

    def _conclude(self, scores: np.ndarray) -> None:
        """Set what was found; a cell counts when all of its folds were scored, or as many as of any."""
        self.fold_scores_ = scores
        self.scores_ = scores.mean(axis=2)
        judged = self.scores_
        if not np.isfinite(judged).any():
            counts = np.isfinite(scores).sum(axis=2)
            most = counts == counts.max()
            judged = np.where(most, np.nansum(scores, axis=2) / np.maximum(1, counts), np.nan)
            if counts.max() == 0:  # nothing to choose by: the C in the middle
                judged = np.full_like(judged, np.nan)
                judged[len(self.Cs_) // 2, 0] = np.nan_to_num(-np.inf)
            warnings.warn(
                f"the time was up before any setting was scored in every fold: {int(counts.sum())} of {scores.size}"
                f" fits decide; raise max_time",
                ConvergenceWarning,
                stacklevel=3,
            )
        best = float(np.nanmax(judged))
        c, g = np.argwhere(judged == best)[0]
        best = best if np.isfinite(scores).any() else np.nan
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

    def _border(self, base: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Samples, np.ndarray]:
        """The rows that count, and their labels or targets."""
        raise NotImplementedError

    def _tasks(self, machine: Any, data: Samples, y: np.ndarray) -> list[Task]:
        """The binary problems of a fold, with C = 1."""
        raise NotImplementedError

    def _kernels(self, base: Any, data: Samples) -> Sequence[Kernel]:
        return [Linear()]

    def _matrix(self, base: Any, kernel: Kernel, data: Samples) -> np.ndarray | None:
        """The kernel matrix of all rows, where there is one and it fits."""
        n = data.X.shape[0]
        if isinstance(kernel, Precomputed):
            return data.X
        if isinstance(kernel, Linear) or 8 * n * n > base.cache_size * 1e6:
            return None
        rows = data.X.astype(np.float32, copy=False)
        if sp.issparse(rows):
            rows = rows.tocsr()
        return shared_matrix(kernel, rows, base.cache_size * 1e6)

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
