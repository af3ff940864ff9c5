"""`maxmargin.dask.SVC`: a kernel on Dask collections, by landmarks, with the gap of the exact problem."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from maxmargin import estimators
from maxmargin.cluster.landmarks import KernelFitted, fit_landmarks
from maxmargin.cluster.plan import Fitted, Plan
from maxmargin.dask import _ClassifierOnDask
from maxmargin.errors import InvalidInput
from maxmargin.estimators.parameters import estimator
from maxmargin.kernels import Kernel
from maxmargin.kernels import kernel as kernel_by_name
from maxmargin.kernels.base import registry as kernels
from maxmargin.losses import Loss


@estimator
class SVC(_ClassifierOnDask, estimators.SVC):
    """Support vector classification with a kernel on Dask collections: landmarks, and the gap of the exact problem.

    Parameters
    ----------
    max_iter : int, default -1
        Rounds on the features of the landmarks, at most; −1 for no limit.
    multi_class : "ovr", default "ovr"
        One class against the rest.
    approximation : "nystroem", default "nystroem"
        On a cluster there is no other way.
    n_landmarks : int or "auto", default "auto"
        How many landmarks at most, 2,000 in any case; the model is made of them alone.
    client : distributed.Client, default None
        The cluster; None is the current one.

    Attributes
    ----------
    classes_, intercept_, certificate_, status_
        As for `maxmargin.SVC`.
    landmarks_ : array or sparse matrix
        The rows that the model is made of.
    history_ : tuple of Round
        What each round sent, and what it proved of the problem on the features of the landmarks.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from maxmargin.dask import SVC
    >>> X = da.random.default_rng(0).normal(size=(600, 2), chunks=(200, 2))
    >>> y = (X**2).sum(axis=1) > 1.4
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     model = SVC(tol=1e-2).fit(X, y)
    >>> bool(model.certificate_.relative_gap <= 1e-2)
    True
    """

    approximation: str | None = "nystroem"
    multi_class: str = "ovr"
    client: Any = None

    def _chosen_loss(self) -> Loss:
        self._solver()  # which refuses what does not go together
        if self.approximation is None or self.probability:
            raise InvalidInput("on a cluster SVC has approximation='nystroem' only, and no probability")
        return self._loss()

    def _fit_parts(self, engine: Any, plan: Plan) -> Fitted:
        most = None if isinstance(self.n_landmarks, str) else int(self.n_landmarks)
        self._found: KernelFitted = fit_landmarks(engine, plan, self._chosen_kernel(), most)
        return self._found.fitted

    def _chosen_kernel(self) -> Kernel:
        """The kernel, its "scale" not yet a number."""
        if not isinstance(self.kernel, str):
            return kernel_by_name(self.kernel)
        made: Any = kernels[{"poly": "polynomial"}.get(self.kernel, self.kernel)]
        return made(**{one.name: getattr(self, one.name) for one in fields(made) if hasattr(self, one.name)})

    def _parts_of_model(self, fitted: Fitted) -> tuple[Kernel, np.ndarray, dict[str, Any]]:
        landmarks, coef = self._found.landmarks, self._found.coef
        del self._found
        self.landmarks_ = landmarks.rows
        self.shape_fit_ = (fitted.rows, landmarks.rows.shape[1])
        self._of_objects, self._objects = False, None  # rows are numbers
        b = fitted.intercept + landmarks.offset * coef.sum(axis=1)
        return landmarks.kernel, b, {"vectors": landmarks.rows.astype(np.float64), "coef": coef}

    def _local_class(self) -> type:
        return estimators.SVC
