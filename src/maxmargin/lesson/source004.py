"""The parts that follow source 004: quadratic programs, KKT, and what the dual means in the space of the samples."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from maxmargin.data import toys
from maxmargin.lesson import fits, runs
from maxmargin.lesson.exercises import source004 as exercises
from maxmargin.lesson.figures import plot
from maxmargin.lesson.part import Formula, Part, Picture, Printed, Recording
from maxmargin.problem import Problem
from maxmargin.result import Result


def four_samples() -> Problem:
    """A hard margin small enough to print."""
    X = np.array([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]])
    return Problem(X, np.array([-1, -1, 1, 1]), C=np.inf)


def printed_primal() -> str:
    """The matrices of the primal program."""
    from maxmargin import primal_qp

    return str(primal_qp(four_samples()))


def printed_dual() -> str:
    """The matrices of the dual program."""
    from maxmargin import dual_qp

    return str(dual_qp(four_samples()))


def outlier_fits() -> dict[str, Result]:
    """The hard margin without and with one outlier, and a soft one."""
    return {
        "hard margin": fits.exact(toys.separable, np.inf),
        "one outlier, hard margin": fits.exact(toys.with_outlier, np.inf),
        "one outlier, C = 1": fits.exact(toys.with_outlier, 1.0),
    }


def program_facts() -> dict[str, Any]:
    """Numbers of the part on quadratic programs."""
    widths = [result.margin_width for result in outlier_fits().values()]
    soft = outlier_fits()["one outlier, C = 1"]
    return {
        "before": f"{widths[0]:.2f}",
        "after": f"{widths[1]:.2f}",
        "soft": f"{widths[2]:.2f}",
        "slack": f"{soft.slack[-1]:.2f}",
    }


PROGRAMS = Part(
    key="programs",
    source="004",
    title="The hard margin as a quadratic program",
    idea=(
        r"If a hyperplane separates the classes, slack can be forbidden: this is the *hard margin*, $C = \infty$."
        " Source 004 writes it as a *quadratic program*, a standard problem for which libraries exist: a quadratic"
        " objective $Q$, $p$ and linear constraints $A$, $c$. Fill in the four arguments and call the library.",
        r"The *primal* program has $\tilde d + 1$ variables, $b$ and $w$, where $\tilde d$ is the number of"
        " (transformed) features, and $N$ constraints. The *dual* program has $N$ variables and $N + 1$ constraints;"
        r" the equality $y^\top \alpha = 0$ can be written as two inequalities if the library has no equalities.",
    ),
    formulas=(
        Formula(
            "A quadratic program:",
            r"\min_u \; \half u^\top Q u + p^\top u \quad \text{subject to} \quad A u \ge c",
        ),
        Formula(
            "The primal, $u = (b, w)$:",
            r"Q = \begin{pmatrix} 0 & 0^\top \\ 0 & I \end{pmatrix}, \quad p = 0, \quad a_n^\top = y_n (1, \;"
            r" z_n^\top), \quad c_n = 1",
        ),
        Formula(
            r"The dual, $u = \alpha$:",
            r"Q_{n m} = y_n y_m z_n^\top z_m, \quad p = -\mathbf{1}, \quad \text{rows of } A\colon\; y^\top, \;"
            r" -y^\top, \; e_n^\top, \quad c = 0",
        ),
    ),
    twins=("primal_qp", "dual_qp", "qp"),
    call="""\
