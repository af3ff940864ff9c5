"""
What gamma does
===============

A small gamma is nearly linear; a large one remembers every sample.
"""

from maxmargin import Problem, plots, solve
from maxmargin.data import toys
from maxmargin.kernels import RBF

X, y = toys.moons()
fits = {f"γ = {gamma:g}": solve(Problem(X, y, kernel=RBF(gamma), C=1.0)) for gamma in (0.1, 1.0, 50.0)}
plots.grid_of(fits)
