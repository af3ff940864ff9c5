"""Small problems in one compiled call each: what takes a fraction of a millisecond has no time for the general loop.

Kernel problems, and linear ones with more features than rows, by pair steps (`kernel.py`, `nu.py`), other linear ones
by Newton's method (`linear.py`, squared losses) or by an interior point (`interior.py`, losses of straight pieces).
"""

from __future__ import annotations

from maxmargin.problem import NuProblem, Problem
from maxmargin.result import Result
from maxmargin.small.kernel import solve_small_kernel
from maxmargin.small.linear import solve_small_linear
from maxmargin.small.nu import solve_small_nu

__all__ = ["solve_small"]


def solve_small(problem: Problem, tol: float, max_time: float | None) -> Result | object:
    """The result; a point to go on from where it did not get there; None where the problem is not small."""
    if not problem.regularizer.quadratic:
        return None
    if problem.family == "crammer-singer":
        return None
    if isinstance(problem, NuProblem):
        return solve_small_nu(problem, tol, max_time)
    found = solve_small_linear(problem, tol, max_time) if problem.linear else None
    return solve_small_kernel(problem, tol, max_time) if found is None else found
