"""CrammerSingerProblem: one hyperplane for each of several classes, all in one linear problem.

With scores f_im = ⟨w_m, x_i⟩, and e_im = 1 for m ≠ y_i and 0 for m = y_i,

    primal   P(W) = ½ Σ_m ‖w_m‖² + Σ_i C_i max_m (f_im + e_im − f_iy)                                   minimise
    dual     D(α) = −½ Σ_m ‖w_m(α)‖² − Σ_i Σ_m e_im α_im     s.t. Σ_m α_im = 0, α_im ≤ C_i [m = y_i]    maximise
    link     w_m(α) = Σ_i α_im x_i

Each sample has a dual variable for each class: β is α, row after row, and w is W, row after row. The biases are the
weights of one more constant feature (an augmented bias): free ones would tie all samples together.

Crammer & Singer, "On the algorithmic implementation of multiclass kernel-based vector machines", JMLR 2, 2001.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.kernels import Linear
from maxmargin.losses.hinge import Hinge
from maxmargin.numeric.row_blocks import RowBlocks
from maxmargin.numeric.rows import Matrix
from maxmargin.problem.problem import CACHE_BYTES, Problem
from maxmargin.problem.space import LinearSpace
from maxmargin.problem.validation import (
    Bias,
    check_bias,
    check_classes,
    check_cost,
    check_rows,
    check_sample_weight,
    check_scale,
    check_weights,
)
from maxmargin.regularizers.l2 import L2


class ClassesSpace:
    """Where W lives: the hyperplanes of all classes behind each other, the weight of the constant feature last."""

    in_memory = True

    def __init__(self, X: Matrix, constant: float, classes: int) -> None:
        self.X, self.constant, self.classes = X, constant, classes
        #: The space of one hyperplane.
        self.one = LinearSpace(X, constant)
        self.n, self.size, self.largest = self.one.n, classes * self.one.size, self.one.largest
        self.work = classes * self.one.work

    def planes(self, w: np.ndarray) -> np.ndarray:
        """One hyperplane a row."""
        return w.reshape(self.classes, -1)

    def combine(self, u: np.ndarray) -> np.ndarray:
        alpha = u.reshape(-1, self.classes)
        normals = np.asarray(self.X.T @ alpha).T
        return np.column_stack([normals, self.constant * alpha.sum(axis=0)]).ravel()

    def scores(self, w: np.ndarray) -> np.ndarray:
        return self.decision(self.X, w).ravel()

    def sqnorm(self, w: np.ndarray, scores: np.ndarray | None = None) -> float:
        return float(w @ w)

    def diag(self) -> np.ndarray:
        """‖x_i‖²."""
        return self.one.diag()

    def bias(self, w: np.ndarray) -> np.ndarray:
        """The bias of each class."""
        biases: np.ndarray = self.constant * self.planes(w)[:, -1]
        return biases

    def decision(self, Z: Matrix, w: np.ndarray) -> np.ndarray:
        """The scores of new rows, one column a class."""
        return np.asarray(Z @ self.planes(w)[:, :-1].T) + self.bias(w)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class CrammerSingerProblem(Problem):
    """All classes in one problem: a hyperplane for each, the hinge, and the linear kernel.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Samples in rows.
    y : array of length n
        Three or more labels of any kind.
    C : float, default None
        The weight of the loss: 1.0 unless `lam` is given.
    lam : float, default None
        λ = 1/C, instead of C.
    bias : "augmented" or "none", default "augmented"
        A bias for each class as the weight of a constant feature, or none.
    sample_weight : array of length n, default None
        Multiplies C per sample; a weight of 2 is the row written twice.
    class_weight : dict or "balanced", default None
        Multiplies C per label.
    bias_scale : float, default 1.0
        The constant of the augmented bias.
    cache_bytes : float, default 1e9
        As for `Problem`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import CrammerSingerProblem, solve
    >>> result = solve(CrammerSingerProblem([[0.0], [1.0], [4.0], [5.0], [9.0]], [0, 0, 1, 1, 2]), tol=1e-6)
    >>> result.converged, result.w.shape, result.predict([[0.5], [8.0]]).tolist()
    (True, (3, 1), [0, 2])
    """

    family: ClassVar[str] = "crammer-singer"

    def __init__(
        self,
        X: Any,
        y: Any,
        C: float | None = None,
        lam: float | None = None,
        bias: Bias = "augmented",
        sample_weight: Any = None,
        class_weight: Any = None,
        bias_scale: float = 1.0,
        cache_bytes: float = CACHE_BYTES,
    ) -> None:
        check_bias(bias, bias_scale, "classification")
        if bias == "free":
            raise InvalidInput("Crammer–Singer has no free bias, which would tie all samples together; use 'augmented'")
        X = check_rows(X)
        if isinstance(X, RowBlocks):
            raise InvalidInput("Crammer–Singer needs all rows in memory; one against the rest takes them in blocks")
        codes, classes = check_classes(y, X.shape[0])
        cost = check_cost(C, lam, Hinge())
        if len(classes) == 2:
            raise InvalidInput(
                f"Crammer–Singer is for three or more classes; two are Problem(X, y, C={2 * cost:g}, bias={bias!r})"
            )
        if np.isinf(cost):
            raise InvalidInput("Crammer–Singer needs a finite C")
        given = check_sample_weight(sample_weight, X.shape[0])
        weights = check_weights(cost, given, class_weight, codes, classes)
        check_scale(Linear(), X, weights)
        vars(self).update(vars(self.of_codes(X, codes, weights, classes, bias, float(bias_scale), float(cache_bytes))))

    @classmethod
    def of_codes(
        cls,
        X: Matrix,
        codes: np.ndarray,
        C: np.ndarray,
        classes: np.ndarray,
        bias: Bias = "augmented",
        bias_scale: float = 1.0,
        cache_bytes: float = CACHE_BYTES,
    ) -> CrammerSingerProblem:
        """A problem of parts that have been checked before: the class of each row as a number, and its C."""
        other = object.__new__(cls)
        vars(other).update(
            X=X,
            target=np.asarray(codes, dtype=np.intp),
            loss=Hinge(),
            kernel=Linear(),
            bias=bias,
            C=C,
            bias_scale=bias_scale,
            transform=None,
            task="classification",
            classes=classes,
            cache_bytes=cache_bytes,
            regularizer=L2(),
        )
        return other

    # What it is

    @property
    def k(self) -> int:
        """The number of classes."""
        assert self.classes is not None
        return len(self.classes)

    @property
    def duals(self) -> int:
        """The number of dual variables."""
        return self.n * self.k

    @cached_property
    def space(self) -> Any:
        """Where W lives."""
        return ClassesSpace(self.X, self.bias_scale if self.bias == "augmented" else 0.0, self.k)

    @cached_property
    def form(self) -> None:
        """None: its dual is no box-constrained one."""
        return None

    @cached_property
    def mine(self) -> tuple[np.ndarray, np.ndarray]:
        """The place of each sample's own class in a table of samples and classes."""
        return np.arange(self.n), self.target

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The box of α; its sums over the classes are 0 besides."""
        lower, upper = np.repeat(-self.C[:, None], self.k, axis=1), np.zeros((self.n, self.k))
        lower[self.mine] = 0.0
        upper[self.mine] = self.C
        return lower.ravel(), upper.ravel()

    @cached_property
    def total(self) -> None:
        """None: no sum over the samples is prescribed."""
        return None

    def __repr__(self) -> str:
        return f"CrammerSinger{super().__repr__()[:-1]}, classes={self.k})"

    # Both sides

    def by_class(self, values: np.ndarray) -> np.ndarray:
        """One row a sample, one column a class."""
        return values.reshape(-1, self.k)

    def wrong(self, z: np.ndarray) -> np.ndarray:
        """F + e − f_y: by how much each class is too near to the own one; 0 for that."""
        table = self.by_class(z) + 1.0
        table[self.mine] -= 1.0
        table -= table[self.mine][:, None]
        return table

    def loss_sum(self, z: np.ndarray) -> float:
        return float(self.C @ self.wrong(z).max(axis=1))

    def dual_terms(self, beta: np.ndarray) -> float:
        alpha = self.by_class(beta)
        return float(alpha[self.mine].sum()) - float(alpha.sum())

    # The feasible set

    def row_sums(self, beta: np.ndarray) -> np.ndarray:
        """Σ_m α_im of each sample, which must be 0."""
        return self.by_class(beta).sum(axis=1)

    def feasible(self, beta: np.ndarray) -> np.ndarray:
        """A feasible point near α: the other classes' variables decide, and the own one makes up for them."""
        others = np.minimum(self.by_class(beta), 0.0)
        others[self.mine] = 0.0
        sums = -others.sum(axis=1)
        over = sums > self.C
        others[over] *= (self.C[over] / sums[over])[:, None]
        others[self.mine] = np.minimum(-others.sum(axis=1), self.C)
        return others.ravel()

    def is_feasible(self, beta: np.ndarray) -> bool:
        """Within the box exactly, and of the right sums up to their rounding."""
        lower, upper = self.bounds
        if (beta < lower).any() or (beta > upper).any():
            return False
        return bool((np.abs(self.row_sums(beta)) <= 1e-12 * np.abs(self.by_class(beta)).sum(axis=1)).all())

    def dual_point(self, scores: np.ndarray, b: float) -> np.ndarray:
        """A feasible α from the scores of W: all of C on the class that is nearest, and the best multiple of that."""
        table = self.wrong(scores)
        alpha = np.zeros_like(table)
        alpha[np.arange(self.n), table.argmax(axis=1)] = -self.C
        alpha[self.mine] += self.C
        return alpha.ravel() * self.best_multiple(alpha.ravel())

    def best_multiple(self, beta: np.ndarray) -> float:
        """The maximiser of θ ↦ D(θα) on [0, 1]."""
        sqnorm = self.space.sqnorm(self.space.combine(beta))
        return min(1.0, max(0.0, self.dual_terms(beta)) / sqnorm) if sqnorm > 0.0 else 1.0

    # Answers

    def normal(self, w: np.ndarray) -> np.ndarray:
        """The normals of the classes, one row each."""
        return self.space.planes(w)[:, :-1]

    def hyperplanes(self, w: np.ndarray, b: float | None) -> list[tuple[np.ndarray, float]]:
        return list(zip(self.space.planes(w), self.space.bias(w).tolist(), strict=True))

    def labels(self, z: np.ndarray) -> np.ndarray:
        assert self.classes is not None
        return self.classes[np.argmax(z, axis=1)]

    def signs(self, what: str) -> np.ndarray:
        raise InvalidInput(f"{what} is about two classes; this problem is about {self.k} together")

    def sqnorm_without_bias(self, w: np.ndarray) -> float:
        raise InvalidInput(f"a margin is between two classes; this problem is about {self.k} together")
