"""
Novelty detection
=================

``nu`` is the share of the training rows that may be outside.
"""

import numpy as np

from maxmargin import Problem, plots, solve
from maxmargin.kernels import RBF
from maxmargin.losses import OneClass

usual = np.random.default_rng(0).normal(size=(150, 2))
result = solve(Problem(usual, loss=OneClass(nu=0.1), kernel=RBF(0.3), bias="free", C=1.0), tol=1e-6)
print("outside:", (result.predict(usual) == -1).mean())
plots.boundary(result)
