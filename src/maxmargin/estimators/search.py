"""What the estimators that search share: scikit-learn's folds and scorers around the search of `training`.

The best C and gamma (the smallest of equals, which is the smoothest model) are fitted to all rows in the end.
`worst_gap_` is the worst relative gap of the fits on the way.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from maxmargin.errors import InvalidInput
from maxmargin.estimators.html_repr import HTMLRepr
from maxmargin.estimators.parameters import SearchParameters
from maxmargin.kernels import Kernel, Linear
from maxmargin.numeric.parallel import at_most
from maxmargin.result import Reason, Status
from maxmargin.training.budget import SPENT, Budget
from maxmargin.training.samples import Samples
from maxmargin.training.search import Fold, Grid, Part
from maxmargin.training.train import Solution, Task

#: The share of the time that goes into the search where the best is fitted to all rows afterwards, and how much of the
#: rest that fit may use: looking at its data takes time, too.
SEARCH, SHORT = 0.6, 0.8


@dataclass(frozen=True, eq=False)
class _Scorers:
    """What scores the fits of a search, and the scores of each of several, of shape (Cs, gammas, folds)."""

    scorer: Any
    several: bool
    #: The name of the one that decides.
    decisive: str
    scores: dict[str, np.ndarray]

    def score(self, place: tuple[int, int, int], machine: Any, X: Any, y: np.ndarray) -> float:
        """The score that decides; the others are kept."""
        found = self.scorer(machine, X, y)
        if not self.several:
            return float(found)
        for name, one in found.items():
            self.scores[name][place] = one
        return float(found[self.decisive])


class Search(HTMLRepr, SearchParameters, BaseEstimator):
    """What the searches share."""

    # The search

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Search, and train the best on all rows.

        Parameters
        ----------
        X, y, sample_weight
            As for the estimator; scores are not weighted.
        groups : array of length n_samples
            For a splitter that keeps groups of rows together, such as scikit-learn's `GroupKFold`.

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
        folds = self._folds(base, data, targets, (X, y, groups))
        scorers = self._scorers(base, len(kernels), len(folds))
        searching = budget
        if self.refit and budget.max_time is not None:
            searching = replace(budget, max_time=SEARCH * budget.max_time)
        cache = getattr(base, "cache_size", 0.0) * 1e6
        grid = Grid(self.Cs_, kernels, folds, self.cv_tol, cache)
        with at_most(self.n_jobs):
            make = partial(self._fold, base, targets, scorers, folds)
            scores, gaps = grid.scores(data, make, searching, self._tell)
        if searching.interrupted:
            if not np.isfinite(scores).any():
                raise KeyboardInterrupt  # there is nothing to choose by
        self.worst_gap_ = float(gaps.max())
        self.all_scores_ = {**scorers.scores, scorers.decisive: scores}
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

    def _scorers(self, base: Any, gammas: int, folds: int) -> _Scorers:
        """What scores, and which score decides."""
        if self.n_jobs is not None and (not isinstance(self.n_jobs, (int, np.integer)) or self.n_jobs == 0):
            raise InvalidInput(f"n_jobs is {self.n_jobs!r}; it must be a number of threads, -1 for all, or None")
        scorer = check_scoring(base, self.scoring)
        several = isinstance(self.scoring, list | tuple | set | dict)
        names = list(self.scoring) if several else ["score"]
        decisive = self.refit if several and isinstance(self.refit, str) else names[0]
        if (several and self.refit is True) or decisive not in names or (isinstance(self.refit, str) and not several):
            raise InvalidInput(
                f"refit is {self.refit!r}; with several scorers it must name the one that decides ({', '.join(names)}),"
                f" or be False or a function of cv_results_; with one it is True, False or a function"
            )
        shape = (len(self.Cs_), gammas, folds)
        return _Scorers(scorer, several, decisive, {name: np.full(shape, np.nan) for name in names})

    def _fold(
        self, base: Any, targets: np.ndarray, scorers: _Scorers, folds: Sequence[tuple[Any, np.ndarray]], part: Part
    ) -> Fold:
        """The problems of a fold, and how a machine that is made of their solutions scores."""
        f = next(k for k, (_, test) in enumerate(folds) if test is part.test)
        gamma = getattr(getattr(part.kernel, "source", None) or part.kernel, "gamma", np.nan)
        g = int(np.flatnonzero(self.gammas_ == gamma)[0]) if np.isfinite(gamma) else 0
        machine = copy(base)
        machine.__dict__.pop("feature_names_in_", None)
        if hasattr(machine, "kernel"):
            machine.kernel = part.kernel
        machine.n_features_in_ = part.samples.X.shape[1]
        tasks = self._tasks(machine, part.samples, targets[part.train])

        def score(C: float, solutions: list[Solution]) -> float:
            fitted = copy(machine)
            fitted.C = C
            setting = fitted._setting(part.samples, part.kernel)
            fitted.__dict__.update(fitted._fitted(setting, tasks, solutions))
            c = int(np.flatnonzero(self.Cs_ == C)[0])
            return scorers.score((c, g, f), fitted, part.left_out, targets[part.test])

        return Fold(tasks, score)

    def _folds(
        self, base: Any, data: Samples, targets: np.ndarray, given: tuple[Any, Any, Any]
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """The rows to train on and to score on, among those that count; a given splitter splits all rows."""
        X, y, groups = given
        if self.cv is None or isinstance(self.cv, int):
            if groups is not None:
                raise InvalidInput(f"groups are for a splitter that knows them, and cv is {self.cv!r}; use GroupKFold")
            return list(check_cv(self.cv, targets, classifier=is_classifier(base)).split(data.X, targets))
        place = np.full(data.given, -1)
        place[data.used] = np.arange(data.used.size)
        return [
            (place[train][place[train] >= 0], place[test][place[test] >= 0])
            for train, test in check_cv(self.cv, y, classifier=is_classifier(base)).split(X, y, groups)
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
        if callable(self.refit):
            c, g = np.unravel_index(int(self.refit(self.cv_results_)), judged.shape)
            best = float(judged[c, g])
        else:
            best = float(np.nanmax(judged))
            c, g = np.argwhere(judged == best)[0]
        best = best if np.isfinite(scores).any() else np.nan
        self.best_score_ = best
        self.best_index_ = (int(c), int(g))
        self.best_params_ = {"C": float(self.Cs_[c])}
        if np.isfinite(self.gammas_).any():
            self.best_params_["gamma"] = float(self.gammas_[g])
        self.n_splits_ = scores.shape[2]

    @property
    def cv_results_(self) -> dict[str, Any]:
        """What was tried, as `GridSearchCV` tells it: parameters, the score in each fold, mean, deviation and rank."""
        check_is_fitted(self)
        names = ["C", *(["gamma"] if np.isfinite(self.gammas_).any() else [])]
        cells = [(float(C), float(gamma))[: len(names)] for C in self.Cs_ for gamma in self.gammas_]
        results: dict[str, Any] = {"params": [dict(zip(names, cell, strict=True)) for cell in cells]}
        results |= {f"param_{name}": np.array([cell[k] for cell in cells]) for k, name in enumerate(names)}
        for name, by_cell in self.all_scores_.items():
            scores = by_cell.reshape(len(cells), -1)
            mean = scores.mean(axis=1)
            ordered = np.where(np.isfinite(mean), -mean, np.inf)
            rank = 1 + (ordered[None, :] < ordered[:, None]).sum(axis=1)
            results |= {f"split{k}_test_{name}": scores[:, k] for k in range(scores.shape[1])}
            results |= {f"mean_test_{name}": mean, f"std_test_{name}": scores.std(axis=1)}
            results[f"rank_test_{name}"] = rank.astype(np.int32)
        return results

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
