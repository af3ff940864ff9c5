"""The moments of a run that an animation shows, and what there is to see at each of them.

Moments are close together at first, when much happens, and ever further apart; the result itself is the last.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from maxmargin.certificate import certify
from maxmargin.errors import InvalidInput
from maxmargin.plots.decision import values_on_grid
from maxmargin.plots.levels import Lines, level_lines
from maxmargin.plots.plane import Box, Plane
from maxmargin.plots.subject import Subject, by_kind, roles, with_weight
from maxmargin.problem import Problem
from maxmargin.result import Iterate, Result


@dataclass(frozen=True, eq=False)
class Moment:
    """Where a run stood: the hyperplane, the kind of each sample, and what was proved."""

    iteration: int
    #: The number of the snapshot; None for the result itself, which need not be the last of them.
    snapshot: int | None
    #: As in a Snapshot: d numbers for the linear kernel, n coefficients for any other; b is the whole bias.
    w: np.ndarray
    b: float
    kinds: dict[str, np.ndarray]
    #: The weight of each sample in w, in absolute value.
    weight: np.ndarray
    relative_gap: float
    #: How many rows of the trace there were by then.
    looks: int


@dataclass(frozen=True, eq=False)
class Scene:
    """A moment with the arrays of its picture."""

    moment: Moment
    lines: Lines
    values: np.ndarray


def moments_of(result: Result, most: int) -> list[Moment]:
    """At most so many moments of a run, the last of them its result."""
    snapshots, problem = result.trace.snapshots, result.problem
    if not snapshots:
        raise InvalidInput("there is nothing to animate: call solve(..., every=1, snapshots=True) to keep snapshots")
    gaps = result.trace["relative_gap"]
    chosen = [k for k in growing_steps(len(snapshots), most) if snapshots[k].iteration != result.iterations]
    moments = []
    for k in chosen:
        snapshot = snapshots[k]
        if result.point.answer:  # the perceptron: what it has counted so far
            kinds, weight, _ = with_weight("uncorrected", "corrected", np.abs(snapshot.raw_beta))
        else:
            kinds = by_kind(certify(problem, Iterate(beta=snapshot.beta)).kinds)
            weight = np.abs(snapshot.beta)
        moments.append(Moment(snapshot.iteration, k, snapshot.w, snapshot.b, kinds, weight, float(gaps[k]), k + 1))
    assert result.point.w is not None
    w = result.point.w if result.w is None else result.w
    kinds, weight, _ = roles(result)
    end = Moment(result.iterations, None, w, result.b, kinds, weight, result.certificate.relative_gap, len(gaps))
    return [*moments, end]


def growing_steps(count: int, most: int) -> list[int]:
    """At most so many of the numbers 0 … count − 1, the first and the last among them, in steps that grow."""
    if count <= most:
        return list(range(count))
    chosen: list[int] = []
    for target in np.geomspace(1.0, count, most):
        # Never the same number twice: at first the steps are 1.
        chosen.append(max(round(float(target)) - 1, chosen[-1] + 1 if chosen else 0))
    return chosen


def scene_of(
    problem: Problem, subject: Subject, plane: Plane, box: Box, x: np.ndarray, y: np.ndarray, moment: Moment
) -> Scene:
    """The level lines and decision values of a moment, on the grid x × y."""

    def decision(Z: np.ndarray) -> np.ndarray:
        space = problem.space
        # The moment's b is the whole bias, and what the space returns has its own part of it.
        return space.decision(problem.check_new(Z), weights) - space.bias(weights) + moment.b

    weights = np.append(moment.w, 0.0) if problem.linear else moment.w
    exact = (moment.w, moment.b) if subject.weights is not None else None
    then = replace(subject, weights=exact, decision=decision)
    if moment.snapshot is None and "witness" in moment.kinds:  # the proof is there: no hyperplane separates
        return Scene(moment, {level: [] for level in subject.levels}, np.zeros((len(y), len(x))))
    values = values_on_grid(then, plane, x, y)
    return Scene(moment, level_lines(exact, plane, box, x, y, values, subject.levels), values)
