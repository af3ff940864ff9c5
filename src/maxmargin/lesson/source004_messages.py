"""The parts that follow the end of source 004: the perceptron, transforms and kernels, and the size of the programs."""

from __future__ import annotations

from functools import cache
from time import perf_counter
from typing import Any

import numpy as np

from maxmargin.data import toys
from maxmargin.errors import MaxMarginError
from maxmargin.kernels import Polynomial
from maxmargin.lesson import fits, runs
from maxmargin.lesson.exercises import source004 as exercises
from maxmargin.lesson.figures import plot
from maxmargin.lesson.part import Formula, Part, Picture, Printed, Recording, Rows, Table
from maxmargin.loop import solve
from maxmargin.problem import Problem
from maxmargin.result import Result
from maxmargin.solvers import Perceptron
from maxmargin.transforms import PolynomialTransform


@cache
def perceptrons() -> dict[str, Result]:
    """The perceptron in two orders of the samples, and the SVM."""
    problem = Problem(*toys.off_centre(), C=np.inf)
    return {
        "perceptron, in order": fits.trained(problem, Perceptron("cyclic"), tol=1e-3, every=1),
        "perceptron, shuffled": fits.trained(problem, Perceptron("shuffled"), tol=1e-3, every=1, random_state=3),
        "SVM": fits.exact(toys.off_centre, np.inf),
    }


def margin_of(result: Result) -> float:
    """The distance of the nearest sample from the hyperplane."""
    X, y = result.problem.X, result.problem.target
    assert result.w is not None
    return float(np.min(y * (X @ result.w + result.b)) / np.linalg.norm(result.w))


def perceptron_table() -> Rows:
    """What the hyperplanes are made of."""
    rows = []
    for name, result in perceptrons().items():
        weight = np.abs(result.beta if result.coef is None else result.coef)
        used = np.flatnonzero(weight > 1e-9 * weight.max())
        weights = ", ".join(f"{i}: {weight[i]:.3g}" for i in used[:6])
        rows.append((name, f"{margin_of(result):.3f}", str(len(used)), weights + (" ..." if len(used) > 6 else "")))
    return ("method", "distance of the nearest sample", "samples in $w$", "their weights"), rows


def perceptron_facts() -> dict[str, Any]:
    """Numbers of the part on the perceptron."""
    first = perceptrons()["perceptron, in order"]
    assert first.coef is not None
    return {
        "corrections": int(np.abs(first.coef).sum()),
        "samples": int(np.count_nonzero(first.coef)),
        "share": f"{margin_of(first) / margin_of(perceptrons()['SVM']):.0%}",
    }


PERCEPTRON = Part(
    key="perceptron",
    source="004",
    title="The perceptron, for comparison",
    idea=(
        "The perceptron learning algorithm (PLA) goes through the samples and corrects itself whenever one is wrong:"
        " it adds $y_n x_n$ to $w$ and $y_n$ to $b$. If a hyperplane separates the classes, it finds one after"
        " finitely many corrections, and stops.",
        r"Its $w$ is a sum of samples too, $\sum_n \beta_n y_n x_n$, where $\beta_n$ counts the corrections by sample"
        " $n$: both hyperplanes are *represented by the data*. But the perceptron maximises nothing. It stops at the"
        " first hyperplane that separates, and which one that is depends on the order of the samples.",
    ),
    formulas=(
        Formula(
            "Two hyperplanes represented by data:",
            r"w_{\text{SVM}} = \sum_n \alpha_n y_n z_n, \qquad w_{\text{PLA}} = \sum_n \beta_n y_n z_n",
        ),
    ),
    twins=("pla",),
    call="""\
X, y = toys.off_centre()
result = solve(Problem(X, y, C=np.inf), Perceptron("cyclic"), tol=1e-3, every=1)
result.coef          # y_n β_n: the signed number of corrections
result.w, result.b   # its own hyperplane, not rescaled
""",
    shown=(
        Picture(
            "perceptron",
            "The perceptron in two orders of the samples, and the SVM. Filled samples have a weight in $w$.",
            plot("grid_of", perceptrons),
        ),
        Table("What the three hyperplanes are made of.", perceptron_table),
    ),
    recorded=Recording(
        "perceptron-run",
        "The perceptron to step through, one correction at a time.",
        runs.perceptron,
    ),
    notice=(
        "In the order of the data the perceptron made <<corrections>> corrections with <<samples>> samples. Its nearest"
        " sample is at <<share>> of the largest possible distance.",
        "The duality gap of the perceptron's hyperplane is large: the certificate measures how much margin it gives"
        " away.",
    ),
    exercises=(exercises.twenty_orders, exercises.mistakes_are_bounded),
    facts=perceptron_facts,
)


