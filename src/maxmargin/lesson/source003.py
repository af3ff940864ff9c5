"""The parts that follow the theory of source 003: losses, the saddle point, and the kinds of vectors."""

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


@cache
def three_losses() -> dict[str, Result]:
    """The overlapping clouds with each loss of source 003."""
    X, y = toys.overlapping()
    names = {"hinge": "hinge", "least squares (MSE)": "least-squares", "logistic": "logistic"}
    return {
        label: fits.trained(Problem(X, y, loss=loss, C=1.0, task="classification"), tol=1e-8, every=1)
        for label, loss in names.items()
    }


LOSSES = Part(
    key="losses",
    source="003",
    title="Three losses: hinge, squares, logistic",
    idea=(
        r"Source 003 reaches the SVM from logistic regression by changing one thing, the loss. With labels $\pm 1$"
        " and a score $f$ all three losses depend on the product $y f$ only, which is large when the sample is"
        " classified correctly and with confidence.",
        r"The *hinge* charges nothing beyond the margin, $y f \ge 1$. *Least squares* (the text's MSE) charges for"
        " every deviation from $y f = 1$, even for samples far on the correct side. The *logistic* loss charges a"
        " little everywhere. Where a loss is flat, its slope is zero, and so is the dual variable: the sample has no"
        " influence on the hyperplane.",
    ),
    formulas=(
        Formula(
            "The three losses:",
            r"\begin{aligned} \text{hinge} \quad & [1 - y f]_+ = \max(0, 1 - y f) \\ \text{least squares (MSE)} \quad"
            r" & (1 - y f)^2 = (y - f)^2 \\ \text{logistic} \quad & \log(1 + e^{-y f}) \end{aligned}",
        ),
        Formula(
            r"The dual variable is $-C$ times the slope of the loss:",
            r"\beta_i = -C\, \ell'(z_i), \qquad w = \sum_i \beta_i x_i",
        ),
    ),
    call="""\
X, y = toys.overlapping()
for loss in ("hinge", "least-squares", "logistic"):
    solve(Problem(X, y, loss=loss, C=1.0, task="classification"))
""",
    shown=(
        Picture(
            "losses",
            "The losses of a sample of the class $+1$, their slopes and their conjugates. The squared hinge is a"
            " smooth relative of the hinge.",
            plot("losses", None),
        ),
        Picture(
            "three-losses",
            "The three losses on the overlapping clouds.",
            plot("grid_of", three_losses),
        ),
    ),
    recorded=Recording(
        "losses-run",
        "Newton's method on the logistic loss: no sample has a multiplier of 0.",
        runs.losses,
    ),
    notice=(
        "The hinge is the only one of the three with a kink and with a flat part. The flat part makes solutions"
        " sparse, and the kink makes the margin: at $y f = 1$ a whole interval of slopes is possible.",
        "With least squares and with the logistic loss every sample takes part in the hyperplane.",
        "The conjugates end where the slopes end. The slope of the hinge is between $-1$ and $0$, so its conjugate is"
        " finite there only; the slope of least squares has no limits, so neither has the dual variable.",
    ),
    exercises=(exercises.a_sample_far_on_the_correct_side, exercises.why_they_arise),
)


def saddle_facts() -> dict[str, Any]:
    """Numbers of the part on the saddle point."""
    from maxmargin import Saddle

    problem = fits.through_origin()
    result = fits.trained(problem, tol=1e-10)
    G = Saddle(problem, objective="lam")
    alpha = result.alpha / problem.C
    return {
        "top": f"{G(result.w, G.best_alpha(result.w)):.4f}",
        "bottom": f"{G(G.best_w(alpha), alpha):.4f}",
        "zero": f"{G(np.zeros(2), G.best_alpha(np.zeros(2))):.0f}",
    }


