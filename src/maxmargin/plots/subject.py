"""What `boundary` draws: a Result or a fitted estimator, brought to one form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.certificate import KINDS, Kinds
from maxmargin.errors import InvalidInput
from maxmargin.losses.base import Task
from maxmargin.plots.style import loss_label, plain
from maxmargin.problem import Problem
from maxmargin.result import Result

#: A grid point has all features: so many numbers are made at a time.
NUMBERS = 2**22

Score = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Subject:
    """A model with the samples to draw it on."""

    #: What the title says of the model.
    name: str
    X: Any
    task: Task
    #: The class of each sample, as a number, and what the classes are called; none for a regression.
    codes: np.ndarray
    classes: tuple[str, ...]
    #: The true values, for a regression.
    target: np.ndarray | None
    #: The samples of each kind, by the names of `style.KINDS`.
    kinds: dict[str, np.ndarray]
    #: The decision value of rows; None where there are more than two classes, or no decision function.
    decision: Score | None
    #: The class (as a number) or value that is predicted for rows.
    predict: Score
    #: (w, b) where the decision value is w·x + b in the features themselves.
    weights: tuple[np.ndarray, float] | None
    #: Half the width of the tube of a regression.
    epsilon: float | None
    features: tuple[str, ...]
    #: Whether the levels beside the hyperplane are margins, or just levels.
    margins: bool = False
    #: The level of the margins: 1, or that of the nearest sample where w is not scaled; at most 0 where there is none.
    margin: float = 1.0
    #: The weight of each sample in w, in absolute value, and what it is called; None where it is not known.
    weight: np.ndarray | None = None
    weight_name: str = "α"

    @property
    def unit(self) -> float:
        """The level that shades are measured by."""
        return self.margin if self.margin > 0.0 else 1.0

    @property
    def levels(self) -> tuple[float, ...]:
        """The levels of the decision function that mean something: the hyperplane, and the margins if there are any."""
        return (0.0,) if self.task == "novelty" or self.margin <= 0.0 else (-self.margin, 0.0, self.margin)


def subject_of(model: Any, X: Any, y: Any) -> Subject:
    """A Result, or any fitted estimator with the samples to show."""
    return _from_result(model, X, y) if isinstance(model, Result) else _from_estimator(model, X, y)


def describe(result: Result) -> str:
    """A run in one line: solver, loss, kernel and C."""
    problem = result.problem
    kernel = problem.kernel.name
    gamma = getattr(problem.kernel, "gamma", None)
    kernel += f" (gamma = {gamma:.3g})" if isinstance(gamma, float) else ""
    weights = np.unique(problem.C[problem.C > 0])
    C = f"{weights[0]:.3g}" if weights.size == 1 else f"{weights[0]:.3g} to {weights[-1]:.3g}"
    if problem.hard:
        C = "∞"
    return f"{result.solver.name}: {loss_label(problem.loss)}, {kernel}, C = {C}"


def proved(gap: float) -> str:
    """What a relative gap proves, in words."""
    return f"relative gap {gap:.1e}" if np.isfinite(gap) else "no finite gap"


def class_names(problem: Problem) -> tuple[np.ndarray, tuple[str, ...]]:
    """The class of each sample as a number, and what the classes are called; one of all where there are no classes."""
    if problem.classes is None:
        return np.zeros(problem.n, dtype=int), ("samples",)
    codes = problem.target if problem.family == "crammer-singer" else (problem.target > 0).astype(int)
    return codes, tuple(plain(label) for label in problem.classes)


def by_kind(kinds: Kinds) -> dict[str, np.ndarray]:
    """The samples of each kind, in the order in which a legend names them."""
    return {kind: kinds[kind] for kind in KINDS}


def _from_result(result: Result, X: Any, y: Any) -> Subject:
    problem = result.problem
    if problem.kernel.given:
        raise InvalidInput("a precomputed kernel has no features to draw; use plots.support or plots.convergence")
    if X is None and problem.transform is not None:
        raise InvalidInput("this problem keeps transformed rows only; give X as it was before the transform")
    table = problem.X if X is None else X
    rows = _rows(table)
    training = X is None or _same(problem.check_new(rows), problem.X)
    codes, classes = class_names(problem)
    target = problem.target
    if not training or y is not None:
        codes = np.zeros(rows.shape[0], dtype=int)
        if problem.task == "regression":
            target = _column(y, rows.shape[0]).astype(float)
        elif problem.classes is not None:
            codes = _codes(_column(y, rows.shape[0]), problem.classes)
    kinds = {"sample": np.arange(rows.shape[0])}
    weight, weight_name, margin = None, "α", 1.0
    if result.point.answer:
        margin = _nearest(result)
    if training:
        kinds, weight, weight_name = roles(result)

    together = problem.family == "crammer-singer"

    def predict(Z: np.ndarray) -> np.ndarray:
        z = result.decision_function(Z)
        if z.ndim == 2:
            return z.argmax(axis=1)
        return z if problem.task == "regression" else (z > 0).astype(int)

    return Subject(
        name=f"{describe(result)}, {proved(result.certificate.relative_gap)}",
        X=rows,
        task=problem.task,
        codes=codes,
        classes=classes,
        target=target if problem.task == "regression" else None,
        kinds=kinds,
        decision=None if together else result.decision_function,
        predict=predict,
        weights=(result.w, result.b) if result.w is not None and problem.transform is None and not together else None,
        epsilon=getattr(problem.loss, "epsilon", None),
        features=_feature_names(table, rows.shape[1]),
        margins=problem.loss.margin and not together,
        margin=margin,
        weight=weight,
        weight_name=weight_name,
    )


def roles(result: Result) -> tuple[dict[str, np.ndarray], np.ndarray, str]:
    """The samples by what they are in this result, their weights in w, and what the weights are called."""
    proof = result.certificate.inseparable
    if proof is not None:
        return with_weight("other", "witness", proof.alpha)
    if result.point.answer and result.coef is not None:
        kinds, weight, _ = with_weight("uncorrected", "corrected", np.abs(result.coef))
        return kinds, weight, "corrections"
    if result.problem.family == "crammer-singer":
        return by_kind(result.certificate.kinds), np.abs(result.beta).max(axis=1), "α"
    signed = result.problem.target * result.beta
    one_signed = result.problem.task == "classification" and bool((signed >= 0.0).all())
    return by_kind(result.certificate.kinds), np.abs(result.beta), "α" if one_signed else "|β|"


def with_weight(none: str, some: str, weight: np.ndarray) -> tuple[dict[str, np.ndarray], np.ndarray, str]:
    """The samples in two kinds, those of no weight and the others; the weights; and what they are called."""
    return {none: np.flatnonzero(weight == 0.0), some: np.flatnonzero(weight > 0.0)}, weight, "α"


def _nearest(result: Result) -> float:
    """The smallest y_i z_i: where w is not scaled, the margin is there and not at 1."""
    assert result.point.w is not None
    return result.problem.margin(result.problem.space.scores(result.point.w) + (result.point.b or 0.0))


def _from_estimator(model: Any, X: Any, y: Any) -> Subject:
    from sklearn.base import is_outlier_detector, is_regressor

    if not hasattr(model, "predict"):
        raise InvalidInput(f"{type(model).__name__} is neither a Result nor a fitted estimator with predict")
    if X is None:
        raise InvalidInput("an estimator does not keep its data: give X, and y to see the classes")
    rows = _rows(X)
    n = rows.shape[0]

    def table(Z: np.ndarray) -> Any:
        # An estimator that was fitted on named columns warns when it is asked about nameless ones.
        return type(X)(Z, columns=X.columns) if hasattr(X, "iloc") else Z

    def predict(Z: np.ndarray) -> np.ndarray:
        answer = np.asarray(model.predict(table(Z)))
        if task == "regression":
            return answer.astype(float)
        return (answer > 0).astype(int) if task == "novelty" else _codes(answer, labels)

    def decision(Z: np.ndarray) -> np.ndarray:
        return np.asarray(model.decision_function(table(Z)), dtype=float)

    task: Task = "regression" if is_regressor(model) else "novelty" if is_outlier_detector(model) else "classification"
    codes, labels, target = np.zeros(n, dtype=int), np.array(["samples"]), None
    if task == "regression":
        target = _column(y, n).astype(float)
    elif task == "classification":
        y = _column(y, n)
        labels = np.union1d(getattr(model, "classes_", y), y)
        codes = _codes(y, labels)
    scored = task != "regression" and hasattr(model, "decision_function") and len(labels) <= 2
    scored = scored and decision(_dense(rows[:1])).ndim == 1
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    return Subject(
        name=type(last).__name__,
        X=rows,
        task=task,
        codes=codes,
        classes=tuple(plain(label) for label in labels),
        target=target,
        kinds=_support_of(model, rows),
        decision=decision if scored else None,
        predict=predict,
        weights=_weights_of(model, rows, decision) if scored else None,
        epsilon=None,
        features=_feature_names(X, rows.shape[1]),
        margins=type(last).__name__ in ("SVC", "NuSVC", "LinearSVC"),
    )


def _weights_of(model: Any, rows: Any, decision: Score) -> tuple[np.ndarray, float] | None:
    """(w, b) of a linear classifier, believed only after it has given the same decision values."""
    w = getattr(model, "coef_", None)
    if w is None or sp.issparse(w) or np.size(w) != rows.shape[1]:
        return None
    w, b = np.ravel(w).astype(float), float(np.ravel(getattr(model, "intercept_", 0.0))[0])
    few = _dense(rows[:10])
    return (w, b) if np.allclose(few @ w + b, decision(few)) else None


def _support_of(model: Any, rows: Any) -> dict[str, np.ndarray]:
    """The support vectors of scikit-learn's machines, if the rows are those that they were fitted on."""
    everything = np.arange(rows.shape[0])
    support = getattr(model, "support_", None)
    vectors = getattr(model, "support_vectors_", None)
    if support is None or not len(support) or max(support) >= len(everything):
        return {"sample": everything}
    if not (_same(rows[support], vectors) if vectors is not None else _sums_up(model, rows[support])):
        return {"sample": everything}
    return {"outside": np.setdiff1d(everything, support), "support": np.sort(support)}


