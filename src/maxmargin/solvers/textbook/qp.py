"""Quadratic programming: the whole problem handed to a QP library, in its dual or its primal form.

    min_x ½ xᵀQx + pᵀx   s.t.  A x = a,  G x ≤ h,  low ≤ x ≤ high

Dual ("qp"), x = β (split into β⁺ − β⁻ where there is a tube):
    1. Q = K + diag(ridge), p = −target (+ tube), the box, and Σβ = total for a free bias.
Hard margin, x = α, the nearest points of the two convex hulls, which exists whether or not the classes are separable:
    1'. Q = yyᵀ∘K, p = 0, α ≥ 0, Σ_{+}α = Σ_{−}α = 1; the hulls meet, or β is a multiple of yα. Or, with
        hard="multipliers", source 004's own dual: Q = yyᵀ∘K, p = −1, yᵀα = 0, α ≥ 0, which has no solution where the
        classes are not separable.
Primal ("qp-primal"), x = (b, w, ξ):
    1''. Q = diag(0, 1, 2C or 0), p = (0, 0, C or 0), y_i(⟨w, x_i⟩ + b) ≥ 1 − ξ_i, ξ ≥ 0; no ξ for a hard margin.

    2. x ← QP(Q, p, A, a, G, h, low, high).
    3. Crossover: put the variables that are nearly at a bound on it, and solve the KKT equations
       (K + ridge)_FF β_F + b = target_F − K_FB β_B, Σβ = total  for the rest.
    4. w = Σ β_i φ(x_i), and the best bias for it: what KKT says at any free support vector, and defined without one.

Vapnik 1982; Boser, Guyon & Vapnik, COLT 1992; Cortes & Vapnik, Machine Learning 20, 1995. Libraries: PIQP
(Schwan et al. 2023) for the dense dual, Clarabel (Goulart & Chen 2024) for the sparse primal, through qpsolvers
(Caron et al.).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInput, bytes_text, missing_extra
from maxmargin.problem import Problem
from maxmargin.result import Iterate
from maxmargin.solvers import clock
from maxmargin.solvers.base import Solver, refuse_indefinite, refuse_without_form, registry, reliable
from maxmargin.solvers.qp_process import QPProcess
from maxmargin.solvers.translation import about_the_mean

#: The crossover solves a dense system in the free variables; with more of them it leaves them as they are.
MOST_FREE = 5000
#: How often the crossover may change its mind about what is free, and the slope at a bound that makes it do so.
ROUNDS, INWARDS = 20, 1e-9
#: A library is called in a process that can be ended where its work, in seconds at `SPEED`, is more than the first and
#: time is limited, or more than the second, so that Ctrl-C is heard within some seconds.
SHORT, LONG = 0.05, 200.0
#: Bytes of a program that reach that process in a second, at most.
SENT = 1e9
#: Seconds for each number of the data until the constraints of the primal are a sparse matrix.
BUILT = 1.5e-7
#: Multiply-adds a second that a library, or a least squares solution, makes at least.
SPEED = 1e9


@dataclass(frozen=True)
class DualQP(Solver):
    """The dual as one dense quadratic program.

    Parameters
    ----------
    backend : str, default "piqp"
        Any dense solver that qpsolvers knows.
    hard : "hulls" or "multipliers", default "hulls"
        How a hard margin is put to it: as the nearest points of the convex hulls, which always exist, or as source
        004's dual in the multipliers α.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import DualQP
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1])
    >>> result = solve(problem, DualQP(backend="piqp"), tol=1e-6)
    >>> result.certificate.relative_gap < 1e-6, result.w.round(3)
    (True, array([1.]))
    """

    name: ClassVar[str] = "qp"
    paper: ClassVar[str] = "Boser, Guyon & Vapnik 1992; Cortes & Vapnik 1995"

    backend: str = "piqp"
    hard: Literal["hulls", "multipliers"] = "hulls"

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

    @about_the_mean
    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        form = problem.form
        assert form is not None
        n = problem.n
        K = _gram(problem, np.arange(n))
        work = float(n) ** 3 / 3 * 20
        if problem.hard and self.hard == "multipliers":
            total = None if form.total is None else np.array([0.0])
            A = np.ones((1, n)) if total is not None else None
            beta = _solve(self.backend, K, -form.target, A, total, form.lower, form.upper)  # 2.
        elif problem.hard:  # 1'.
            used = np.flatnonzero(problem.C > 0)
            y = problem.target[used]
            sums = np.stack([y > 0, y < 0]).astype(float) if problem.bias == "free" else np.ones((1, used.size))
            Q = K[np.ix_(used, used)] * np.outer(y, y)
            alpha = _solve(  # 2.
                self.backend, Q, np.zeros(used.size), sums, np.ones(len(sums)), np.zeros(used.size), None
            )
            beta = np.zeros(n)
            beta[used] = y * np.maximum(alpha, 0.0)
            scale = form.target @ beta / max(beta @ K @ beta, np.finfo(float).tiny)
            if not np.isfinite(scale) or scale > 1e12 * np.abs(K).max():
                yield Iterate(1, beta=beta, work=work)
                return  # the hulls meet
            beta = beta * scale
        else:  # 1.
            total = None if form.total is None else np.array([form.total])
            Q, ones = K, np.ones((1, n))
            Q.flat[:: n + 1] += form.ridge
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
        # The library's own answer is close to every bound and at none: it is cleaned before it is judged, and looked
        # at as it is only if that should have gone wrong.
        yield replace(crossover(problem, beta, 1), work=work)  # 3. and 4.
        yield Iterate(2, beta=beta)


@dataclass(frozen=True)
class PrimalQP(Solver):
    """The primal in (b, w, ξ) as one sparse quadratic program.

    Parameters
    ----------
    backend : str, default "clarabel"
        Any sparse solver that qpsolvers knows and that returns multipliers.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import PrimalQP
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1])
    >>> result = solve(problem, PrimalQP(backend="clarabel"), tol=1e-6)
    >>> result.certificate.relative_gap < 1e-6, result.w.round(3)
    (True, array([1.]))
    """

    name: ClassVar[str] = "qp-primal"
    paper: ClassVar[str] = "Vapnik 1982; Cortes & Vapnik 1995"

    backend: str = "clarabel"

    def accepts(self, problem: Problem) -> str | None:
        if not problem.linear:
            return f"w has no coordinates with the kernel {problem.kernel.name!r}; use solver={reliable(problem)!r}"
        if not problem.loss.margin:
            return f"loss={problem.loss.name!r} has no margins to constrain; use solver={reliable(problem)!r}"
        needed = 100.0 * problem.space.work
        if needed > problem.cache_bytes:
            return (
                f"its constraint matrix and factors would need about {bytes_text(needed)}, and the cap is"
                f" {bytes_text(problem.cache_bytes)}; use solver={reliable(problem)!r}, or raise cache_bytes"
            )
        return None

    @about_the_mean
    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        y, C, space = problem.target, problem.C, problem.space
        used = np.flatnonzero(C > 0)
        y, C, m = y[used], C[used], used.size
        free = problem.bias == "free"
        left = clock.left()
        if left is not None and BUILT * space.work > left:  # not even the constraints would be ready
            raise clock.TimeUp
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
            squared = problem.loss.smooth
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
        yield replace(crossover(problem, beta, 1), work=work)  # 3. and 4.
        yield Iterate(2, w=w, b=x[d - 1] if free else None, beta=beta, linked=False)


def crossover(problem: Problem, beta: np.ndarray, k: int, estimate: float | None = None) -> Iterate:
    """What is nearly at a bound goes there, and the free ones solve the KKT equations (3. and 4.).

    A guess that was wrong shows: a free variable that leaves its interval goes to its end, one at a bound whose slope
    points inwards becomes free, and the equations are solved again.
    """
    form = problem.form
    assert form is not None
    lower, upper, tube = form.lower, form.upper, form.tube
    reach = np.where(np.isfinite(upper - lower), upper - lower, np.abs(beta).max(initial=0.0))
    near = 1e-6 * reach
    beta = np.clip(beta, lower, upper)
    beta = np.where(beta <= lower + near, lower, np.where(beta >= upper - near, upper, beta))
    beta[(tube > 0) & (np.abs(beta) <= near)] = 0.0  # 0 is a kink where there is a tube
    side = np.sign(beta)
    free = (beta > lower) & (beta < upper) & ((tube == 0) | (beta != 0.0))
    for _ in range(ROUNDS):
        size, left = int(np.count_nonzero(free)), clock.left()
        if not 0 < size <= MOST_FREE or (left is not None and size**3 > 0.5 * SPEED * left):
            break
        solved, b = _kkt_equations(problem, beta, np.flatnonzero(free), side)
        low, high = np.where((tube > 0) & (side > 0), 0.0, lower), np.where((tube > 0) & (side < 0), 0.0, upper)
        beta = np.clip(solved, low, high)
        gone = free & ((solved <= low) | (solved >= high))
        if gone.any():
            free &= ~gone
            continue
        g = form.target - problem.space.product(beta) - form.ridge * beta - b
        rises = ~free & (beta < upper) & (g - np.where(beta >= 0, tube, -tube) > INWARDS)
        falls = ~free & (beta > lower) & (g - np.where(beta > 0, tube, -tube) < -INWARDS)
        if not (rises | falls).any():
            break
        side = np.where(rises & (beta == 0.0), 1.0, np.where(falls & (beta == 0.0), -1.0, side))
        free |= rises | falls
    return Iterate(k, beta=beta, estimate=estimate)


def _kkt_equations(problem: Problem, beta: np.ndarray, free: np.ndarray, side: np.ndarray) -> tuple[np.ndarray, float]:
    """β with its free part from (K + ridge)_FF β_F + b = target_F − tube_F side_F − K_FB β_B, Σβ = total; and b."""
    form = problem.form
    assert form is not None
    at_bound = beta.copy()
    at_bound[free] = 0.0
    right = (form.target - problem.space.product(at_bound))[free] - form.tube[free] * side[free]
    matrix = _gram(problem, free)
    matrix.flat[:: free.size + 1] += form.ridge[free]
    present = beta[free]
    if form.total is not None:
        matrix = np.block([[matrix, np.ones((free.size, 1))], [np.ones((1, free.size)), np.zeros((1, 1))]])
        right = np.append(right, form.total - at_bound.sum())
        present = np.append(present, 0.0)
    # Least squares about the present point: where K_FF is singular, it changes β_F as little as possible.
    present = present + np.linalg.lstsq(matrix, right - matrix @ present, rcond=1e-13)[0]
    solved = beta.copy()
    solved[free] = present[: free.size]
    return solved, float(present[-1]) if form.total is not None else 0.0


def _gram(problem: Problem, index: np.ndarray) -> np.ndarray:
    """K between some samples, the constant feature included, float64."""
    size = len(index)
    if clock.left() is not None:
        size = max(8, int(clock.piece() / (max(1, len(index)) * (problem.X.shape[1] + 20.0))))
    K = np.empty((len(index), len(index)))
    for start in range(0, len(index), max(1, size)):
        clock.check()
        part = slice(start, min(start + size, len(index)))
        K[part] = problem.kernel.cross(problem.X[index[part]].astype(np.float64), problem.X, index)
    K += problem.space.constant**2
    return K


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
    _, x, _ = _called(library, (Q, p, None, None, A, a, low, high), 10.0 * float(len(p)) ** 3)
    if x is None:
        raise InvalidInput(f"the QP library {library!r} found no solution; scale the data or use another solver")
    return np.asarray(x)


def _solve_with_multipliers(library, Q, p, G, h, low):
    """The point and the multipliers of Gx ≤ h; (None, None) if the library finds no point."""
    bounds = low if np.isfinite(low).any() else None
    arguments = (sp.csc_matrix(Q), p, sp.csc_matrix(G), h, None, None, bounds, None)
    found, x, z = _called(library, arguments, 2.0 * float(G.nnz) ** 2 / max(1, G.shape[0]) * 50.0)
    if not found or x is None:
        return None, None
    return np.asarray(x), np.asarray(z)


def _called(library: str, arguments: tuple[Any, ...], work: float) -> tuple[bool, Any, Any]:
    """Whether the library found a point, the point and its multipliers; in another process where that takes long."""
    qpsolvers, left = _qpsolvers(library), clock.left()
    if work > (LONG if left is None else SHORT) * SPEED and sys.executable:
        if left is not None and sum(getattr(one, "nbytes", 0) for one in arguments) > SENT * left:
            raise clock.TimeUp
        with QPProcess() as process:
            return process.solve(arguments, library, _settings(library))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no point is an answer here, not a warning
        solution = qpsolvers.solve_problem(qpsolvers.Problem(*arguments), library, **_settings(library))
    return bool(solution.found), solution.x, solution.z


registry.register(DualQP.name, DualQP())
registry.register(PrimalQP.name, PrimalQP())
