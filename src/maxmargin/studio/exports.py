"""What can be taken away from a run: code, a notebook, data, a model, an animation, a report, and a tape."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.data import write
from maxmargin.data.dataset import Data
from maxmargin.errors import InvalidInput
from maxmargin.models import save
from maxmargin.models.build import model_of_solved, training_of
from maxmargin.models.solved import Solved
from maxmargin.problem import Problem
from maxmargin.report.reproduce import code, is_weighted
from maxmargin.studio import arguments
from maxmargin.studio.tape import tape
from maxmargin.studio.together import is_together

if TYPE_CHECKING:
    from maxmargin.studio.problems import Posed
    from maxmargin.studio.running import Running

#: Numbers of the exported code in one line.
LINE = 6


@dataclass(frozen=True, eq=False)
class Exported:
    """A file."""

    name: str
    type: str
    contents: bytes


def export(run: Running, others: list[Running], command: Mapping[str, Any]) -> Exported:
    """The file of a run in the format that was asked for; a tape may have other runs on the same points beside it."""
    wanted = arguments.text(command, "format")
    place = arguments.whole(command, "machine", 0, 0, len(run.setting.machines) - 1)
    if wanted == "tape":
        title = arguments.text(command, "title", "A run of maxmargin")
        return Exported("studio.html", "text/html", tape([run, *others], place, title, command))
    if wanted not in FORMATS:
        raise InvalidInput(f"there is no export {wanted!r}; there are: {', '.join([*FORMATS, 'tape'])}")
    return FORMATS[wanted](run, place)


def _python(run: Running, place: int) -> Exported:
    return Exported("fit.py", "text/x-python", ("\n".join(_lines(run, place)) + "\n").encode())


def _notebook(run: Running, place: int) -> Exported:
    lines = _lines(run, place)
    split = lines.index(_SPLIT)
    cells = [
        {"cell_type": "markdown", "id": "title", "metadata": {}, "source": "# A fit from the studio of maxmargin"},
        _cell("data", lines[:split]),
        _cell("fit", lines[split + 1 :]),
        _cell("picture", ["from maxmargin import plots", "", "plots.boundary(result)"]),
    ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    told = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    return Exported("fit.ipynb", "application/x-ipynb+json", json.dumps(told, indent=1).encode())


def _cell(name: str, lines: list[str]) -> dict[str, Any]:
    text = "\n".join(lines).strip("\n")
    return {"cell_type": "code", "execution_count": None, "id": name, "metadata": {}, "outputs": [], "source": text}


_SPLIT = ""


def _lines(run: Running, place: int) -> list[str]:
    """The code that makes the run's result again: the data, and then the problem and its solution."""
    machine, recording = run.setting.machines[place], run.recordings[place]
    problem = machine.problem
    data = ["import numpy as np", *_comments(run, machine), f"X = {_array(problem.X)}"]
    if problem.task != "novelty":
        data.append(f"y = {_array(_targets(run, machine))}")
    if is_weighted(problem):
        data.append(f"my_weights = {_array(problem.C)}")
    end = [f"tol={recording.tol!r}", f"random_state={run.seed}"]
    if recording.watched:  # it was looked at as the studio looked at it
        end.append(f"every={recording.every}")
    if not recording.ended:
        end.append(f"max_iter={recording.frames[-1].point.k}")
    solver = None if run.chosen and not recording.watched else recording.solver
    if (start := recording.given) is not None:
        data += _start(start)
        end.append("start=start")
    data.append(_SPLIT)
    made = [line for line in code(problem, solver, end, []) if line]
    ours = [line for line in made if line.startswith("from ")]
    return [data[0], *ours, *data[1:], *(line for line in made if line not in ours)]


def _start(start: Any) -> list[str]:
    if isinstance(start, tuple):
        return [f"start = {_array(np.asarray(start[0]))}, {float(start[1])!r}"]
    beta = start if isinstance(start, np.ndarray) else start.beta
    return [f"start = {_array(beta)}"]


def _comments(run: Running, machine: Posed) -> list[str]:
    several = len(run.setting.machines) > 1
    told = [f"# {machine.name}: one of {len(run.setting.machines)} machines"] if several else []
    return [*told, *([f"# {run.setting.note}"] if run.setting.note else [])]


def _targets(run: Running, machine: Posed) -> np.ndarray:
    problem = machine.problem
    if problem.task == "regression":
        return problem.target
    return problem.target.astype(int)


def _array(values: np.ndarray) -> str:
    """An array as code that gives the same bits."""
    if values.ndim == 2:
        rows = [f"[{', '.join(map(repr, row))}]" for row in values.tolist()]
    else:
        rows = [repr(value) for value in values.tolist()]
    size = LINE // values.shape[1] if values.ndim == 2 else 2 * LINE
    lines = [", ".join(rows[k : k + size]) for k in range(0, len(rows), size)]
    text = "".join(f"    {line},\n" for line in lines)
    return "np.array([\n" + text.replace("inf", "np.inf") + "])"


def _svmlight(run: Running, place: int) -> Exported:
    setting = run.setting
    y = setting.y
    if setting.task == "classification":
        labels = [setting.labels[int(code)] for code in setting.y]
        y = np.array([float(label) for label in labels]) if all(map(_is_number, labels)) else setting.y
    return Exported("points.svm", "text/plain", _written("points.svm", lambda path: write(path, Data(setting.X, y))))


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _model(run: Running, place: int) -> Exported:
    setting = run.setting
    solved = [Solved.of(one.so_far()) for one in run.recordings]
    problem: Problem = setting.machines[-1].problem
    rows = [machine.rows for machine in setting.machines]
    scheme: Any = "binary"
    classes, codes = None, np.zeros(setting.n, int)
    if setting.task == "classification":
        known, codes = np.unique(setting.y.astype(int), return_inverse=True)
        classes = np.array([setting.labels[code] for code in known])
        if len(known) > 2:
            scheme = "ovo" if setting.machines[0].negative is not None else "ovr"
        if is_together(problem):
            scheme = "crammer-singer"
    tol = run.recordings[0].tol
    told = training_of(problem, solved, rows, setting.n, setting.C, tol, None, setting.weights is not None)
    model = model_of_solved(problem, solved, rows, setting.X, scheme, codes, classes=classes, training=told)
    return Exported("model.mm", "application/zip", _written("model.mm", lambda path: save(model, path)))


def _gif(run: Running, place: int) -> Exported:
    from maxmargin.plots import animate

    if is_together(run.setting.machines[place].problem):
        raise InvalidInput("an animation is of one hyperplane; of all classes in one problem take a tape")
    result = run.recordings[place].with_snapshots()
    raw = _written("run.gif", lambda path: animate(result, path, seconds=5.0, fps=8, dpi=80))
    return Exported("run.gif", "image/gif", raw)


def _report(run: Running, place: int) -> Exported:
    recording = run.recordings[place]
    together = is_together(recording.problem)  # whose report is that of its model
    result = recording.so_far() if together else recording.with_snapshots()
    return Exported("fit.html", "text/html", _written("fit.html", result.report))


def _written(name: str, write: Callable[[Path], Any]) -> bytes:
    """What a writer of files writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        write(path)
        return path.read_bytes()


FORMATS: dict[str, Callable[[Running, int], Exported]] = {
    "python": _python,
    "notebook": _notebook,
    "svmlight": _svmlight,
    "mm": _model,
    "gif": _gif,
    "report": _report,
}