problem = Problem([[0, 0], [2, 2], [2, 0], [3, 0]], [-1, -1, 1, 1], C=np.inf)
primal_qp(problem).solve()                                    # (b, w)
dual_qp(problem).solve()                                      # α
dual_qp(problem, equality="one equality").solve()             # the same α
solve(problem, DualQP(hard="multipliers"), tol=1e-8)          # the same program, with a certificate
""",
    shown=(
        Printed("The primal program of four samples, in $(b, w)$.", "print(primal_qp(problem))", printed_primal),
        Printed(
            r"Their dual program, in $\alpha$, with the equality as two inequalities.",
            "print(dual_qp(problem))",
            printed_dual,
        ),
        Picture(
            "outlier",
            "Hard against soft margin: one sample close to the other cloud is enough to ruin a hard margin.",
            plot("grid_of", outlier_fits),
        ),
    ),
    recorded=Recording(
        "programs-run",
        "The hard margin by SMO: the multipliers have no upper bound.",
        runs.programs,
    ),
    notice=(
        "The hard margin is <<before>> wide. One outlier narrows it to <<after>>, although the classes remain"
        " separable. With $C = 1$ it is <<soft>> wide again; the outlier pays with a slack of <<slack>>.",
        r"Without slack there is no upper bound on $\alpha_n$; everything else in the dual is the same.",
        "Where the classes overlap, the hard margin has no solution, and the library proves it ([[hulls]]).",
    ),
    exercises=(exercises.a_program_by_hand, exercises.two_inequalities_or_one_equality, exercises.one_outlier),
    facts=program_facts,
)


@cache
def hard_run() -> Result:
    """The hard margin of the separable clouds by the source's own dual program."""
    from maxmargin.solvers import DualQP

    return fits.trained(Problem(*toys.off_centre(), C=np.inf), DualQP(hard="multipliers"), tol=1e-8)


@cache
def candidate_run() -> Result:
    """Two columns of samples, all on the margin."""
    return fits.trained(Problem(*toys.columns(), C=np.inf), "smo", tol=1e-10)


def kkt_facts() -> dict[str, Any]:
    """Numbers of the part on KKT."""
    result, columns = hard_run(), candidate_run()
    biases = result.support_biases
    return {
        "biases": ", ".join(fits.signed(b, 6) for b in biases),
        "free": len(columns.certificate.kinds.free),
        "candidates": len(columns.certificate.kinds.candidate),
    }


KKT = Part(
    key="kkt",
    source="004",
    title="KKT: a checklist for optimality",
    idea=(
        "The Karush–Kuhn–Tucker conditions say when a pair of a hyperplane and multipliers is optimal. For the SVM"
        " they are necessary and sufficient, so they are a checklist: if all four hold, the solution is found,"
        " whichever algorithm found it.",
        r"They also give the hyperplane back. $w$ is the sum of $\alpha_n y_n z_n$. And wherever $\alpha_n > 0$,"
        r" complementary slackness says that the sample lies exactly on the boundary, $y_n (w^\top z_n + b) = 1$, so"
        r" *any* support vector gives $b = y_n - w^\top z_n$.",
        r"Samples on the boundary are *candidates*; those with $\alpha_n > 0$ are *support vectors*. Every support"
        " vector is a candidate, but not the other way round.",
    ),
    formulas=(
        Formula(
            "The four conditions of the hard margin:",
            r"\begin{aligned} \text{primal feasible} \quad & y_n (w^\top z_n + b) \ge 1 \\ \text{dual feasible} \quad"
            r" & \alpha_n \ge 0 \\ \text{dual-inner optimal} \quad & \sum_n y_n \alpha_n = 0, \quad w = \sum_n"
            r" \alpha_n y_n z_n \\ \text{primal-inner optimal} \quad & \alpha_n (1 - y_n (w^\top z_n + b)) = 0"
            r" \end{aligned}",
        ),
    ),
    twins=("hyperplane", "kkt"),
    call="""\
X, y = toys.off_centre()
result = solve(Problem(X, y, C=np.inf), DualQP(hard="multipliers"), tol=1e-8)
print(result.kkt)
result.support_biases  # b from each support vector
""",
    shown=(
        Printed(
            "The checklist of the separable clouds, away from the origin.",
            "print(result.kkt)",
            lambda: str(hard_run().kkt),
        ),
        Picture(
            "kkt",
            r"Complementary slackness: every sample has $\alpha_n = 0$ or lies on the margin.",
            plot("kkt", hard_run, title="separable clouds, hard margin"),
        ),
        Picture(
            "candidates",
            "Six samples on the boundary, more than the hyperplane needs.",
            plot("boundary", candidate_run, title="six samples, hard margin"),
        ),
    ),
    recorded=Recording(
        "kkt-run",
        "SMO on the separable clouds. Open the KKT conditions: their residuals fall until all of them hold.",
        runs.kkt,
    ),
    notice=(
        "$b$ from each support vector: <<biases>>.",
        "In the last figure all six samples are on the boundary; <<free>> of them are support vectors and"
        " <<candidates>> are candidates that are not needed. Which ones depends on the solver; the hyperplane does"
        " not.",
        "LIBSVM's stopping rule is one number made of these conditions. The duality gap is another, and it is"
        " stronger: it bounds how far the objective is from its optimum.",
    ),
    misprints=(
        r"At one place the text concludes from $\alpha_n \ge 0$ that the sample is on the boundary. It must be"
        r" $\alpha_n > 0$: every sample has $\alpha_n \ge 0$.",
    ),
    exercises=(exercises.b_from_any_support_vector, exercises.a_candidate_that_is_not_needed),
    facts=kkt_facts,
)


