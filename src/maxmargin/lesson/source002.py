"""The parts that follow source 002: the penalty method, the kernel matrix, and SMO, which it announces."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from maxmargin.data import toys
from maxmargin.kernels import RBF, Polynomial
from maxmargin.lesson import fits, runs
from maxmargin.lesson.exercises import source002 as exercises
from maxmargin.lesson.figures import plot
from maxmargin.lesson.part import Formula, Part, Picture, Recording, Rows, Table
from maxmargin.problem import Problem
from maxmargin.result import Result
from maxmargin.solvers import SMO, Penalty

WEIGHTS = (1.0, 10.0, 100.0, 1000.0)
GAMMAS = (0.1, 1.0, 10.0, 100.0)


@cache
def penalty_run() -> Result:
    """The penalty method on the separable clouds, to a gap at which only the true support vectors are left."""
    problem = Problem(*toys.separable(), C=np.inf)
    return fits.trained(problem, Penalty(), tol=1e-4, every=1, snapshots=True)


@cache
def weights() -> dict[float, Result]:
    """The penalty method with four fixed weights."""
    problem = Problem(*toys.off_centre(), C=np.inf)
    return {c: fits.trained(problem, Penalty(c=c), tol=1e-7, max_iter=6000, every=10, max_time=5) for c in WEIGHTS}


def sums_table() -> Rows:
    """The raw sum of the multipliers for each weight."""
    rows = []
    for c, run in weights().items():
        total = float(run.raw_beta.sum())
        rows.append((f"{c:,.0f}", fits.signed(total, 6), fits.signed(c * total)))
    return ("$c$", r"raw $\sum_i \lambda_i y_i$", r"$c \sum_i \lambda_i y_i$"), rows


def animated(file: Path, columns: int | None) -> Any:
    """The penalty run as an animation."""
    from maxmargin import plots

    return plots.animate(penalty_run(), file, seconds=8.0, fps=6, columns=columns, dpi=90 if columns is None else 120)


def penalty_facts() -> dict[str, Any]:
    """Numbers of the part on the penalty method."""
    run = penalty_run()
    return {
        "steps": f"{run.iterations:,}",
        "support": len(run.support),
        "early": int(run.trace["support"][run.trace["relative_gap"] <= 1e-3][0]),
        "most": int(run.trace["support"].max()),
        "bias": fits.signed(fits.exact(toys.off_centre, np.inf).b),
    }


PENALTY = Part(
    key="penalty",
    source="002",
    title="The penalty method",
    idea=(
        r"The dual of the hard margin has two kinds of constraints: $\lambda_i \ge 0$, which clipping takes care of,"
        r" and $\sum_i \lambda_i y_i = 0$, which couples all variables. Source 002 replaces the second one by a"
        r" penalty, $\frac{c}{2} (\sum_i \lambda_i y_i)^2$, and minimises the sum by gradient descent.",
        "A finite $c$ leaves a little imbalance. The penalised problem is exactly the SVM with an augmented bias:"
        r" the penalty adds $c$ to every entry of the kernel matrix, which is what a constant feature $\sqrt c$ does."
        r" So the answer tends to that of the free bias only as $c \to \infty$, and a large $c$ makes the descent"
        r" slow, because the longest safe step is $2/\lambda_{\max}(K + c)$.",
        r"The text also discusses a second penalty, $d \sum_i \max(-\lambda_i, 0)$, in place of clipping, and advises"
        " against it. It is here as well, for you to try.",
    ),
    formulas=(
        Formula(
            "The loss of source 002:",
            r"L(\lambda) = - \sum_i \lambda_i + \half \sum_{i, j} \lambda_i \lambda_j y_i y_j K_{i j} + \frac{c}{2}"
            r" \left( \sum_i \lambda_i y_i \right)^2, \qquad \lambda_i \ge 0",
        ),
        Formula(
            "Its gradient with the kernel matrix, and the step:",
            r"\frac{\partial L}{\partial \lambda} = - \mathbf{1} + (K (\lambda \circ y)) \circ y + c\, (\lambda^\top"
            r" y)\, y, \qquad \lambda \leftarrow \max \left( 0, \; \lambda - \eta \frac{\partial L}{\partial \lambda}"
            r" \right)",
        ),
        Formula(
            r"At the minimum the penalty's gradient plays the part of the bias, so the imbalance falls like $1/c$:",
            r"c \sum_i \lambda_i y_i = b(c) \to b",
        ),
    ),
    twins=("penalty_descent", "penalty_descent_with_d"),
    call="""\
