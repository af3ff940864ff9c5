"""Linear machines: w as coordinates, three kinds of intercept, and the duals and support vectors as well."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from maxmargin.errors import InvalidInput
from maxmargin.estimators.base import Machine, check_option, like
from maxmargin.kernels import Linear
from maxmargin.losses import Loss
from maxmargin.losses import loss as loss_by_name
from maxmargin.problem import CACHE_BYTES, Problem
from maxmargin.training.budget import Budget
from maxmargin.training.expansion import gather
from maxmargin.training.linear_rest import solve_on_same_rows
from maxmargin.training.problems import problem_maker
from maxmargin.training.samples import Samples
from maxmargin.training.train import Solution, Task, Together


class LinearMachine(Machine):
    """A machine whose w is a vector of the features."""

    loss: str
    dual: Any
    C: float
    bias: Any
    fit_intercept: bool
    intercept_scaling: float
    coef_: Any
    _duals: list[tuple[np.ndarray, np.ndarray]]

    def _check_linear(self, losses: Sequence[str], undualisable: str) -> None:
        """Refuse parameters that mean nothing together."""
        check_option("loss", self.loss, losses)
        check_option("dual", self.dual, ("auto", True, False))
        check_option("bias", self.bias, (None, "free", "augmented", "none"))
        penalty = getattr(self, "penalty", "l2")
        check_option("penalty", penalty, ("l2", "l1"))
        # What scikit-learn refuses is refused in its words; every fit of ours has a dual, so `dual` chooses nothing.
        if (penalty == "l1" and (self.loss == undualisable or self.dual is True)) or (
            self.loss == undualisable and self.dual is False
        ):
            raise InvalidInput(
                f"Unsupported set of arguments: Parameters: penalty={penalty!r}, loss={self.loss!r}, dual={self.dual}"
            )
        if penalty == "l1":
            raise InvalidInput(
                "penalty='l1' is not a maximum margin problem; use sklearn.svm.LinearSVC(penalty='l1', dual=False)"
            )
        if self.intercept_scaling != 1 and self._bias() != "augmented":
            raise InvalidInput(
                f"intercept_scaling is for bias='augmented'; it means nothing with bias={self._bias()!r}: the free"
                f" intercept is not penalised at all"
            )

    def _bias(self) -> Any:
        """How the hyperplane may leave the origin; None is free."""
        return (self.bias or "free") if self.fit_intercept else "none"

    def _problem(self, data: Samples, rows: np.ndarray, target: np.ndarray, loss: str | Loss) -> Problem:
        constant = float(self.intercept_scaling) if self._bias() == "augmented" else 1.0
        make = problem_maker(data, Linear(), self._bias(), constant, CACHE_BYTES, 1, None)
        return make(rows, target, loss_by_name(loss), self.C)

    def _together(self, data: Samples, targets: Sequence[np.ndarray], loss: str | Loss, budget: Budget) -> Together:
        """What solves problems on all rows together, where they are small."""
        constant = float(self.intercept_scaling)
        return partial(solve_on_same_rows, data, targets, loss_by_name(loss), self.C, self._bias(), constant, budget)

    def _fitted(self, data: Samples, tasks: Sequence[Task], solutions: list[Solution]) -> dict[str, Any]:
        expansion = gather(tasks, solutions, data.codes, data.classes, crisp=True)
        return {
            "coef_": np.stack([one.w for one in solutions if one.w is not None]),
            "intercept_": np.array([one.b for one in solutions]),
            "support_": data.used[expansion.support].astype(np.int32),
            "support_vectors_": data.X[expansion.support],
            "dual_coef_": like(data.X, expansion.coef),
            "n_support_": expansion.counts,
            "_kind_codes": expansion.codes,
            "n_iter_": max(one.iterations for one in solutions),
            # `dual_coef_` has the support vectors only; what is proved is proved of all duals that are not 0.
            "_duals": [
                (data.used[task.rows[one.coef != 0.0]], one.coef[one.coef != 0.0])
                for task, one in zip(tasks, solutions, strict=True)
            ],
        }

    def _dual_points(self) -> list[tuple[np.ndarray, np.ndarray]]:
        return self._duals

    def _scores(self, X: Any) -> np.ndarray:
        """⟨w, z⟩ + b for new rows: one column a problem."""
        Z = self._check_new(X)
        coef = self.coef_ if self.coef_.ndim == 2 else self.coef_[None, :]
        return np.asarray(safe_sparse_dot(Z, coef.T, dense_output=True)) + self.intercept_

    def densify(self) -> Self:
        """Keep `coef_` as a dense array, which is the default."""
        check_is_fitted(self)
        if sp.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    def sparsify(self) -> Self:
        """Keep `coef_` as a sparse matrix: smaller where most of it is 0."""
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(self.coef_)
        return self


def is_on_dask(X: Any) -> bool:
    """Whether X is a Dask collection; asks nothing of Dask."""
    return hasattr(X, "__dask_graph__")


def on_dask(machine: Any) -> Any:
    """The estimator of `maxmargin.dask` that has the parameters of this one, and what it has been fitted to."""
    from maxmargin import dask

    made = getattr(dask, type(machine).__name__)(**machine.get_params(deep=False))
    made.__dict__.update({name: value for name, value in vars(machine).items() if name.endswith("_")})
    return made


def fitted_on_dask(machine: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Hand a fit over to the cluster: the current client's."""
    made = on_dask(machine).fit(X, y, sample_weight)
    if not hasattr(made, "coef_"):  # the client is asynchronous
        raise InvalidInput("with an asynchronous client, use the estimators of maxmargin.dask and await their fit")
    machine.__dict__.update({name: value for name, value in vars(made).items() if name.endswith("_")})
    return machine
