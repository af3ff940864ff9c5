"""
Budgets and callbacks
=====================

A callback sees every look at the run, and may end it. What comes back is the best point so far, with its certificate.
"""

from maxmargin import Problem, plots, solve
from maxmargin.data import toys

seen = []


def enough(look):
    """Stop at an accuracy of 97 %, or when the gap is below 1 %."""
    seen.append(look.certificate.relative_gap)
    return look.certificate.relative_gap < 0.01


result = solve(Problem(*toys.moons(), kernel="rbf"), "accelerated-gradient", tol=1e-9, every=1, callbacks=[enough])
print(result.status, "after", len(seen), "looks")
plots.convergence({"stopped": result})
