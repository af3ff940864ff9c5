"""What all solver files share: a task instead of loose arguments, a ladder of settings, a warm-up on a few rows.

A solver file defines `Solver(Peer)` with

- `ladder`: its own tolerances, from loose to tight (`run` gets one of them; benchopt climbs it, and so does the race);
- `refusal(task)`: why it cannot do a task, or None;
- `prepare(task)`: the data in the form that it wants (not timed);
- `run(setting)`: the fit, and nothing else (timed);
- `get_result()`: `w` and `b`, or `beta`, or all of them, for the judge (not timed).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from benchopt import BaseSolver

from racing.judge import Task

#: Enough for any setting to be what ends a fit, not the count.
MOST_ITERATIONS = 100_000
#: What every kernel machine may keep of the kernel matrix.
CACHE_MEGABYTES = 2000


class Peer(BaseSolver):
    """A solver as benchopt and the race see it."""

    sampling_strategy = "tolerance"
    ladder: ClassVar[tuple[float, ...]]
    biases: ClassVar[tuple[str, ...]]
    task: Task

    def refusal(self, task: Task) -> str | None:
        """Why this task cannot be done."""
        if task.bias not in self.biases:
            return f"it does not do bias={task.bias!r}, only {' and '.join(self.biases)}"
        return None

    @abstractmethod
    def prepare(self, task: Task) -> None:
        """Put the data into the form that the solver wants."""

    def settings(self, gaps: tuple[float, ...]) -> tuple[float, ...]:
        """What to climb, from loose to tight, to reach these relative gaps."""
        return self.ladder

    # What benchopt calls

    def skip(self, **task: Any) -> tuple[bool, str | None]:
        reason = self.refusal(Task(**task))
        return reason is not None, reason

    def set_objective(self, **task: Any) -> None:
        self.task = Task(**task)
        self.prepare(self.task)

    def warm_up(self) -> None:
        """Compile and load what a fit needs, on a few rows."""
        whole = self.task
        self.task = whole.few()
        self.prepare(self.task)
        self.run(self.ladder[0])
        self.task = whole
        self.prepare(whole)

    def get_next(self, stop_val: float) -> float:
        """The next rung; below the last one, tenths."""
        return next((rung for rung in self.ladder if rung < stop_val), stop_val / 10)


class KernelMachine(Peer):
    """What scikit-learn's SVC and its likes share: a free bias and `support_` with `dual_coef_`."""

    ladder = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
    biases = ("free",)
    model: Any

    def prepare(self, task: Task) -> None:
        self.X = task.X

    def kernel(self) -> dict[str, Any]:
        """The arguments that name the kernel."""
        return {"kernel": "linear"} if self.task.gamma is None else {"kernel": "rbf", "gamma": self.task.gamma}

    def get_result(self) -> dict[str, Any]:
        beta = np.zeros(len(self.task.y))
        coefficients = self.model.dual_coef_
        beta[self.model.support_] = np.ravel(coefficients.toarray() if sp.issparse(coefficients) else coefficients)
        return {"beta": beta}


def with_ones(task: Task) -> Any:
    """The rows, with a constant column appended where the bias is augmented."""
    if task.bias != "augmented":
        return task.X
    ones = np.ones((len(task.y), 1))
    return sp.csr_matrix(sp.hstack([task.X, ones])) if sp.issparse(task.X) else np.hstack([task.X, ones])


def split(weights: np.ndarray, task: Task) -> dict[str, Any]:
    """The weights of rows `with_ones` as w and b."""
    d = task.X.shape[1]
    return {"w": weights[:d], "b": float(weights[d]) if len(weights) > d else 0.0}
