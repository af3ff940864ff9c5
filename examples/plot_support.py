"""
Which samples matter
====================

Support vectors leave as training goes on. On the right each sample's share of the gap.
"""

from maxmargin import Problem, plots, solve
from maxmargin.data import toys

X, y = toys.overlapping()
plots.support(solve(Problem(X, y, C=1.0), "projected-gradient", tol=1e-3, every=1))