@cache
def inseparable() -> Result:
    """The hard margin of the overlapping clouds, which does not exist."""
    return fits.trained(Problem(*toys.overlapping(), C=np.inf), "smo", tol=1e-6)


def hulls_facts() -> dict[str, Any]:
    """Numbers of the part on hulls."""
    hard, proof = fits.exact(toys.separable, np.inf), inseparable().certificate.inseparable
    assert proof is not None
    return {
        "width": f"{hard.margin_width:.3f}",
        "witnesses": int(np.count_nonzero(proof.alpha)),
        "distance": fits.short(proof.distance),
        "proof": str(proof),
    }


HULLS = Part(
    key="hulls",
    source="004",
    title="The dual, drawn: nearest points of two hulls",
    idea=(
        "The *convex hull* of a class is the set of all weighted averages of its samples. Two classes can be"
        " separated exactly when their hulls do not meet. The multipliers of the hard margin, divided by their sum"
        " per class, are weights of such averages: they give the *nearest points* $p$ and $q$ of the two hulls. The"
        r" hyperplane is halfway between them and at right angles to $p - q$, and the margin is $\|p - q\|$ wide.",
        "If the hulls meet, one point that lies in both *proves* that no hyperplane separates the classes. The"
        " samples that it is an average of are the *witnesses*, and anybody can check the proof with a few sums.",
        "With a soft margin no sample may have more than a certain weight. That shrinks the hulls (they are called"
        " *reduced*) until they come apart: the dual of the soft margin finds the nearest points of the reduced"
        " hulls.",
    ),
    formulas=(
        Formula(
            r"With $A = \sum_{+} \alpha_i = \sum_{-} \alpha_i$:",
            r"p = \sum_{y_i = 1} \frac{\alpha_i}{A} x_i, \qquad q = \sum_{y_i = -1} \frac{\alpha_i}{A} x_i, \qquad w"
            r" = A\,(p - q)",
        ),
        Formula("In a reduced hull every weight is bounded:", r"\frac{\alpha_i}{A} \le \frac{C}{A}"),
    ),
    call="""\
X, y = toys.overlapping()
result = solve(Problem(X, y, C=np.inf), "smo")
print(result.status)
proof = result.certificate.inseparable
proof.alpha, proof.distance, proof.margin_bound
""",
    shown=(
        Picture(
            "hulls",
            "Separable clouds: the hulls, their nearest points and the hyperplane halfway between them.",
            plot("hulls", lambda: fits.exact(toys.separable, np.inf), title="separable clouds, hard margin"),
        ),
        Picture(
            "reduced-hulls",
            "Overlapping clouds with $C = 0.1$: the hulls meet, the reduced hulls do not.",
            plot("hulls", lambda: fits.exact(toys.overlapping, 0.1), title="overlapping clouds, C = 0.1"),
        ),
        Picture(
            "inseparable",
            "The hard margin of the overlapping clouds: no hyperplane, but a proof. One point lies in both hulls.",
            plot("boundary", inseparable),
        ),
    ),
    recorded=Recording(
        "hulls-run",
        "Frank and Wolfe's method on the overlapping clouds, $C = 0.1$: the nearest points of the reduced hulls.",
        runs.hulls,
    ),
    notice=(
        r"The nearest points are <<width>> apart, which is $2/\|w\|$.",
        "In the plane a nearest point is a sample, or lies on an edge between two of them. That is why so few support"
        " vectors suffice.",
        "For the overlapping clouds <<witnesses>> witnesses give a common point: the averages of the two classes are"
        ' <<distance>> apart. The result says: "<<proof>>".',
    ),
    exercises=(exercises.the_nearest_points, exercises.a_point_of_both_hulls),
    facts=hulls_facts,
)
