"""
The constraint as a penalty
===========================

The penalty method keeps Σβ = 0 only nearly, and the better the heavier the penalty is.
"""

from maxmargin import Problem, plots, solve
from maxmargin.data import toys
from maxmargin.solvers import Penalty

X, y = toys.overlapping()
problem = Problem(X + 0.7, y, C=1.0)
plots.penalty([solve(problem, Penalty(c=c), tol=1e-8, every=1, max_iter=800) for c in (0.1, 1.0, 10.0)])
