"""Models from what has been trained: a `Result`, several of them, or a fitted estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInput
from maxmargin.kernels import Kernel, Linear, Precomputed
from maxmargin.losses import Loss
from maxmargin.losses.base import Task, registry
from maxmargin.losses.hinge import Hinge
from maxmargin.losses.one_class import OneClass
from maxmargin.models.model import Model, Proof, Scheme, Training, check
from maxmargin.models.solved import Solved
from maxmargin.problem import Problem
from maxmargin.problem.validation import plain
from maxmargin.result import Result


def model_of(fitted: Any, **more: Any) -> Model:
    """A model from a fit, to be saved or used without the training data.

    Parameters
    ----------
    fitted : Result or estimator
        A result of `solve`, or a fitted estimator.
    **more
        Other fields of `Model`, such as ``names`` or ``scaling``.

    Returns
    -------
    Model
        The model.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem, model_of, solve
    >>> model = model_of(solve(Problem([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"])))
    >>> model.predict(np.array([[0.5], [2.5]])).tolist()
    ['a', 'b']
    """
    if isinstance(fitted, Result):
        problem = fitted.problem
        if problem.transform is not None:
            raise InvalidInput("a model with a transform cannot be saved: a model file holds no code; transform first")
        solved, everything = [Solved.of(fitted)], [np.arange(problem.n)]
        C = float(problem.C[0])
        if (problem.C == C).all():  # otherwise nobody can tell which weight belongs to which row
            more.setdefault("training", training_of(problem, solved, everything, problem.n, C, fitted.tol))
        return model_of_solved(problem, solved, everything, problem.X, classes=problem.classes, **more)
    if hasattr(fitted, "intercept_"):
        return _of_estimator(fitted, **more)
    raise InvalidInput(f"{type(fitted).__name__} is no fit; a Result or a fitted estimator is needed")


def model_of_solved(
    problem: Problem,
    solved: Sequence[Solved],
    rows: Sequence[np.ndarray],
    X: Any,
    scheme: Scheme = "binary",
    codes: np.ndarray | None = None,
    kernel: Kernel | None = None,
    **more: Any,
) -> Model:
    """A model from its solved binary problems: one of them, and for each the places of its samples in X.

    The problems may have been solved on a matrix of the kernel that is given here.
    """
    parts: dict[str, Any] = {}
    kernel = kernel or problem.kernel
    if isinstance(kernel, Linear):
        parts["w"] = np.stack([one.w[: X.shape[1]] for one in solved])
    else:
        coef = np.zeros((len(solved), X.shape[0]))
        for k, (one, places) in enumerate(zip(solved, rows, strict=True)):
            coef[k, places] = one.w
        if isinstance(kernel, Precomputed):
            parts["w"] = coef
        else:
            support = np.flatnonzero((coef != 0.0).any(axis=0))
            if codes is not None:  # in order of their classes, as LIBSVM and scikit-learn want them
                support = support[np.argsort(codes[support], kind="stable")]
                parts["vector_classes"] = codes[support] if scheme == "ovo" else None
            vectors = X[support].astype(np.float64)
            parts |= {"vectors": sp.csr_array(vectors) if sp.issparse(X) else vectors, "coef": coef[:, support]}
    b = np.array([one.bias(problem) for one in solved])
    return check(Model(task=problem.task, kernel=kernel, b=b, columns=X.shape[1], scheme=scheme, **parts, **more))


def training_of(
    source: Problem,
    solved: Sequence[Solved],
    rows: Sequence[np.ndarray],
    n: int,
    C: float,
    tol: float,
    class_weight: Any = None,
    weighted: bool = False,
) -> Training:
    """How the solved problems came about; the loss and the bias are those of `source`."""
    proofs = []
    for one, places in zip(solved, rows, strict=True):
        used = np.flatnonzero(one.beta)
        proofs.append(Proof(one.status, one.primal, one.dual, one.relative_gap, places[used], one.beta[used]))
    loss: Any = source.loss
    return Training(
        loss=loss.name,
        loss_parameters={field.name: float(getattr(loss, field.name)) for field in fields(loss)},
        bias=source.bias,
        bias_scale=source.bias_scale,
        C=C,
        class_weight=class_weight,
        weighted=weighted,
        solver=solved[0].solver,
        tol=tol,
        n=n,
        proofs=tuple(proofs),
    )


def _of_estimator(estimator: Any, **more: Any) -> Model:
    """A model from the fitted attributes of an estimator."""
    classes = getattr(estimator, "classes_", None)
    tags: dict[str, Task] = {"classifier": "classification", "regressor": "regression", "outlier_detector": "novelty"}
    task = tags[estimator.__sklearn_tags__().estimator_type]
    kernel = getattr(estimator, "kernel_", Linear())
    b = np.atleast_1d(np.asarray(estimator.intercept_, dtype=np.float64))
    scheme: Scheme = "binary"
    if classes is not None and len(classes) > 2:
        scheme = "ovo" if estimator.multi_class == "ovo" else "ovr"
    parts: dict[str, Any] = {}
    if isinstance(kernel, Linear):
        w = estimator.coef_
        parts["w"] = np.atleast_2d(w.toarray() if sp.issparse(w) else np.asarray(w, dtype=np.float64))
        b = np.broadcast_to(b, (len(parts["w"]),)).copy()
        columns = parts["w"].shape[1]
    elif isinstance(kernel, Precomputed):
        columns = estimator.shape_fit_[0]
        parts["w"] = np.zeros((len(b), columns))
        parts["w"][:, estimator.support_] = estimator._expansion()
    else:
        vectors = estimator.support_vectors_
        columns = vectors.shape[1]
        parts["vectors"] = sp.csr_array(vectors) if sp.issparse(vectors) else np.asarray(vectors, dtype=np.float64)
        parts["coef"] = np.asarray(estimator._expansion())
        if scheme == "ovo":
            parts["vector_classes"] = np.repeat(np.arange(len(estimator.n_support_)), estimator.n_support_)
    more.setdefault("temperature", getattr(estimator, "temperature_", None))
    names = getattr(estimator, "feature_names_in_", None)
    more.setdefault("names", None if names is None else tuple(str(name) for name in names))
    if "training" not in more:
        more["training"] = _training_of_estimator(estimator)
    return check(Model(task=task, kernel=kernel, b=b, columns=columns, classes=classes, scheme=scheme, **parts, **more))


def _training_of_estimator(estimator: Any) -> Training | None:
    """How an estimator was trained; None where `certify` cannot know.

    That is so for ν, for Crammer and Singer, and for a fit on a cluster, whose dual variables stay with its rows.
    """
    from maxmargin.estimators import SVC, SVR, LinearSVC, LinearSVR, OneClassSVM

    known: Any = registry
    losses: dict[type, Callable[[Any], Loss]] = {
        SVC: lambda one: Hinge(),
        SVR: lambda one: one._loss(),
        LinearSVC: lambda one: known[one.loss](),
        LinearSVR: lambda one: known[one.loss](one.epsilon),
        OneClassSVM: lambda one: OneClass(one.nu),
    }
    make = losses.get(type(estimator))
    if (
        make is None
        or not hasattr(estimator, "dual_coef_")
        or getattr(estimator, "multi_class", None) == "crammer_singer"
    ):
        return None
    loss: Any = make(estimator)
    linear = isinstance(estimator, (LinearSVC, LinearSVR))
    bias = estimator._bias() if linear else estimator.bias
    C = float(getattr(estimator, "C", 1.0))
    by_class = getattr(estimator, "class_weight_", np.ones(1))
    class_weight = None
    if (by_class != 1.0).any():
        class_weight = tuple(zip(map(plain, estimator.classes_), by_class.tolist(), strict=True))
    duals = estimator._dual_points()
    certificates = list(estimator.certificate_.values()) if len(duals) > 1 else [estimator.certificate_]
    # Each row is in all problems, or in those of its class with every other one.
    times = len(by_class) - 1 if len(duals) > 1 and estimator.multi_class == "ovo" else len(duals)
    proofs = []
    for (rows, beta), one in zip(duals, certificates, strict=True):
        if np.isinf(C) and one.dual > 0.0:
            # The coefficients are those of w, and β a multiple of them: the best one has Σ|β| = 2D.
            beta = beta * (2.0 * one.dual / np.abs(beta).sum())
        proofs.append(Proof(str(estimator.status_), one.primal, one.dual, one.relative_gap, rows, beta))
    return Training(
        loss=loss.name,
        loss_parameters={field.name: float(getattr(loss, field.name)) for field in fields(loss)},
        bias=bias,
        bias_scale=float(estimator.intercept_scaling) if linear and bias == "augmented" else 1.0,
        C=C,
        class_weight=class_weight,
        weighted=estimator._weighted,
        solver=str(estimator.solver),
        tol=float(estimator.tol),
        n=sum(len(one.kinds.codes) for one in certificates) // times,
        proofs=tuple(proofs),
    )
