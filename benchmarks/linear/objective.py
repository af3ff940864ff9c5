"""Linear hinge SVM: ½‖w‖² + C Σ max(0, 1 − y_i (⟨w, x_i⟩ + b)), with no, an augmented or a free bias."""

from benchopt import BaseObjective

from racing.judge import Task, judge
from racing.reference import best_dual


class Objective(BaseObjective):
    name = "linear SVM"
    requirements = ["numpy", "scipy"]
    min_benchopt_version = "1.10"
    sampling_strategy = "tolerance"

    parameters = {"C": [0.1, 1.0, 10.0, 100.0], "bias": ["augmented", "none", "free"]}
    test_dataset_name = "generated"

    def set_data(self, X, y):
        self.task = Task(X, y, self.C, self.bias)
        self.best_dual = best_dual(self.task)

    def get_objective(self):
        return vars(self.task)

    def evaluate_result(self, w=None, b=0.0, beta=None):
        """The relative gap is that of the solver's own pair or, where it returns no dual, to the best dual known."""
        values = judge(self.task, w, b, beta)
        return {
            "value": values.relative_gap(self.best_dual),
            "primal": values.primal,
            "dual": values.dual if values.dual is not None else self.best_dual,
            "certified": float(values.dual is not None),
        }

    def get_one_result(self):
        return {"beta": 0.5 * self.C * self.task.y}
