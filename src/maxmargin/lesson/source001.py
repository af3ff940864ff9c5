"""The parts that follow source 001: the multipliers of the soft margin, and gradient ascent with its schedules."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from maxmargin.data import toys
from maxmargin.lesson import fits, runs
from maxmargin.lesson.exercises import source001 as exercises
from maxmargin.lesson.figures import plot
from maxmargin.lesson.part import Formula, Part, Picture, Recording, Rows, Table
from maxmargin.problem import Problem
from maxmargin.result import Result
from maxmargin.solvers import GradientAscent, StochasticAscent


def shifted() -> tuple[np.ndarray, np.ndarray]:
    """The overlapping clouds away from the origin, so that the hyperplane needs a bias."""
    X, y = toys.overlapping()
    return X + 4.0, y


def multipliers_table() -> Rows:
    """Two samples of each kind with all their numbers."""
    result = fits.exact(toys.overlapping)
    kinds, margin = result.certificate.kinds, result.problem.target * result.decision_function(result.problem.X)
    rows = []
    for kind in ("outside", "free", "bound"):
        for i in kinds[kind][:2]:
            numbers = (margin[i], result.slack[i], result.alpha[i], result.slack_multipliers[i])
            rows.append((str(i), kind, *(fits.signed(value) for value in numbers)))
    return ("sample", "kind", "margin $y_i z_i$", r"slack $\xi_i$", r"$\alpha_i$", r"$\beta_i = C - \alpha_i$"), rows


MULTIPLIERS = Part(
    key="multipliers",
    source="001",
    title="The multipliers of the soft margin",
    idea=(
        "*Step 1* of source 001 removes the intercept: it appends a 1 to every sample, so that $b$ becomes one more"
        " weight. This is easy, but not for free, because now $b^2$ is part of the regulariser. The library calls it"
        ' `bias="augmented"`; `bias="free"` leaves $b$ out of the regulariser, and `bias="none"` has no $b$ at all.',
        "*Step 2* picks the dual. *Step 3* gives each sample two multipliers, one for each of its constraints:"
        r" $\alpha_i$ for $y_i z_i \ge 1 - \xi_i$ and $\beta_i$ for $\xi_i \ge 0$. (Only here is $\beta_i$ this"
        r" second multiplier; elsewhere in the library $\beta_i = y_i \alpha_i$.) Setting the derivatives of the"
        " Lagrangian to zero removes $w$, $b$ and the slacks, and what remains is the dual.",
    ),
    formulas=(
        Formula(
            "The Lagrangian:",
            r"L = \half \|w\|^2 + C \sum_i \xi_i - \sum_i \alpha_i \left( y_i (w^\top x_i + b) - 1 + \xi_i \right) -"
            r" \sum_i \beta_i \xi_i",
        ),
        Formula(
            "Its derivatives vanish:",
            r"w = \sum_i \alpha_i y_i x_i, \qquad \sum_i \alpha_i y_i = 0 \text{ (free bias only)}, \qquad \beta_i ="
            r" C - \alpha_i",
        ),
        Formula(
            r"The dual; the bounds on $\alpha_i$ say that both multipliers are at least 0:",
            r"\max_\alpha \; J(\alpha) = \sum_i \alpha_i - \half \sum_{i, j} \alpha_i \alpha_j y_i y_j x_i^\top x_j"
            r" \quad \text{subject to} \quad 0 \le \alpha_i \le C, \quad \sum_i \alpha_i y_i = 0",
        ),
    ),
    call="""\
