"""The demonstration: every method of the textbooks on four small problems, a table, and a lesson in pictures.

1. Solve each problem by every method that accepts it, to the method's usual gap.
2. Say in one table what came out, and check that all methods agree within their gaps.
3. Draw, part by part, what happened, and write it down as a page that reads as a lesson.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.data import toys
from maxmargin.errors import MissingExtra
from maxmargin.lesson import INTRODUCTION, PARTS, THEORY, Part
from maxmargin.page import document, picture, table
from maxmargin.problem import Bias, Problem
from maxmargin.result import Reason, Result
from maxmargin.solve import solve
from maxmargin.solvers.base import Solver, registry

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def trained(problem: Problem, **options: Any) -> Result:
    """A fit; where `solve` would hand back what it has on Ctrl-C, the demonstration ends."""
    result = solve(problem, **options)
    if result.status.reason is Reason.INTERRUPTED:
        raise KeyboardInterrupt
    return result


def rows(task: Task) -> Iterator[Row | str]:
    """Solve a task by every method that accepts it (1.); a method whose library is missing says so instead."""
    problems: dict[Bias, Problem] = {bias: task.problem(bias) for bias in ("free", "augmented")}
    for method in methods():
        for bias, problem in problems.items():
            if method != "auto" and registry[method].accepts(problem) is not None:
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
        return "All methods agree within their gaps (the perceptron only separates: it maximises no margin)."
    return f"The methods do NOT agree within their gaps: off by {worst:.2g} times."


# The lesson (3.)


def lesson(folder: Path, found: list[Row], say: Callable[[str], None]) -> Path:
    """Draw all figures into the folder and write the page that shows them; returns its path."""
    from maxmargin import plots

    folder.mkdir(parents=True, exist_ok=True)
    body = [
        "<h1>Support vector machines with proof</h1>",
        f'<p class="soft">{INTRODUCTION}</p>',
    ]
    for name, title, caption, text in THEORY:
        say(title)
        figure = getattr(plots, name)().figure
        body += [f"<h2>{title}</h2>", f"<p>{text}</p>", _saved(figure, folder, name, caption)]
    for part in PARTS:
        say(part.title)
        body += [f"<h2>{part.title}</h2>", f"<p>{part.text}</p>", *_part_figures(part, folder)]
    say("the race and the table")
    body += _race(folder, found)
    page = folder / "index.html"
    page.write_text(document("Support vector machines with proof", "\n".join(body)), encoding="utf-8")
    return page


def _part_figures(part: Part, folder: Path) -> Iterator[str]:
    from maxmargin import plots

    X, y = part.data()
    problem = Problem(X, y, kernel=part.kernel, bias=part.bias, C=part.C)
    result = trained(problem, solver=part.solver, tol=part.tol, every=1, snapshots=part.animated, max_time=10)
    name = part.file
    yield _saved(plots.convergence(result).figure, folder, f"{name}-convergence", f"{part.method}: loss and accuracy")
    yield _saved(plots.boundary(result).figure, folder, f"{name}-hyperplane", f"{part.method}: the hyperplane")
    yield _saved(plots.support(result).figure, folder, f"{name}-support", f"{part.method}: the support vectors")
    if part.animated:
        plots.animate(result, folder / f"{name}.gif")
        yield picture(
            f"{name}.gif", f"{part.method}: the hyperplane over the iterations; support vectors leave as it goes on"
        )
    yield f'<p class="soft">{part.method}: {result.status}.</p>'


def _race(folder: Path, found: list[Row]) -> Iterator[str]:
    from maxmargin import plots
    from maxmargin.solvers.textbook.coordinate_ascent import CoordinateAscent
    from maxmargin.solvers.textbook.pegasos import Pegasos

    problem = TASKS[-1].problem("augmented")
    contest: dict[str, Solver] = {"SDCA (coordinate ascent)": CoordinateAscent("sampled"), "SGD (Pegasos)": Pegasos()}
    duel = {
        name: trained(problem, solver=solver, tol=1e-6, max_iter=2000, every=1, max_time=10)
        for name, solver in contest.items()
    }
    yield "<h2>SDCA against SGD</h2>"
    yield (
        "<p>Both look at one sample at a time. Stochastic gradient descent needs a step size that shrinks, and with it"
        " its progress; stochastic dual coordinate ascent solves for each variable exactly, and its gap falls by a"
        " constant factor an epoch once the support vectors are found.</p>"
    )
    yield _saved(
        plots.race(duel, against="iterations").figure, folder, "sdca-sgd", "The gap, epoch by epoch, on breast cancer"
    )
    racers = {}
    for method in registry.names():
        task_problem = TASKS[-1].problem("free")
        if method != "perceptron" and registry[method].accepts(task_problem) is None:
            racers[method] = trained(task_problem, solver=method, tol=1e-6, max_time=2)
    yield "<h2>The race</h2>"
    yield (
        "<p>All methods that can have a free bias, on breast cancer, for two seconds at most: the relative gap against"
        " the time. What a textbook calls an iteration costs very different amounts of work; the clock is fair.</p>"
    )
    yield _saved(plots.race(racers).figure, folder, "race", "Relative gap against seconds")
    yield "<h2>The table</h2>"
    yield (
        "<p>Every method on every problem, with its certificate. Columns: the bias, free or augmented (aug.); steps and"
        " seconds; both objectives; their relative gap; the share of training samples that are right; SVs.</p>"
    )
    for task in TASKS:
        mine = [row for row in found if row.task is task]
        yield f"<h3>{task.title}</h3>" + table(HEADER, [row.cells() for row in mine])
        yield f'<p class="soft">{agreement(mine)}</p>'


def _saved(figure: Figure, folder: Path, name: str, caption: str) -> str:
    figure.savefig(folder / f"{name}.png", dpi=120, bbox_inches="tight")
    return picture(f"{name}.png", caption)
