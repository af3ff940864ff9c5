"""scikit-learn's callback protocol: a fit is a task, each of its binary problems a subtask, each look a leaf of that.

`sklearn.callback` came with scikit-learn 1.9; with an older one the estimators have no `set_callbacks`, and all else
is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from maxmargin.loop.run import Look

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's class of that name, which this version does not have."""

    def with_callbacks(method: Callable) -> Callable:
        """Leave the method as it is: there are no callbacks."""
        return method


__all__ = ["CallbackSupportMixin", "Monitor", "with_callbacks"]

#: What solve() calls at each look; a true answer stops the run.
Watch = Callable[[Look], bool]


class Monitor:
    """Tells the callbacks of an estimator how its fit goes; does nothing where it has none."""

    def __init__(self, estimator: Any, problems: int, X: Any, y: Any, sample_weight: Any) -> None:
        self.estimator = estimator
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        self.given = {"estimator": estimator, "X": X, "y": y, "metadata": metadata}
        self.root = None
        if hasattr(estimator, "_init_callback_context"):
            self.root = estimator._init_callback_context(max_subtasks=problems)
            self.root.call_on_fit_task_begin(**self.given)

    @property
    def watching(self) -> bool:
        """Whether there are callbacks."""
        return self.root is not None and bool(getattr(self.estimator, "_skl_callbacks", None))

    @contextmanager
    def problem(self, fitted: Callable[[Look], dict[str, Any]] | None) -> Iterator[tuple[Watch, ...]]:
        """The callbacks for solve() while it works on the next problem.

        `fitted` gives the fitted attributes that a look stands for, so that a callback can try the model half-way;
        None where one problem alone makes no model.
        """
        if self.root is None or not self.watching:
            yield ()
            return
        task = self.root.subcontext("binary problem", max_subtasks=None)
        task.call_on_fit_task_begin(**self.given)

        def watch(look: Look) -> bool:
            leaf = task.subcontext("look")
            leaf.call_on_fit_task_begin(**self.given)
            state = None if fitted is None else lambda: fitted(look)
            return leaf.call_on_fit_task_end(**self.given, reconstruction_attributes=state)

        yield (watch,)
        task.call_on_fit_task_end(**self.given)

    def finish(self, attributes: dict[str, Any]) -> None:
        """The fit is done."""
        if self.root is not None:
            self.root.call_on_fit_task_end(**self.given, reconstruction_attributes=attributes)