def degree_two(X: np.ndarray) -> np.ndarray:
    """The features of the kernel (1 + x·x')² for two features."""
    a, b = X.T
    root = np.sqrt(2.0)
    return np.column_stack([np.ones(len(X)), root * a, root * b, a * a, root * a * b, b * b])


def both_ways() -> tuple[dict[str, Result], np.ndarray]:
    """One machine by its transform and by its kernel, and the rows before the transform."""
    machines = {
        "linear": fits.exact(toys.rings),
        "transform Φ": fits.exact(toys.rings, transform=degree_two),
        "kernel (1 + x·x′)²": fits.exact(toys.rings, 1.0, Polynomial(degree=2, gamma=1.0, coef0=1.0)),
    }
    return machines, toys.rings()[0]


#: Samples and degrees of the timed programs.
SIZES, DEGREES, WIDE_N = (50, 200, 800, 1600), (1, 8, 24), 60


@cache
def timings() -> dict[tuple[str, int, int], float]:
    """Seconds of both programs, by method, N and d̃."""
    seconds = {}
    problems = [Problem(*toys.clouds(2.5, n=n), C=1.0) for n in SIZES]
    X, y = toys.clouds(2.5, n=WIDE_N)
    X = X / np.abs(X).max()
    problems += [Problem(X, y, C=1.0, transform=PolynomialTransform(degree)) for degree in DEGREES]
    for method in ("qp-primal", "qp"):
        fits.trained(problems[0], method, tol=1e-6)  # whatever is compiled or imported is not timed
        for problem in problems:
            began = perf_counter()
            fits.trained(problem, method, tol=1e-6)
            seconds[method, problem.n, problem.X.shape[1]] = perf_counter() - began
    return seconds


def sizes_table() -> Rows:
    """Both programs as N and d̃ grow."""
    rows = []
    for _, n, d in [key for key in timings() if key[0] == "qp"]:
        primal, dual = timings()["qp-primal", n, d], timings()["qp", n, d]
        memory = 8e-6 * n * n
        rows.append((f"{n:,}", f"{d:,}", f"{d + 1:,}", f"{primal:.3f}", f"{n:,}", f"{dual:.3f}", f"{memory:.3g} MB"))
    header = ("$N$", r"$\tilde d$", "primal variables", "primal s", "dual variables", "dual s", "dense $Q$ of the dual")
    return header, rows


@cache
def refusal() -> str:
    """What the QP solver says about 30,000 samples and a kernel."""
    X = np.zeros((30_000, 1))
    X[:, 0] = np.arange(30_000)
    problem = Problem(X, np.where(np.arange(30_000) % 2 == 0, -1, 1), kernel="rbf", C=1.0)
    try:
        solve(problem, "qp")
    except MaxMarginError as error:
        return str(error)
    raise AssertionError("a dense program of 30,000 variables must be refused")


def size_facts() -> dict[str, Any]:
    """Numbers of the part on transforms and sizes."""
    seconds = timings()
    longest = max(SIZES)
    wide = max(d for _, n, d in seconds if n == WIDE_N)
    return {
        "longest": f"{longest:,}",
        "tall_primal": f"{seconds['qp-primal', longest, 2]:.3f}",
        "tall_dual": f"{seconds['qp', longest, 2]:.3f}",
        "wide": wide,
        "few": WIDE_N,
        "wide_primal": f"{seconds['qp-primal', WIDE_N, wide]:.3f}",
        "wide_dual": f"{seconds['qp', WIDE_N, wide]:.3f}",
    }


