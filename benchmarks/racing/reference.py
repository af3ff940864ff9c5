"""The best dual value known of a linear problem: what a solver that returns no dual point is measured against.

For any dual point β of anybody, D(β) ≤ P* ≤ P(w, b): so P − D(β) bounds how far (w, b) is from the optimum, whoever
found β. A tight run of maxmargin finds one, once per problem; D(β) is computed by the judge, and kept on disk. It is
the most generous measure for a peer: the gap to a dual point of its own could only be larger.
"""

from __future__ import annotations

import hashlib
import json

import numpy as np
import scipy.sparse as sp

from racing.data import cache_folder
from racing.judge import Task, judge

#: The relative gap of the reference itself: negligible beside the gaps that are raced to.
TIGHT = 1e-8
SOLVERS = ("auto", "interior-point", "coordinate-ascent")


def best_dual(task: Task, seconds: float = 120.0) -> float:
    """The largest certified dual value of tight runs of at most so many seconds each."""
    return reference(task, seconds)["dual"]


def reference(task: Task, seconds: float = 120.0) -> dict:
    """The best dual value with the relative gap of its own pair and the solver that found it."""
    path = cache_folder() / f"reference-{_key(task)}.json"
    best = json.loads(path.read_text()) if path.exists() else {"dual": 0.0, "relative_gap": np.inf, "solver": "none"}
    if best["relative_gap"] > 2 * TIGHT:  # today's solvers may do better
        best = max(best, _tight_runs(task, seconds), key=lambda found: found["dual"])
        path.write_text(json.dumps(best))
    return best


def _tight_runs(task: Task, seconds: float) -> dict:
    from maxmargin import Problem, solve
    from maxmargin.solvers import solver

    problem = Problem(task.X, task.y, bias=task.bias, C=task.C)
    best = {"dual": 0.0, "relative_gap": np.inf, "solver": "none"}
    for name in dict.fromkeys(solver(name, problem).name for name in SOLVERS):
        if solver(name, problem).accepts(problem) is not None:
            continue
        result = solve(problem, solver=name, tol=TIGHT, max_time=seconds)
        values = judge(task, beta=result.beta)
        assert values.dual is not None
        if values.dual > best["dual"]:
            best = {"dual": values.dual, "relative_gap": values.relative_gap(), "solver": name}
        if best["relative_gap"] <= 2 * TIGHT:
            break
    return best


def _key(task: Task) -> str:
    """The same for the same problem, whatever process asks."""
    X = task.X
    digest = hashlib.blake2b(repr((X.shape, task.C, task.bias)).encode(), digest_size=12)
    for array in (X.data, X.indices, X.indptr, task.y) if sp.issparse(X) else (X, task.y):
        digest.update(np.ascontiguousarray(array).view(np.uint8))
    return digest.hexdigest()
