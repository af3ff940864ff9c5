"""Exercises on source 004: quadratic programs, KKT, hulls, the perceptron, transforms."""

# mypy: ignore-errors
# The bodies stand in the page as a reader would type them, who declares nothing.

from __future__ import annotations

from time import perf_counter

import numpy as np

from maxmargin.data import toys
from maxmargin.kernels import Polynomial
from maxmargin.loop import solve
from maxmargin.problem import Problem
from maxmargin.quadratic import dual_qp, primal_qp
from maxmargin.solvers import Perceptron
from maxmargin.transforms import PolynomialTransform


def a_program_by_hand() -> str:
    r"""A program small enough for paper.

    Two samples: $(0, 0)$ of class $-1$ and $(2, 2)$ of class $+1$. Write down $Q$, $p$, $A$, $c$ of the dual, solve
    it on paper, and compare with the QP library.
    """
    X, y = np.array([[0.0, 0.0], [2.0, 2.0]]), np.array([-1, 1])
    program = dual_qp(Problem(X, y, C=np.inf))
    assert np.array_equal(program.Q, [[0, 0], [0, 8]]) and np.array_equal(program.p, [-1, -1])
    # Σ y α = 0 makes both multipliers equal: minimise 4α² − 2α, so α = 1/4, w = (½, ½), b = −1.
    alpha = program.solve()
    assert np.allclose(alpha, 0.25, atol=1e-6)
    b, *w = primal_qp(Problem(X, y, C=np.inf)).solve()
    assert np.allclose([*w, b], [0.5, 0.5, -1], atol=1e-6)
    return f"α = {alpha.round(4).tolist()}, w = {np.round(w, 4).tolist()}, b = {b:.4f}"


def two_inequalities_or_one_equality() -> str:
    r"""Two inequalities or one equality.

    Hand both forms of the dual program to the library: $y^\top \alpha \ge 0$ and $-y^\top \alpha \ge 0$, or one
    equality. Is the answer the same? How many constraints does each have?
    """
    X, y = toys.separable()
    problem = Problem(X, y, C=np.inf)
    pair, single = (dual_qp(problem, equality=form) for form in ("two inequalities", "one equality"))
    difference = np.abs(X.T @ (y * (pair.solve() - single.solve()))).max()
    assert difference < 1e-4
    return f"{len(pair.A)} rows in A, or {len(single.A)} and one equality; the two w differ by {difference:.0e}"


def one_outlier() -> str:
    r"""One outlier.

    Add one sample close to the other cloud. What does it do to the hard margin? Which $C$ gives back nearly the
    whole margin, and what does that cost?
    """
    clean = solve(Problem(*toys.separable(), C=np.inf), tol=1e-8).margin_width
    problem = toys.with_outlier()
    hard = solve(Problem(*problem, C=np.inf), tol=1e-8)
    soft = solve(Problem(*problem, C=1.0), tol=1e-8)
    assert hard.margin_width < 0.1 * clean and soft.margin_width > 0.9 * clean
    return (
        f"width {clean:.2f} without it, {hard.margin_width:.2f} with it;"
        f" C = 1 gives {soft.margin_width:.2f} at a slack of {soft.slack[-1]:.2f} for the outlier"
    )


def b_from_any_support_vector() -> str:
    r"""The bias from any support vector.

    Compute $b = y_n - w^\top x_n$ from every free support vector. Do they agree? Try the same with a sample whose
    $\alpha_n$ is 0, and so find the misprint of source 004 ("$\alpha_n \ge 0$").
    """
    X, y = toys.off_centre()
    result = solve(Problem(X, y, C=np.inf), tol=1e-12)
    biases = y - X @ result.w
    free, outside = result.certificate.kinds.free, result.certificate.kinds.outside
    assert np.ptp(biases[free]) < 1e-5 and np.allclose(biases[free], result.support_biases, atol=1e-6)
    wrong = np.abs(biases[outside] - result.b)
    assert wrong.max() > 0.5
    return (
        f"b = {result.b:.4f} from each of {len(free)} support vectors; from other samples up to {wrong.max():.1f} off"
    )


