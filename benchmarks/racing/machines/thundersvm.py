"""ThunderSVM on the processor's cores (the package thundersvm-cpu)."""

from thundersvm import SVC

from racing.peer import KernelMachine


class ThunderSVM(KernelMachine):
    parameters = {"jobs": [2]}

    def run(self, setting):
        self.model = SVC(C=self.task.C, tol=setting, n_jobs=self.jobs, **self.kernel())
        self.model.fit(self.X, self.task.y)

    def get_result(self):
        # The label that comes first is its positive class.
        return {"beta": self.task.y[0] * super().get_result()["beta"]}
