"""Quadratic programming: the whole problem handed to a QP library, in its dual or its primal form.

    min_x ½ xᵀQx + pᵀx   s.t.  A x = a,  G x ≤ h,  low ≤ x ≤ high

Dual ("qp"), x = β (split into β⁺ − β⁻ where there is a tube):
    1. Q = K + diag(ridge), p = −target (+ tube), the box, and Σβ = total for a free bias.
Hard margin, x = α, the nearest points of the two convex hulls, which exists whether or not the classes are separable:
    1'. Q = yyᵀ∘K, p = 0, α ≥ 0, Σ_{+}α = Σ_{−}α = 1; the hulls meet, or β is a multiple of yα.
Primal ("qp-primal"), x = (b, w, ξ):
    1''. Q = diag(0, 1, 2C or 0), p = (0, 0, C or 0), y_i(⟨w, x_i⟩ + b) ≥ 1 − ξ_i, ξ ≥ 0; no ξ for a hard margin.

    2. x ← QP(Q, p, A, a, G, h, low, high).
    3. Crossover: put the variables that are nearly at a bound on it, and solve the KKT equations
       (K + ridge)_FF β_F + b = target_F − K_FB β_B, Σβ = total  for the rest: crisp support vectors.
    4. w = Σ β_i φ(x_i), and the best bias for it: what KKT says at any free support vector, and defined without one.

Vapnik 1982; Boser, Guyon & Vapnik, COLT 1992; Cortes & Vapnik, Machine Learning 20, 1995. Libraries: PIQP
(Schwan et al. 2023) for the dense dual, Clarabel (Goulart & Chen 2024) for the sparse primal, through qpsolvers
(Caron et al.).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInput, bytes_text, missing_extra
from maxmargin.problem import Problem
from maxmargin.result import Iterate
from maxmargin.solvers.base import Solver, refuse_indefinite, refuse_without_form, registry, reliable

#: The crossover solves a dense system in the free variables; with more of them it leaves them as they are.
MOST_FREE = 5000


@dataclass(frozen=True)
class DualQP(Solver):
    """The dual as one dense quadratic program."""

    name: ClassVar[str] = "qp"
    paper: ClassVar[str] = "Boser, Guyon & Vapnik 1992; Cortes & Vapnik 1995"

    #: Any dense solver that qpsolvers knows.
    backend: str = "piqp"

    def accepts(self, problem: Problem) -> str | None:
        refusal = refuse_without_form(problem) or refuse_indefinite(problem)
        if refusal:
            return refusal
        variables = problem.n * (2 if problem.form is not None and problem.form.tube.any() else 1)
        needed = 8.0 * variables**2
        if needed > problem.cache_bytes:
            return (
                f"the dense Q of n={problem.n} would need {bytes_text(needed)}, and the cap is"
                f" {bytes_text(problem.cache_bytes)}; use solver={reliable(problem)!r}, which needs no Q,"
                f" or raise cache_bytes"
            )
        return None

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        form = problem.form
        assert form is not None
        n = problem.n
        K = _gram(problem, np.arange(n))
        work = float(n) ** 3 / 3 * 20
        if problem.hard:  # 1'.
            used = np.flatnonzero(problem.C > 0)
            y = problem.target[used]
            sums = np.stack([y > 0, y < 0]).astype(float) if problem.bias == "free" else np.ones((1, used.size))
            Q = K[np.ix_(used, used)] * np.outer(y, y)
            alpha = _solve(  # 2.
                self.backend, Q, np.zeros(used.size), sums, np.ones(len(sums)), np.zeros(used.size), None
            )
            beta = np.zeros(n)
            beta[used] = y * np.maximum(alpha, 0.0)
            yield Iterate(1, beta=beta, work=work)
            scale = form.target @ beta / max(beta @ K @ beta, np.finfo(float).tiny)
            if not np.isfinite(scale) or scale > 1e12 * np.abs(K).max():
                return  # the hulls meet
            beta = beta * scale
        else:  # 1.
            total = None if form.total is None else np.array([form.total])
            Q, ones = K + np.diag(form.ridge), np.ones((1, n))
            if form.tube.any():
                Q = np.block([[Q, -Q], [-Q, Q]])
                p = np.r_[form.tube - form.target, form.tube + form.target]
                upper = np.r_[np.maximum(form.upper, 0.0), np.maximum(-form.lower, 0.0)]
                A = np.c_[ones, -ones] if total is not None else None
                halves = _solve(self.backend, Q, p, A, total, np.zeros(2 * n), upper)  # 2.
                beta = halves[:n] - halves[n:]
            else:
                A = ones if total is not None else None
                beta = _solve(self.backend, Q, -form.target, A, total, form.lower, form.upper)  # 2.
            yield Iterate(1, beta=beta, work=work)
        yield crossover(problem, beta, 2)  # 3. and 4.


@dataclass(frozen=True)
class PrimalQP(Solver):
    """The primal in (b, w, ξ) as one sparse quadratic program."""

    name: ClassVar[str] = "qp-primal"
    paper: ClassVar[str] = "Vapnik 1982; Cortes & Vapnik 1995"

    #: Any sparse solver that qpsolvers knows and that returns multipliers.
    backend: str = "clarabel"

    def accepts(self, problem: Problem) -> str | None:
        if not problem.linear:
            return f"w has no coordinates with the kernel {problem.kernel.name!r}; use solver={reliable(problem)!r}"
        if problem.loss.name not in ("hinge", "squared-hinge"):
            return f"loss={problem.loss.name!r} has no margins to constrain; use solver={reliable(problem)!r}"
        needed = 100.0 * problem.space.work
        if needed > problem.cache_bytes:
            return (
                f"its constraint matrix and factors would need about {bytes_text(needed)}, and the cap is"
                f" {bytes_text(problem.cache_bytes)}; use solver={reliable(problem)!r}, or raise cache_bytes"
            )
        return None

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        y, C, space = problem.target, problem.C, problem.space
        used = np.flatnonzero(C > 0)
        y, C, m = y[used], C[used], used.size
        free = problem.bias == "free"
        # 1''. columns: w, then the constant feature s or the free bias, then ξ
        columns: list[Any] = [sp.csr_array(problem.X)[used].astype(np.float64)]
        constant = 1.0 if free else space.constant
        if constant:
            columns.append(sp.csr_array(np.full((m, 1), constant)))
        d = sum(block.shape[1] for block in columns)
        curvature = np.r_[np.ones(d - 1), 0.0 if free else 1.0] if constant else np.ones(d)
        p = np.zeros(d)
        G = -sp.diags_array(y) @ sp.hstack(columns)
        low = np.full(d, -np.inf)
        if not problem.hard:
            squared = problem.loss.name == "squared-hinge"
            curvature = np.r_[curvature, 2.0 * C if squared else np.zeros(m)]
            p = np.r_[p, np.zeros(m) if squared else C]
            G = sp.hstack([G, -sp.eye_array(m)])
            low = np.r_[low, np.zeros(m)]
        x, z = _solve_with_multipliers(  # 2.
            self.backend, sp.diags_array(curvature), p, G, -np.ones(m), low
        )
        work = 50.0 * space.work * min(d, m)
        beta = np.zeros(problem.n)
        if x is None:  # no hyperplane satisfies the constraints: let the hulls show it
            yield from DualQP().iterates(problem, start, rng)
            return
        beta[used] = y * np.maximum(z, 0.0)
        w = np.zeros(space.size)
        w[: problem.X.shape[1]] = x[: problem.X.shape[1]]
        if constant and not free:
            w[-1] = x[d - 1]
        yield Iterate(1, w=w, b=x[d - 1] if free else None, beta=beta, linked=False, work=work)
        yield crossover(problem, beta, 2)  # 3. and 4.


def crossover(problem: Problem, beta: np.ndarray, k: int) -> Iterate:
    """Nearly at a bound becomes at the bound; the free ones solve the KKT equations (3. and 4.)."""
    form = problem.form
    assert form is not None
    lower, upper = form.lower, form.upper
    reach = np.where(np.isfinite(upper - lower), upper - lower, np.abs(beta).max(initial=0.0))
    crumb = 1e-6 * reach
    beta = np.clip(beta, lower, upper)
    zero_inside = (form.tube > 0) & (np.abs(beta) <= crumb)
    beta = np.where(beta <= lower + crumb, lower, np.where(beta >= upper - crumb, upper, beta))
    beta[zero_inside] = 0.0
    free = np.flatnonzero((beta > lower) & (beta < upper) & ~zero_inside)
    if not 0 < free.size <= MOST_FREE:
        return Iterate(k, beta=beta)
    at_bound = beta.copy()
    at_bound[free] = 0.0
    right = (form.target - problem.space.product(at_bound))[free] - form.tube[free] * np.sign(beta[free])
    matrix = _gram(problem, free) + np.diag(form.ridge[free])
    if form.total is not None:
        matrix = np.block([[matrix, np.ones((free.size, 1))], [np.ones((1, free.size)), np.zeros((1, 1))]])
        right = np.append(right, form.total - at_bound.sum())
    # Least squares about the present point: where K_FF is singular, it changes β_F as little as possible.
    present = np.append(beta[free], 0.0) if form.total is not None else beta[free]
    change = np.linalg.lstsq(matrix, right - matrix @ present, rcond=1e-13)[0]
    polished = beta.copy()
    polished[free] += change[: free.size]
    return Iterate(k, beta=np.clip(polished, lower, upper))


def _gram(problem: Problem, index: np.ndarray) -> np.ndarray:
    """K between some samples, the constant feature included, float64."""
    rows = problem.X[index].astype(np.float64)
    return np.array(problem.kernel.cross(rows, problem.X, index), dtype=np.float64) + problem.space.constant**2


def _qpsolvers(library: str) -> Any:
    try:
        import qpsolvers
    except ImportError:
        raise missing_extra("qpsolvers", "qp") from None
    if library not in qpsolvers.available_solvers:
        raise InvalidInput(
            f"the QP library {library!r} is not there; there are: {', '.join(qpsolvers.available_solvers)}"
        )
    return qpsolvers


def _settings(library: str) -> dict[str, Any]:
    """The tightest tolerances at which the library still ends."""
    return {
        "piqp": {"eps_abs": 1e-10, "eps_rel": 1e-11, "max_iter": 500},
        "clarabel": {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11},
    }.get(library, {})


def _solve(library, Q, p, A, a, low, high):
    """The point that the library finds (2.)."""
    qpsolvers = _qpsolvers(library)
    problem = qpsolvers.Problem(Q, p, None, None, A, a, low, high)
    solution = qpsolvers.solve_problem(problem, library, **_settings(library))
    if solution.x is None:
        raise InvalidInput(f"the QP library {library!r} found no solution; scale the data or use another solver")
    return np.asarray(solution.x)


def _solve_with_multipliers(library, Q, p, G, h, low):
    """The point and the multipliers of Gx ≤ h; (None, None) if the library finds no point."""
    qpsolvers = _qpsolvers(library)
    bounds = low if np.isfinite(low).any() else None
    problem = qpsolvers.Problem(sp.csc_matrix(Q), p, sp.csc_matrix(G), h, None, None, bounds, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no point is an answer here, not a warning
        solution = qpsolvers.solve_problem(problem, library, **_settings(library))
    if not solution.found or solution.x is None:
        return None, None
    return np.asarray(solution.x), np.asarray(solution.z)


registry.register(DualQP.name, DualQP())
registry.register(PrimalQP.name, PrimalQP())
