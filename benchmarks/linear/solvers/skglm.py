"""skglm: working sets and Anderson acceleration on the dual; the whole set is its first working set, else it stalls."""

import numpy as np
import scipy.sparse as sp
from skglm import LinearSVC

from racing.peer import Peer, split, with_ones


class Solver(Peer):
    name = "skglm"
    requirements = ["pip::skglm"]
    biases = ("none", "augmented")
    ladder = (1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)

    def prepare(self, task):
        X = with_ones(task)
        self.X = sp.csc_matrix(X) if sp.issparse(X) else np.asfortranarray(X)

    def run(self, setting):
        self.model = LinearSVC(
            C=self.task.C, tol=setting, p0=len(self.task.y), max_iter=50, max_epochs=200, fit_intercept=False
        ).fit(self.X, self.task.y)

    def get_result(self):
        return split(np.ravel(self.model.coef_), self.task)
