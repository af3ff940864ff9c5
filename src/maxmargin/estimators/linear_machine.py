"""Linear machines: w as coordinates, three kinds of intercept, and the duals and support vectors as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from maxmargin.errors import InvalidInput
from maxmargin.estimators.base import Machine, Setting, check_option
from maxmargin.estimators.parameters import CostParameters, LinearParameters
from maxmargin.kernels import Linear
from maxmargin.problem import CACHE_BYTES, Problem
from maxmargin.training.budget import Budget
from maxmargin.training.linear_rest import solve_on_same_rows
from maxmargin.training.problems import problem_maker
from maxmargin.training.summary import without_kinds
from maxmargin.training.train import Solution, Task, Together


class LinearMachine(LinearParameters, CostParameters, Machine):
    """A machine whose w is a vector of the features."""

    loss: str
    #: `coef_` as a sparse matrix, where that was asked for.
    _sparse: Any
    _crisp = True

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
        if self.intercept_scaling != 1 and self._bias() != "augmented":
            raise InvalidInput(
                f"intercept_scaling is for bias='augmented'; it means nothing with bias={self._bias()!r}: the free"
                f" intercept is not penalised at all"
            )

    def _bias(self) -> Any:
        """How the hyperplane may leave the origin; None is free, unless a constant feature is asked for."""
        if not self.fit_intercept:
            return "none"
        return self.bias or ("free" if self.intercept_scaling == 1 else "augmented")

    def _problem(self, setting: Setting, rows: np.ndarray, target: np.ndarray) -> Problem:
        make = problem_maker(
            setting.data,
            Linear(),
            setting.bias,
            setting.bias_scale,
            CACHE_BYTES,
            1,
            None,
            None,
            setting.regularizer.name,
        )
        return make(rows, target, setting.loss, setting.C)

    def _together(self, setting: Setting, targets: Sequence[np.ndarray], budget: Budget) -> Together | None:
        """What solves problems on all rows together, where they are small."""
        if not setting.regularizer.quadratic:
            return None
        of = setting
        return partial(solve_on_same_rows, of.data, targets, of.loss, of.C, of.bias, of.bias_scale, budget)

    def _fitted(self, setting: Setting, tasks: Sequence[Task], solutions: list[Solution]) -> dict[str, Any]:
        return {**super()._fitted(setting, tasks, solutions), "_sparse": None}

    def _keeps_vectors(self) -> bool:
        return self.keep_support

    @property
    def support_vectors_(self) -> Any:
        """The support vectors, with `keep_support`."""
        support = self._kept_support()
        if support.vectors is None:
            raise AttributeError("the support vectors are X[support_]; fit with keep_support=True to have them kept")
        return support.vectors

    @property
    def coef_(self) -> Any:
        """The normals of the hyperplanes."""
        check_is_fitted(self)
        return self._normals(self.model_.w) if self._sparse is None else self._sparse

    @coef_.setter
    def coef_(self, normals: Any) -> None:
        """Another hyperplane in the place of the one that was fitted; nothing is proved of it."""
        dense = normals.toarray() if sp.issparse(normals) else np.asarray(normals, dtype=np.float64)
        self._sparse = normals if sp.issparse(normals) else None
        self.model_ = replace(self.model_, w=np.atleast_2d(dense), training=None)

    @property
    def intercept_(self) -> np.ndarray:
        """The intercept of each hyperplane."""
        check_is_fitted(self)
        return self.model_.b

    @intercept_.setter
    def intercept_(self, intercepts: Any) -> None:
        """Other intercepts; nothing is proved of them."""
        self.model_ = replace(self.model_, b=np.atleast_1d(np.asarray(intercepts, dtype=np.float64)), training=None)

    def _normals(self, w: Any) -> Any:
        """The normals in the shape of `coef_`."""
        return w

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if "model_" not in state or self.keep_support or self.warm_start:
            return state
        # What is about single rows takes as much room as a feature of the data.
        return {
            **state,
            "model_": replace(self.model_, training=None),
            "certificate_": without_kinds(self.certificate_),
            "_support": None,
        }

    def _scores(self, Z: Any) -> np.ndarray:
        """⟨w, z⟩ + b for rows that have been checked: one column a problem."""
        w: Any = self.model_.w if self._sparse is None else self._sparse
        return np.asarray(safe_sparse_dot(Z, w.T, dense_output=True)).reshape(Z.shape[0], -1) + self.intercept_

    def densify(self) -> Self:
        """Keep `coef_` as a dense array, which is the default."""
        check_is_fitted(self)
        self._sparse = None
        return self

    def sparsify(self) -> Self:
        """Keep `coef_` as a sparse matrix: smaller where most of it is 0."""
        check_is_fitted(self)
        self._sparse = sp.csr_matrix(self.coef_)
        return self


def is_on_dask(X: Any) -> bool:
    """Whether X is a Dask collection; asks nothing of Dask."""
    return hasattr(X, "__dask_graph__")


def on_dask(machine: Any) -> Any:
    """The estimator of `maxmargin.dask` that has the parameters of this one, and what it has been fitted to."""
    from maxmargin import dask

    made = getattr(dask, type(machine).__name__)(**machine.get_params(deep=False))
    _hand_over(machine, made)
    return made


def fitted_on_dask(machine: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """Hand a fit over to the cluster: the current client's."""
    made = on_dask(machine).fit(X, y, sample_weight)
    if not hasattr(made, "model_"):  # the client is asynchronous
        raise InvalidInput("with an asynchronous client, use the estimators of maxmargin.dask and await their fit")
    _hand_over(made, machine)
    return machine


def _hand_over(one: Any, other: Any) -> None:
    """What a fit has left behind."""
    from maxmargin import dask

    vars(other).update({name: value for name, value in vars(one).items() if name in dask.FITTED})
