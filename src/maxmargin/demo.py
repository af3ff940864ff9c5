"""The demonstration: every method of the textbooks on four small problems, a table, and a course in one page.

1. Solve each problem by every method that accepts it, to the method's usual gap.
2. Say in one table what came out, and check that all methods agree within their gaps.
3. Write the course: text, formulas, code, figures and exercises, part by part, and the table at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from maxmargin.data import toys
from maxmargin.errors import MissingExtra
from maxmargin.lesson.build import section, show
from maxmargin.lesson.course import NUMBERS, PARTS, TITLE, introduction, source_map
from maxmargin.lesson.figures import plot
from maxmargin.lesson.fits import trained
from maxmargin.lesson.part import Picture
from maxmargin.lesson.prose import paragraph
from maxmargin.lesson.style import STYLE
from maxmargin.page import document, table, write
from maxmargin.problem import Bias, Problem
from maxmargin.result import Result
from maxmargin.solvers import refusal
from maxmargin.solvers.base import registry
from maxmargin.studio.tape import tape_of

#: Short, so that the table fits a terminal of 80 columns; "gap" is the relative one, "right" the training accuracy.
HEADER = ("method", "bias", "steps", "seconds", "primal", "dual", "gap", "right", "SVs")

#: Methods that work to the last digits; the first-order ones stop at a thousandth.
EXACT = ("coordinate-ascent", "smo", "qp", "qp-primal", "interior-point", "coordinate-newton", "working-set", "auto")


@dataclass(frozen=True)
class Task:
    """One data set of the demonstration and how it is solved."""

    title: str
    load: Callable[[], tuple[np.ndarray, np.ndarray]]
    kernel: str
    C: float

    def problem(self, bias: Bias) -> Problem:
        """The task as a problem."""
        X, y = self.load()
        return Problem(X, y, kernel=self.kernel, bias=bias, C=self.C)


TASKS = (
    Task("two separable clouds, hard margin", toys.separable, "linear", np.inf),
    Task("two overlapping clouds", toys.overlapping, "linear", 1.0),
    Task("two moons, RBF kernel", toys.moons, "rbf", 1.0),
    Task("breast cancer, 30 features", toys.breast_cancer, "linear", 1.0),
)


@dataclass(frozen=True)
class Row:
    """One line of the table: a method on a task."""

    task: Task
    method: str
    bias: Bias
    result: Result

    def cells(self) -> tuple[str, ...]:
        """What the table shows, in the order of HEADER."""
        certificate, result = self.result.certificate, self.result
        accuracy = np.mean(result.predict(result.problem.X) == result.problem.labels(result.problem.target))
        return (
            self.method,
            "free" if self.bias == "free" else "aug.",
            f"{result.iterations:,}",
            f"{result.trace.solver_seconds:.2f}",
            f"{certificate.primal:.5g}",
            f"{certificate.dual:.5g}",
            f"{certificate.relative_gap:.0e}",
            f"{accuracy:.3f}",
            f"{len(result.support)}",
        )


def methods() -> list[str]:
    """Every registered method, and the one that is chosen by itself."""
    return ["auto", *registry.names()]


def rows(task: Task) -> Iterator[Row | str]:
    """Solve a task by every method that accepts it (1.); a method whose library is missing says so instead."""
    problems: dict[Bias, Problem] = {bias: task.problem(bias) for bias in ("free", "augmented")}
    for method in methods():
        for bias, problem in problems.items():
            if method != "auto" and refusal(registry[method], problem) is not None:
                continue
            try:
                tol = 1e-8 if method in EXACT else 1e-3
                yield Row(task, method, bias, trained(problem, solver=method, tol=tol, max_time=20))
            except MissingExtra as missing:
                yield f"{method}: {missing}"
            break


def agreement(found: list[Row]) -> str:
    """Whether all methods agree within their gaps, in words (2.)."""
    worst = 0.0
    compared = 0
    for one in found:
        for other in found:
            if one.bias == other.bias and "perceptron" not in (one.method, other.method):
                certificates = one.result.certificate, other.result.certificate
                difference = abs(certificates[0].primal - certificates[1].primal)
                allowed = sum(c.gap for c in certificates) + 1e-12 * abs(certificates[0].primal)
                worst = max(worst, difference / allowed)
                compared += 1
    if worst <= 1.0:
        return "All methods agree within their gaps (the perceptron is not compared: it maximises no margin)."
    return f"The methods do NOT agree within their gaps: off by {worst:.2g} times."


# The lesson (3.)


def lesson(folder: Path, found: list[Row], say: Callable[[str], None]) -> Path:
    """Draw all figures into the folder and write the page that shows them; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    body = [introduction()]
    for part in PARTS:
        say(f"part {NUMBERS[part.key]} of {len(PARTS)}")
        body.append(section(part, NUMBERS, folder, tape_of))
    say("all methods")
    body += [_race(folder), _tables(found), source_map()]
    return write(folder / "index.html", document(TITLE, "\n".join(body), STYLE))


@cache
def contest() -> dict[str, Result]:
    """Every method that can have a free bias on breast cancer, for two seconds at most."""
    problem = TASKS[-1].problem("free")
    taking_part = [
        name for name in registry.names() if name != "perceptron" and refusal(registry[name], problem) is None
    ]
    return {name: trained(problem, name, tol=1e-6, max_time=2.0) for name in taking_part}


def _race(folder: Path) -> str:
    shown = Picture(
        "all-methods",
        "All methods that can have a free bias, on breast cancer, for two seconds at most: relative gap against"
        " seconds.",
        plot("race", contest, narrow=(4.2, 6.4)),
    )
    text = (
        "What a text calls an iteration costs very different amounts of work, so only the clock is fair. The methods"
        " of the sources are here beside the library's own fast ones."
    )
    return f'<section id="all"><h2>All methods in one figure</h2>{paragraph(text)}{show(shown, folder)}</section>'


def _tables(found: list[Row]) -> str:
    text = (
        "Every method on every problem, with its certificate. Columns: the bias, free or augmented (aug.); steps and"
        " seconds; both objectives; their relative gap; the share of training samples that are classified correctly;"
        " the number of support vectors."
    )
    pieces = [f'<section id="table"><h2>Every method on four problems</h2>{paragraph(text)}']
    for task in TASKS:
        mine = [row for row in found if row.task is task]
        pieces.append(f"<h3>{task.title}</h3>" + table(HEADER, [row.cells() for row in mine]))
        pieces.append(paragraph(agreement(mine), kind="soft"))
    return "\n".join([*pieces, "</section>"])
