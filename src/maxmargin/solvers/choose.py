"""What "auto" means, known here alone: which solvers are tried on a problem, in which order, and how long."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from maxmargin.problem import NuProblem, Problem
from maxmargin.solvers.base import Solver, refuse_blocks, refuse_nu, refuse_regularizer, registry, reliable

#: Rows up to which a problem is small: for pair steps, and for Newton steps on the primal.
SMALL, MEDIUM = 1000, 4000
#: Features up to which Newton's matrix is small.
FEW = 500
#: The multiply-adds in which pair steps solve most small linear problems, besides those for the rows of K, if they are
#: the right method at all.
TRIAL = 4e6


def choose(problem: Problem) -> str:
    """What "auto" means: the first of `candidates`."""
    return next(iter(candidates(problem)), reliable(problem))  # which says why, where none accepts it


def candidates(problem: Problem) -> dict[str, float]:
    """What "auto" tries one after the other, each with the multiply-adds after which the next has its turn.

    The next comes also where a solver fails or stalls. The usual ones are coordinate-newton for linear problems and
    working-set for kernels. Small problems are done sooner by others:

    - kernels, by pair steps (smo);
    - linear with more rows than features and a smooth loss, by Newton steps on the primal (truncated-newton), however
      the features are scaled;
    - linear otherwise, by pair steps, which end soon or crawl: then the usual one follows.

    What these do not accept goes to the solvers that accept any problem of their kind; and so does a linear one-class
    problem, whose optimum is 0 where the origin is among the samples: no relative gap can tell that it is reached.
    """
    if isinstance(problem, NuProblem):
        return {"smo": np.inf}
    n, d, free = problem.n, problem.X.shape[1], problem.bias == "free"
    if not problem.regularizer.quadratic:
        return {name: np.inf for name in registry if refusal(registry[name], problem) is None}
    usual = "coordinate-newton" if problem.linear else "working-set"
    names: dict[str, float] = {}
    if problem.linear and problem.loss.smooth and n <= MEDIUM and d <= min(n, FEW):
        names["truncated-newton"] = np.inf
    elif n <= SMALL and free and problem.form is not None and not problem.linear:
        names["smo"] = np.inf
    elif n <= SMALL and free and problem.form is not None and not sp.issparse(problem.X):
        names["smo"] = TRIAL + float(n) * n * d
    if not (problem.linear and problem.task == "novelty"):
        names[usual] = np.inf
    for name in ("interior-point", reliable(problem), usual, "truncated-newton"):
        names.setdefault(name, np.inf)
    return {name: work for name, work in names.items() if refusal(registry[name], problem) is None}


def refusal(solver: Solver, problem: Problem) -> str | None:
    """Why a solver does not take a problem, in one sentence; None where it does."""
    refused = refuse_blocks(solver, problem) or refuse_nu(solver, problem) or refuse_regularizer(solver, problem)
    return refused or solver.accepts(problem)
