"""
SMO, one pair at a time
=======================

``grain=1`` shows every step: which two variables moved, and what it gained.
"""

from maxmargin import Problem, plots, solve
from maxmargin.data import toys

run = solve(Problem(*toys.separable(), C=1.0), "smo", grain=1, tol=1e-6, every=1, snapshots=True)
for snapshot in run.trace.snapshots[:5]:
    print(snapshot.event)
plots.convergence({"smo": run})
