"""The part that follows the end of source 003: coordinate ascent against stochastic gradient descent."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from maxmargin.data import toys
from maxmargin.lesson import fits, runs
from maxmargin.lesson.exercises import source003 as exercises
from maxmargin.lesson.figures import plot
from maxmargin.lesson.part import Formula, Part, Picture, Recording
from maxmargin.problem import Problem
from maxmargin.result import Result
from maxmargin.solvers import SGD, CoordinateAscent, Pegasos

EPOCHS = 100


@cache
def duel() -> dict[str, Result]:
    """Coordinate ascent and stochastic gradient descent on breast cancer, epoch by epoch."""
    problem = Problem(*toys.breast_cancer(), C=0.03, bias="augmented")
    contest: dict[str, Any] = {
        "SDCA (coordinate ascent)": CoordinateAscent("random"),
        "SGD, last iterate": SGD(),
        "SGD, averaged (Pegasos)": Pegasos(),
    }
    return {name: fits.trained(problem, solver, tol=1e-7, max_iter=EPOCHS, every=1) for name, solver in contest.items()}


def duel_facts() -> dict[str, Any]:
    """Numbers of the part on coordinate ascent and SGD."""
    runs = duel()
    gap = runs["SDCA (coordinate ascent)"].trace["relative_gap"]
    late = np.flatnonzero((gap < 1e-2) & (gap > 1e-8))
    slope = np.polyfit(late, np.log(gap[late]), 1)[0]
    return {
        "epochs": EPOCHS,
        "factor": f"{np.exp(slope):.2f}",
        "sdca": fits.short(runs["SDCA (coordinate ascent)"].certificate.relative_gap),
        "sgd": fits.short(runs["SGD, averaged (Pegasos)"].certificate.relative_gap),
    }


DUEL = Part(
    key="sgd",
    source="003",
    title="Coordinate ascent against SGD",
    idea=(
        "Both methods look at one random sample at a time, and both cost one row of data per update. *Stochastic"
        " gradient descent* works on the primal: the sample's sub-gradient, times $N$, stands for the sum over all"
        r" samples. It is right only on average, so the step has to shrink, $\eta_t = 1/(\lambda t)$, and with it the"
        " progress.",
        "*Coordinate ascent* on the dual (SDCA) solves for the sample's own multiplier exactly. It remembers what it"
        " did with each sample, so its updates become small by themselves, and no step size is needed. Source 003"
        " draws the coordinates at random; shuffling them in each epoch is usually a little faster.",
    ),
    formulas=(
        Formula(
            "SGD, for a random $n$:",
            r"w \leftarrow w - \frac{1}{\lambda t} \left( \lambda w - N\, y_n x_n\, [\,y_n x_n^\top w < 1\,] \right)",
        ),
        Formula(
            "Coordinate ascent, for a random $n$:",
            r"\alpha_n \leftarrow \Proj_{[0, 1]} \left[ \alpha_n + \lambda\, \frac{1 - y_n x_n^\top w}{\|x_n\|^2}"
            r" \right], \qquad w = \frac{1}{\lambda} X^\top Y \alpha",
        ),
    ),
    twins=("coordinate_ascent", "sgd"),
    call="""\
X, y = toys.breast_cancer()
problem = Problem(X, y, C=0.03, bias="augmented")
solve(problem, CoordinateAscent("random"), tol=1e-7, max_iter=100, every=1)
solve(problem, SGD(), tol=1e-7, max_iter=100, every=1)
""",
    shown=(
        Picture(
            "sdca-sgd",
            "The relative gap per epoch on the breast cancer data (figure 12 of source 000). An iteration is an"
            " epoch. Its axis is linear, so a constant factor per epoch is a straight line.",
            plot("race", duel, against="iterations", x_scale="linear"),
        ),
    ),
    recorded=Recording(
        "sgd-run",
        "Stochastic gradient descent to step through, epoch by epoch: the gap falls, and then swings.",
        runs.sgd,
    ),
    notice=(
        "After the first epochs coordinate ascent multiplies its gap by about <<factor>> per epoch, which is a straight"
        " line here. After <<epochs>> epochs it is at <<sdca>>.",
        "The curves of SGD flatten: each further digit costs about ten times as many epochs. After <<epochs>> epochs"
        " the averaged form is at <<sgd>>. For a rough answer on a large data set this can be enough.",
        "Source 003 ends with questions. Where support vectors lie is answered in [[kinds]], and why they arise in"
        " [[losses.2]]. Regression and several classes are in the exercises below.",
    ),
    exercises=(
        exercises.a_rate_per_epoch,
        exercises.support_vectors_of_a_regression,
        exercises.three_classes,
    ),
    facts=duel_facts,
)
