"""The problem that the page poses: its points and choices as the machines to be solved.

It goes the way of every training: data and a recipe, what counts of them, classes, machines, and their problems.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.data.dataset import Data, label_text
from maxmargin.errors import InvalidInput
from maxmargin.kernels import Kernel
from maxmargin.kernels.base import registry as kernels
from maxmargin.loop import solve
from maxmargin.losses import Loss
from maxmargin.losses.base import Task
from maxmargin.losses.base import registry as losses
from maxmargin.losses.one_class import OneClass
from maxmargin.models.classes import TOGETHER, problem_name, splits
from maxmargin.problem import NuProblem, Problem
from maxmargin.solvers import candidates, refusal
from maxmargin.solvers.base import registry as solvers
from maxmargin.studio import arguments
from maxmargin.studio.arguments import LIMITS, TooMuch
from maxmargin.studio.catalog import SCHEMES, usable
from maxmargin.studio.together import is_together
from maxmargin.training.prepare import Prepared, prepared, split
from maxmargin.training.problems import maker_of
from maxmargin.training.recipe import Recipe

TASKS = ("classification", "regression", "novelty")
#: Seconds that finding the margin or tube of a ν may take, for each machine.
NU_SECONDS = 2.0


@dataclass(frozen=True, eq=False)
class Posed:
    """One machine: its problem, and which of the points are its rows."""

    name: str
    rows: np.ndarray
    problem: Problem
    #: The classes that speak for it and against it, as numbers; None where there are no classes.
    positive: int | None = None
    negative: int | None = None


@dataclass(frozen=True, eq=False)
class Setting:
    """What was asked for, and the machines that it comes to."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None
    task: Task
    labels: list[str]
    #: The C that was asked for, before weights.
    C: float
    machines: list[Posed]
    note: str

    @property
    def n(self) -> int:
        """How many points there are."""
        return len(self.X)

    @cached_property
    def accepts(self) -> dict[str, str | None]:
        """What each solver says to the first machine: nothing, or why not."""
        return {name: refusal(solvers[name], self.machines[0].problem) for name in solvers}

    def over_points(self, machine: Posed, values: np.ndarray) -> np.ndarray:
        """One number for each row of a machine as one for each point, NaN where it has no such row."""
        out = np.full(self.n, np.nan)
        out[machine.rows] = values
        return out

    def told(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The answer to the command `problem`."""
        first = self.machines[0].problem
        header = {
            "n": self.n,
            "d": self.X.shape[1],
            "task": self.task,
            "labels": self.labels,
            "machines": [self._machine(machine) for machine in self.machines],
            "accepts": self.accepts,
            "auto": next(iter(candidates(first)), None),
            "kernel": _described(first.kernel),
            "loss": _described(first.loss),
            "bias": first.bias,
            "regularizer": first.regularizer.name,
            "C": self.C,
            "note": self.note,
        }
        parts = {name: [] for name in ("lower", "upper", "target", "weight")}  # type: dict[str, list[np.ndarray]]
        for machine in self.machines:
            problem = machine.problem
            bounds, target = problem.bounds, problem.target
            if is_together(problem):  # of each sample the variable of its own class
                bounds, target = (np.zeros(problem.n), problem.C), np.ones(problem.n)
            values = (*bounds, target, problem.C)
            for part, value in zip(parts.values(), values, strict=True):
                part.append(self.over_points(machine, value))
        return header, {name: np.array(part) for name, part in parts.items()}

    def _machine(self, machine: Posed) -> dict[str, Any]:
        return {
            "name": machine.name,
            "rows": len(machine.rows),
            "positive": machine.positive,
            "negative": machine.negative,
            "together": is_together(machine.problem),
        }


def posed(command: Mapping[str, Any]) -> Setting:
    """The setting of a command `problem`."""
    X, y, labels, weights = _points(command)
    task = _choice(command, "task", TASKS, "classification")
    loss = _made(command.get("loss", "hinge"), "loss", losses)
    kernel = _made(command.get("kernel", "linear"), "kernel", kernels)
    nu = None if command.get("nu") is None else arguments.number(command, "nu")
    if nu is not None and isinstance(loss, OneClass):
        loss, nu = OneClass(nu), None
    if task not in loss.tasks:
        able = ", ".join(name for name in losses if task in losses[name]().tasks)
        raise InvalidInput(f"the loss {loss.name!r} is not for {task}; choose one of: {able}")
    recipe = Recipe(
        loss,
        kernel,
        bias=command.get("bias") or "free",
        bias_scale=arguments.number(command, "bias_scale", 1.0),
        C=1.0 if nu is not None and task == "classification" else arguments.number(command, "C", 1.0),
        class_weight=_class_weight(command, labels),
        multiclass=command.get("scheme") and _choice(command, "scheme", tuple(SCHEMES), "ovo"),
        task=task if len(loss.tasks) > 1 else None,  # type: ignore[arg-type]
        regularizer=command.get("regularizer") or "l2",
    )
    ready = prepared(
        Data(X, None if task == "novelty" else _targets(y, task, labels), source="the data"), recipe, weights
    )
    machines = split(ready.recipe, ready.samples, ready.target, ready.classes, ready.scheme)
    if len(machines) > LIMITS["machines"]:
        raise TooMuch(
            f"{len(machines)} machines are too many; at most {LIMITS['machines']} can be shown: use scheme ovr"
        )
    recipe, note = ready.recipe, ""
    make = maker_of(recipe, ready.samples, recipe.kernel, 1, None)
    C = recipe.cost(len(machines) if ready.classes is None else len(ready.classes))
    problems = [make(machine.rows, machine.target, recipe.loss, C) for machine in machines]
    if nu is not None:
        problems, note = _with_nu(problems, nu)
    return Setting(X, y, weights, task, labels, float(recipe.C), _machines(ready, labels, problems), note)


def _machines(ready: Prepared, labels: list[str], problems: list[Problem]) -> list[Posed]:
    """Each problem with its rows and its classes."""
    used, samples = ready.samples.used, ready.samples
    if ready.classes is None:
        return [Posed(ready.recipe.kind, used, problems[0])]
    known = [int(code) for code in ready.classes]
    if is_together(problems[0]):
        return [Posed(TOGETHER, used, problems[0])]
    return [
        _classes_of(one.classes, known, labels, used[one.rows], problem)
        for one, problem in zip(splits(samples.codes, samples.classes, ready.scheme), problems, strict=True)
    ]


def setting_of(problem: Problem) -> Setting:
    """A problem of the library as the one machine of a setting."""
    labels: list[str] = []
    y = problem.target
    if problem.task == "classification":
        known = problem.classes if problem.classes is not None else np.array([-1, 1])
        labels, y = [label_text(label) for label in known.tolist()], (problem.target > 0).astype(float)
    C = float(problem.C.max())
    name = problem_name(tuple(labels)) if labels else problem.task
    machine = Posed(name, np.arange(problem.n), problem, *((1, 0) if labels else (None, None)))
    X = np.asarray(problem.X, dtype=np.float64)
    return Setting(X, np.asarray(y, dtype=np.float64), None, problem.task, labels, C, [machine], "")


def _classes_of(
    about: tuple[int, ...], known: list[int], labels: list[str], rows: np.ndarray, problem: Problem
) -> Posed:
    """The machine that tells these classes apart; of just two classes the second is the positive one."""
    codes = [known[k] for k in about]
    name = problem_name(tuple(labels[code] for code in codes))
    if len(known) == 2:
        codes = codes[::-1]
    return Posed(name, rows, problem, codes[0], codes[1] if len(codes) == 2 else None)


def _points(command: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray, list[str], np.ndarray | None]:
    X = arguments.array(command, "X", (None, None))
    n, d = X.shape
    if n > LIMITS["rows"]:
        raise TooMuch(f"{n} points are too many for the studio; at most {LIMITS['rows']} are taken")
    if d not in (1, 2):
        raise InvalidInput(f"X has {d} columns; the studio shows one or two (import makes a plane of more)")
    y = np.zeros(n) if command.get("y") is None else arguments.array(command, "y", (n,))
    weights = None if command.get("weights") is None else arguments.array(command, "weights", (n,))
    if weights is not None and not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise InvalidInput("weights must be finite numbers ≥ 0")
    labels = arguments.texts(command, "labels", 100)
    return X, y, labels, weights


def _targets(y: np.ndarray, task: str, labels: list[str]) -> np.ndarray:
    """Values as they are; classes as whole numbers, each of which has a label."""
    if task == "regression":
        if not np.isfinite(y).all():
            raise InvalidInput(f"y[{int(np.argmin(np.isfinite(y)))}] is not a finite number")
        return y
    if not (np.isfinite(y).all() and (y == np.floor(y)).all() and (y >= 0).all() and (y < 100).all()):
        raise InvalidInput("y must be the numbers of classes: 0, 1, 2, ...")
    codes = y.astype(np.int64)
    labels += [str(k) for k in range(len(labels), int(codes.max(initial=0)) + 1)]
    return codes


def _made(given: Any, what: str, known: Any) -> Any:
    """A loss or a kernel by its name and fields."""
    told = {"name": given} if isinstance(given, str) else dict(given) if isinstance(given, dict) else {}
    name = told.pop("name", None)
    if not isinstance(name, str):
        raise InvalidInput(f"{what} must be a name, or an object with a name and fields")
    kind = known[name]
    if what == "kernel" and not usable(name):
        raise InvalidInput(f"the kernel {name!r} needs a matrix or a function; use it in Python")
    there = {field.name: field for field in fields(kind)}
    for key, value in told.items():
        if key not in there:
            names = ", ".join(there) or "none"
            raise InvalidInput(f"the {what} {name!r} has no field {key!r}; its fields: {names}")
        default = there[key].default
        if value is None or not isinstance(value, str | int | float):
            raise InvalidInput(f"{key} of the {what} {name!r} cannot be {value!r}")
        if isinstance(value, str) and isinstance(default, int | float):
            raise InvalidInput(f"{key} of the {what} {name!r} is {value!r}; it must be a number")
        if default is MISSING:
            raise InvalidInput(f"{key} cannot be given here")
    return kind(**told)


def _class_weight(command: Mapping[str, Any], labels: list[str]) -> str | dict[str, float] | None:
    """The weights of the classes; by the texts of their numbers, as which the labels are known from here on."""
    given = command.get("class_weight")
    if given is None or isinstance(given, str):
        return given
    weights = arguments.fields(command, "class_weight")
    for label in weights:
        if label not in labels:
            raise InvalidInput(f"class_weight names {label!r}, which is not among the labels: {', '.join(labels[:8])}")
    return {str(labels.index(label)): value for label, value in weights.items()}


def _choice(command: Mapping[str, Any], name: str, known: tuple[str, ...], default: str) -> Any:
    value = command.get(name) or default
    if value not in known:
        raise InvalidInput(f"{name} is {value!r}; it must be one of: {', '.join(known)}")
    return value


def _with_nu(problems: list[Problem], nu: float) -> tuple[list[Problem], str]:
    """The ordinary problems that the ν-problems are in disguise, and what to say of them."""
    made, told = [], []
    for problem in problems:
        one = NuProblem.of(problem, nu)
        tau = solve(one, tol=1e-6, max_time=NU_SECONDS).point.tau
        if tau is None or not tau > 0.0:
            raise InvalidInput(f"nu = {nu:g} leaves no {'margin' if one.of_classes else 'tube'} here; choose another")
        made.append(one.at(tau))
        told.append(f"{1.0 / tau:.4g}" if one.of_classes else f"{tau:.4g}")
    what = "epsilon" if problems[0].task == "regression" else "C"
    return made, f"nu = {nu:g} is the ordinary problem with {what} = {', '.join(told)}"


def _described(thing: Loss | Kernel) -> dict[str, Any]:
    return {"name": thing.name, **{field.name: getattr(thing, field.name) for field in fields(thing)}}  # type: ignore[arg-type]
