"""
Has it converged? Primal, dual and gap
======================================

The primal value falls, the dual value rises, and the optimum is between them.
"""

from maxmargin import Problem, plots, solve
from maxmargin.data import toys

problem = Problem(*toys.overlapping(), C=1.0)
runs = {
    name: solve(problem, name, tol=1e-4, every=1, max_iter=400)
    for name in ("subgradient", "accelerated-gradient", "gradient-ascent")
}
plots.convergence(runs)
