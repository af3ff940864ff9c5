"""`maxmargin solvers`: what there is, what each accepts, and where it comes from."""

from __future__ import annotations


def solvers() -> None:
    """List the solvers: what each accepts, and its paper.

    Example: maxmargin solvers
    """
    import numpy as np

    from maxmargin.cli.listing import show
    from maxmargin.kernels import RBF
    from maxmargin.problem import Problem
    from maxmargin.solvers.base import registry

    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]]), np.array([-1, 1, 1, -1])
    trials = {
        "free": Problem(X, y),
        "augmented": Problem(X, y, bias="augmented"),
        "kernel": Problem(X, y, kernel=RBF(1.0), bias="free", C=1.0),
        "logistic": Problem(X, y, loss="logistic"),
        "hard": Problem(X[:2], y[:2], C=np.inf),
    }
    rows = []
    for name in registry:
        solver = registry[name]
        marks = ["yes" if solver.accepts(problem) is None else "-" for problem in trials.values()]
        rows.append([name, (type(solver).__doc__ or "").splitlines()[0], *marks, solver.paper])
    show(["solver", "what it does", *trials, "paper"], rows)
