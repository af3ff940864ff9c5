"""Model: what a fit leaves behind to predict with, and to be checked by; plain arrays and numbers, no code.

    decision values   z = ⟨w, φ(x)⟩ + b,  one for each of its machines (binary problems)

Two classes are one machine, positive for ``classes[1]``. More classes are one machine a class, of which the largest
value wins (``"ovr"``, or ``"crammer-singer"`` where all were trained in one problem), or one a pair i < j in LIBSVM's
order (``"ovo"``, positive for the first of the pair; most votes win).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from maxmargin.data.scaling import Scaling
from maxmargin.errors import InvalidInput
from maxmargin.kernels import Kernel, Linear, Precomputed
from maxmargin.losses.base import Task
from maxmargin.models.classes import (
    TOGETHER,
    Scheme,
    pack_pairs,
    pairs,
    problem_name,
    rest_from_pairs,
    unpack_pairs,
    votes_of_pairs,
)
from maxmargin.models.decisions import decision_values, widened
from maxmargin.shown import Shown

if TYPE_CHECKING:
    from maxmargin.page import Page

#: A power beyond this is 0 or infinite for all but a few numbers.
LARGEST_DEGREE = 10_000


@dataclass(frozen=True, eq=False)
class Proof:
    """What was proved of one machine: its status in words, the two objectives, and the dual point behind them."""

    status: str
    primal: float
    dual: float
    relative_gap: float
    #: The rows of the training data with β ≠ 0, and their β; with k dual variables a row, k·row + class.
    rows: np.ndarray
    beta: np.ndarray
    #: The margin ρ or the tube ε that a ν-problem has found: it is one with C divided by ρ, or with this ε.
    tau: float | None = None


@dataclass(frozen=True, eq=False)
class Training:
    """How a model was trained: all that is needed, with the data, to certify it again."""

    #: The name and the parameters of the loss.
    loss: str
    loss_parameters: dict[str, float]
    bias: str
    bias_scale: float
    C: float
    #: "balanced", or pairs of a label and its weight, or None.
    class_weight: Any
    #: Whether rows had weights of their own.
    weighted: bool
    solver: str
    tol: float
    #: How many rows there were.
    n: int
    proofs: tuple[Proof, ...]
    #: "l2" or "l1".
    regularizer: str = "l2"
    #: The share of a ν-problem.
    nu: float | None = None


@dataclass(frozen=True, eq=False)
class Model(Shown):
    """A fitted classifier, regressor or novelty detector, without its training data: what files hold.

    Attributes
    ----------
    task : "classification", "regression" or "novelty"
        What it answers.
    kernel : Kernel
        The kernel, its parameters resolved.
    b : array
        The biases, one per machine (binary problem or regression).
    columns : int
        The number of features.
    w : array, default None
        The normals, one row per machine: for the linear kernel, and for a precomputed one (over the training samples).
    vectors, coef : array, default None
        For any other kernel: the support vectors, and their coefficients with one row per machine.
    vector_classes : array, default None
        The class of each vector, as a place in `classes`; only several classes in pairs need it.
    classes : array, default None
        The labels, sorted; None where there are none.
    scheme : "binary", "ovo", "ovr" or "crammer-singer", default "binary"
        How several classes are told apart.
    scaling : Scaling, default None
        What is done to rows before the kernel sees them.
    names : tuple of str, default None
        The names of the features.
    target : str, default None
        The name of the column that is the target.
    zero_based : bool, default None
        Whether indices of svmlight files begin at 0.
    temperature : float, default None
        What the decision values of the classes are divided by to give probabilities (their softmax).
    sigmoids : array, default None
        Of models from other programs: A and B with P(positive | z) = 1/(1 + exp(Az + B)), one row per machine.
    training : Training, default None
        How it was trained: what `maxmargin check` needs to certify it again.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem, model_of, solve
    >>> model = model_of(solve(Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1])))
    >>> model.machines, model.predict(np.array([[0.5], [2.5]])).tolist()
    (1, [-1, 1])
    """

    task: Task
    kernel: Kernel
    b: np.ndarray
    columns: int
    w: np.ndarray | None = None
    vectors: Any = None
    coef: np.ndarray | None = None
    vector_classes: np.ndarray | None = None
    classes: np.ndarray | None = None
    scheme: Scheme = "binary"
    scaling: Scaling | None = None
    names: tuple[str, ...] | None = None
    target: str | None = None
    zero_based: bool | None = None
    temperature: float | None = None
    sigmoids: np.ndarray | None = None
    training: Training | None = None

    @property
    def machines(self) -> int:
        """How many binary problems (or regressions) it is made of."""
        return len(self.b)

    @property
    def linear(self) -> bool:
        """Whether it is a linear function of the features."""
        return isinstance(self.kernel, Linear)

    # A pickle has k − 1 coefficients for each vector of k classes in pairs, not k(k − 1)/2 that are mostly 0.

    def __getstate__(self) -> dict[str, Any]:
        state, codes = dict(self.__dict__), self.vector_classes
        if self.coef is not None and codes is not None and self.classes is not None and (np.diff(codes) >= 0).all():
            counts = np.bincount(codes, minlength=len(self.classes))
            packed = pack_pairs(self.coef, counts)
            if np.array_equal(unpack_pairs(packed, counts), self.coef):
                state["coef"] = packed
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.coef is not None and len(self.coef) < self.machines:
            assert self.vector_classes is not None and self.classes is not None
            counts = np.bincount(self.vector_classes, minlength=len(self.classes))
            self.__dict__["coef"] = unpack_pairs(self.coef, counts)

    # Answers

    def scores(self, Z: Any) -> np.ndarray:
        """The decision values of rows as they come, not yet scaled: one column a machine."""
        out = decision_values(
            self.with_columns(Z),
            self.kernel,
            self.b,
            self.w,
            self.vectors,
            self.coef,
            self.vector_classes,
            None if self.scaling is None else self.scaling.apply,
        )
        if not np.isfinite(out).all():
            row = int(np.flatnonzero(~np.isfinite(out).all(axis=1))[0])
            raise InvalidInput(f"the decision value of row {row + 1} overflows: the row, or the model, is too large")
        return out

    def decision_function(self, Z: Any) -> np.ndarray:
        """One value a row where there is one machine, else one column a machine."""
        scores = self.scores(Z)
        return scores[:, 0] if self.machines == 1 else scores

    def predict(self, Z: Any) -> np.ndarray:
        """Labels, values, or +1 (usual) and −1 (novel)."""
        return self.labels(self.scores(Z))

    def labels(self, scores: np.ndarray) -> np.ndarray:
        """What decision values mean."""
        if self.task == "regression":
            return scores[:, 0]
        if self.task == "novelty":
            return np.where(scores[:, 0] >= 0, 1, -1)
        assert self.classes is not None
        if self.scheme == "binary":
            return self.classes[(scores[:, 0] > 0).astype(int)]
        if self.scheme == "ovo" and self.temperature is None:
            return self.classes[np.argmax(votes_of_pairs(scores, len(self.classes))[0], axis=1)]
        return self.classes[np.argmax(self.by_class(scores), axis=1)]  # as the probabilities have it

    def by_class(self, scores: np.ndarray) -> np.ndarray:
        """One value a class (of two classes: one for both) from those of the machines."""
        assert self.classes is not None
        if self.scheme == "binary":
            return scores[:, 0]
        return rest_from_pairs(scores, len(self.classes)) if self.scheme == "ovo" else scores

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """The probability of each class from decision values; one column a class."""
        from maxmargin.models.probability import probabilities

        return probabilities(self, scores)

    def report(self, path: str | PathLike[str] | None = None, X: Any = None, y: Any = None) -> Path | Page:
        """Write what was proved as one HTML file, a section per machine; with rows and targets also how it does.

        Without a path it returns the page itself, which a notebook shows inline.
        """
        from maxmargin.report import report

        return report(self, path, X, y)

    # Forms of the same model

    def unscaled(self) -> Model:
        """The same linear function without a scaling of its own: the scaling goes into w and b."""
        if self.scaling is None:
            return self
        if self.w is None:
            raise InvalidInput(
                f"this format has no place for the model's {self.scaling.kind} scaling: scale the data first"
            )
        w = self.w * self.scaling.factor
        shift = 0.0 if self.scaling.shift is None else w @ self.scaling.shift
        return replace(self, w=w, b=self.b - shift, scaling=None)

    def machine_names(self) -> list[str]:
        """What each machine is about."""
        if self.classes is None:
            return [self.task]
        about: list[tuple[int, ...]] = list(pairs(len(self.classes)))
        if self.scheme != "ovo" and len(self.classes) > 2:
            about = [(k,) for k in range(len(self.classes))]
        return [problem_name(tuple(self.classes[k] for k in one)) for one in about]

    @property
    def width(self) -> int:
        """How many dual variables a row has in a proof: one, or one a class where all are in one problem."""
        return len(self.classes) if self.scheme == "crammer-singer" and self.classes is not None else 1

    def proof_names(self) -> list[str]:
        """What each proof is about: a machine, or all of them."""
        return [TOGETHER] if self.scheme == "crammer-singer" else self.machine_names()

    def with_columns(self, Z: Any) -> Any:
        """Rows with the model's columns: a sparse row may be shorter, or have features that training never saw."""
        if Z.shape[1] == self.columns:
            return Z
        if not sp.issparse(Z) or isinstance(self.kernel, Precomputed):
            raise InvalidInput(f"the rows have {Z.shape[1]} columns; the model was trained on {self.columns}")
        if Z.shape[1] < self.columns:
            return widened(Z, self.columns)
        # A feature without a weight adds nothing; in a kernel's distances it counts.
        return Z[:, : self.columns] if self.w is not None or self.scaling is not None else Z