def a_candidate_that_is_not_needed() -> str:
    r"""A candidate that is not needed.

    Make a data set in which a sample lies exactly on the margin and has $\alpha_n = 0$. Check that deleting all
    such samples changes nothing.
    """
    X, y = toys.columns()  # two columns of three samples, x = ±1: all six are on the margin
    result = solve(Problem(X, y, C=np.inf), "smo", tol=1e-12)
    kinds = result.certificate.kinds
    assert len(kinds.candidate) > 0 and np.allclose(y * result.decision_function(X), 1, atol=1e-6)
    kept = np.setdiff1d(np.arange(6), kinds.candidate)
    again = solve(Problem(X[kept], y[kept], C=np.inf), "smo", tol=1e-12)
    assert np.allclose(again.w, result.w, atol=1e-6)
    w = again.w.round(4).tolist()
    return f"{len(kinds.free)} support vectors and {len(kinds.candidate)} candidates; both fits have w = {w}"


def a_point_of_both_hulls() -> str:
    r"""Inseparability by hand.

    Ask for the hard margin of the overlapping clouds. Take the witnesses of the refusal and check, with a few lines
    of NumPy and no solver, that they prove that no hyperplane separates the classes.
    """
    X, y = toys.overlapping()
    result = solve(Problem(X, y, C=np.inf), "smo", tol=1e-6)
    alpha = result.certificate.inseparable.alpha
    p, q = (X[y == side].T @ alpha[y == side] for side in (1, -1))
    assert alpha.min() >= 0 and np.isclose(alpha[y > 0].sum(), 1) and np.isclose(alpha[y < 0].sum(), 1)
    assert np.linalg.norm(p - q) < 1e-6
    # p is an average of positive samples, q of negative ones, and p = q. A hyperplane with w·x + b > 0 on the
    # first and < 0 on the second would have w·p + b > 0 > w·q + b, although the two points are the same.
    return f"{np.sum(alpha > 0)} witnesses; the common point is ({p[0]:.3f}, {p[1]:.3f})"


def the_nearest_points() -> str:
    r"""The nearest points.

    From the $\alpha$ of a hard margin compute $p = \sum_{+} \alpha_i x_i / A$ and $q = \sum_{-} \alpha_i x_i / A$
    with $A = \sum_{+} \alpha_i$. Check that $w = A (p - q)$ and that the margin is as wide as $p$ and $q$ are
    apart.
    """
    X, y = toys.separable()
    result = solve(Problem(X, y, C=np.inf), tol=1e-12)
    A = result.alpha[y > 0].sum()
    p, q = (X[y == side].T @ result.alpha[y == side] / A for side in (1, -1))
    assert np.allclose(A * (p - q), result.w, atol=1e-5)
    assert np.isclose(np.linalg.norm(p - q), result.margin_width, rtol=1e-5)
    return f"‖p − q‖ = {np.linalg.norm(p - q):.5f} and 2/‖w‖ = {result.margin_width:.5f}"


def twenty_orders() -> str:
    r"""Twenty orders.

    Run the perceptron on the separable clouds, moved away from the origin, in 20 random orders of the samples. For
    each hyperplane compute the distance of the nearest sample, and compare with the largest possible distance.
    """
    X, y = toys.off_centre()
    largest = solve(Problem(X, y, C=np.inf), tol=1e-8).margin_width / 2
    margins = []
    for seed in range(20):
        run = solve(Problem(X, y, C=np.inf), Perceptron("shuffled"), tol=1e-3, random_state=seed)
        margins.append(np.min(y * (X @ run.w + run.b)) / np.linalg.norm(run.w))
    assert 0 < min(margins) and max(margins) <= largest + 1e-9
    return f"perceptron: {min(margins):.3f} to {max(margins):.3f}; largest possible: {largest:.3f}"


