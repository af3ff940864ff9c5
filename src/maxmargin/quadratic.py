"""The SVM as a quadratic program, in matrices to look at and to hand to any QP library.

    min_x ½ xᵀQx + pᵀx   s.t.  A x ≥ c  [, E x = e]

The form and the letters are those of source 004: the primal in x = (b, w) or, with slacks, (b, w, ξ), and the dual in
x = α with Σ y_i α_i = 0 as two inequalities or as one equality. Hinge only; a hard margin has no ξ and no α ≤ C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInput, bytes_text, missing_extra
from maxmargin.problem import Problem

Equality = Literal["two inequalities", "one equality"]


@dataclass(frozen=True, eq=False)
class QuadraticProgram:
    """min ½xᵀQx + pᵀx subject to Ax ≥ c and Ex = e; prints its matrices. See `primal_qp` and `dual_qp`.

    Parameters
    ----------
    Q, p : array
        The objective.
    A, c : array
        The inequalities.
    E, e : array or None
        The equalities; None where there are none.
    names : tuple of str
        What each variable is called.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem, dual_qp
    >>> program = dual_qp(Problem([[0.0], [2.0]], [-1, 1], C=float("inf")))
    >>> program.names, program.value(np.array([0.5, 0.5])), program.violation(np.array([0.5, 0.5]))
    (('α1', 'α2'), -0.5, 0.0)
    """

    Q: np.ndarray
    p: np.ndarray
    A: np.ndarray
    c: np.ndarray
    E: np.ndarray | None
    e: np.ndarray | None
    names: tuple[str, ...]

    def value(self, x: np.ndarray) -> float:
        """½ xᵀQx + pᵀx."""
        return float(0.5 * x @ self.Q @ x + self.p @ x)

    def violation(self, x: np.ndarray) -> float:
        """How far x is from keeping its constraints; 0 if it keeps them all."""
        short = float(np.maximum(self.c - self.A @ x, 0.0).max(initial=0.0))
        return short if self.E is None else max(short, float(np.abs(self.E @ x - self.e).max(initial=0.0)))

    def solve(self, library: str = "clarabel") -> np.ndarray:
        """The minimiser, by a QP library that qpsolvers knows.

        Parameters
        ----------
        library : str, default "clarabel"
            One of `qpsolvers.available_solvers`; ``pip install 'maxmargin[qp]'`` brings Clarabel and PIQP.
        """
        try:
            import qpsolvers
        except ImportError:
            raise missing_extra("qpsolvers", "qp") from None
        Q, A = sp.csc_matrix(self.Q), sp.csc_matrix(-self.A)
        E = None if self.E is None else sp.csc_matrix(self.E)
        x = qpsolvers.solve_qp(Q, self.p, A, -self.c, E, self.e, solver=library)
        if x is None:
            raise InvalidInput(f"{library} found no point that keeps all constraints; the classes may not be separable")
        return np.asarray(x)

    def __str__(self) -> str:
        d, m = len(self.p), len(self.c)
        equalities = "" if self.e is None else f", {len(self.e)} equality" + ("" if len(self.e) == 1 else "s")
        head = f"{d} variables ({_few(self.names)}), {m} inequalities Ax ≥ c{equalities}"
        with np.printoptions(precision=4, suppress=True, threshold=60, edgeitems=3, linewidth=110):
            parts = [f"{name} = {_indented(name, value)}" for name, value in self._shown()]
        return "\n".join([head, *parts])

    def _shown(self) -> list[tuple[str, np.ndarray]]:
        shown = [("Q", self.Q), ("p", self.p), ("A", self.A), ("c", self.c)]
        return shown if self.E is None or self.e is None else [*shown, ("E", self.E), ("e", self.e)]


def primal_qp(problem: Problem) -> QuadraticProgram:
    """The primal as a quadratic program in (b, w), with slacks ξ where C is finite.

    Parameters
    ----------
    problem : Problem
        Hinge loss, linear kernel (or a transform), bias "free" or "none".

    Returns
    -------
    QuadraticProgram
        Q has 0 for b and 1 for each weight; p is 0, or C_i for ξ_i; row i of A is y_i (1, x_i) and c_i = 1.

    Examples
    --------
    >>> from maxmargin import Problem, primal_qp
    >>> problem = Problem([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0]], [-1, -1, 1], C=float("inf"))
    >>> print(primal_qp(problem).A)
    [[-1. -0. -0.]
     [-1. -2. -2.]
     [ 1.  2.  0.]]
    """
    y, used = _checked(problem, linear=True)
    rows = problem.X[used]
    Z = (rows.toarray() if sp.issparse(rows) else rows).astype(np.float64)
    d, m = Z.shape[1], len(used)
    columns, curvature, names = [Z], [np.ones(d)], [f"w{j + 1}" for j in range(d)]
    if problem.bias == "free":
        columns, curvature, names = [np.ones((m, 1)), Z], [np.zeros(1), np.ones(d)], ["b", *names]
    A = y[:, None] * np.hstack(columns)
    p, c = np.zeros(A.shape[1]), np.ones(m)
    if not problem.hard:
        _check_size(A.shape[1] + m, problem)
        A = np.block([[A, np.eye(m)], [np.zeros((m, A.shape[1])), np.eye(m)]])
        curvature, p, c = [*curvature, np.zeros(m)], np.r_[p, problem.C[used]], np.r_[c, np.zeros(m)]
        names += [f"ξ{i + 1}" for i in used]
    return QuadraticProgram(np.diag(np.concatenate(curvature)), p, A, c, None, None, tuple(names))


def dual_qp(problem: Problem, equality: Equality = "two inequalities") -> QuadraticProgram:
    """The dual as a quadratic program in α.

    Parameters
    ----------
    problem : Problem
        Hinge loss, any kernel, bias "free" or "none".
    equality : "two inequalities" or "one equality", default "two inequalities"
        How Σ y_i α_i = 0, which a free bias asks for, is written.

    Returns
    -------
    QuadraticProgram
        Q_ij = y_i y_j K_ij, p = −1, and the constraints ±yᵀα ≥ 0 (or yᵀα = 0), α ≥ 0 and, for a finite C, −α ≥ −C.

    Examples
    --------
    >>> from maxmargin import Problem, dual_qp
    >>> problem = Problem([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0]], [-1, -1, 1], C=float("inf"))
    >>> print(dual_qp(problem, equality="one equality").Q)
    [[ 0.  0. -0.]
     [ 0.  8. -4.]
     [-0. -4.  4.]]
    """
    if equality not in get_args(Equality):
        raise InvalidInput(f"equality is {equality!r}; it must be one of: {', '.join(map(repr, get_args(Equality)))}")
    y, used = _checked(problem, linear=False)
    m = len(used)
    _check_size(m, problem)
    K = np.array(problem.kernel.cross(problem.X[used].astype(np.float64), problem.X, used), dtype=np.float64)
    A, c, E, e = [np.eye(m)], [np.zeros(m)], None, None
    if problem.bias == "free" and equality == "two inequalities":
        A, c = [np.stack([y, -y]), *A], [np.zeros(2), *c]
    elif problem.bias == "free":
        E, e = y[None].copy(), np.zeros(1)
    if not problem.hard:
        A, c = [*A, -np.eye(m)], [*c, -problem.C[used]]
    names = tuple(f"α{i + 1}" for i in used)
    return QuadraticProgram(np.outer(y, y) * K, -np.ones(m), np.vstack(A), np.concatenate(c), E, e, names)


def _checked(problem: Problem, linear: bool) -> tuple[np.ndarray, np.ndarray]:
    """The labels and the indices of the samples that count; a refusal of what is not in the source's form."""
    problem.signs("a quadratic program in this form")
    if not problem.regularizer.quadratic:
        raise InvalidInput(f"these programs are for regularizer='l2', not {problem.regularizer.name!r}")
    if not problem.loss.margin or problem.loss.smooth:
        raise InvalidInput(f"these quadratic programs are for the hinge; loss={problem.loss.name!r} has another dual")
    if problem.bias == "augmented":
        raise InvalidInput("these quadratic programs have bias='free' or 'none'; append a constant feature instead")
    if linear and not problem.linear:
        raise InvalidInput(f"w has no coordinates with the kernel {problem.kernel.name!r}; use dual_qp")
    used = np.flatnonzero(problem.C > 0)
    return problem.target[used], used


def _check_size(variables: int, problem: Problem) -> None:
    needed = 8.0 * variables**2
    if needed > problem.cache_bytes:
        raise InvalidInput(
            f"a dense Q of {variables:,} variables needs {bytes_text(needed)}, and the cap is"
            f" {bytes_text(problem.cache_bytes)}; solve(problem) needs no Q, or raise cache_bytes"
        )


def _few(names: tuple[str, ...]) -> str:
    return ", ".join(names) if len(names) <= 6 else f"{', '.join(names[:3])}, ..., {names[-1]}"


def _indented(name: str, value: Any) -> str:
    return str(value).replace("\n", "\n" + " " * (len(name) + 3))
