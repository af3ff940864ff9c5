"""Where a run begins: another fit, a dual point or a hyperplane, as far as the solver can start from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInput, Refused
from maxmargin.problem import Problem
from maxmargin.result import Iterate, Result
from maxmargin.solvers import Solver
from maxmargin.solvers.base import registry as solvers


def start_of(problem: Problem, solver: Solver, given: Any) -> Iterate:
    """Where to begin, as an iterate that holds what the solver can start from; a refusal where it holds nothing."""
    if given is None:
        return Iterate()
    whole = _whole(problem, given)
    w = whole.w if "w" in solver.starts else None
    beta = whole.beta if "beta" in solver.starts else None
    if w is None and beta is None:
        raise Refused(_refusal(solver, "a hyperplane (w, b)" if whole.beta is None else "a dual point"))
    return replace(whole, w=w, beta=beta, linked=whole.linked and beta is not None)


def _refusal(solver: Solver, given: str) -> str:
    if not solver.starts:
        return f"{solver.name} has a start of its own and takes none; drop start, or use another solver"
    others = ", ".join(name for name in solvers if "w" in solvers[name].starts)
    return f"{solver.name} starts from a dual point, which {given} is not; solvers that start from it: {others}"


def _whole(problem: Problem, given: Any) -> Iterate:
    """A start as an iterate: a Result, a point of one, a dual point, or a hyperplane (w, b)."""
    if isinstance(given, Result):
        given = given.point
    if isinstance(given, Iterate):
        if given.beta is None or given.beta.shape != (problem.duals,):
            count = 0 if given.beta is None else len(given.beta)
            what = "samples" if problem.duals == problem.n else "dual variables"
            raise InvalidInput(f"start has {count} {what}; this problem has {problem.duals}")
        same_space = given.w is not None and given.w.shape == (problem.space.size,)
        return replace(given, w=given.w if same_space else None, linked=given.linked or not same_space)
    if isinstance(given, tuple):
        w, b = given
        w = np.asarray(w, dtype=np.float64)
        if not problem.linear or problem.family != "ordinary" or w.shape != (problem.X.shape[1],):
            raise InvalidInput(
                f"start w has shape {w.shape}; a linear problem with {problem.X.shape[1]} features is needed"
            )
        constant = problem.space.constant
        inside = float(b) / constant if constant else 0.0
        return Iterate(w=np.append(w, inside), b=float(b) if problem.bias == "free" else None)
    beta = np.asarray(given, dtype=np.float64)
    shapes = (problem.duals,), problem.by_class(np.empty(problem.duals)).shape
    if beta.shape not in shapes or not np.isfinite(beta).all():
        raise InvalidInput(f"start has shape {beta.shape}; a dual point is {problem.duals} finite numbers")
    beta = beta.ravel()
    return Iterate(beta=beta)


def generator_of(random_state: Any, rng: Any) -> Callable[[], np.random.Generator]:
    """The random numbers of a run, by either name; every call begins a seed anew, and goes on with a Generator."""
    if rng is not None and random_state != 0:
        raise InvalidInput("random_state and rng are two names of one thing; give one of them")
    name, seed = ("random_state", random_state) if rng is None else ("rng", rng)
    try:
        np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} is {seed!r}; it must be a whole number ≥ 0 or a NumPy Generator") from None
    return lambda: np.random.default_rng(seed)
