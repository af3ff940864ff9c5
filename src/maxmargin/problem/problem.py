"""Problem: data, loss, kernel, bias and C, in the one notation of the project.

    score     z_i = ⟨w, φ(x_i)⟩ + b
    primal    P(w,b) = ½‖w‖² + Σ_i C_i ℓ_i(z_i)                    minimise
    dual      D(β)   = −½ βᵀKβ − Σ_i C_i ℓ_i*(−β_i/C_i)             maximise
    link      w(β)   = Σ_i β_i φ(x_i)

With another regulariser r(w) than ½‖w‖² the dual has −r*(w(β)) instead of −½ βᵀKβ, and w is no longer w(β).

A problem knows both objectives and no solver. The weights w live in its `space`: a vector for the linear kernel,
the coefficients of the samples for any other. Three ways to have a bias, never mixed up: ``"none"`` (b = 0),
``"augmented"`` (one more constant feature s, so b is penalised by b²/2s²) and ``"free"`` (not penalised; Σβ = 0).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from dataclasses import fields as dataclass_fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInput
from maxmargin.kernels import Kernel
from maxmargin.kernels import kernel as kernel_by_name
from maxmargin.losses import DualForm, Loss
from maxmargin.losses import loss as loss_by_name
from maxmargin.losses.base import Task
from maxmargin.numeric.parallel import blocks
from maxmargin.numeric.rows import Matrix
from maxmargin.numeric.sparse_columns import check_width
from maxmargin.problem.bias import kinked_bias, pulls_at, smooth_bias
from maxmargin.problem.projection import balanced, project
from maxmargin.problem.space import KernelSpace, Space, linear_space
from maxmargin.problem.validation import (
    Bias,
    check_bias,
    check_cost,
    check_regularizer,
    check_rows,
    check_sample_weight,
    check_scale,
    check_task,
    check_weights,
    targets_of,
    transformed,
)
from maxmargin.regularizers import Regularizer
from maxmargin.regularizers import regularizer as regularizer_by_name
from maxmargin.regularizers.l2 import L2
from maxmargin.shown import Shown

#: What may be kept of the kernel matrix by default: 1000 MB.
CACHE_BYTES = 1e9
#: Samples looked at together: their temporaries stay small beside the data.
BLOCK = 2**16


@dataclass(frozen=True, eq=False, init=False)
class Problem(Shown):
    """One maximum-margin problem.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Samples in rows, neither copied nor converted. For ``kernel="precomputed"`` the kernel matrix. Rows that do not
        fit into memory are `RowBlocks`, for the linear kernel.
    y : array of length n, default None
        Two labels of any kind (the smaller becomes −1), or real targets for a regression loss; None for one-class.
    loss : str or Loss, default "hinge"
        See `maxmargin.list_losses()`.
    kernel : str, Kernel or callable, default "linear"
        See `maxmargin.list_kernels()`; a callable takes two matrices of rows.
    bias : "free", "augmented" or "none", default "free"
        How the hyperplane may leave the origin.
    C : float, default None
        The weight of the loss: 1.0 unless `lam` is given. ``C=inf`` is the hard margin.
    lam : float, default None
        λ = 1/C of ``Σ loss + λ/2 ‖w‖²``, instead of C.
    sample_weight : array of length n, default None
        Multiplies C per sample; a weight of 2 is the row written twice.
    class_weight : dict or "balanced", default None
        Multiplies C per label; "balanced" gives both classes the same sum.
    bias_scale : float, default 1.0
        The constant s of the augmented bias.
    transform : callable, default None
        An explicit Φ, applied to X here and to new rows in prediction; goes with the linear kernel.
    task : "classification" or "regression", default None
        Only for least squares, which can be either; by default what the loss is for.
    cache_bytes : float, default 1e9
        The cap on what is kept of the kernel matrix.
    regularizer : str or Regularizer, default "l2"
        "l2" is ½‖w‖², the maximum margin; "l1" is Σ|w_j|, for linear problems: it leaves most weights at 0.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem
    >>> problem = Problem([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0]], [-1, -1, 1], C=10.0)
    >>> problem
    Problem(n=3, d=2, Hinge(), Linear(), bias='free', C=10)
    >>> problem.dual(np.zeros(3)), problem.primal(np.zeros(3))
    (0.0, 30.0)
    """

    #: What kind of problem it is: solvers say which they take.
    family: ClassVar[str] = "ordinary"

    X: Matrix
    target: np.ndarray
    loss: Loss
    kernel: Kernel
    bias: Bias
    C: np.ndarray
    bias_scale: float
    transform: Callable | None
    task: Task
    classes: np.ndarray | None
    cache_bytes: float
    regularizer: Regularizer

    def __init__(
        self,
        X: Any,
        y: Any = None,
        loss: str | Loss = "hinge",
        kernel: str | Kernel | Callable = "linear",
        bias: Bias = "free",
        C: float | None = None,
        lam: float | None = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        bias_scale: float = 1.0,
        transform: Callable | None = None,
        task: Task | None = None,
        cache_bytes: float = CACHE_BYTES,
        regularizer: str | Regularizer = "l2",
    ) -> None:
        loss, kernel = loss_by_name(loss), kernel_by_name(kernel)
        task = check_task(loss, task)
        check_bias(bias, bias_scale, task)
        X = transformed(check_rows(X), transform, kernel)
        target, classes = targets_of(y, X.shape[0], task)
        if kernel.linear and sp.issparse(X):
            check_width(X.shape[1], 1, X.nnz)
        given = check_sample_weight(sample_weight, X.shape[0])
        kernel = kernel.fitted(X, given)
        C = check_cost(C, lam, loss)
        weights = check_weights(C, given, class_weight, (target > 0).astype(np.intp), classes)
        check_scale(kernel, X, weights)
        regularizer = regularizer_by_name(regularizer)
        check_regularizer(regularizer, kernel, task, np.isinf(C))
        vars(self).update(
            X=X,
            target=target,
            loss=loss,
            kernel=kernel,
            bias=bias,
            C=weights,
            bias_scale=float(bias_scale),
            transform=transform,
            task=task,
            classes=classes,
            cache_bytes=float(cache_bytes),
            regularizer=regularizer,
        )

    @classmethod
    def of_checked(
        cls,
        X: Matrix,
        target: np.ndarray,
        loss: Loss,
        kernel: Kernel,
        bias: Bias,
        C: np.ndarray,
        cache_bytes: float,
        bias_scale: float = 1.0,
        task: Task | None = None,
        regularizer: Regularizer | None = None,
    ) -> Problem:
        """A problem of parts that have been checked before, with targets ±1 (or real ones) and a C for each sample."""
        other = object.__new__(cls)
        task = task or loss.task
        vars(other).update(
            X=X,
            target=target,
            loss=loss,
            kernel=kernel,
            bias=bias,
            C=C,
            bias_scale=bias_scale,
            transform=None,
            task=task,
            classes=np.array([-1.0, 1.0]) if task == "classification" else None,
            cache_bytes=float(cache_bytes),
            regularizer=regularizer or L2(),
        )
        return other

    # What it is

    @property
    def n(self) -> int:
        """The number of samples."""
        return self.X.shape[0]

    @property
    def duals(self) -> int:
        """The number of dual variables."""
        return self.n

    @property
    def linear(self) -> bool:
        """Whether w is an ordinary vector."""
        return self.kernel.linear

    @property
    def hard(self) -> bool:
        """Whether this is a hard margin: C = ∞."""
        return bool(np.isinf(self.C).any())

    @cached_property
    def space(self) -> Space:
        """Where w lives."""
        constant = self.bias_scale if self.bias == "augmented" else 0.0
        if self.linear:
            return linear_space(self.X, constant)
        return KernelSpace(self.kernel, self.X, constant, self.cache_bytes)

    @cached_property
    def form(self) -> DualForm | None:
        """The dual as arrays, or None where it is not quadratic (logistic)."""
        form = self.loss.dual_form(self.target, self.C)
        return form if form is None or self.bias == "free" else replace(form, total=None)

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The box that β lives in."""
        return (self.form.lower, self.form.upper) if self.form else self.loss.bounds(self.target, self.C)

    @cached_property
    def total(self) -> float | None:
        """What Σβ must be, or None where the bias is not free."""
        return self.loss.total(self.C) if self.bias == "free" else None

    def __repr__(self) -> str:
        C = np.unique(self.C[self.C > 0])
        weight = f"C={C[0]:g}" if C.size == 1 else f"C={C[0]:g}..{C[-1]:g}"
        what = f"{self.loss}, {self.kernel if self.regularizer.quadratic else self.regularizer}"
        return f"Problem(n={self.n}, d={self.X.shape[1]}, {what}, bias={self.bias!r}, {weight})"

    def with_augmented_bias(self, scale: float) -> Problem:
        """The same problem with an augmented bias of the given scale; the data is shared, not copied."""
        return self._but(bias="augmented", bias_scale=float(scale))

    def with_cost(self, factor: float, loss: Loss | None = None) -> Problem:
        """The same data with every weight multiplied, and perhaps another loss of the same task; nothing is copied."""
        if not 0.0 < factor < np.inf:
            raise InvalidInput(f"C is multiplied by {factor}; it must be a finite number > 0")
        return self._but(C=self.C * factor, loss=loss or self.loss)

    def _but(self, **changes: Any) -> Problem:
        """The same problem but for some fields, which are not checked again."""
        other = object.__new__(type(self))
        vars(other).update({field.name: getattr(self, field.name) for field in dataclass_fields(self)}, **changes)
        return other

    # The two objectives

    def loss_sum(self, z: np.ndarray) -> float:
        """Σ C_i ℓ_i(z_i)."""
        parts = (slice(start, stop) for start, stop in blocks(self.n, BLOCK))
        return float(sum(self.C[part] @ self.loss.value(z[part], self.target[part]) for part in parts))

    def regularization(self, w: np.ndarray, scores: np.ndarray | None = None) -> float:
        """r(w); the scores of w save a product with K."""
        return 0.5 * self.space.sqnorm(w, scores) if self.regularizer.quadratic else self.regularizer.value(w)

    def primal(self, w: np.ndarray, b: float = 0.0) -> float:
        """P(w, b) for w in the problem's space; the hard margin is +∞ where a margin is below 1."""
        s = self.space.scores(w)
        own = self.regularization(w, s)
        if self.hard:
            return own if self.margin(s + b) >= 1.0 else np.inf
        return own + self.loss_sum(s + b) + (self.total or 0.0) * b

    def dual(self, beta: np.ndarray) -> float:
        """D(β); −∞ outside the box. Σβ = total is not asked for here: see `feasible`."""
        lower, upper = self.bounds
        if (beta < lower).any() or (beta > upper).any():
            return -np.inf
        v, r = self.space.combine(beta), self.regularizer
        return self.dual_terms(beta) - (0.5 * self.space.sqnorm(v) if r.quadratic else r.conjugate(v))

    def dual_terms(self, beta: np.ndarray) -> float:
        """−Σ C_i ℓ_i*(−β_i/C_i): everything in the dual but the regulariser's part."""
        if self.form is not None:
            return self.form.value(beta)
        used = self.C > 0
        C = self.C[used]
        return -float(C @ self.loss.conjugate(-beta[used] / C, self.target[used]))

    def signs(self, what: str) -> np.ndarray:
        """The labels −1 and +1, for what has no meaning without them."""
        if self.task != "classification":
            raise InvalidInput(f"{what} is about two classes; a problem with loss={self.loss.name!r} has none")
        return self.target

    def sqnorm_without_bias(self, w: np.ndarray) -> float:
        """‖w‖² in the space of φ itself, without the constant feature of an augmented bias."""
        return self.space.sqnorm_without_bias(w)

    def margin(self, z: np.ndarray) -> float:
        """The smallest y_i z_i over the rows that count."""
        return float((self.target * z)[self.C > 0].min())

    # From one side to the other

    def best_bias(self, scores: np.ndarray) -> float:
        """The exact minimiser of Σ C_i ℓ_i(s_i + b) + total·b; for the hard margin the middle between the classes."""
        if self.bias != "free":
            return 0.0
        if self.hard:
            used = self.C > 0
            positive, negative = scores[used & (self.target > 0)].min(), scores[used & (self.target < 0)].max()
            return -0.5 * float(positive + negative)
        find = smooth_bias if self.loss.smooth else kinked_bias
        return find(self.loss, self.target, self.C, self.total or 0.0, scores)

    def pulls(self, scores: np.ndarray) -> np.ndarray:
        """U = −C ℓ'(z) at the best bias; with a free bias the samples at a kink share so that Σu = total."""
        u = pulls_at(self.loss, self.target, self.C, self.total, scores + self.best_bias(scores))
        off = 0.0 if self.total is None else abs(self.total - float(u.sum()))
        smooth_enough = 0.0 if self.loss.smooth else 1e-12 * float(np.abs(u).sum())
        return self.feasible(u) if off > smooth_enough else u

    def feasible(self, beta: np.ndarray) -> np.ndarray:
        """The nearest point of the dual's feasible set."""
        return project(beta, *self.bounds, self.total)

    def is_feasible(self, beta: np.ndarray) -> bool:
        """Within the box exactly, and of the right sum up to the rounding of a sum."""
        lower, upper = self.bounds
        if (beta < lower).any() or (beta > upper).any():
            return False
        return self.total is None or abs(float(beta.sum()) - self.total) <= 1e-12 * float(np.abs(beta).sum())

    def dual_point(self, scores: np.ndarray, b: float) -> np.ndarray:
        """A feasible β from a primal point: β = −C ℓ'(z), the heavier class scaled down, then the best multiple."""
        if self.hard:  # every slope is 0 or infinite: there is nothing to read off
            return np.zeros(self.n)
        beta = -self.C * self.loss.slope(scores + b, self.target)
        if self.total:  # a multiple would miss the total
            return self.feasible(beta)
        if self.bias == "free" and self.task != "classification":
            beta = self.feasible(beta)
        elif self.bias == "free":
            beta = balanced(beta)
        return beta * self.best_multiple(beta)

    def best_multiple(self, beta: np.ndarray) -> float:
        """The maximiser of θ ↦ D(θβ) on [0, 1]."""
        v = self.space.combine(beta)
        sqnorm = self.space.sqnorm(v) if self.regularizer.quadratic else 0.0
        form, loss = self.form, self.loss
        best = form.best_multiple(beta, sqnorm) if form else loss.best_multiple(beta, self.target, self.C, sqnorm)
        return best if self.regularizer.quadratic else min(best, self.regularizer.reach(v))

    # New data

    def check_new(self, Z: Any) -> Matrix:
        """New rows, validated and transformed like X."""
        Z = check_rows(Z, "Z")
        if self.transform is not None:
            Z = check_rows(self.transform(Z), "transform(Z)")
        if Z.shape[1] != self.X.shape[1]:
            raise InvalidInput(f"Z has {Z.shape[1]} columns; the problem was made with {self.X.shape[1]}")
        return Z

    def by_class(self, values: np.ndarray) -> np.ndarray:
        """Dual variables as a user sees them: one a sample; a row of them where each class has its own."""
        return values

    def normal(self, w: np.ndarray) -> np.ndarray:
        """The normal of the hyperplane, for the linear kernel, without the weight of the constant feature."""
        return w[: self.X.shape[1]]

    def hyperplanes(self, w: np.ndarray, b: float | None) -> list[tuple[np.ndarray, float]]:
        """The w of each hyperplane, of which all but one problem has one, and its bias."""
        return [(w, self.space.bias(w) + (b or 0.0))]

    def labels(self, z: np.ndarray) -> np.ndarray:
        """What scores mean: a label, a value, or +1 (usual) and −1 (novel)."""
        if self.task == "classification" and self.classes is not None:
            return self.classes[(z > 0).astype(int)]
        return np.where(z >= 0, 1, -1) if self.task == "novelty" else z
