"""Certified support vector machines on Dask: `LinearSVC`, `LinearSVR`, `SVC` and `solve` for collections.

    from dask.distributed import Client
    from maxmargin.dask import LinearSVC

    client = Client()
    model = LinearSVC(loss="hinge").fit(X, y)      # Dask arrays or data frames
    model.certificate_, model.predict(X)           # proved; lazy, a collection as X is

A fit is a handful of rounds, each a task for every shard and a sum; a worker that is lost costs its tasks, no more.
docs/cluster.md tells how it works, and when a cluster is worth its while.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np

from maxmargin import estimators
from maxmargin.cluster.collections import client_of, engine_of, is_collection, lazily
from maxmargin.cluster.plan import Callback, Fitted, Plan, Round
from maxmargin.cluster.run import fit_parts
from maxmargin.errors import InvalidInput
from maxmargin.estimators.linear_regressor import LOSSES
from maxmargin.estimators.parameters import estimator
from maxmargin.kernels import Kernel, Linear
from maxmargin.losses import Loss
from maxmargin.losses import loss as loss_by_name
from maxmargin.problem import Bias
from maxmargin.training.summary import certificate_of

__all__ = ["SVC", "LinearSVC", "LinearSVR", "Round", "solve"]  # noqa: F822 (SVC is made when it is asked for)

#: What a fit leaves behind, and an ordinary estimator needs.
FITTED = (
    "model_", "_support", "_sparse", "classes_", "class_weight_", "n_features_in_", "feature_names_in_",
    "certificate_", "status_", "n_iter_", "history_", "shape_fit_", "_of_objects", "_objects",
)  # fmt: skip


def solve(
    X: Any,
    y: Any,
    *,
    loss: str | Loss = "hinge",
    bias: Bias = "free",
    C: float = 1.0,
    sample_weight: Any = None,
    class_weight: Any = None,
    tol: float = 1e-4,
    max_time: float | None = None,
    callbacks: Sequence[Callback] = (),
    client: Any = None,
) -> Fitted:
    """Fit a linear model to Dask collections, and prove it.

    Parameters
    ----------
    X : Dask array or data frame
        The rows, in as many partitions as there are. Chunks may be dense or CSR, and their lengths unknown.
    y : Dask array or series, or an array
        Labels, or numbers for a regression loss, with the same partitions.
    loss : str or Loss, default "hinge"
        Any loss but one-class; see `maxmargin.list_losses()`.
    bias : "free", "augmented" or "none", default "free"
        As for `maxmargin.Problem`.
    C : float, default 1.0
        The weight of the loss of each row.
    sample_weight : Dask array or series, default None
        Multiplies C for each row.
    class_weight : dict or "balanced", default None
        Multiplies C for each class.
    tol : float, default 1e-4
        The relative duality gap to reach.
    max_time : float, default None
        Seconds; the best certified model so far is kept when they are over.
    callbacks : sequence of callables, default ()
        Called with a `Round` after each of them; a true answer ends the fit.
    client : distributed.Client, default None
        The cluster; None is the current one.

    Returns
    -------
    Fitted
        Coefficients, a certificate for each machine, the status and the history.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from maxmargin.dask import solve
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     fitted = solve(da.from_array([[0.0], [1.0], [3.0], [4.0]], chunks=2), [-1, -1, 1, 1])
    >>> fitted.certificates[0].relative_gap < 1e-4, fitted.coef.round(3)
    (True, array([[1.]]))
    """
    chosen = loss_by_name(loss) if isinstance(loss, str) else loss
    plan = Plan(chosen, bias, C=C, class_weight=class_weight, tol=tol, max_time=max_time, callbacks=tuple(callbacks))
    with engine_of(client_of(client), X, y, sample_weight) as engine:
        return fit_parts(engine, plan, chosen.task == "classification")


class _OnDask:
    """What the estimators on Dask share: a fit through the client, and predictions that are collections."""

    history_: tuple[Round, ...]

    def fit(self, X: Any, y: Any, sample_weight: Any = None, callbacks: Sequence[Callback] = ()) -> Any:
        """Train on Dask collections; with an asynchronous client, await what this returns.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features)
            The rows.
        y : Dask array or series of length n_samples
            Labels of any kind, or the values to predict.
        sample_weight : Dask array or series of length n_samples
            Multiplies C for each row; 0 leaves the row out.
        callbacks : sequence of callables
            Called with a `Round` after each of them; a true answer ends the fit.

        Returns
        -------
        self
        """
        me: Any = self
        client = client_of(me.client)
        me._refuse_local()
        if client.asynchronous:
            return asyncio.to_thread(self._fit_now, client, X, y, sample_weight, callbacks)
        return self._fit_now(client, X, y, sample_weight, callbacks)

    def _fit_now(self, client: Any, X: Any, y: Any, sample_weight: Any, callbacks: Sequence[Callback]) -> Any:
        me: Any = self
        bias = me._bias()
        seed = me._budget().seed
        watched = [*callbacks, *([_shown] if me.verbose else [])]
        plan = Plan(
            me._chosen_loss(),
            bias,
            bias_scale=float(getattr(me, "intercept_scaling", 1.0)) if bias == "augmented" else 1.0,
            C=_number("C", me.C),
            class_weight=getattr(me, "class_weight", None),
            tol=_number("tol", me.tol),
            max_time=me.max_time,
            max_rounds=None if me.max_iter == -1 else int(me.max_iter),
            seed=seed,
            callbacks=watched,
        )
        with engine_of(client, X, y, sample_weight) as engine:
            fitted = me._fit_parts(engine, plan)
        me._take(fitted, X)
        me._warn()
        return self

    def _fit_parts(self, engine: Any, plan: Plan) -> Fitted:
        return fit_parts(engine, plan, hasattr(self, "class_weight"))

    def _refuse_local(self) -> None:
        """Refuse what only one machine does."""
        me: Any = self
        if me.solver != "auto":
            raise InvalidInput(f"solver={me.solver!r} is for one machine; on a cluster the method is chosen: 'auto'")
        if me.warm_start:
            raise InvalidInput("warm_start=True is for one machine; a fit on a cluster begins with a sample")
        if getattr(me, "multi_class", "ovr") != "ovr":
            raise InvalidInput(f"multi_class={me.multi_class!r} is for one machine; a cluster has 'ovr'")

    def _take(self, fitted: Fitted, X: Any) -> None:
        """The fitted attributes."""
        me: Any = self
        for name in ("feature_names_in_", "classes_", "class_weight_"):
            vars(me).pop(name, None)
        kernel, b, parts = self._parts_of_model(fitted)
        me.n_features_in_ = parts["vectors" if "vectors" in parts else "w"].shape[1]
        if not hasattr(X, "chunks") and all(isinstance(name, str) for name in X.columns):
            me.feature_names_in_ = np.asarray(X.columns, dtype=object)
        if fitted.classes is not None:
            me.classes_, me.class_weight_ = fitted.classes, fitted.class_weights
        several = fitted.classes is not None and len(fitted.certificates) > 1
        names: Any = list(fitted.classes) if several and fitted.classes is not None else [None]
        names_in = me.feature_names_in_ if hasattr(me, "feature_names_in_") else None
        me.model_ = fitted.model(names_in, kernel, b, **parts)
        me._support = me._sparse = None  # they stay where the rows are
        certificates: Any = fitted.certificates
        me.certificate_ = certificate_of(names, certificates)
        me.status_, me.history_, me.n_iter_ = fitted.status, fitted.history, len(fitted.history)
        me.fitted_ = fitted

    def _parts_of_model(self, fitted: Fitted) -> tuple[Kernel, np.ndarray, dict[str, Any]]:
        """The kernel, the biases and the weights."""
        return Linear(), fitted.intercept, {"w": fitted.coef}

    def _local_class(self) -> type:
        raise NotImplementedError

    def to_local(self) -> Any:
        """The same model as an ordinary estimator, which needs neither Dask nor a cluster."""
        me: Any = self
        kind = self._local_class()
        parameters = {key: value for key, value in me.get_params(deep=False).items() if key != "client"}
        local = kind(**parameters)
        for name in FITTED:
            if name in vars(me):
                setattr(local, name, vars(me)[name])
        return local

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super()
        return {**state.__getstate__(), "client": None}  # a connection is not saved


def _shown(line: Round) -> None:
    print(f"round {line.round}: {line.seconds:.1f} s, relative gap {line.relative_gap:.3g}", flush=True)


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not value > 0:
        raise InvalidInput(f"{name} is {value!r}; it must be a number > 0")
    return float(value)


class _ClassifierOnDask(_OnDask):
    """What the classifiers share: predictions of rows that are on a cluster."""

    def decision_function(self, X: Any) -> Any:
        """How far rows are on which side; lazy for a collection."""
        me: Any = self
        one: Any = super()
        if not is_collection(X):
            return one.decision_function(X)
        return lazily(self.to_local().decision_function, X, len(me.model_.b), np.float64)

    def predict(self, X: Any) -> Any:
        """The labels of rows; lazy for a collection."""
        me: Any = self
        one: Any = super()
        if not is_collection(X):
            return one.predict(X)
        return lazily(self.to_local().predict, X, 1, me.classes_.dtype)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose labels are right; computed now."""
        one: Any = super()
        if not is_collection(X):
            return float(one.score(X, y, sample_weight))
        from sklearn.metrics import accuracy_score

        return float(accuracy_score(*_computed(y, self.predict(X)), sample_weight=_computed(sample_weight)[0]))