X, y = toys.separable()
problem = Problem(X, y, C=np.inf)
solve(problem, Penalty(c=1.0, step=0.001, momentum=False), max_iter=500)         # source 002 as it is written
solve(problem, Penalty(c=1.0, d=2.0, step=0.001, momentum=False), max_iter=500)  # with the extra term d
result = solve(problem, Penalty(), tol=1e-4, every=1, snapshots=True)            # c grows by itself, with momentum
result.raw_beta.sum()                                                            # what is left of the imbalance
""",
    shown=(
        Recording(
            "penalty",
            "The hyperplane over the steps, as in the animation of source 002: <<support>> support vectors are left.",
            penalty_run,
            animated,
        ),
        Picture(
            "penalty-end",
            "Where the run ends.",
            plot("boundary", penalty_run, title="the penalty method, hard margin"),
        ),
        Picture(
            "penalty-weight",
            r"The imbalance $\sum_i \lambda_i y_i$ for four weights $c$, on clouds that are away from the origin.",
            plot("penalty", weights),
        ),
        Table("The same in numbers. The bias of the hard margin is <<bias>>.", sums_table),
    ),
    notice=(
        "At first nearly every sample has a positive multiplier (up to <<most>> of 100). At a gap of $10^{-4}$, after"
        " <<steps>> steps, <<support>> support vectors are left. At a gap of $10^{-3}$ there were still <<early>>.",
        "Ten times the weight leaves a tenth of the imbalance, and the product of the two is the bias. Here $b(c)$ is"
        " equal to $b$ for each of the four weights, because the same three support vectors determine $w$"
        " and $b$. What is missing in the last digits of the table is unfinished descent: the larger $c$, the slower it"
        " is.",
        "A multiplier that has reached 0 may become positive again. What decides is the sign of its gradient, $y_i"
        " z_i - 1$.",
    ),
    misprints=(
        r"The text presents the result as the solution of the dual with $\sum_i \lambda_i y_i = 0$. For a finite $c$"
        " this holds only approximately.",
    ),
    exercises=(
        exercises.the_sum_falls_like_one_over_c,
        exercises.tuning_the_term_d,
        exercises.the_penalty_is_an_augmented_bias,
    ),
    facts=penalty_facts,
)


def kernel_facts() -> dict[str, Any]:
    """Numbers of the part on kernels."""
    counts = [len(fits.exact(toys.moons, 1.0, RBF(gamma=gamma)).support) for gamma in GAMMAS]
    return {"counts": ", ".join(map(str, counts[:-1])), "last": counts[-1]}


KERNELS = Part(
    key="kernels",
    source="002",
    title="The kernel matrix, kernels and $\\gamma$",
    idea=(
        r"The dual needs the samples only through their inner products $x_i^\top x_j$. Compute them once, as the"
        " *kernel matrix* $K$, and neither the gradient nor the algorithm changes if another function takes the place"
        r" of the inner product, as long as it is the inner product of *some* features: $K_{i j} = \langle \phi(x_i),"
        r" \phi(x_j) \rangle$. Then the hyperplane lies in the space of $\phi$, and the boundary in the space of"
        " the data is curved.",
        r"The RBF kernel $e^{-\gamma \|x - x'\|^2}$ compares samples by their distance. $\gamma$ says how quickly the"
        " similarity fades: a small one makes the boundary nearly straight, a large one gives every sample an island"
        " of its own.",
    ),
    formulas=(
        Formula(
            "Scores and dual with a kernel:",
            r"z(x) = \sum_i \alpha_i y_i k(x_i, x) + b, \qquad D(\alpha) = \sum_i \alpha_i - \half \sum_{i, j}"
            r" \alpha_i \alpha_j y_i y_j K_{i j}",
        ),
        Formula(
            "Three kernels:",
            r"k(x, x') = x^\top x', \qquad k(x, x') = (\gamma\, x^\top x' + r)^p, \qquad k(x, x') = e^{-\gamma \|x -"
            r" x'\|^2}",
        ),
    ),
    call="""\
