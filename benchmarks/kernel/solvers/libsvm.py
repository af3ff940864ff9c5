"""LIBSVM, through its own Python package."""

import numpy as np
from libsvm.svmutil import svm_parameter, svm_problem, svm_train

from racing.peer import CACHE_MEGABYTES, KernelMachine


class Solver(KernelMachine):
    name = "libsvm"
    requirements = ["pip::libsvm-official"]

    def prepare(self, task):
        self.data = svm_problem(task.y, task.X)

    def run(self, setting):
        options = f"-q -t 2 -c {self.task.C!r} -g {self.task.gamma!r} -e {setting!r} -m {CACHE_MEGABYTES}"
        self.model = svm_train(self.data, svm_parameter(options))

    def get_result(self):
        sign = 1.0 if self.model.get_labels()[0] == 1 else -1.0
        beta = np.zeros(len(self.task.y))
        beta[np.array(self.model.get_sv_indices()) - 1] = sign * np.array(self.model.get_sv_coef())[:, 0]
        return {"beta": beta}
