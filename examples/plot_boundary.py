"""
The boundary of a kernel machine
================================

The shading is the decision function. The black line is the hyperplane, the dashed ones are the margins. The area of a
support vector is proportional to its weight α.
"""

from maxmargin import Problem, plots, solve
from maxmargin.data import toys

result = solve(Problem(*toys.moons(), kernel="rbf", C=1.0), tol=1e-6)
print(result.certificate)
plots.boundary(result)