X, y = toys.moons()
solve(Problem(X, y, kernel=RBF(gamma=1.0), C=1.0))
solve(Problem(X, y, kernel=Polynomial(degree=3, gamma=1.0, coef0=1.0), C=1.0))
K = RBF(gamma=1.0).block(X, X)                     # the kernel matrix, computed once
solve(Problem(K, y, kernel="precomputed", C=1.0))  # the same machine
""",
    shown=(
        Picture(
            "kernels",
            "Three kernels on the two moons.",
            plot(
                "grid_of",
                lambda: {
                    "linear": fits.exact(toys.moons),
                    "polynomial, degree 3": fits.exact(toys.moons, 1.0, Polynomial(degree=3, gamma=1.0, coef0=1.0)),
                    "RBF, γ = 1": fits.exact(toys.moons, 1.0, RBF(gamma=1.0)),
                },
            ),
        ),
        Picture(
            "gamma",
            r"The RBF kernel with four values of $\gamma$.",
            plot(
                "grid_of",
                lambda: {f"γ = {gamma:g}": fits.exact(toys.moons, 1.0, RBF(gamma=gamma)) for gamma in GAMMAS},
                across=2,
            ),
        ),
    ),
    recorded=Recording(
        "kernels-run",
        "SMO with a kernel on the disc in the ring, one pair at a time.",
        runs.kernels,
    ),
    notice=(
        r"For $\gamma = 0.1, 1, 10, 100$ there are <<counts>> and <<last>> support vectors. Where nearly every sample"
        " is a support vector the machine has memorised the data.",
        "The dual algorithms of the earlier parts run on all of these without a change; only the rows of $K$ differ.",
        "A product with $K$ costs $n^2$ operations. For large $n$ this is the price of the full gradient, and the"
        " reason to change only a few variables at a time.",
    ),
    exercises=(exercises.only_the_matrix_matters, exercises.narrow_kernels_remember),
    facts=kernel_facts,
)


@cache
def smo_run() -> Result:
    """SMO by single updates on the moons."""
    problem = Problem(*toys.moons(), kernel=RBF(gamma=1.0), C=1.0)
    return fits.trained(problem, SMO(grain=1), tol=1e-6, every=1, snapshots=True)


def pairs_table() -> Rows:
    """The first single updates of SMO."""
    run, rows = smo_run(), []
    y = run.problem.target
    for number, event in fits.events(run)[:8]:
        i, j = event.indices
        moves = [
            f"{abs(before):.3f} → {abs(after):.3f}" for before, after in zip(event.before, event.after, strict=True)
        ]
        signs = f"{y[i]:+.0f}, {y[j]:+.0f}".replace("-", "−")
        step = f"{abs(event.unclipped):.3f}"
        rows.append((str(number), f"{i}, {j}", signs, *moves, step, f"{event.gain:.4f}"))
    header = ("update", "pair", "labels", r"$\alpha_i$", r"$\alpha_j$", "unclipped step", "gain in $D$")
    return header, rows


def smo_facts() -> dict[str, Any]:
    """Numbers of the part on SMO."""
    run = smo_run()
    return {"updates": f"{run.iterations:,}", "n": run.problem.n, "support": len(run.support)}


SMO_PART = Part(
    key="smo",
    source="002",
    title="Sequential minimal optimisation",
    idea=(
        r"Source 002 ends by announcing SMO. With a free bias, $\sum_i \alpha_i y_i = 0$ forbids changing a single"
        r" $\alpha_i$: the sum would no longer be 0. So change *two* at a time, one up and one down in terms of"
        r" $\beta_i = y_i \alpha_i$. On this line the dual is a parabola again, with a maximum in closed form,"
        " clipped where one of the two reaches a bound.",
        r"Which pair? Let $g_i = y_i - \sum_j \beta_j K_{i j}$; this is the bias that would put sample $i$ exactly on"
        " its margin. At the optimum all free support vectors agree on it. So take the largest $g_i$ among those"
        r" whose $\beta_i$ may rise and the smallest among those whose $\beta_j$ may fall: the pair that disagrees"
        " most (*first-order* selection). The library's default keeps the first of the two and takes the partner with"
        " which it gains most (*second-order* selection).",
    ),
    formulas=(
        Formula(
            r"The step along the pair, before clipping:",
            r"t = \frac{g_i - g_j}{K_{i i} + K_{j j} - 2 K_{i j}}, \qquad \beta_i \leftarrow \beta_i + t, \quad"
            r" \beta_j \leftarrow \beta_j - t",
        ),
    ),
    twins=("smo",),
    call="""\
X, y = toys.moons()
problem = Problem(X, y, kernel=RBF(gamma=1.0), C=1.0)
result = solve(problem, SMO(selection="first-order", grain=1), tol=1e-6, every=1, snapshots=True)
result.trace.snapshots[0].event                   # which pair, from where, to where, and the gain
solve(problem, SMO(selection="second-order"))     # the default
""",
    shown=(
        Table("The first updates of SMO on the moons, $C = 1$, with second-order selection.", pairs_table),
        Recording(
            "smo-run",
            "The same run to step through: the pair that moves is ringed, and its dual variables are in their box.",
            smo_run,
        ),
        Picture(
            "smo",
            "The same run, update by update: both objectives, the gap and the accuracy.",
            plot("convergence", smo_run),
        ),
    ),
    notice=(
        "The first updates move their multipliers from 0 to the bound $C$, because the unclipped step is longer.",
        "The run took <<updates>> updates, each with two rows of $K$, for <<n>> samples. Only the rows of support"
        " vectors (<<support>> at the end) and of a few other samples are ever needed.",
        "The primal goes up and down while the dual only rises. The gap is exact at every moment.",
    ),
    exercises=(exercises.pairs_keep_the_balance, exercises.which_pair),
    facts=smo_facts,
)
