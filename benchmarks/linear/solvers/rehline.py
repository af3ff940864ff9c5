"""ReHLine: coordinate descent for piecewise linear-quadratic losses, here the hinge."""

import numpy as np
from rehline import plq_Ridge_Classifier

from racing.peer import MOST_ITERATIONS, Peer, split, with_ones


class Solver(Peer):
    name = "rehline"
    requirements = ["pip::rehline"]
    biases = ("none", "augmented")
    ladder = (1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)

    def prepare(self, task):
        self.X = with_ones(task)

    def run(self, setting):
        self.model = plq_Ridge_Classifier(
            loss={"name": "svm"},
            C=self.task.C,
            tol=setting,
            max_iter=MOST_ITERATIONS,
            fit_intercept=False,
            coordinate_seed=0,
        ).fit(self.X, self.task.y)

    def get_result(self):
        return split(np.ravel(self.model.coef_), self.task)
