"""How the lesson draws: the functions of `maxmargin.plots`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

#: Width and height in inches of a single panel on a narrow page.
NARROW = (4.2, 4.6)


def plot(
    name: str,
    subject: Callable[[], Any] | None,
    unpack: bool = False,
    across: int | None = None,
    narrow: tuple[float, float] = NARROW,
    **options: Any,
) -> Callable[[int | None], Any]:
    """A function of the number of columns that draws `subject()` by the named function of `maxmargin.plots`.

    A function that takes `columns` is told how many (`across` on a wide page, unless it is to decide by itself); one
    that has a single panel only gets a size instead on a narrow page.
    """

    def draw(columns: int | None) -> Any:
        from maxmargin import plots  # needs an extra, so not at the top

        function = getattr(plots, name)
        parameters = inspect.signature(function).parameters
        shape: dict[str, Any] = {}
        if "columns" in parameters:
            wanted = columns or across
            shape = {} if wanted is None else {"columns": wanted}
        elif columns is not None:
            shape = {"size": narrow}
        given = () if subject is None else subject() if unpack else (subject(),)
        return function(*given, **shape, **options)

    return draw


class Hyperplane(ClassifierMixin, BaseEstimator):
    """A hyperplane without a dual: drawn with its margins, and without support vectors."""

    def __init__(self, w: np.ndarray, b: float) -> None:
        self.w, self.b = w, b
        self.classes_ = np.array([-1, 1])

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """The scores z = w·x + b."""
        return X @ self.w + self.b

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The labels −1 and 1."""
        return np.where(self.decision_function(X) > 0, 1, -1)
