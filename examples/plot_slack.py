"""
Soft margin and slacks
======================

Where no line separates the classes, samples may be inside their margin, at a price. The lines show these slacks.
"""

from maxmargin import Problem, plots, solve
from maxmargin.data import toys

result = solve(Problem(*toys.overlapping(), C=0.2), tol=1e-6)
print("sum of the slacks", round(float(result.slack.sum()), 2), "margin width", round(result.margin_width, 2))
plots.boundary(result, slack=True)
