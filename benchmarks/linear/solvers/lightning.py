"""lightning's SDCA: stochastic dual coordinate ascent on the mean loss, so that its alpha is 1/(C n)."""

import numpy as np
from lightning.classification import SDCAClassifier

from racing.peer import MOST_ITERATIONS, Peer, split, with_ones


class Solver(Peer):
    name = "lightning"
    requirements = ["pip::sklearn-contrib-lightning"]
    biases = ("none", "augmented")
    ladder = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)

    def prepare(self, task):
        self.X = with_ones(task)

    def run(self, setting):
        self.model = SDCAClassifier(
            loss="hinge",
            alpha=1.0 / (self.task.C * len(self.task.y)),
            tol=setting,
            max_iter=MOST_ITERATIONS,
            random_state=0,
        ).fit(self.X, self.task.y)

    def get_result(self):
        return split(np.ravel(self.model.coef_), self.task)
