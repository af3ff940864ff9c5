"""Snap ML: parallel dual coordinate descent on float32 data."""

import numpy as np
from snapml import SupportVectorMachine

from racing.peer import MOST_ITERATIONS, Peer


class Solver(Peer):
    name = "snapml"
    requirements = ["pip::snapml"]
    biases = ("none", "augmented")
    ladder = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
    parameters = {"jobs": [2]}

    def prepare(self, task):
        self.X = task.X.astype(np.float32)

    def run(self, setting):
        self.model = SupportVectorMachine(
            loss="hinge",
            regularizer=1.0 / self.task.C,
            tol=setting,
            max_iter=MOST_ITERATIONS,
            n_jobs=self.jobs,
            fit_intercept=self.task.bias == "augmented",
            random_state=0,
        ).fit(self.X, self.task.y)

    def get_result(self):
        bias = float(np.ravel(self.model.intercept_)[0]) if self.task.bias == "augmented" else 0.0
        return {"w": np.ravel(self.model.coef_).astype(np.float64), "b": bias}
