"""Exercises on source 000: the primal, sub-gradients, duality, conjugates, projected gradients, coordinates."""

# mypy: ignore-errors
# The bodies stand in the page as a reader would type them, who declares nothing.

from __future__ import annotations

import numpy as np

from maxmargin.data import toys
from maxmargin.loop import solve
from maxmargin.losses import Hinge
from maxmargin.problem import Problem
from maxmargin.result import Iterate
from maxmargin.solvers import CoordinateAscent, ProjectedGradient, Solver, Subgradient


def margin_and_slacks_by_hand() -> str:
    r"""Margin and slacks by hand.

    Fit the overlapping clouds with $C = 1$. From $w$ and $b$ alone compute the width of the margin, every slack
    $\xi_i$ and the primal value. Compare with `margin_width`, `slack` and the certificate.
    """
    X, y = toys.overlapping()
    result = solve(Problem(X, y, C=1.0), tol=1e-10)
    width = 2 / np.linalg.norm(result.w)
    slack = np.maximum(0, 1 - y * (X @ result.w + result.b))
    primal = 0.5 * result.w @ result.w + 1.0 * slack.sum()
    assert np.isclose(width, result.margin_width)
    assert np.allclose(slack, result.slack, atol=1e-8)
    assert np.isclose(primal, result.certificate.primal)
    return f"the margin is {width:.3f} wide, {np.sum(slack > 1e-8)} slacks are positive, and P = {primal:.4f}"


def wider_or_fewer_violations() -> str:
    r"""A wide margin or few violations.

    Fit the overlapping clouds for $C = 0.01, 0.1, 1, 10, 100$. How do the width $2/\|w\|$ and the sum of the slacks
    change? Explain why neither of them can ever rise with $C$.
    """
    X, y = toys.overlapping()
    fits = [solve(Problem(X, y, C=C), tol=1e-10) for C in (0.01, 0.1, 1, 10, 100)]
    widths = np.array([fit.margin_width for fit in fits])
    slacks = np.array([fit.slack.sum() for fit in fits])
    # Each fit is the best for its own C. Write this down for two values of C and add the two
    # inequalities: the larger C has the smaller sum of slacks, hence the larger norm.
    assert np.all(np.diff(widths) <= 1e-6) and np.all(np.diff(slacks) <= 1e-6)
    return f"widths {widths.round(2).tolist()}, sums of slacks {slacks.round(2).tolist()}"


def not_a_descent_method() -> str:
    r"""Not a descent method.

    Run algorithm 1 with a constant learning rate and look at every step. How often does the objective rise? Which
    value does the result keep?
    """
    X, y = toys.overlapping()
    problem = Problem(X, y, lam=1.0, bias="augmented")
    run = solve(problem, Subgradient(step=0.02, objective="lam"), tol=1e-9, max_iter=300, every=1)
    primal = run.trace["primal"]
    rises = int(np.sum(np.diff(primal) > 0))
    assert rises > 0 and run.certificate.primal < primal[-1] + 1e-9
    return f"the objective rose in {rises} of 300 steps; the result keeps {run.certificate.primal:.3f}"


def any_initial_weights() -> str:
    r"""Initial weights.

    Start algorithm 1 from five random hyperplanes (`start=(w, b)`). Do the runs end at different hyperplanes, as
    those of a perceptron would? Why not?
    """
    X, y = toys.overlapping()
    problem = Problem(X, y, lam=1.0, bias="augmented")
    rng = np.random.default_rng(0)
    ends = []
    for _ in range(5):
        begin = (rng.normal(scale=5, size=2), 0.0)
        method = Subgradient(step=lambda t: 0.1 / t**0.75, objective="lam")
        ends.append(solve(problem, method, tol=1e-9, max_iter=2000, start=begin).w)
    # The objective is strictly convex in w: it has one minimiser, whatever the start.
    spread = np.ptp(ends, axis=0).max()
    assert spread < 0.02
    return f"all five runs end within {spread:.1g} of each other"


def the_cases_of_the_sub_gradient() -> str:
    r"""The cases of the sub-gradient.

    Source 000 prints the sub-gradient with the test $a^\top x_i y_i \ge 0$. Its pseudocode tests
    $1 - a^\top x_i y_i > 0$. Run both for 500 steps. Which one minimises the objective?
    """
    X, y = toys.overlapping()
    best = solve(Problem(X, y, lam=1.0, bias="none"), tol=1e-8).certificate.primal

    def descend(pulls):
        a = np.zeros(2)
        for _ in range(500):
            a = a - 0.005 * (-X.T @ (y * pulls(y * (X @ a))) + a)
        return 0.5 * a @ a + np.maximum(0, 1 - y * (X @ a)).sum()

    printed, corrected = descend(lambda m: m >= 0), descend(lambda m: m < 1)
    assert corrected < 1.01 * best and printed > 1.5 * best
    return f"as printed {printed:.4g}, corrected {corrected:.4f}, the minimum {best:.4f}"