X, y = toys.overlapping()
result = solve(Problem(X, y, C=1.0, bias="free"))
result.alpha, result.slack, result.slack_multipliers  # α_i, ξ_i and C − α_i
solve(Problem(X, y, C=1.0, bias="augmented"))         # step 1 of source 001
""",
    shown=(
        Table("Two samples of each kind, $C = 1$. In each row one of $\\xi_i$ and $\\beta_i$ is 0.", multipliers_table),
        Picture(
            "bias",
            "The same data with three kinds of bias. The clouds are away from the origin, so it matters: without a"
            " bias the hyperplane has to pass through the origin, which is outside the third panel.",
            plot(
                "grid_of",
                lambda: {
                    "free bias": fits.exact(shifted),
                    "augmented bias": fits.exact(shifted, bias="augmented"),
                    "no bias": fits.exact(shifted, bias="none"),
                },
            ),
        ),
    ),
    recorded=Recording(
        "multipliers-run",
        "Coordinate ascent, one multiplier at a time, with the bias as the last weight.",
        runs.multipliers,
    ),
    notice=(
        r"A sample outside the margin has $\alpha_i = 0$ and $\beta_i = C$. A sample with positive slack has"
        r" $\alpha_i = C$ and $\beta_i = 0$. Only samples exactly on the margin can have both multipliers positive.",
        r"$w$ is a sum over the samples with $\alpha_i > 0$, the support vectors. Nothing else enters.",
        "An augmented bias is pulled towards 0; with no bias at all the hyperplane has to pass through the origin.",
    ),
    misprints=(
        r"Source 001 removes the intercept by step 1 and still keeps $\sum_i \alpha_i y_i = 0$. It is one or the"
        " other: together they force $b = 0$ ([[multipliers.2]]).",
        r"For constraints $g_i \ge 0$ of a *minimisation* the multipliers enter with a minus sign, $f - \sum_i"
        r" \alpha_i g_i$. The text prints a plus first and then, rightly, a minus.",
    ),
    exercises=(exercises.two_kinds_of_multipliers, exercises.one_or_the_other),
)

AUGMENTED_STEPS = 300


@cache
def ascents() -> dict[str, Result]:
    """Gradient ascent with four rules for its step, and stochastic gradient ascent."""
    X, y = toys.overlapping()
    problem = Problem(X, y, C=1.0, bias="augmented")
    ones = np.column_stack([X, np.ones(len(y))])
    first = 1.0 / float(np.linalg.eigvalsh(ones.T @ ones)[-1])
    rules: dict[str, Any] = {
        "constant step": GradientAscent(step=first),
        "step ∝ 1/√t": GradientAscent(step=lambda t: first / np.sqrt(t)),
        "step ∝ 1/t": GradientAscent(step=lambda t: first / t),
        "spectral step": GradientAscent(),
        "stochastic": StochasticAscent(),
    }
    return {
        name: fits.trained(problem, solver, tol=1e-8, max_iter=AUGMENTED_STEPS, every=1)
        for name, solver in rules.items()
    }


def ascent_facts() -> dict[str, Any]:
    """Numbers of the part on gradient ascent."""
    runs = ascents()
    return {
        "steps": AUGMENTED_STEPS,
        "constant": fits.short(runs["constant step"].certificate.relative_gap),
        "shrinking": fits.short(runs["step ∝ 1/t"].certificate.relative_gap),
        "spectral": runs["spectral step"].iterations,
        "stochastic": runs["stochastic"].iterations,
    }


ASCENT = Part(
    key="ascent",
    source="001",
    title="Gradient ascent and stochastic gradient ascent",
    idea=(
        r"*Step 4* of source 001 climbs the dual. Gradient ascent moves all $\alpha_i$ at once, with a step $\eta_t$"
        " that may change from step to step. Stochastic gradient ascent moves one of them at a time, along its own"
        " component of the gradient. After each step the variables are clipped to their interval.",
        r"Which rule for $\eta_t$? A sub-gradient does not become small near the minimum, so its step has to shrink."
        " The gradient of the dual does become small, so a constant step will do. A better rule reads the curvature"
        " off the last two gradients: the *spectral* step, which the library takes by default.",
    ),
    formulas=(
        Formula(
            "The gradient of the dual:",
            r"\frac{\partial J}{\partial \alpha_i} = 1 - y_i \sum_{j} \alpha_j y_j x_i^\top x_j = 1 - y_i z_i",
        ),
        Formula(
            "Gradient ascent:", r"\alpha \leftarrow \Proj_{[0, C]} \left[ \alpha + \eta_t \nabla J(\alpha) \right]"
        ),
        Formula(
            "Stochastic gradient ascent, for one $i$:",
            r"\alpha_i \leftarrow \Proj_{[0, C]} \left[ \alpha_i + \eta_i (1 - y_i z_i) \right]",
        ),
    ),
    twins=("gradient_ascent", "stochastic_gradient_ascent"),
    call="""\
X, y = toys.overlapping()
problem = Problem(X, y, C=1.0, bias="augmented")
solve(problem, GradientAscent(step=lambda t: 0.01 / t**0.5), max_iter=300)         # any schedule η_t
solve(problem, StochasticAscent(step=0.05, order="random"), max_iter=300, every=1)  # one α_i at a time
solve(problem, GradientAscent())                                                   # spectral steps
""",
    shown=(
        Picture(
            "schedules",
            "The relative gap of five runs. The constant step and the two that shrink begin alike. An iteration of the"
            " stochastic form is an epoch: it changes every variable once on average, which costs about as much as one"
            " full gradient.",
            plot("race", ascents, against="iterations", x_scale="linear"),
        ),
    ),
    recorded=Recording(
        "ascent-run",
        "Stochastic gradient ascent to step through, one sample at a time.",
        runs.ascent,
    ),
    notice=(
        "After <<steps>> steps the constant step has reached a gap of <<constant>>; with steps that shrink like $1/t$"
        " it is <<shrinking>>. A step that shrinks without need is a waste.",
        r"Spectral steps reach $10^{-8}$ in <<spectral>> steps, without a learning rate to tune.",
        "The stochastic form reaches it in <<stochastic>> epochs, far ahead of the constant step: it uses each new"
        r" $\alpha_i$ at once, instead of waiting for the whole gradient. With $\eta_i = 1/\|x_i\|^2$ it would be"
        " coordinate ascent ([[coordinate]]).",
    ),
    misprints=(
        r"The part of $J$ that depends on $\alpha_i$ is printed with $\half$ before the cross term. Each pair $i \ne"
        " j$ occurs twice in the double sum, so the factor is 1. The gradient in the text is right ([[ascent.1]]).",
        "The stochastic update mixes $y_k$ and $y_i$; both must be $y_i$. And neither update in the text clips.",
    ),
    exercises=(exercises.half_or_one, exercises.schedules, exercises.noise_that_vanishes),
    facts=ascent_facts,
)
