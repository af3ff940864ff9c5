"""Recipe: everything that decides a model besides the data; the same recipe and data give the same bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, get_args

import numpy as np

from maxmargin.data.dataset import label_text
from maxmargin.data.scaling import Kind
from maxmargin.errors import InvalidInput
from maxmargin.kernels import Kernel, Linear
from maxmargin.losses import Loss
from maxmargin.losses.base import Task
from maxmargin.losses.epsilon_insensitive import EpsilonInsensitive
from maxmargin.losses.hinge import Hinge
from maxmargin.problem import CACHE_BYTES, Bias
from maxmargin.problem.validation import check_regularizer, plain
from maxmargin.regularizers.base import registry as regularizers
from maxmargin.solvers import Solver, with_options
from maxmargin.solvers.base import registry


@dataclass(frozen=True)
class Recipe:
    """How to train."""

    loss: Loss
    kernel: Kernel
    bias: Bias = "free"
    bias_scale: float = 1.0
    C: float = 1.0
    #: "balanced", or the weight of each label by its text; labels that are not named weigh 1.
    class_weight: str | Mapping[str, float] | None = None
    #: How several classes are told apart: "ovr", "ovo" or "crammer-singer"; by default in pairs, "ovo", but for linear
    #: models that would be too large.
    multiclass: str | None = None
    scaling: Kind | None = None
    solver: str = "auto"
    #: Fields of the solver that differ from its defaults.
    solver_options: Mapping[str, Any] = field(default_factory=dict)
    tol: float = 1e-4
    max_iter: int | None = None
    seed: int = 0
    #: The share of margin errors instead of C (hinge), or of rows outside the tube instead of epsilon.
    nu: float | None = None
    #: Only for least squares, which can be either.
    task: Task | None = None
    #: What is made small besides the loss: "l2" or "l1".
    regularizer: str = "l2"
    #: The cap on what is kept of a kernel matrix.
    cache_bytes: float = CACHE_BYTES

    def __post_init__(self) -> None:
        if self.multiclass not in (None, "ovr", "ovo", "crammer-singer"):
            raise InvalidInput(f"multiclass is {self.multiclass!r}; it must be ovr, ovo or crammer-singer")
        if self.nu is not None and not 0.0 < self.nu <= 1.0:
            raise InvalidInput(f"nu is {self.nu}; it must lie in (0, 1]")
        if self.scaling is not None and self.scaling not in get_args(Kind):
            raise InvalidInput(f"there is no scaling {self.scaling!r}; there are: {', '.join(get_args(Kind))}")
        if self.bias not in get_args(Bias):
            raise InvalidInput(f"bias is {self.bias!r}; it must be one of: {', '.join(get_args(Bias))}")
        if not 0 < self.bias_scale < np.inf or (self.bias_scale != 1.0 and self.bias != "augmented"):
            raise InvalidInput(f"bias_scale is {self.bias_scale}; it must be > 0, and goes with an augmented bias only")
        if not self.tol >= 0:
            raise InvalidInput(f"tol is {self.tol}; it must be a number ≥ 0")
        if not 0.0 < self.cache_bytes < np.inf:
            raise InvalidInput(f"cache_bytes is {self.cache_bytes}; it must be a number > 0")
        if self.max_iter is not None and not self.max_iter > 0:
            raise InvalidInput(f"max_iter is {self.max_iter}; it must be > 0")
        if not self.C > 0:
            raise InvalidInput(f"C is {self.C}; it must be a number > 0 (inf for a hard margin)")
        if self.task not in (None, "classification", "regression"):
            raise InvalidInput(f"task is {self.task!r}; it must be classification or regression")
        if np.isinf(self.C) and not self.loss.hard_margin:
            raise InvalidInput(f"C=inf is the hard margin of the hinge; the loss {self.loss.name!r} needs a finite C")
        check_regularizer(regularizers[self.regularizer](), self.kernel, self.kind, bool(np.isinf(self.C)))
        if self.kind == "novelty" and self.bias != "free":
            raise InvalidInput("the one-class loss needs bias='free': its bias is the threshold")
        if self.task is not None and len(self.loss.tasks) == 1:
            raise InvalidInput("a task is chosen for least squares only; every other loss has its own")
        if self.solver_options:
            if self.solver == "auto":
                raise InvalidInput("solver options go with a solver by name; name the one that has them")
            self.chosen_solver  # noqa: B018 (made once, to be refused here)
        if isinstance(self.class_weight, str) and self.class_weight != "balanced":
            raise InvalidInput(f"class weights are {self.class_weight!r}; write balanced, or label=weight,label=weight")
        if self.nu is not None:
            self._check_nu()
        if self.multiclass == "crammer-singer":
            self._check_together()

    def _check_nu(self) -> None:
        if not isinstance(self.loss, (Hinge, EpsilonInsensitive)):
            raise InvalidInput(f"the loss {self.loss.name!r} has no nu")
        if self.regularizer != "l2":
            raise InvalidInput(f"nu is for the penalty l2, not {self.regularizer}")
        if self.bias != "free":
            raise InvalidInput("nu needs bias='free': its threshold is part of the problem")
        if self.multiclass == "crammer-singer":
            raise InvalidInput("nu is for binary problems; drop it, or choose multiclass ovr or ovo")

    def _check_together(self) -> None:
        if not isinstance(self.loss, Hinge) or not isinstance(self.kernel, Linear):
            raise InvalidInput("multiclass crammer-singer is for the hinge and the linear kernel")
        if self.regularizer != "l2":
            raise InvalidInput(f"multiclass crammer-singer is for the penalty l2, not {self.regularizer}")
        if self.bias == "free":
            raise InvalidInput("multiclass crammer-singer needs bias augmented or none")
        if np.isinf(self.C):
            raise InvalidInput("multiclass crammer-singer needs a finite C")

    def cost(self, classes: int) -> float:
        """The C of the binary problems: Crammer and Singer's with two classes is the one with C doubled."""
        return 2.0 * self.C if self.multiclass == "crammer-singer" and classes == 2 else self.C

    @property
    def chosen_solver(self) -> str | Solver:
        """The solver with its options, or its name where there are none."""
        return with_options(registry[self.solver], dict(self.solver_options)) if self.solver_options else self.solver

    @property
    def kind(self) -> Task:
        """Classification, regression or novelty detection."""
        return self.task or self.loss.task

    def facts(self) -> dict[str, Any]:
        """The recipe as plain values, for files and fingerprints."""
        plain = asdict(self)
        for part in ("loss", "kernel"):
            plain[part] = {"name": getattr(self, part).name, **plain[part]}
        return plain

    def class_weight_of(self, classes: np.ndarray) -> str | Mapping[Any, float] | None:
        """The weights of the classes by label, where they were given by text; a text that is no label is refused."""
        if self.class_weight is None or isinstance(self.class_weight, str):
            return self.class_weight
        labels = {label_text(label): label for label in map(plain, classes)}
        unknown = next((text for text in self.class_weight if text not in labels), None)
        if unknown is not None:
            texts = ", ".join(list(labels)[:8])
            raise InvalidInput(f"class weights name {unknown!r}, which is not among the labels: {texts}")
        return {labels[text]: weight for text, weight in self.class_weight.items()}
