"""What "auto" means, known here alone: which solvers are tried on a problem, in which order, and how long."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from maxmargin.problem import Problem
from maxmargin.solvers.base import Solver, refuse_blocks, refuse_family, refuse_regularizer, registry, reliable

#: Rows up to which a problem is small: for pair steps, and for Newton steps on the primal.
SMALL, MEDIUM = 1000, 4000
#: Features up to which Newton's matrix is small.
FEW = 500
#: The multiply-adds in which pair steps solve most small linear problems, besides those for the rows of K, if they are
#: the right method at all.
TRIAL = 4e6
#: Epochs of coordinate steps after which all classes in one problem of few weights go to the interior point, and what
#: the loop counts for an epoch besides its arithmetic.
EPOCHS, STEP = 30, 2e4


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
    - linear otherwise, by pair steps, which end soon or crawl: then the usual one follows;
    - all classes in one problem, by coordinate steps, which crawl on features as they come: then the interior point.

    What these do not accept goes to the solvers that accept any problem of their kind; and so does a linear one-class
    problem, whose optimum is 0 where the origin is among the samples: no relative gap can tell that it is reached.
    """
    if problem.family == "nu":
        return {"smo": np.inf}
    if problem.family == "crammer-singer":
        interior = refusal(registry["interior-point"], problem) is None
        patience = EPOCHS * (2.0 * problem.space.work + STEP) if interior else np.inf
        return {"coordinate-ascent": patience} | ({"interior-point": np.inf} if interior else {})
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


def on_one_matrix(problem: Problem) -> str:
    """The same for one of many fits on one kernel matrix: shrinking, as working sets would save no kernel values."""
    whole = problem.kernel.given and problem.bias == "free" and problem.family == "ordinary"
    return "shrinking-smo" if whole and problem.form is not None else "auto"


def refusal(solver: Solver, problem: Problem) -> str | None:
    """Why a solver does not take a problem, in one sentence; None where it does."""
    refused = refuse_blocks(solver, problem) or refuse_family(solver, problem) or refuse_regularizer(solver, problem)
    return refused or solver.accepts(problem)
