"""
An explicit transform instead of a kernel
=========================================

With few features, all products of two of them make a linear problem whose weights can be read.
"""

from maxmargin import Problem, plots, solve
from maxmargin.data import toys
from maxmargin.transforms import PolynomialTransform

X, y = toys.rings()
result = solve(Problem(X, y, transform=PolynomialTransform(degree=2), C=1.0), tol=1e-6)
print("weights of x1, x2, x1², x1x2, x2²:", result.w.round(2))
plots.boundary(result, X, y)
