"""Step sizes η_t: a number, a function of t = 1, 2, ..., or a rule by its name; and in whose units they are.

Two objectives are in use for the same problem, ½‖w‖² + C Σℓ ("C") and Σℓ + (λ/2)‖w‖² with λ = 1/C ("lam"). The second
is λ times the first, so that a step of η on the second is one of λη on the first. Its dual variables are λ times as
large, and a step of η on them is one of η/λ on ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.problem import Problem
from maxmargin.problem.validation import is_number

Schedule = Callable[[int], float]
Step = float | Schedule | str
Objective = Literal["C", "lam"]

RULES: dict[str, Schedule] = {"constant": lambda t: 1.0, "1/t": lambda t: 1.0 / t, "1/sqrt(t)": lambda t: t**-0.5}


def check_step(step: Any, own: Sequence[str] = (), name: str = "step") -> None:
    """Refuse what is no step; `own` are the names of rules that the solver has besides those of this file."""
    known = [*own, *RULES]
    if isinstance(step, str):
        if step not in known:
            raise InvalidInput(
                f"{name} is {step!r}; it must be a number, a function of t, or one of: {', '.join(known)}"
            )
    elif callable(step):
        first = step(1)
        if not is_number(first):
            raise InvalidInput(f"{name} is a function that gives {first!r} for t = 1; it must give a number")
    elif not is_number(step) or not 0.0 < step < np.inf:
        raise InvalidInput(
            f"{name} is {step!r}; it must be a finite number > 0, a function of t, or the name of a rule"
        )


def check_positive(name: str, value: Any, whole: bool = False) -> None:
    """Refuse what is no finite number > 0, or no whole one."""
    kind = "a whole number ≥ 1" if whole else "a finite number > 0"
    if not is_number(value) or not 0.0 < value < np.inf or (whole and value != int(value)):
        raise InvalidInput(f"{name} is {value!r}; it must be {kind}")


def schedule(step: Step, rate: float = 1.0) -> Schedule:
    """η_t as a function of t; `rate` is the factor of a rule that is given by its name."""
    if isinstance(step, str):
        rule = RULES[step]
        return lambda t: rate * rule(t)
    if callable(step):
        return step
    return lambda t: float(step)


def refuse_objective(objective: Objective, problem: Problem) -> str | None:
    """The refusal of a problem that has no λ."""
    if objective == "C":
        return None
    used = problem.C[problem.C > 0]
    if np.ptp(used) > 0.0 or problem.hard:
        return "objective='lam' needs one finite λ = 1/C for all samples; use objective='C'"
    return None


def lam_of(problem: Problem) -> float:
    """λ = 1/C of a problem that `refuse_objective` accepts."""
    return 1.0 / float(problem.C.max())
