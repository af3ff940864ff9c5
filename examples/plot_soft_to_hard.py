"""
From a soft margin to a hard one
================================

A larger C tolerates fewer samples inside the margin. ``C=inf`` tolerates none, and exists only for separable classes.
"""

import numpy as np

from maxmargin import Problem, plots, solve
from maxmargin.data import toys

X, y = toys.with_outlier()
fits = {f"C = {C:g}": solve(Problem(X, y, C=C), tol=1e-6) for C in (0.01, 0.3, np.inf)}
plots.grid_of(fits)
