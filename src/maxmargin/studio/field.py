"""Decision values on the grid of the plane: the shading behind the points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.models.classes import pairs, rest_from_pairs
from maxmargin.problem import Problem
from maxmargin.problem.space import KernelSpace
from maxmargin.result import Iterate
from maxmargin.studio import arguments
from maxmargin.studio.arguments import LIMITS, TooMuch
from maxmargin.studio.problems import Setting
from maxmargin.studio.together import is_together

#: Kernel values between the grid and the points that are kept: 64 MB.
KEPT = 8_000_000
#: Changes that are added to the scores of a grid before they are summed anew: each adds a rounding.
UPDATES = 100


@dataclass(frozen=True)
class Grid:
    """nx × ny points of a window, its edges included; with one feature only nx points."""

    x0: float
    x1: float
    y0: float
    y1: float
    nx: int
    ny: int

    def points(self, d: int) -> np.ndarray:
        """The points, row by row from y0 on."""
        x, y = np.linspace(self.x0, self.x1, self.nx), np.linspace(self.y0, self.y1, self.ny)
        if d == 1:
            return x[:, None]
        return np.column_stack([np.tile(x, self.ny), np.repeat(y, self.nx)])

    def shape(self, d: int) -> tuple[int, ...]:
        """The shape of the values at these points."""
        return (self.nx,) if d == 1 else (self.ny, self.nx)


def grid_of(command: Mapping[str, Any]) -> Grid | None:
    """The grid that a command asks for."""
    if command.get("field") is None:
        return None
    told = arguments.fields(command, "field")
    x0, x1, y0, y1 = (arguments.number(told, name, None, -1e6, 1e6) for name in ("x0", "x1", "y0", "y1"))
    nx, ny = (arguments.whole(told, name, 64, 2, 2000) for name in ("nx", "ny"))
    if nx * ny > LIMITS["field"]:
        raise TooMuch(f"a field of {nx} × {ny} points is too fine; at most {LIMITS['field']} are taken")
    if not (x0 < x1 and y0 < y1):
        raise InvalidInput("the field needs x0 < x1 and y0 < y1")
    return Grid(x0, x1, y0, y1, nx, ny)


class Fields:
    """The decision values of a setting's machines on a grid, with the kernel values of the last grid kept."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._grid: Grid | None = None
        self._kept: dict[int, _Kept] = {}

    def arrays(self, grid: Grid, points: list[Iterate]) -> dict[str, np.ndarray]:
        """`field`, and with several machines `classes`, at one point of each machine."""
        if grid != self._grid:
            self._grid, self._kept = grid, {}
        setting, d = self.setting, self.setting.X.shape[1]
        at = grid.points(d)
        if is_together(setting.machines[0].problem):
            return _classified(*_of_rest(self._scores(at, points[0])), np.unique(setting.y), grid.shape(d))
        values = np.column_stack([self._decisions(k, at, point) for k, point in enumerate(points)])
        shape = grid.shape(d)
        if len(points) == 1:
            return {"field": _single(values[:, 0]).reshape(shape)}
        known = sorted({code for one in setting.machines for code in (one.positive, one.negative) if code is not None})
        winner, lead = _of_pairs(values, len(known)) if setting.machines[0].negative is not None else _of_rest(values)
        return _classified(winner, lead, known, shape)

    def _scores(self, at: np.ndarray, point: Iterate) -> np.ndarray:
        """Of all classes in one problem, one column a class."""
        assert point.w is not None
        scores: np.ndarray = self.setting.machines[0].problem.space.decision(at, point.w)
        return scores

    def _decisions(self, k: int, at: np.ndarray, point: Iterate) -> np.ndarray:
        problem = self.setting.machines[k].problem
        assert point.w is not None
        b = point.b or 0.0
        space = problem.space
        if not isinstance(space, KernelSpace) or len(at) * problem.n > KEPT:
            return space.decision(at, point.w) + b
        if k not in self._kept:
            if sum(kept.values.size for kept in self._kept.values()) > KEPT:
                self._kept.clear()
            self._kept[k] = _Kept(problem, at)
        return self._kept[k].scores(point.w) + (space.bias(point.w) + b)


def _classified(winner: np.ndarray, lead: np.ndarray, known: Any, shape: tuple[int, ...]) -> dict[str, np.ndarray]:
    """The arrays of the winners among the known classes, and how far they lead."""
    classes = np.asarray(known, dtype=np.uint8)[winner]
    return {"field": _single(lead).reshape(shape), "classes": classes.reshape(shape)}


def _of_rest(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The class with the largest value, and how far it is above the second."""
    order = np.sort(values, axis=1)
    return np.argmax(values, axis=1), order[:, -1] - order[:, -2]


def _of_pairs(values: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """The class with the most votes, and the decision between it and the second: votes jump, this ends at 0."""
    second, winner = np.argsort(rest_from_pairs(values, classes), axis=1)[:, -2:].T
    machine = np.zeros((classes, classes), dtype=np.intp)
    for k, (i, j) in enumerate(pairs(classes)):
        machine[i, j] = machine[j, i] = k
    return winner, np.abs(values[np.arange(len(values)), machine[winner, second]])


class _Kept:
    """The kernel values between a machine's rows and a grid, and the last scores: few coefficients change at once."""

    def __init__(self, problem: Problem, at: np.ndarray) -> None:
        self.values = problem.kernel.block(np.asarray(problem.X, dtype=np.float64), at)
        self._w = np.zeros(problem.n)
        self._scores = np.zeros(len(at))
        self._updates = 0

    def scores(self, w: np.ndarray) -> np.ndarray:
        """Σ w_i k(x_i, ·) on the grid."""
        changed = np.flatnonzero(w != self._w)
        if 4 * changed.size > w.size or self._updates >= UPDATES:
            support = np.flatnonzero(w)
            self._scores, self._updates = w[support] @ self.values[support], 0
        else:
            self._scores = self._scores + (w[changed] - self._w[changed]) @ self.values[changed]
            self._updates += 1
        self._w = w.copy()
        return self._scores


def _single(values: np.ndarray) -> np.ndarray:
    """As float32; what is beyond its range at its end."""
    largest = float(np.finfo(np.float32).max)
    return np.clip(np.nan_to_num(values, nan=0.0), -largest, largest).astype(np.float32)