def every_multiplier_is_a_bound() -> str:
    r"""Every dual point gives a lower bound.

    Draw 1,000 random feasible dual points ($0 \le \alpha_i \le C$, $\sum_i \alpha_i y_i = 0$) of the overlapping
    clouds. Is any $D(\beta)$ above the optimal primal value? How near does the best of them come?
    """
    X, y = toys.overlapping()
    problem = Problem(X, y, C=1.0)
    optimum = solve(problem, tol=1e-10).certificate.primal
    rng = np.random.default_rng(0)
    values = []
    for _ in range(1000):
        alpha = rng.random(100) * rng.random()
        alpha[y > 0] *= alpha[y < 0].sum() / alpha[y > 0].sum()
        values.append(problem.dual(problem.feasible(y * alpha)))
    assert max(values) <= optimum
    return f"the best of 1,000 random bounds is {max(values):.2f}; the optimum is {optimum:.2f}"


def the_dual_of_the_smallest_example() -> str:
    r"""The dual of the smallest example.

    Minimise $x^2$ subject to $x \ge 3$. Write down $L(x, \lambda)$, minimise it over $x$, maximise over $\lambda$,
    and check with numbers that the two optimal values are equal. What does the optimal $\lambda$ say about the
    constraint?
    """
    x, multipliers = np.linspace(-10, 10, 4001), np.linspace(0, 20, 2001)
    L = x[:, None] ** 2 + multipliers * (3 - x[:, None])
    g = L.min(axis=0)  # λ·3 − λ²/4
    assert np.allclose(g, 3 * multipliers - multipliers**2 / 4, atol=1e-4)
    best = multipliers[g.argmax()]
    assert np.isclose(g.max(), 9) and np.isclose(best, 6)
    # Moving the constraint from 3 to 3 + ε costs (3 + ε)² − 9 ≈ 6ε: λ is the price of the constraint.
    return f"the largest bound is {g.max():.2f} = 3², reached at λ = {best:.2f}, the slope of x² at 3"


def the_conjugate_of_the_hinge() -> str:
    r"""The conjugate of the hinge.

    Compute $\ell^*(u) = \max_v (u v - \max(0, 1 - v))$ on a grid for slopes $u$ between $-1$ and $0$ and for two
    slopes outside. Is the conjugate convex or concave?
    """
    v = np.linspace(-1000, 1000, 200001)
    hinge = np.maximum(0, 1 - v)

    def star(u):
        return np.max(u * v - hinge)

    inside = np.linspace(-1, 0, 11)
    assert np.allclose([star(u) for u in inside], inside, atol=1e-9)
    assert np.allclose(Hinge().conjugate(inside, np.ones(11)), inside)
    # A maximum of lines is convex: f*(½(u + u')) ≤ ½ f*(u) + ½ f*(u'). Source 000 says concave.
    slopes = np.linspace(-3, 2, 51)
    values = np.array([star(u) for u in slopes])
    assert np.all(values[1:-1] <= (values[:-2] + values[2:]) / 2 + 1e-9)
    return f"ℓ*(u) = u on [−1, 0]; outside it grows with the grid: {star(-1.1):.0f} at −1.1, {star(0.1):.0f} at 0.1"


def the_gap_sample_by_sample() -> str:
    r"""The gap, sample by sample.

    Stop a run early. Show that the gap $P - D$ is $\half \|w - w(\beta)\|^2$ plus one term
    $C \xi_i - \alpha_i (1 - y_i z_i)$ for each sample, that no term is negative, and find the largest term.
    """
    X, y = toys.overlapping()
    result = solve(Problem(X, y, C=1.0, bias="none"), "coordinate-ascent", max_iter=3, tol=0)
    margin = y * (X @ result.w)
    terms = 1.0 * np.maximum(0, 1 - margin) - result.alpha * (1 - margin)
    assert terms.min() >= -1e-12
    assert np.isclose(terms.sum(), result.certificate.gap)  # here w = w(β)
    worst = terms.argmax()
    return f"gap {result.certificate.gap:.4f}; sample {worst} contributes {terms[worst]:.4f} of it"


