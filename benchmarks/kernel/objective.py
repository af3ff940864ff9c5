"""RBF-kernel hinge SVM: ½‖w‖² + C Σ max(0, 1 − y_i (⟨w, φ(x_i)⟩ + b)); gamma counts in multiples of "scale"."""

from benchopt import BaseObjective

from racing.judge import Task, judge, scale_gamma


class Objective(BaseObjective):
    name = "kernel SVM"
    requirements = ["numpy", "scipy"]
    min_benchopt_version = "1.10"
    sampling_strategy = "tolerance"

    parameters = {"C": [1.0, 10.0, 100.0], "gamma_scale": [1.0, 10.0], "bias": ["free"]}
    test_dataset_name = "generated"

    def set_data(self, X, y):
        self.task = Task(X, y, self.C, self.bias, self.gamma_scale * scale_gamma(X))

    def get_objective(self):
        return vars(self.task)

    def evaluate_result(self, beta):
        """Kernel machines all return their dual point, so the relative gap is that of their own pair."""
        values = judge(self.task, beta=beta)
        return {"value": values.relative_gap(), "primal": values.primal, "dual": values.dual}

    def get_one_result(self):
        return {"beta": 0.5 * self.C * self.task.y}
