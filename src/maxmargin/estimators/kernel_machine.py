"""Kernel machines: the kernel and its parameters, kernel rows shared by all binary problems, decision values.

Where a model has several binary problems and the whole kernel matrix fits `cache_size`, it is computed once and each
problem takes its block of it; otherwise each computes the rows that it needs. Either way the model is kept as support
vectors and coefficients of the original kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, get_args

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from maxmargin.errors import InvalidInput
from maxmargin.estimators.base import Machine, Setting, check_option, like
from maxmargin.estimators.parameters import KernelParameters
from maxmargin.kernels import Kernel, Precomputed
from maxmargin.kernels import kernel as kernel_by_name
from maxmargin.kernels.base import registry as kernels
from maxmargin.models.decisions import decision_values
from maxmargin.problem import Bias
from maxmargin.result import Reason
from maxmargin.solvers import with_options
from maxmargin.solvers.base import registry as solvers
from maxmargin.training.budget import Budget
from maxmargin.training.problems import Maker, problem_maker
from maxmargin.training.samples import Samples, rows_that_count
from maxmargin.training.train import Solution, Task


class KernelMachine(KernelParameters, Machine):
    """A machine whose w is a sum over support vectors."""

    bias: Any
    shape_fit_: tuple[int, int]
    #: The training samples, where they are no rows of numbers.
    _objects: Any

    # The kernel

    def _kernel(self, X: Any, weights: np.ndarray) -> Kernel:
        """The kernel with its parameters, as numbers for these rows."""
        which = self.kernel
        if self._of_objects:
            return Precomputed().fitted(X)
        if not isinstance(which, str):
            return kernel_by_name(which).fitted(X, weights)
        made: Any = kernels[{"poly": "polynomial"}.get(which, which)]
        given = {field.name: getattr(self, field.name) for field in fields(made) if hasattr(self, field.name)}
        return made(**given).fitted(X, weights)

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, Precomputed) or (isinstance(self.kernel, str) and self.kernel == "precomputed")

    def _check_training(self, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
        if self._precomputed and sp.issparse(X):
            raise TypeError("Sparse precomputed kernels are not supported; pass X.toarray().")
        self._of_objects = callable(self.kernel) and not isinstance(self.kernel, Kernel) and not _numeric(X)
        if not self._of_objects:
            return super()._check_training(X, y, **options)
        supervised = not isinstance(y, str)  # scikit-learn's "no_validation"
        check_consistent_length(X, y if supervised else None)
        return np.asarray(self.kernel(X, X), dtype=np.float64), column_or_1d(y) if supervised else y

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        if not self._of_objects:
            return super()._check_new(X)
        return np.asarray(self.kernel(X, self._objects), dtype=np.float64)[:, self.support_]

    def _rows_of(self, X: Any, used: np.ndarray) -> Any:
        if not (self._precomputed or self._of_objects):
            return super()._rows_of(X, used)
        return rows_that_count(X, used, square=True)

    # The problems

    def _solver(self) -> Any:
        approximation, landmarks = getattr(self, "approximation", None), getattr(self, "n_landmarks", "auto")
        check_option("approximation", approximation, (None, "nystroem"))
        if approximation is not None:
            if self.solver != "auto" or not self.shrinking:
                raise InvalidInput("approximation='nystroem' is a solver of its own; leave solver='auto' and shrinking")
            return with_options(solvers[approximation], {"landmarks": landmarks})
        if not isinstance(landmarks, str) or landmarks != "auto":
            raise InvalidInput(f"n_landmarks={landmarks!r} goes with approximation='nystroem'")
        if self.shrinking or self.solver != "auto":
            return self.solver
        return "smo" if self.bias == "free" else "coordinate-ascent"

    def _problem_maker(self, data: Samples, budget: Budget, problems: int) -> tuple[Kernel, Maker]:
        """The kernel, and a function that makes the problem of some rows with given targets, loss and C."""
        kernel = self._kernel(data.X, data.repeats)
        return kernel, self._maker(kernel, data, budget, problems)

    def _maker(self, kernel: Kernel, data: Samples, budget: Budget, problems: int) -> Maker:
        check_option("bias", self.bias, get_args(Bias))
        cache, time = self.cache_size * 1e6, budget.max_time
        problems = 1 if budget.few_values else problems  # which need no matrix that they share
        return problem_maker(data, kernel, self.bias, 1.0, cache, problems, time, nu=self._nu())

    def _bias(self) -> Any:
        return self.bias

    # The model

    def _fitted(self, setting: Setting, tasks: Sequence[Task], solutions: list[Solution]) -> dict[str, Any]:
        data = setting.data
        columns = data.given if isinstance(setting.kernel, Precomputed) else data.X.shape[1]
        more = {"shape_fit_": (data.given, columns), "_objects": data.objects}
        return {**super()._fitted(setting, tasks, solutions), **more}

    @property
    def kernel_(self) -> Kernel:
        """The kernel, its parameters resolved."""
        check_is_fitted(self)
        return self.model_.kernel

    @property
    def _gamma(self) -> float:
        """The number that gamma stands for, by scikit-learn's name: exporters read it; 0 where the kernel has none."""
        return float(getattr(self.kernel_, "gamma", 0.0))

    @property
    def fit_status_(self) -> int:
        """0 where every problem is proved to the tolerance, else 1."""
        check_is_fitted(self)
        return int(self.status_.reason is not Reason.CONVERGED)

    @property
    def support_vectors_(self) -> Any:
        """The support vectors; for a kernel on texts, graphs, ... those objects, for a matrix nothing."""
        rows = self._kept_support().rows
        if self._objects is not None:
            return [self._objects[i] for i in rows]
        return np.empty((0, 0)) if isinstance(self.kernel_, Precomputed) else super().support_vectors_

    @property
    def coef_(self) -> Any:
        """The normals of the hyperplanes, for the linear kernel; read-only, as it follows from the support vectors."""
        check_is_fitted(self)
        if not self.model_.linear:
            raise AttributeError(f"coef_ is only available for the linear kernel, not for kernel={self.kernel!r}")
        assert self.model_.w is not None
        coef = like(self._kept_support().storage, self.model_.w.copy())
        (coef.data if sp.issparse(coef) else coef).flags.writeable = False
        return coef

    def _scores(self, Z: Any) -> np.ndarray:
        """⟨w, φ(z)⟩ + b for rows that have been checked: one column a problem."""
        model = self.model_
        if self._objects is not None:
            return Z @ self._expansion().T + model.b
        if isinstance(model.kernel, Precomputed):
            if Z.shape[1] != model.columns:
                raise InvalidInput(
                    f"X.shape[1] = {Z.shape[1]} should be equal to {model.columns}, the number of samples at"
                    f" training time: pass the kernel between the new and the training samples"
                )
            return Z[:, self.support_].astype(np.float64, copy=False) @ self._expansion().T + model.b
        return decision_values(Z, model.kernel, model.b, model.w, model.vectors, model.coef, model.vector_classes)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = not self._precomputed
        return tags


def _numeric(X: Any) -> bool:
    """Whether X is a table of numbers, and not a list of texts or graphs that only the kernel function understands."""
    if sp.issparse(X) or hasattr(X, "columns"):
        return True
    try:
        X = np.asarray(X)
    except ValueError:
        return False
    return X.ndim == 2 and X.dtype.kind in "fiub"
