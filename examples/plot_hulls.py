"""
The dual as geometry: reduced convex hulls
==========================================

The dual looks for the nearest points of two hulls. A small C shrinks them until they no longer overlap.
"""

from maxmargin import Problem, plots, solve
from maxmargin.data import toys

X, y = toys.overlapping()
plots.hulls(solve(Problem(X, y, C=0.05), "smo", tol=1e-8))
