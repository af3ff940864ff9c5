"""
Every kernel on one data set
============================

A disc inside a ring. The linear kernel cannot tell them apart; the others can, each in its own way.
"""

from maxmargin import Problem, plots, solve
from maxmargin.data import toys
from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial

X, y = toys.rings()
kernels = {"linear": Linear(), "polynomial": Polynomial(degree=2), "RBF": RBF(1.0), "Laplacian": Laplacian(1.0)}
fits = {name: solve(Problem(X, y, kernel=kernel, C=1.0)) for name, kernel in kernels.items()}
for name, fit in fits.items():
    print(f"{name:<10} accuracy {(fit.predict(X) == y).mean():.2f}")
plots.grid_of(fits, columns=2)
