"""scikit-learn-intelex's SVC: oneDAL, given dense rows unless they are very sparse, which it is faster on."""

from sklearnex.svm import SVC

from racing.judge import dense_if_cheaper
from racing.peer import CACHE_MEGABYTES, KernelMachine


class OneDAL(KernelMachine):
    def prepare(self, task):
        self.X = dense_if_cheaper(task.X)

    def run(self, setting):
        model = SVC(C=self.task.C, tol=setting, cache_size=CACHE_MEGABYTES, **self.kernel())
        self.model = model.fit(self.X, self.task.y)
