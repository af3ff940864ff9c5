"""
A hard margin that does not exist
=================================

The answer is a proof: weights with which both classes have the same mean, so that their convex hulls meet.
"""

import numpy as np

from maxmargin import Problem, plots, solve
from maxmargin.data import toys

result = solve(Problem(*toys.overlapping(), C=np.inf), tol=1e-6)
print(result.status)
plots.boundary(result)
