"""
The KKT conditions in one picture
=================================

At the optimum each sample lies on the grey curve: no weight outside the margin, weight C inside it, anything on it.
"""

from maxmargin import Problem, plots, solve
from maxmargin.data import toys

result = solve(Problem(*toys.overlapping(), C=0.2), tol=1e-8)
print(result.kkt)
plots.kkt(result)