@estimator
class LinearSVC(_ClassifierOnDask, estimators.LinearSVC):
    """Linear support vector classification on Dask collections, with a certificate.

    Parameters
    ----------
    max_iter : int, default -1
        Rounds, at most; −1 for no limit.
    client : distributed.Client, default None
        The cluster; None is the current one.

    Attributes
    ----------
    coef_, intercept_, classes_, certificate_, status_
        As for `maxmargin.LinearSVC`.
    history_ : tuple of Round
        What each round sent, and what it proved.

    Notes
    -----
    There are no `support_vectors_`: they stay where the rows are.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from maxmargin.dask import LinearSVC
    >>> X = da.random.default_rng(0).standard_normal((400, 3), chunks=(100, 3))
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     model = LinearSVC(tol=1e-4).fit(X, (X[:, 0] > 0).astype(int))
    >>> model.certificate_.relative_gap <= 1e-4, model.coef_.shape
    (True, (1, 3))
    """

    client: Any = None

    def _chosen_loss(self) -> Loss:
        self._check_linear(("hinge", "squared_hinge", "logistic"), "hinge")
        if self.penalty != "l2":
            raise InvalidInput(f"penalty={self.penalty!r} is for one machine; a cluster has 'l2'")
        return self._loss()

    def _local_class(self) -> type:
        return estimators.LinearSVC


