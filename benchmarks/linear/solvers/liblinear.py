"""LIBLINEAR, through its own Python package: dual coordinate descent with shrinking (-s 3), at most 300 rounds."""

import numpy as np
import scipy.sparse as sp
from liblinear.liblinearutil import parameter, problem, train

from racing.peer import Peer


class Solver(Peer):
    name = "liblinear"
    requirements = ["pip::liblinear-official"]
    biases = ("none", "augmented")
    ladder = (1.0, 0.3, 0.1, 0.03, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)

    def prepare(self, task):
        self.constant = 1 if task.bias == "augmented" else -1
        self.data = problem(task.y, sp.csr_matrix(task.X), bias=self.constant)

    def run(self, setting):
        self.model = train(self.data, parameter(f"-q -s 3 -c {self.task.C!r} -e {setting!r} -B {self.constant}"))

    def get_result(self):
        sign = 1.0 if self.model.get_labels()[0] == 1 else -1.0
        d = self.task.X.shape[1]
        weights = sign * np.ctypeslib.as_array(self.model.w, (d + (self.constant > 0),))
        return {"w": weights[:d].copy(), "b": float(weights[d]) if self.constant > 0 else 0.0}