def _sums_up(model: Any, vectors: Any) -> bool:
    """Whether these are the support vectors of a linear machine that did not keep them: w is their sum."""
    coef, w = getattr(model, "dual_coef_", None), getattr(model, "coef_", None)
    if coef is None or w is None or sp.issparse(w) or vectors.shape[1] != np.atleast_2d(w).shape[1]:
        return False
    found = _dense(coef) @ _dense(vectors)
    return found.shape == np.atleast_2d(w).shape and np.allclose(found, w, rtol=1e-3, atol=1e-3 * np.abs(w).max())


def in_blocks(score: Score, rows: Any, width: int | None = None) -> np.ndarray:
    """A score of many rows, made dense a block at a time; `width` is how many numbers each row will become."""
    size = max(1, NUMBERS // max(1, width or rows.shape[1]))
    return np.concatenate([score(_dense(rows[i : i + size])) for i in range(0, rows.shape[0], size)])


def _rows(X: Any) -> Any:
    rows = X.tocsr() if sp.issparse(X) else np.asarray(X)
    if rows.ndim != 2:
        raise InvalidInput(f"X has {rows.ndim} dimension(s); it must be a table of rows and columns")
    return rows


def _dense(rows: Any) -> np.ndarray:
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)


def _same(A: Any, B: Any) -> bool:
    if A.shape != B.shape:
        return False
    if sp.issparse(A) or sp.issparse(B):
        return abs(sp.csr_array(A) - sp.csr_array(B)).sum() == 0
    return np.array_equal(A, B)


def _column(y: Any, n: int) -> np.ndarray:
    if y is None:
        raise InvalidInput("y is missing; give it with X, so that the samples can be told apart")
    y = np.asarray(y)
    if y.shape != (n,):
        raise InvalidInput(f"y has shape {y.shape} but X has {n} rows; one value per row is needed")
    return y


def _codes(y: np.ndarray, labels: np.ndarray) -> np.ndarray:
    codes = np.searchsorted(labels, y).clip(0, len(labels) - 1)
    wrong = np.flatnonzero(labels[codes] != y)
    if wrong.size:
        raise InvalidInput(f"y[{wrong[0]}] is {y[wrong[0]]!r}, which the model does not know")
    return codes


def _feature_names(table: Any, d: int) -> tuple[str, ...]:
    columns = getattr(table, "columns", None)
    return tuple(f"feature {j}" for j in range(d)) if columns is None else tuple(plain(name) for name in columns)
