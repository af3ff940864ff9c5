"""scikit-learn's SVC: LIBSVM."""

from sklearn.svm import SVC

from racing.peer import CACHE_MEGABYTES, KernelMachine


class LIBSVM(KernelMachine):
    def run(self, setting):
        model = SVC(C=self.task.C, tol=setting, cache_size=CACHE_MEGABYTES, **self.kernel())
        self.model = model.fit(self.X, self.task.y)
