"""
A step that is too short, right, too long
=========================================

Sub-gradient descent on the plane of the two weights. The status of the last run says which step would do.
"""

from maxmargin import Problem, plots, solve
from maxmargin.data import toys
from maxmargin.solvers import Subgradient

problem = Problem(*toys.overlapping(), lam=10.0, bias="none")
options = {"tol": 1e-9, "max_iter": 60, "every": 1, "snapshots": True}
steps = (0.0005, 0.005, 0.05)
runs = {f"η = {step:g}": solve(problem, Subgradient(step=step, objective="lam"), **options) for step in steps}
plots.descent(runs)
