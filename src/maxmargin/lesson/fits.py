"""The fits that the figures and facts of the lesson share, each solved once, when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from maxmargin.data import toys
from maxmargin.loop import solve
from maxmargin.problem import Problem
from maxmargin.result import Event, Reason, Result
from maxmargin.solvers import CoordinateAscent, ProjectedGradient, Subgradient

Data = Callable[[], tuple[np.ndarray, np.ndarray]]

#: The initial weights and the regularisation weight of the runs that follow source 000.
START, REGULARISER = (-0.6, 1.8), 10.0


def trained(problem: Problem, solver: Any = "auto", **options: Any) -> Result:
    """A fit; where `solve` would hand back what it has on Ctrl-C, the lesson ends."""
    result = solve(problem, solver, **options)
    if result.status.reason is Reason.INTERRUPTED:
        raise KeyboardInterrupt
    return result


@cache
def exact(data: Data, C: float = 1.0, kernel: Any = "linear", bias: Any = "free", transform: Any = None) -> Result:
    """The solution to ten digits."""
    return trained(Problem(*data(), C=C, kernel=kernel, bias=bias, transform=transform), "auto", tol=1e-10, every=1)


def through_origin() -> Problem:
    """The problem of source 000: Σ hinge + (c/2)‖a‖², without a bias."""
    return Problem(*toys.overlapping(), lam=REGULARISER, bias="none")


@cache
def subgradient(eta: float, steps: int = 200) -> Result:
    """Algorithm 1 of source 000 with a constant learning rate, from the initial weights."""
    return trained(
        through_origin(),
        Subgradient(step=eta, objective="lam"),
        tol=1e-6,
        max_iter=steps,
        start=(np.array(START), 0.0),
        every=1,
        snapshots=True,
    )


@cache
def projected(eta: float, steps: int = 600) -> Result:
    """Algorithm 2 of source 000 with a constant learning rate."""
    solver = ProjectedGradient(step=eta, objective="lam")
    return trained(through_origin(), solver, tol=1e-6, max_iter=steps, every=1, snapshots=True)


@cache
def coordinate(grain: int | None = None, updates: int = 200) -> Result:
    """Algorithm 3 of source 000: cyclic coordinate ascent, by epochs or by single updates."""
    solver = CoordinateAscent("cyclic", grain=grain)
    return trained(through_origin(), solver, tol=1e-9, max_iter=updates, every=1, snapshots=True)


def events(run: Result) -> list[tuple[int, Event]]:
    """The single updates of a run, with their numbers."""
    return [(look.iteration, look.event) for look in run.trace.snapshots if look.event is not None]


def short(value: float) -> str:
    """A positive number in a text: 0.06, or 2·10⁻⁵ where it is small."""
    if value == 0.0 or value >= 1e-3:
        return f"{value:.2g}"
    digits, exponent = f"{value:.0e}".split("e")
    power = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{power}" if digits == "1" else f"{digits}·10{power}"


def signed(value: float, digits: int = 4) -> str:
    """A number in a table: a true minus sign, and none before a zero."""
    text = f"{value:.{digits}f}"
    return (text.removeprefix("-") if float(text) == 0.0 else text).replace("-", "−")


def stable_step() -> float:
    """2c/λ_max: gradient ascent on the dual of `through_origin` with a shorter step converges."""
    X, _ = toys.overlapping()
    return float(2.0 * REGULARISER / np.linalg.eigvalsh(X.T @ X)[-1])