def mistakes_are_bounded() -> str:
    r"""Mistakes are bounded.

    Novikoff proved that the perceptron makes at most $(R/\gamma)^2$ corrections, where $R$ is the length of the
    longest sample and $\gamma$ the largest possible distance of the nearest sample, both after appending a 1.
    Compare.
    """
    X, y = toys.off_centre()
    ones = np.column_stack([X, np.ones(100)])
    gamma = solve(Problem(ones, y, C=np.inf, bias="none"), tol=1e-8).margin_width / 2
    bound = (np.linalg.norm(ones, axis=1).max() / gamma) ** 2
    run = solve(Problem(X, y, C=np.inf), "perceptron", tol=1e-3)
    corrections = np.abs(run.coef).sum()
    assert corrections <= bound
    assert np.allclose(X.T @ run.coef, run.w)  # w is represented by the counts
    return f"{corrections:.0f} corrections, at most {bound:.0f} allowed"


def a_transform_and_its_kernel() -> str:
    r"""A transform and its kernel.

    $(1 + x^\top x')^2$ is the inner product of
    $\Phi(x) = (1, \sqrt 2 x_1, \sqrt 2 x_2, x_1^2, \sqrt 2 x_1 x_2, x_2^2)$ with $\Phi(x')$. Check it, and show
    that the SVM with the transform and the SVM with the kernel are one machine.
    """
    X, y = toys.moons()
    root = np.sqrt(2)

    def phi(X):
        a, b = X.T
        return np.column_stack([np.ones(len(X)), root * a, root * b, a * a, root * a * b, b * b])

    kernel = Polynomial(degree=2, gamma=1.0, coef0=1.0)
    assert np.allclose(phi(X) @ phi(X).T, kernel.block(X, X))
    by_phi = solve(Problem(X, y, transform=phi, C=1.0), tol=1e-10)
    by_kernel = solve(Problem(X, y, kernel=kernel, C=1.0), tol=1e-10)
    difference = np.abs(by_phi.decision_function(X) - by_kernel.decision_function(X)).max()
    assert difference < 1e-3
    # Without the factors √2 (PolynomialTransform) it is another inner product, hence another margin.
    other = solve(Problem(X, y, transform=PolynomialTransform(2), C=1.0), tol=1e-10)
    apart = np.abs(other.decision_function(X) - by_kernel.decision_function(X)).max()
    return f"the decision values agree to {difference:.0e}; without the factors √2 they differ by {apart:.2f}"


def qp_against_smo() -> str:
    r"""A QP library against SMO.

    Time the dual QP and SMO on an RBF kernel for $N = 100, 200, 400, 800$. What happens to the time when $N$
    doubles? What happens to the memory of $Q$?
    """
    times = {"qp": [], "smo": []}
    for N in (100, 200, 400, 800):
        X, y = toys.clouds(2.5, n=N)
        for method in times:
            began = perf_counter()
            solve(Problem(X, y, kernel="rbf", C=1.0), method, tol=1e-4)
            times[method].append(perf_counter() - began)
    growth = times["qp"][-1] / times["qp"][-2]
    assert growth > 1.5  # in the long run a dense program costs N³: eight times as much
    return (
        f"seconds for N = 100, 200, 400, 800: qp {[round(t, 3) for t in times['qp']]},"
        f" smo {[round(t, 3) for t in times['smo']]}; the last doubling costs qp {growth:.1f} times as much"
    )


def more_features_than_samples() -> str:
    r"""More features than samples.

    The primal program has $\tilde d + 1$ variables, the dual has $N$. Compare their sizes and times for 40 samples
    and transforms of degree 2, 5 and 10. Which would you choose?
    """
    X, y = toys.clouds(2.5, n=40)
    X = X / np.abs(X).max()
    lines = []
    for degree in (2, 5, 10):
        problem = Problem(X, y, transform=PolynomialTransform(degree), C=1.0)
        seconds = []
        for method in ("qp-primal", "qp"):
            began = perf_counter()
            fit = solve(problem, method, tol=1e-6)
            seconds.append(perf_counter() - began)
            assert fit.converged
        lines.append(f"d̃ = {problem.X.shape[1]}: primal {seconds[0]:.3f} s, dual {seconds[1]:.3f} s")
    return "; ".join(lines)
