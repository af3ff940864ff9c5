"""
Racing the solvers
==================

The certified relative gap of seven algorithms against their iterations on real data (breast cancer). Iterations of
different algorithms cost different work; ``against="seconds"`` shows the clock of your machine.
"""

from maxmargin import Problem, plots, solve
from maxmargin.data import toys

problem = Problem(*toys.breast_cancer(), C=1.0)
names = ("smo", "frank-wolfe", "gradient-ascent", "accelerated-gradient", "subgradient", "penalty")
runs = {name: solve(problem, name, tol=1e-6, max_iter=2000, max_time=3) for name in names}
for name, run in runs.items():
    print(f"{name:<22} {run.certificate.relative_gap:.1e}  {run.status.reason.value}")
plots.race(runs, against="iterations")
