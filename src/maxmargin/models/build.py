"""Models from what has been trained: a `Result`, several of them, or a fitted estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInput
from maxmargin.kernels import Linear, Precomputed
from maxmargin.losses.base import Task
from maxmargin.models.model import Model, Proof, Scheme, Training, check
from maxmargin.result import Result


def model_of(fitted: Any, **more: Any) -> Model:
    """A model from a `Result` or a fitted estimator; `more` sets other fields, such as the scaling."""
    if isinstance(fitted, Result):
        problem = fitted.problem
        if problem.transform is not None:
            raise InvalidInput("a model with a transform cannot be saved: a model file holds no code; transform first")
        return model_of_results([fitted], [np.arange(problem.n)], problem.X, classes=problem.classes, **more)
    if hasattr(fitted, "intercept_"):
        return _of_estimator(fitted, **more)
    raise InvalidInput(f"{type(fitted).__name__} is no fit; a Result or a fitted estimator is needed")


def model_of_results(
    results: Sequence[Result],
    rows: Sequence[np.ndarray],
    X: Any,
    classes: np.ndarray | None = None,
    scheme: Scheme = "binary",
    codes: np.ndarray | None = None,
    **more: Any,
) -> Model:
    """A model from the results of its binary problems; `rows` are the places of each one's samples in X."""
    first = results[0].problem
    parts: dict[str, Any] = {}
    if isinstance(first.kernel, Linear):
        parts["w"] = np.stack([_normal(result) for result in results])
    else:
        coef = np.zeros((len(results), X.shape[0]))
        for k, (result, places) in enumerate(zip(results, rows, strict=True)):
            assert result.point.w is not None
            coef[k, places] = result.point.w
        if isinstance(first.kernel, Precomputed):
            parts["w"] = coef
        else:
            support = np.flatnonzero((coef != 0.0).any(axis=0))
            if scheme == "ovo" and codes is not None:  # LIBSVM wants them in order of their classes
                support = support[np.argsort(codes[support], kind="stable")]
                parts["vector_classes"] = codes[support]
            vectors = X[support].astype(np.float64)
            parts |= {"vectors": sp.csr_array(vectors) if sp.issparse(X) else vectors, "coef": coef[:, support]}
    model = Model(
        task=first.task,
        kernel=first.kernel,
        b=np.array([result.b for result in results]),
        columns=X.shape[1],
        classes=classes,
        scheme=scheme,
        **parts,
        **{"training": training_of(results, rows, X.shape[0]), **more},
    )
    return check(model)


def _normal(result: Result) -> np.ndarray:
    assert result.w is not None
    return result.w


def training_of(
    results: Sequence[Result],
    rows: Sequence[np.ndarray],
    n: int,
    C: float | None = None,
    class_weight: Any = None,
    weighted: bool | None = None,
) -> Training:
    """How the results came about; C may be said where samples have weights and it cannot be seen from them."""
    first = results[0].problem
    same = float(first.C[0])
    if C is None:
        C, weighted = same, bool((first.C != same).any())
    proofs = []
    for result, places in zip(results, rows, strict=True):
        used = np.flatnonzero(result.beta)
        one = result.certificate
        proofs.append(
            Proof(str(result.status), one.primal, one.dual, one.relative_gap, places[used], result.beta[used])
        )
    parameters = {field.name: float(getattr(first.loss, field.name)) for field in fields(first.loss)}  # type: ignore[arg-type]
    return Training(
        loss=first.loss.name,
        loss_parameters=parameters,
        bias=first.bias,
        bias_scale=first.bias_scale,
        C=C,
        class_weight=class_weight,
        weighted=bool(weighted),
        solver=results[0].solver.name,
        tol=results[0].tol,
        n=n,
        proofs=tuple(proofs),
    )


def _of_estimator(estimator: Any, **more: Any) -> Model:
    """A model from the fitted attributes of an estimator; without all its duals it cannot be certified again."""
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
    names = getattr(estimator, "feature_names_in_", None)
    parts["names"] = None if names is None else tuple(str(name) for name in names)
    return check(Model(task=task, kernel=kernel, b=b, columns=columns, classes=classes, scheme=scheme, **parts, **more))
