"""
Warm starts
===========

A fit may begin where another ended, even with another C.
"""

from maxmargin import Problem, plots, solve
from maxmargin.data import toys

problem = Problem(*toys.breast_cancer(), C=1.0)
first = solve(problem, "smo", tol=1e-6)
cold = solve(problem.with_cost(1.2), "smo", tol=1e-6, every=1)
warm = solve(problem.with_cost(1.2), "smo", tol=1e-6, every=1, start=first)
print("iterations: cold", cold.iterations, "warm", warm.iterations)
plots.race({"cold": cold, "warm": warm}, against="iterations")