SADDLE = Part(
    key="saddle",
    source="003",
    title="The saddle point $G(w, \\alpha)$",
    idea=(
        r"The hinge is a maximum: $[v]_+ = \max_{0 \le \alpha \le 1} \alpha v$, reached at $\alpha = 0$ for $v < 0$"
        r" and at $\alpha = 1$ for $v > 0$. So $\alpha_n$ is the slope of a line below the hinge. Replacing each"
        r" hinge by its line gives a function of two arguments, $G(w, \alpha)$, which is convex in $w$, concave in"
        r" $\alpha$, and differentiable in both.",
        r"Maximising $G$ over $\alpha$ gives the primal objective; minimising it over $w$ gives the dual one. Source"
        " 003 asks three questions. How do we find $G$? By the line above, or in general by conjugates. When may min"
        " and max be exchanged? For a function that is convex in one argument and concave in the other, under weak"
        " conditions, always. When is the dual easier? When its smoothness, its box, the kernel or its sparsity"
        " help.",
    ),
    formulas=(
        Formula(
            "The function, with $\\lambda = 1/C$:",
            r"G(w, \alpha) = \sum_{n=1}^N \alpha_n (1 - y_n x_n^\top w) + \frac{\lambda}{2} \|w\|^2, \qquad 0 \le"
            r" \alpha_n \le 1",
        ),
        Formula(
            "Min and max may be exchanged:",
            r"\min_w \; \max_{\alpha \in [0, 1]^N} G(w, \alpha) = \max_{\alpha \in [0, 1]^N} \; \min_w \; G(w, \alpha)",
        ),
        Formula(
            "The inner minimum, which gives the dual:",
            r"w(\alpha) = \frac{1}{\lambda} X^\top Y \alpha, \qquad \max_{\alpha \in [0, 1]^N} \; \alpha^\top"
            r" \mathbf{1} - \frac{1}{2 \lambda}\, \alpha^\top Y X X^\top Y \alpha",
        ),
    ),
    twins=("saddle",),
    call="""\
X, y = toys.overlapping()
problem = Problem(X, y, lam=10.0, bias="none")
G = Saddle(problem, objective="lam")
w, alpha = np.array([1.0, 1.0]), np.full(100, 0.5)
G(w, alpha), G.best_w(alpha), G.best_alpha(w)
""",
    shown=(
        Picture(
            "saddle",
            "$G$ for a single sample: a parabola along $w$, a straight line along $\\alpha$. The solution is the saddle"
            " point, where the two curves cross.",
            plot("saddle", None),
        ),
    ),
    recorded=Recording(
        "saddle-run",
        "Gradient ascent in $\\alpha$, with $w(\\alpha)$ for each of its steps: the path towards the saddle point.",
        runs.saddle,
    ),
    notice=(
        r"At the solution the maximum over $\alpha$ is <<top>> and the minimum over $w$ is <<bottom>>: the exchange"
        " costs nothing.",
        r"At $w = 0$ the maximum over $\alpha$ is <<zero>>, the hinge of 100 samples with score 0. Any $w$ gives an"
        r" upper bound and any $\alpha$ a lower one.",
        r"For a fixed $w$ the best $\alpha_n$ is 0 or 1, unless the sample is exactly on the margin. This is where"
        " the kinds of vectors come from ([[kinds]]).",
    ),
    misprints=(
        "The saddle point is printed with a maximum over $w$ at one place; it must be a minimum.",
        r"The dual's quadratic term is printed as $Y X^\top Y$ at one place; it must be $Y X X^\top Y$.",
    ),
    exercises=(exercises.the_swap_costs_nothing, exercises.slopes_below_the_hinge),
    facts=saddle_facts,
)


def kinds_facts() -> dict[str, Any]:
    """Numbers of the part on the kinds of vectors."""
    result = fits.exact(toys.overlapping)
    return dict(result.certificate.kinds.counts)


KINDS = Part(
    key="kinds",
    source="003",
    title="Three kinds of vectors",
    idea=(
        "At the optimum the multiplier of a sample says where it lies. *Not a support vector*: on the correct side"
        r" and outside the margin, $y z > 1$, with $\alpha = 0$. *Essential* (we say *free*) support vector: exactly"
        r" on the margin, $y z = 1$, with $0 < \alpha < C$. *Bound* support vector: inside the margin or on the wrong"
        r" side, $y z < 1$ (in rare cases exactly on the margin), with $\alpha = C$.",
        "The free ones fix the position of the hyperplane: each of them is an equation $y z = 1$. The bound ones push"
        " as hard as the price $C$ allows. The others could be anywhere outside the margin; deleting them changes"
        " nothing.",
        r"There is a fourth case, rare but important for source 004: a sample exactly on the margin with $\alpha ="
        " 0$, a *candidate* that is not needed ([[kkt]]).",
    ),
    formulas=(
        Formula(
            "The rule, from the slope of the hinge:",
            r"\alpha_n = \begin{cases} 0 & \text{if } y_n z_n > 1 \\ \text{in } [0, C] & \text{if } y_n z_n = 1 \\ C"
            r" & \text{if } y_n z_n < 1 \end{cases}",
        ),
    ),
    call="""\
X, y = toys.overlapping()
result = solve(Problem(X, y, C=1.0), tol=1e-10)
kinds = result.certificate.kinds
kinds.counts, kinds.outside, kinds.free, kinds.bound, kinds.candidate
""",
    shown=(
        Picture(
            "kinds",
            "The overlapping clouds: bound support vectors inside their margin or on the wrong side, free ones on the"
            " margin, all others outside.",
            plot("boundary", lambda: fits.exact(toys.overlapping), title="two overlapping clouds, C = 1"),
        ),
        Picture(
            "kinds-multipliers",
            "The multiplier of each sample against its margin. At the optimum every sample stands on the grey curve:"
            " its two flat pieces and its vertical piece are the three kinds.",
            plot("kkt", lambda: fits.exact(toys.overlapping), title="two overlapping clouds, C = 1"),
        ),
    ),
    recorded=Recording(
        "kinds-run",
        "SMO on the moons with $C = 10$: samples become free, bound, and outside again.",
        runs.kinds,
    ),
    notice=(
        "<<outside>> samples are not support vectors, <<free>> are free and <<bound>> are bound.",
        "In two dimensions two or three free support vectors fix the line. Their number does not grow with the data;"
        " the number of bound ones does, where the classes overlap.",
        "Sparsity is what makes a trained machine quick: prediction needs the support vectors only.",
    ),
    exercises=(exercises.where_support_vectors_lie, exercises.delete_what_is_not_needed),
    facts=kinds_facts,
)
