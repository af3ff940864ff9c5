"""The exercises of the lesson: one function each. Its docstring asks, its body answers, and it returns what came out.

The bodies run after PRELUDE alone, as a reader would type them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import dedent

#: What every piece of code in the lesson begins with.
PRELUDE = """\
from time import perf_counter

import numpy as np

from maxmargin import Iterate, Problem, Saddle, Solver, certify, dual_qp, primal_qp, solve
from maxmargin.data import toys
from maxmargin.kernels import RBF, Polynomial
from maxmargin.lesson import twins
from maxmargin.losses import EpsilonInsensitive, Hinge
from maxmargin.solvers import (
    SGD, SMO, CoordinateAscent, DualQP, GradientAscent, Penalty, Perceptron, ProjectedGradient,
    StochasticAscent, Subgradient,
)
from maxmargin.transforms import PolynomialTransform
"""


@dataclass(frozen=True)
class Sheet:
    """An exercise taken apart for the page."""

    title: str
    question: str
    solution: str


def sheet(exercise: Callable[[], str]) -> Sheet:
    """The docstring's first line is the title, the rest the question; the code below it is the solution.

    What the function returns, the printed code prints.
    """
    written = inspect.getdoc(exercise) or ""
    title, _, question = written.partition("\n\n")
    source = inspect.getsource(exercise)
    body = dedent(source.split('"""', 2)[2]).strip("\n")
    steps, _, answer = body.rpartition("\nreturn ")
    shown = f"print{answer}" if answer.startswith("(\n") else f"print({answer})"
    return Sheet(title.rstrip("."), " ".join(question.split()), f"{steps}\n{shown}")
