"""The studio in a notebook: the same page as a widget of Jupyter, VS Code, marimo, and whatever else has anywidget."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.errors import InvalidInput, missing_extra
from maxmargin.problem import Problem
from maxmargin.result import Result
from maxmargin.studio.bundle import PAGE, bundled
from maxmargin.studio.frames import unpacked
from maxmargin.studio.problems import setting_of
from maxmargin.studio.running import Running
from maxmargin.studio.session import Answer, Session

try:
    import anywidget
except ImportError:
    raise missing_extra("anywidget", "notebook") from None


class Widget(anywidget.AnyWidget):
    """The studio in a notebook: draw points, choose a problem, watch solvers, and take the points and the fit along.

    Parameters
    ----------
    problem : Problem, default None
        The problem that it begins with, of one or two features; by default the page's own first example.
    solver : str, default "smo"
        The solver that is chosen at first.

    Examples
    --------
    >>> from maxmargin import Problem
    >>> from maxmargin.studio import Widget
    >>> widget = Widget(Problem([[0.0, 0.0], [1.0, 1.0], [3.0, 2.0], [4.0, 4.0]], [-1, -1, 1, 1]))
    >>> widget.X.shape, widget.y
    ((4, 2), array([-1, -1,  1,  1]))
    >>> widget.result is None
    True
    """

    _esm = ""
    _css = ""

    def __init__(self, problem: Problem | None = None, solver: str = "smo") -> None:
        #: The points as they are on the page, as far as it has handed them over.
        self.X: np.ndarray | None = None
        self.y: np.ndarray | None = None
        #: The results of the run that was handed over, one for each machine.
        self.results: list[Result] = []
        given = None if problem is None else _given(problem, solver)
        if problem is not None:
            self.X = np.asarray(problem.X, dtype=np.float64)
            self.y = _targets(problem)
        self._session = Session(given, self._take)
        style = (PAGE / "style.css").read_text(encoding="utf-8")
        super().__init__(_esm=bundled("widget.js"), _css=style)
        self.on_msg(self._answer)

    @property
    def result(self) -> Result | None:
        """The result of the run that was handed over; of several machines that of the first."""
        return self.results[0] if self.results else None

    def _answer(self, widget: Any, command: Any, buffers: Any) -> None:
        answer = self._session.answer(command if isinstance(command, dict) else str(command))
        self.send({"id": unpacked(answer)[0]["id"]}, buffers=[answer])

    def _take(self, given: dict[str, Any]) -> None:
        """Points and a run from the page."""
        run: Running | None = given["run"]
        if run is None:
            return
        setting = run.setting
        self.X = setting.X.copy()
        known = np.array(setting.labels)
        self.y = known[setting.y.astype(int)] if setting.task == "classification" else setting.y.copy()
        self.results = [one.result for one in run.recordings if one.result is not None]


def _targets(problem: Problem) -> np.ndarray:
    """The targets as they were given."""
    if problem.classes is None:
        return problem.target.copy()
    return problem.classes[(problem.target > 0).astype(int)]


def _given(problem: Problem, solver: str) -> Answer:
    """A problem as the page's own: its points, and the command that poses it."""
    X = problem.X
    if not isinstance(X, np.ndarray) or X.shape[1] not in (1, 2) or problem.kernel.given:
        raise InvalidInput("the studio shows dense points of one or two features; give a Problem of such")
    if problem.task != "regression" and X.shape[1] == 1:
        raise InvalidInput("the studio draws classes in the plane; give a Problem of two features")
    costs, setting = np.unique(problem.C[problem.C > 0]), setting_of(problem)
    told = {
        "task": problem.task,
        "loss": _named(problem.loss),
        "kernel": _named(problem.kernel),
        "bias": problem.bias,
        "regularizer": problem.regularizer.name,
        "bias_scale": problem.bias_scale,
        "C": float(costs[0]),
        "solver": solver,
    }
    points = {"task": problem.task, "labels": setting.labels, "names": None, "note": ""}
    arrays = {"X": setting.X, "y": setting.y}
    if len(costs) > 1:
        arrays["weights"] = problem.C / costs[0]
    return {"points": points, "problem": told}, arrays


def _named(thing: Any) -> dict[str, Any]:
    return {"name": thing.name, **vars(thing)}
