"""The parts that follow the beginning of source 000: the margin, slack, and sub-gradient descent on the primal."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.data import toys
from maxmargin.lesson import fits, runs
from maxmargin.lesson.exercises import source000 as exercises
from maxmargin.lesson.figures import Hyperplane, plot
from maxmargin.lesson.part import Formula, Part, Picture, Recording, Rows, Table

COSTS = (0.01, 1.0, 100.0)
#: Learning rates of algorithm 1: too small, right, too large, and so large that it diverges.
RATES = {"η = 0.0002": 0.0002, "η = 0.01": 0.01, "η = 0.05": 0.05, "η = 0.25": 0.25}
RIGHT = 0.01


def margin_facts() -> dict[str, Any]:
    """Numbers of the first part."""
    result = fits.exact(toys.overlapping)
    return {
        "width": f"{result.margin_width:.2f}",
        "violating": int(np.sum(result.slack > 1e-6)),
        "wrong": int(np.sum(result.slack > 1)),
        "support": len(result.support),
        "widths": ", ".join(f"{fits.exact(toys.overlapping, C).margin_width:.2f}" for C in COSTS),
    }


MARGIN = Part(
    key="margin",
    source="000",
    title="The margin, slack and the price $C$",
    idea=(
        r"Many hyperplanes $w^\top x + b = 0$ separate two classes. The support vector machine takes the one that"
        " stays as far as possible from the nearest samples on both sides. Scale $w$ and $b$ so that the nearest"
        r" samples have $y_i (w^\top x_i + b) = 1$; then the empty strip between the classes, the *margin*, is"
        r" $2/\|w\|$ wide, and the widest margin is the smallest $\|w\|$. (Some texts call half of this width, the"
        " distance of the nearest sample from the hyperplane, the margin.)",
        "Often no hyperplane separates the classes, or a wide margin is worth a few violations. So each sample gets"
        r" a *slack* $\xi_i \ge 0$, which says how far it is on the wrong side of its margin, and slack has the price"
        r" $C$. At the minimum the slack is as small as the constraint allows, $\xi_i = \max(0, 1 - y_i z_i)$ with"
        r" the score $z_i = w^\top x_i + b$. This function is the *hinge loss*, and with it the constraints"
        " disappear.",
    ),
    formulas=(
        Formula(
            "The soft margin with its constraints:",
            r"\min_{w, b, \xi} \; \half \|w\|^2 + C \sum_{i=1}^n \xi_i \quad \text{subject to} \quad y_i (w^\top x_i"
            r" + b) \ge 1 - \xi_i, \quad \xi_i \ge 0",
        ),
        Formula(
            "The same problem without constraints (first ours, then the form of sources 000 and 003, with"
            r" $\lambda = 1/C$):",
            r"\min_{w, b} \; \half \|w\|^2 + C \sum_{i=1}^n \max(0, 1 - y_i z_i) \quad \iff \quad \min_{w, b} \;"
            r" \sum_{i=1}^n \max(0, 1 - y_i z_i) + \frac{\lambda}{2} \|w\|^2",
        ),
    ),
    call="""\
