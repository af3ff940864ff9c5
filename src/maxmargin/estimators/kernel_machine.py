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
from maxmargin.estimators.base import Machine, check_option, like
from maxmargin.estimators.parameters import KernelParameters
from maxmargin.kernels import Kernel, Precomputed
from maxmargin.kernels import kernel as kernel_by_name
from maxmargin.kernels.base import registry as kernels
from maxmargin.models.decisions import decision_values
from maxmargin.problem import Bias
from maxmargin.result import Reason
from maxmargin.training.budget import Budget
from maxmargin.training.expansion import Expansion, gather
from maxmargin.training.problems import Maker, problem_maker
from maxmargin.training.samples import Samples, rows_that_count
from maxmargin.training.train import Solution, Task


class KernelMachine(KernelParameters, Machine):
    """A machine whose w is a sum over support vectors."""

    bias: Any
    kernel_: Kernel
    support_vectors_: Any
    shape_fit_: tuple[int, int]
    _w: np.ndarray | None

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
        if self.shrinking or self.solver != "auto":
            return self.solver
        return "smo" if self.bias == "free" else "coordinate-ascent"

    def _problem_maker(self, data: Samples, budget: Budget, problems: int) -> tuple[Kernel, Maker]:
        """The kernel, and a function that makes the problem of some rows with given targets, loss and C."""
        kernel = self._kernel(data.X, data.repeats)
        return kernel, self._maker(kernel, data, budget, problems)

    def _maker(self, kernel: Kernel, data: Samples, budget: Budget, problems: int) -> Maker:
        check_option("bias", self.bias, get_args(Bias))
        return problem_maker(data, kernel, self.bias, 1.0, self.cache_size * 1e6, problems, budget.max_time)

    # The model

    def _fitted(self, data: Samples, tasks: Sequence[Task], solutions: list[Solution]) -> dict[str, Any]:
        expansion = gather(tasks, solutions, data.codes, data.classes, crisp=False)
        w = [one.w for one in solutions if one.w is not None]
        return {
            "support_": data.used[expansion.support].astype(np.int32),
            "support_vectors_": self._vectors(data, expansion),
            "dual_coef_": like(data.X, self._packed(expansion)),
            "n_support_": expansion.counts,
            "_kind_codes": expansion.codes,
            "intercept_": np.array([one.b for one in solutions]),
            "shape_fit_": (data.given, data.X.shape[1]) if not self._precomputed else (data.given, data.given),
            "fit_status_": int(any(one.status.reason is not Reason.CONVERGED for one in solutions)),
            "_objects": data.objects,
            "_w": np.stack(w) if w else None,
        }

    def _vectors(self, data: Samples, expansion: Expansion) -> Any:
        if data.objects is not None:
            return [data.objects[i] for i in data.used[expansion.support]]
        return np.empty((0, 0)) if self._precomputed else data.X[expansion.support]

    def _packed(self, expansion: Expansion) -> np.ndarray:
        """The coefficients in the shape of `dual_coef_`."""
        return expansion.coef

    @property
    def coef_(self) -> Any:
        """The normals of the hyperplanes, for the linear kernel; read-only, as it follows from the support vectors."""
        check_is_fitted(self)
        if self._w is None:
            raise AttributeError(f"coef_ is only available for the linear kernel, not for kernel={self.kernel!r}")
        coef = like(self.support_vectors_, self._w.copy())
        (coef.data if sp.issparse(coef) else coef).flags.writeable = False
        return coef

    def _scores(self, Z: Any) -> np.ndarray:
        """⟨w, φ(z)⟩ + b for rows that have been checked: one column a problem."""
        if self._w is not None:
            return decision_values(Z, self.kernel_, self.intercept_, self._w)
        if self._of_objects:
            return Z @ self._expansion().T + self.intercept_
        if self._precomputed:
            if Z.shape[1] != self.shape_fit_[0]:
                raise InvalidInput(
                    f"X.shape[1] = {Z.shape[1]} should be equal to {self.shape_fit_[0]}, the number of samples at"
                    f" training time: pass the kernel between the new and the training samples"
                )
            return Z[:, self.support_].astype(np.float64, copy=False) @ self._expansion().T + self.intercept_
        return decision_values(
            Z, self.kernel_, self.intercept_, None, self.support_vectors_, self._expansion(), self._vector_classes()
        )

    def _vector_classes(self) -> np.ndarray | None:
        """The class of each support vector, where there are pairs of classes."""
        return None

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
