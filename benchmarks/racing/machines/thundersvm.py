"""ThunderSVM on the processor's cores (the package thundersvm-cpu)."""

import scipy.sparse as sp
from thundersvm import SVC

from racing.peer import KernelMachine


class ThunderSVM(KernelMachine):
    parameters = {"jobs": [2]}

    def refusal(self, task):
        if sp.issparse(task.X) and 8.0 * task.X.shape[0] * task.X.shape[1] > 2e9:
            return "its package mistakes the coefficients of sparse rows, and dense these take more than 2 GB"
        return super().refusal(task)

    def prepare(self, task):
        self.X = task.X.toarray() if sp.issparse(task.X) else task.X

    def run(self, setting):
        self.model = SVC(C=self.task.C, tol=setting, n_jobs=self.jobs, **self.kernel())
        self.model.fit(self.X, self.task.y)

    def get_result(self):
        # The label that comes first is its positive class.
        return {"beta": self.task.y[0] * super().get_result()["beta"]}