X, y = toys.overlapping()
result = solve(Problem(X, y, C=1.0))
result.w, result.b, result.margin_width, result.slack
print(result.certificate)
""",
    shown=(
        Picture(
            "margin",
            r"The hyperplane (solid), the margin of width $2/\|w\|$ between the two broken lines, and the slack of"
            " each sample that violates its margin.",
            plot("boundary", lambda: fits.exact(toys.overlapping), slack=True, title="two overlapping clouds, C = 1"),
        ),
        Picture(
            "hinge",
            "The hinge loss of a sample of the class $+1$ (figure 1 of source 000), its slope, and its conjugate,"
            " which [[conjugate]] explains.",
            plot("losses", lambda: ("hinge",)),
        ),
        Picture(
            "cost",
            "The same data for three values of $C$.",
            plot("grid_of", lambda: {f"C = {C:g}": fits.exact(toys.overlapping, C) for C in COSTS}),
        ),
    ),
    recorded=Recording(
        "margin-run",
        "Sequential minimal optimisation finds this margin, one pair of samples at a time.",
        runs.margin,
    ),
    notice=(
        "For $C = 1$ the margin is <<width>> wide. <<violating>> of 100 samples violate it; <<wrong>> of these have a"
        " slack above 1 and are therefore misclassified.",
        "The hyperplane depends on <<support>> samples only, the support vectors. All others could be deleted"
        " ([[kinds]]).",
        "The margins for $C = 0.01$, $1$ and $100$ are <<widths>> wide. A small $C$ buys a wide margin and accepts"
        " violations; a large $C$ pays for fewer violations with a narrow margin.",
    ),
    misprints=(
        r"For samples that are classified correctly the text gives the range of the hinge as $(-\infty, 1]$. The"
        " hinge is never negative: the range is $[0, 1]$.",
    ),
    exercises=(exercises.margin_and_slacks_by_hand, exercises.wider_or_fewer_violations),
    facts=margin_facts,
)


def subgradient_facts() -> dict[str, Any]:
    """Numbers of the second part."""
    c, values = fits.REGULARISER, objectives(0.05)
    optimum = fits.trained(fits.through_origin(), tol=1e-10).certificate.primal
    return {
        "rises": int(np.sum(np.diff(values) > 0)),
        "steps": len(values),
        "best": f"{c * fits.subgradient(RIGHT).certificate.primal:.4f}",
        "optimum": f"{c * optimum:.4f}",
    }


def objectives(eta: float) -> np.ndarray:
    """The objective of source 000 at every step of a run of algorithm 1."""
    X, y = toys.overlapping()
    steps = np.array([snapshot.w for snapshot in fits.subgradient(eta).trace.snapshots])
    hinges = np.maximum(0.0, 1.0 - y * (steps @ X.T)).sum(axis=1)
    return hinges + 0.5 * fits.REGULARISER * (steps**2).sum(axis=1)


def rates_table() -> Rows:
    """What became of algorithm 1 at each learning rate."""
    rows = []
    for name, eta in RATES.items():
        values = objectives(eta)
        rows.append((name, f"{values.min():.5g}", f"{values[-1]:.5g}", str(fits.subgradient(eta).status)))
    return ("learning rate", "best $f(a)$", "last $f(a)$", "how the run ended"), rows


def paths() -> dict[str, Any]:
    """The four runs, the wild ones short enough to be seen."""
    steps = {0.0002: 200, 0.01: 60, 0.05: 15, 0.25: 4}
    return {name: fits.subgradient(eta, steps[eta]) for name, eta in RATES.items()}


def last_hyperplane(eta: float) -> tuple[Any, ...]:
    """The hyperplane where a run of algorithm 1 ended, with the data: no multipliers, hence no support vectors."""
    last = fits.subgradient(eta).trace.snapshots[-1]
    return Hyperplane(last.w, last.b), *toys.overlapping()


SUBGRADIENT = Part(
    key="subgradient",
    source="000",
    title="Sub-gradient descent on the primal",
    idea=(
        "The hinge has a kink, where it has no derivative. But it has *sub-gradients*: slopes of lines that touch the"
        " function there and are nowhere above it. Sub-gradient descent follows one of them in each step. Every"
        " sample inside the margin or on the wrong side pulls $a$ towards $y_i x_i$; the regulariser pulls it back to"
        " 0.",
        r"This part uses the letters of source 000: $a$ for $w$, no bias, regularisation weight $c$ (our $\lambda$),"
        ' learning rate $\\eta$. `objective="lam"` makes the solver apply its steps to that objective.',
    ),
    formulas=(
        Formula(
            "The objective and its sub-gradient:",
            r"f(a) = \sum_{i=1}^n \max(0, 1 - y_i a^\top x_i) + \frac{c}{2} \|a\|^2, \qquad g = c\,a - \sum_{i:\, 1 -"
            r" y_i a^\top x_i > 0} y_i x_i",
        ),
        Formula("The step:", r"a \leftarrow a - \eta\, g"),
    ),
    twins=("subgradient_descent",),
    call="""\
X, y = toys.overlapping()
problem = Problem(X, y, lam=10.0, bias="none")  # lam is the text's c
start = np.array([-0.6, 1.8]), 0.0             # initial weights, and no bias
result = solve(problem, Subgradient(step=0.01, objective="lam"), start=start, max_iter=200, every=1)
""",
    shown=(
        Picture(
            "subgradient-loss",
            r"Algorithm 1 with $\eta = 0.01$: both objectives, the gap and the training accuracy (figures 2 and 3 of"
            " source 000). Our objective is the text's, divided by $c$.",
            plot("convergence", lambda: fits.subgradient(RIGHT)),
        ),
        Picture(
            "subgradient-hyperplane",
            "The hyperplane after the last step (figure 4 of source 000). A primal method has no multipliers, so no"
            " support vectors are marked.",
            plot("boundary", lambda: last_hyperplane(RIGHT), unpack=True, title="sub-gradient descent, η = 0.01"),
        ),
        Picture(
            "learning-rate",
            "The effect of the learning rate: the paths of $a$ from the initial weights over the contours of the"
            " objective. The two wild ones are cut off after a few steps.",
            plot("descent", paths, start=fits.START),
        ),
        Table("The four runs of 200 steps.", rates_table),
    ),
    recorded=Recording(
        "subgradient-run",
        "Algorithm 1 to step through, from $a = 0$: the objective may rise from one step to the next.",
        runs.subgradient,
    ),
    notice=(
        r"With $\eta = 0.05$ the objective rose in <<rises>> of <<steps>> steps. A step along a sub-gradient need not"
        " lower the objective, so the solver remembers its best point. For the run with $0.01$ its value is"
        " <<best>>; the optimum is <<optimum>>.",
        "Too small a learning rate wastes steps. Too large a learning rate jumps over the minimum again and again."
        " With a constant rate the iterates end up swinging around the minimum at a distance that is proportional to"
        r" $\eta$; only a shrinking step, such as $\eta_t \propto 1/t$, settles.",
        "The initial weights decide the path, not the goal: the objective is strictly convex in $a$.",
        "Every run has a certificate. The average of the pulls is a feasible dual point ([[conjugate]]), and its"
        " value is a lower bound for the optimum.",
    ),
    misprints=(
        r"The cases of the sub-gradient test the sign of $a^\top x_i y_i$. They must test $1 - a^\top x_i y_i > 0$,"
        " as the pseudocode does. See [[subgradient.3]] for what happens otherwise.",
        "The text calls the primal possibly non-convex. It is a sum of convex functions, hence convex.",
    ),
    exercises=(
        exercises.not_a_descent_method,
        exercises.any_initial_weights,
        exercises.the_cases_of_the_sub_gradient,
    ),
    facts=subgradient_facts,
)
