"""maxmargin's own solvers: the fit is timed whole, from the arrays to the certificate."""

import numpy as np

from maxmargin import Problem, solve
from maxmargin.kernels import RBF, Linear
from maxmargin.solvers import solver as solver_by_name
from racing.judge import Task
from racing.peer import CACHE_MEGABYTES, Peer


class MaxMargin(Peer):
    """One of maxmargin's solvers, by its name; its tolerance is the relative gap itself."""

    biases = ("none", "augmented", "free")
    ladder = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)

    def settings(self, gaps):
        return tuple(sorted(gaps, reverse=True))

    def refusal(self, task):
        return solver_by_name(self.solver, self._problem(task)).accepts(self._problem(task))

    def prepare(self, task):
        """Nothing: what it does to the data is part of the fit."""

    def warm_up(self):
        """Load all that is compiled: a tight fit of a few rows, and a loose one of all, as "auto" goes by size."""
        solve(self._problem(self.task.few()), self.solver, tol=1e-6, max_time=10)
        solve(self._problem(self.task), self.solver, tol=self.ladder[0], max_time=10)

    def run(self, setting):
        self.result = solve(self._problem(self.task), self.solver, tol=setting)

    def get_result(self):
        if self.task.gamma is not None:
            return {"beta": self.result.beta}
        return {"w": np.asarray(self.result.w), "b": self.result.b, "beta": self.result.beta}

    def _problem(self, task: Task) -> Problem:
        kernel = Linear() if task.gamma is None else RBF(gamma=task.gamma)
        return Problem(task.X, task.y, kernel=kernel, bias=task.bias, C=task.C, cache_bytes=1e6 * CACHE_MEGABYTES)