def check(model: Model) -> Model:
    """The model, if its parts fit together: what a reader calls before it hands one over."""

    def need(condition: bool, words: str) -> None:
        if not condition:
            raise InvalidInput(f"the model contradicts itself: {words}")

    check_kernel(model.kernel)
    need(model.b.ndim == 1 and model.machines > 0 and bool(np.isfinite(model.b).all()), "the biases")
    need(model.columns > 0, "the number of columns")
    if model.w is not None:
        need(isinstance(model.kernel, (Linear, Precomputed)) and model.coef is None, "the kernel has no w")
        need(model.w.shape == (model.machines, model.columns), "the shape of w")
        need(bool(np.isfinite(model.w).all()), "w is not finite")
    else:
        need(not isinstance(model.kernel, (Linear, Precomputed)), "the kernel needs w")
        need(model.coef is not None and model.vectors is not None, "there are no vectors")
        assert model.coef is not None
        need(model.vectors.ndim == 2 and model.vectors.shape[1] == model.columns, "the shape of the vectors")
        need(model.coef.shape == (model.machines, model.vectors.shape[0]), "the shape of the coefficients")
        values = model.vectors.data if sp.issparse(model.vectors) else model.vectors
        need(bool(np.isfinite(model.coef).all() and np.isfinite(values).all()), "a coefficient is not finite")
    if model.task == "classification":
        need(model.classes is not None and model.classes.ndim == 1 and len(model.classes) >= 2, "the classes")
        assert model.classes is not None
        k = len(model.classes)
        need(model.classes.dtype.kind != "f" or bool(np.isfinite(model.classes).all()), "a label is not finite")
        need(len(np.unique(model.classes)) == k, "two classes have the same label")
        machines = {"binary": 1, "ovr": k, "ovo": k * (k - 1) // 2, "crammer-singer": k}.get(model.scheme)
        need(machines == model.machines and (model.scheme == "binary") == (k == 2), "the number of machines")
    else:
        need(model.machines == 1 and model.classes is None and model.scheme == "binary", "the classes")
    if model.vector_classes is not None:
        codes = model.vector_classes
        need(model.vectors is not None and codes.shape == (model.vectors.shape[0],), "the classes of the vectors")
        need(bool(((codes >= 0) & (codes < len(model.classes if model.classes is not None else []))).all()), "a class")
    if model.scaling is not None:
        parts = [model.scaling.factor] + ([] if model.scaling.shift is None else [model.scaling.shift])
        need(all(part.shape == (model.columns,) and bool(np.isfinite(part).all()) for part in parts), "the scaling")
    if model.names is not None:
        need(len(model.names) == model.columns, "the number of names")
    if model.training is not None:
        need(len(model.training.proofs) == len(model.proof_names()), "the number of proofs")
    if model.temperature is not None:
        need(model.classes is not None and 0.0 < model.temperature < np.inf, "the temperature")
    if model.sigmoids is not None:
        need(model.sigmoids.shape == (model.machines, 2) and bool(np.isfinite(model.sigmoids).all()), "the sigmoids")
    return model


def check_kernel(kernel: Kernel) -> None:
    """Refuse a kernel that is not ready to predict: its parameters must be finite numbers."""
    for name in ("gamma", "degree", "coef0"):
        value = getattr(kernel, name, 1.0)
        try:
            finite = not isinstance(value, (str, bool)) and bool(np.isfinite(float(value)))
        except (TypeError, ValueError, OverflowError):
            finite = False
        if not finite:
            raise InvalidInput(f"the {name} of its kernel {kernel.name!r} is {value!r:.40}; it must be a finite number")
    if getattr(kernel, "degree", 1) > LARGEST_DEGREE:
        raise InvalidInput(f"the degree of its kernel is {kernel.degree:g}; the largest is {LARGEST_DEGREE}")  # type: ignore[attr-defined]
