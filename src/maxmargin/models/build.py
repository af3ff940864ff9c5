"""Models from what has been trained: a `Result`, several of them, or a fitted estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInput
from maxmargin.kernels import Kernel, Linear, Precomputed
from maxmargin.losses import Loss
from maxmargin.losses.base import Task
from maxmargin.models.model import Model, Proof, Scheme, Training, check
from maxmargin.models.solved import Solved
from maxmargin.problem import Problem
from maxmargin.regularizers import Regularizer
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
        if problem.family == "crammer-singer":
            more.setdefault("scheme", "crammer-singer")
        if (problem.C == C).all():  # otherwise nobody can tell which weight belongs to which row
            more.setdefault("training", training_of(problem, solved, everything, problem.n, C, fitted.tol))
        return model_of_solved(problem, solved, everything, problem.X, classes=problem.classes, **more)
    if hasattr(fitted, "model_"):
        return check(replace(fitted.model_, **more)) if more else fitted.model_
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
    planes = [plane for one in solved for plane in problem.hyperplanes(one.w, one.b)]
    b = np.array([bias for _, bias in planes])
    w = [normal for normal, _ in planes]
    return check(assembled(problem.task, kernel or problem.kernel, w, b, rows, X, scheme, codes, **more))


def assembled(
    task: Task,
    kernel: Kernel,
    w: Sequence[np.ndarray],
    b: np.ndarray,
    rows: Sequence[np.ndarray],
    X: Any,
    scheme: Scheme,
    codes: np.ndarray | None = None,
    **more: Any,
) -> Model:
    """A model from the w of its machines: normals of a linear kernel (first), else coefficients of the machine's rows.

    `codes` are the classes of all rows of X, for the order of the vectors.
    """
    n, columns = X.shape
    parts: dict[str, Any] = {}
    if isinstance(kernel, Linear):
        parts["w"] = np.stack([one[:columns] for one in w])
    elif isinstance(kernel, Precomputed):
        parts["w"] = spread(w, rows, np.arange(n), n)
    else:
        places = support_of([one != 0.0 for one in w], rows, np.zeros(n, np.intp) if codes is None else codes)
        if codes is not None and scheme == "ovo":
            parts["vector_classes"] = codes[places]
        vectors = X[places].astype(np.float64, copy=False)
        parts["vectors"] = sp.csr_array(vectors) if sp.issparse(X) else vectors
        parts["coef"] = spread(w, rows, places, n)
    return Model(task=task, kernel=kernel, b=b, columns=columns, scheme=scheme, **parts, **more)


def support_of(matters: Sequence[np.ndarray], rows: Sequence[np.ndarray], codes: np.ndarray) -> np.ndarray:
    """The places of the samples that matter to a machine, in order of their classes, as LIBSVM and scikit-learn do."""
    anywhere = np.zeros(len(codes), bool)
    for mask, places in zip(matters, rows, strict=True):
        anywhere[places] |= mask
    support = np.flatnonzero(anywhere)
    return support[np.argsort(codes[support], kind="stable")]


def spread(
    values: Sequence[np.ndarray], rows: Sequence[np.ndarray], support: np.ndarray, n: int, nothing: float = 0.0
) -> np.ndarray:
    """The values that machines have for their rows, at the places `support` of n: one row a machine."""
    out = np.full((len(values), len(support)), nothing, values[0].dtype)
    column = np.full(n, -1)
    column[support] = np.arange(len(support))
    for row, one, places in zip(out, values, rows, strict=True):
        there = column[places]
        row[there[there >= 0]] = one[there >= 0]
    return out


def training_of(
    source: Source,
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
        used, width = np.flatnonzero(one.beta), len(one.beta) // len(places)
        numbers = one.status, one.primal, one.dual, one.relative_gap
        rows_used = width * places[used // width] + used % width
        proofs.append(Proof(*numbers, rows_used, one.beta[used], one.tau))
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
        regularizer=source.regularizer.name,
        nu=getattr(source, "nu", None),
    )


class Source(Protocol):
    """What has a loss and a bias: a problem, or what problems are made from."""

    @property
    def loss(self) -> Loss:
        """The loss."""
        ...

    @property
    def regularizer(self) -> Regularizer:
        """What is made small besides the loss."""
        ...

    @property
    def bias(self) -> str:
        """How the hyperplane may leave the origin."""
        ...

    @property
    def bias_scale(self) -> float:
        """The constant feature of an augmented bias."""
        ...