SIZE = Part(
    key="size",
    source="004",
    title="Transforms, kernels and the size of the programs",
    idea=(
        r"A *transform* $\Phi$ maps the samples to new features, $z = \Phi(x)$, and a linear machine in $z$ is a"
        " curved one in $x$. A margin keeps the model simple, a transform makes it rich, and the two together are"
        r" the non-linear SVM. But the number of features $\tilde d$ grows quickly: with degree $p$ and $d$ features"
        " there are about $d^p / p!$.",
        r"That was the motive of the dual: $N$ variables, whatever $\tilde d$ is. Source 004 asks whether the"
        r" dependence on $\tilde d$ is really gone. Not yet, because each $Q_{n m}$ is an inner product of $\tilde d$"
        r" numbers. A *kernel* removes it: $(1 + x^\top x')^2$ costs about $d$ operations and is the inner product of"
        " all features up to degree two.",
        "What remains is $N$. A dense $Q$ has $N^2$ entries. For $N = 30{,}000$ these are 7.2 GB in double precision,"
        " and a solver for programs of this size must not store $Q$: SMO and its relatives compute the rows that they"
        " need.",
    ),
    formulas=(
        Formula(
            "A transform and the kernel that does the same:",
            r"\Phi(x) = (1, \sqrt 2 x_1, \sqrt 2 x_2, x_1^2, \sqrt 2 x_1 x_2, x_2^2), \qquad \Phi(x)^\top \Phi(x') ="
            r" (1 + x^\top x')^2",
        ),
        Formula(
            "The sizes:",
            r"\text{primal: } \tilde d + 1 \text{ variables, } N \text{ constraints}; \qquad \text{dual: } N \text{"
            r" variables, } N + 1 \text{ constraints}",
        ),
    ),
    call="""\
X, y = toys.rings()
solve(Problem(X, y, transform=PolynomialTransform(2), C=1.0), "qp-primal")      # features that can be looked at
solve(Problem(X, y, kernel=Polynomial(degree=2, gamma=1.0, coef0=1.0), C=1.0))  # these features, but for factors
""",
    shown=(
        Picture(
            "transform",
            "A disc in a ring: a line fails; the transform and the kernel give the same circle.",
            plot("grid_of", both_ways, unpack=True),
        ),
        Table(
            r"Both programs by the same QP library as $N$ grows (first rows) and as $\tilde d$ grows (last rows),"
            " timed when this page was made.",
            sizes_table,
        ),
        Printed(
            "The refusal of $N = 30{,}000$ names the memory and a solver that does not need it.",
            'solve(Problem(X, y, kernel="rbf", C=1.0), "qp")  # 30,000 samples',
            refusal,
            wrapped=True,
        ),
    ),
    recorded=Recording(
        "size-run",
        "SMO with the kernel of degree two.",
        runs.size,
    ),
    notice=(
        "With <<longest>> samples of two features the primal took <<tall_primal>> s and the dual <<tall_dual>> s."
        r" With <<few>> samples of <<wide>> features it was <<wide_primal>> s against <<wide_dual>> s. Small $\tilde"
        " d$: primal. Small $N$: dual. Both large: neither, but a solver that needs no matrix.",
        "The circle is the same with the transform and with the kernel, and so are all decision values.",
    ),
    misprints=(
        "The text gives more than 3 GB for $N = 30{,}000$. That holds for single precision (3.6 GB); double precision"
        " needs 7.2 GB.",
    ),
    exercises=(
        exercises.a_transform_and_its_kernel,
        exercises.qp_against_smo,
        exercises.more_features_than_samples,
    ),
    facts=size_facts,
)
