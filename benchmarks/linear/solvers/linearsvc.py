"""scikit-learn's LinearSVC: a LIBLINEAR of its own, without the limit of 300 rounds."""

from sklearn.svm import LinearSVC

from racing.peer import MOST_ITERATIONS, Peer


class Solver(Peer):
    name = "linearsvc"
    requirements = ["scikit-learn"]
    biases = ("none", "augmented")
    ladder = (1.0, 0.3, 0.1, 0.03, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)

    def prepare(self, task):
        self.X = task.X

    def run(self, setting):
        self.model = LinearSVC(
            loss="hinge",
            dual=True,
            C=self.task.C,
            tol=setting,
            max_iter=MOST_ITERATIONS,
            fit_intercept=self.task.bias == "augmented",
            random_state=0,
        ).fit(self.X, self.task.y)

    def get_result(self):
        bias = float(self.model.intercept_[0]) if self.task.bias == "augmented" else 0.0
        return {"w": self.model.coef_[0], "b": bias}