def find_the_misprint_by_its_gap() -> str:
    r"""Find the misprint by its gap.

    Source 000 prints algorithm 2 with the factor $c$ where the regulariser $\frac{c}{2}\|a\|^2$ gives $1/c$. Type
    it as printed, as a solver of your own, with $c = 0.5$, and let the certificate judge it.
    """

    class AsPrinted(Solver):
        name, paper = "algorithm 2 as printed", "source 000"

        def accepts(self, problem):
            return None

        def iterates(self, problem, start, rng):
            X, y, c = problem.X, problem.target, 1 / problem.C[0]
            duals = np.zeros(problem.n)
            for k in range(1, 3001):
                gradient = -1 - c * (y * (X @ (X.T @ (y * duals))))
                duals = np.clip(duals + 0.005 * gradient, -1, 0)
                yield Iterate(k, beta=-y * duals / c)

    X, y = toys.overlapping()
    problem = Problem(X, y, lam=0.5, bias="none")
    printed = solve(problem, AsPrinted(), tol=1e-6)
    corrected = solve(problem, ProjectedGradient(step=0.005, objective="lam"), tol=1e-6, max_iter=3000)
    gaps = printed.certificate.relative_gap, corrected.certificate.relative_gap
    assert gaps[0] > 0.05 and gaps[1] < 1e-3
    return f"as printed the gap stays at {gaps[0]:.0%}; with 1/c it falls to {gaps[1]:.1g}"


def the_largest_stable_learning_rate() -> str:
    r"""The largest stable learning rate.

    Take least squares as the loss: its dual has no bounds, so clipping cannot rescue a step that is too long.
    Double the step $\eta$ of projected gradient ascent until the run no longer converges, then bisect. Compare the
    limit with $2/\lambda_{\max}$, where $\lambda_{\max}$ is the largest eigenvalue of the matrix of the dual. Then
    try the hinge.
    """
    X, y = toys.overlapping()

    def converges(problem, eta):
        return solve(problem, ProjectedGradient(step=eta), tol=1e-6, max_iter=3000).converged

    def longest_step(problem):
        low, high = 1e-3, 2e-3
        while converges(problem, high):
            low, high = high, 2 * high
        for _ in range(8):
            middle = (low + high) / 2
            low, high = (middle, high) if converges(problem, middle) else (low, middle)
        return low

    squares = longest_step(Problem(X, y, loss="least-squares", C=0.1, bias="none"))
    limit = 2 / np.linalg.eigvalsh(X @ X.T + np.eye(100) / (2 * 0.1))[-1]
    assert 0.98 * limit < squares < 1.02 * limit
    hinge, safe = longest_step(Problem(X, y, C=0.1, bias="none")), 2 / np.linalg.eigvalsh(X @ X.T)[-1]
    assert hinge > safe  # variables at a bound do not move: only those between the bounds limit the step
    return f"least squares: η = {squares:.5f}, 2/λ_max = {limit:.5f}; hinge: η = {hinge:.5f}, 2/λ_max = {safe:.5f}"


def one_coordinate_by_hand() -> str:
    r"""One coordinate by hand.

    Watch single updates of coordinate ascent (`grain=1`). Check for each one that the unclipped step is
    $(1 - y_i z_i)/K_{ii}$ and that the dual rises by exactly the event's gain.
    """
    X, y = toys.overlapping()
    problem = Problem(X, y, C=1.0, bias="none")
    run = solve(problem, CoordinateAscent("cyclic", grain=1), tol=0, max_iter=100, every=1, snapshots=True)
    beta = np.zeros(100)
    for snapshot in run.trace.snapshots:
        event = snapshot.event
        i = event.indices[0]
        step = (1 - y[i] * (X[i] @ (X.T @ beta))) / (X[i] @ X[i])
        assert np.isclose(y[i] * event.unclipped, step)
        assert np.isclose(problem.dual(snapshot.beta) - problem.dual(beta), event.gain)
        beta = snapshot.beta
    return f"100 updates checked; together they gain {problem.dual(beta):.3f}, and no single one loses"


def loop_over_features() -> str:
    r"""The wrong loop.

    Algorithm 3 of source 000 loops over features where it must loop over samples. What does it compute then? Run
    both and count the support vectors.
    """
    X, y = toys.overlapping()
    problem = Problem(X, y, lam=1.0, bias="none")
    Q = -(y[:, None] * (X @ X.T) * y)

    def ascend(coordinates):
        duals = np.zeros(100)
        for _ in range(200):
            for k in coordinates:
                duals[k] = np.clip((1 - Q[k] @ duals + Q[k, k] * duals[k]) / Q[k, k], -1, 0)
        return problem.dual(-y * duals), np.count_nonzero(duals)

    (printed, few), (corrected, many) = ascend(range(2)), ascend(range(100))
    assert few <= 2 and printed < 0.1 * corrected
    return (
        f"over features: D = {printed:.3f}, support vectors: {few};"
        f" over samples: D = {corrected:.3f}, support vectors: {many}"
    )