@estimator
class LinearSVR(_OnDask, estimators.LinearSVR):
    """Linear ε-support vector regression on Dask collections, with a certificate.

    Parameters
    ----------
    max_iter : int, default -1
        Rounds, at most; −1 for no limit.
    client : distributed.Client, default None
        The cluster; None is the current one.

    Attributes
    ----------
    coef_, intercept_, certificate_, status_
        As for `maxmargin.LinearSVR`.
    history_ : tuple of Round
        What each round sent, and what it proved.

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from maxmargin.dask import LinearSVR
    >>> X = da.random.default_rng(0).standard_normal((400, 3), chunks=(100, 3))
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     model = LinearSVR(epsilon=0.1, tol=1e-4).fit(X, 2.0 * X[:, 0])
    >>> model.certificate_.relative_gap <= 1e-4, model.coef_.shape
    (True, (3,))
    """

    client: Any = None

    def _chosen_loss(self) -> Loss:
        self._check_linear(tuple(LOSSES), "epsilon_insensitive")
        return self._loss()

    def _local_class(self) -> type:
        return estimators.LinearSVR

    def predict(self, X: Any) -> Any:
        """The values of rows; lazy for a collection."""
        if not is_collection(X):
            return super().predict(X)
        return lazily(self.to_local().predict, X, 1, np.float64)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R²; computed now."""
        if not is_collection(X):
            return float(super().score(X, y, sample_weight))
        from sklearn.metrics import r2_score

        return float(r2_score(*_computed(y, self.predict(X)), sample_weight=_computed(sample_weight)[0]))


def _computed(*things: Any) -> list[Any]:
    import dask

    return [None if thing is None else np.asarray(thing) for thing in dask.compute(*things)]


def __getattr__(name: str) -> Any:
    if name == "SVC":
        from maxmargin.dask_svc import SVC

        return SVC
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
