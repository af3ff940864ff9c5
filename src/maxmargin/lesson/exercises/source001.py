"""Exercises on source 001: the multipliers of the soft margin, gradient ascent and stochastic gradient ascent."""

# mypy: ignore-errors
# The bodies stand in the page as a reader would type them, who declares nothing.

from __future__ import annotations

import numpy as np

from maxmargin.data import toys
from maxmargin.loop import solve
from maxmargin.problem import Problem
from maxmargin.solvers import GradientAscent, StochasticAscent


def two_kinds_of_multipliers() -> str:
    r"""Two kinds of multipliers.

    Each sample of the soft margin has two constraints and two multipliers: $\alpha_i$ for the margin and
    $\beta_i = C - \alpha_i$ for $\xi_i \ge 0$. Check that $\beta_i \xi_i = 0$ for every sample. Which samples have
    both multipliers positive?
    """
    X, y = toys.overlapping()
    result = solve(Problem(X, y, C=1.0), "smo", tol=1e-10)
    alpha, beta, slack = result.alpha, result.slack_multipliers, result.slack
    assert np.allclose(alpha + beta, 1.0)
    assert np.abs(beta * slack).max() < 1e-4
    both = np.flatnonzero((alpha > 1e-9) & (beta > 1e-9))
    assert set(both) == set(result.certificate.kinds.free)
    return f"{len(both)} samples have both multipliers positive: the free support vectors, exactly on the margin"


def one_or_the_other() -> str:
    r"""One or the other.

    Source 001 appends a 1 to every sample, so that $b$ becomes a weight, and still asks for
    $\sum_i \alpha_i y_i = 0$. Show that both together force $b = 0$. (Hint: what is the last component of
    $w = \sum_i \alpha_i y_i x_i$?)
    """
    X, y = toys.overlapping()
    X = X + np.array([1.0, 0.0])  # away from the origin, so that a bias is needed
    augmented = solve(Problem(X, y, C=1.0, bias="augmented"), tol=1e-10)
    # The last component of every sample is 1, so the last component of w is Σ α_i y_i.
    assert np.isclose(augmented.b, np.sum(augmented.alpha * y))
    ones = np.column_stack([X, np.ones(100)])
    both = solve(Problem(ones, y, C=1.0, bias="free"), tol=1e-10)
    assert abs(both.w[2]) < 1e-6
    return f"augmented: Σαy = b = {augmented.b:.3f}; with Σαy = 0 as well the last weight is {abs(both.w[2]):.1g}"


def half_or_one() -> str:
    r"""One half or one.

    Source 001 writes the part of $J$ that depends on $\alpha_i$ with $\half$ before the cross term. Compare the
    derivative of that expression with a difference quotient of $J$ itself.
    """
    X, y = toys.overlapping()
    rng = np.random.default_rng(0)
    alpha = rng.random(100)
    Q = y[:, None] * (X @ X.T) * y

    def J(alpha):
        return alpha.sum() - 0.5 * alpha @ Q @ alpha

    i, h = 7, 1e-6
    step = h * (np.arange(100) == i)
    true = (J(alpha + step) - J(alpha - step)) / (2 * h)
    cross = Q[i] @ alpha - Q[i, i] * alpha[i]
    printed, corrected = (1 - alpha[i] * Q[i, i] - factor * cross for factor in (0.5, 1.0))
    assert np.isclose(true, corrected, rtol=1e-5) and not np.isclose(true, printed, rtol=0.1)
    return f"∂J/∂α_7 = {true:.4f}; with the factor 1: {corrected:.4f}; with the printed ½: {printed:.4f}"


def schedules() -> str:
    r"""Schedules.

    Try $\eta_t$ constant, $\eta_t \propto 1/\sqrt t$ and $\eta_t \propto 1/t$ in gradient ascent, all with the same
    first step, for 500 steps. Which is best, and why is a shrinking step a waste here?
    """
    X, y = toys.overlapping()
    problem = Problem(X, y, C=1.0, bias="augmented")
    ones = np.column_stack([X, np.ones(100)])
    first = 1 / np.linalg.eigvalsh(ones.T @ ones)[-1]
    rules = {"constant": lambda t: first, "1/√t": lambda t: first / t**0.5, "1/t": lambda t: first / t}
    gaps = {
        name: solve(problem, GradientAscent(step=rule), tol=1e-12, max_iter=500).certificate.relative_gap
        for name, rule in rules.items()
    }
    # The dual is smooth: near its maximum the gradient itself becomes small. Only a sub-gradient needs a smaller step.
    assert gaps["constant"] < gaps["1/√t"] < gaps["1/t"]
    return ", ".join(f"{name}: gap {gap:.1g}" for name, gap in gaps.items())


def noise_that_vanishes() -> str:
    r"""A constant step that is not too long.

    Stochastic gradient descent needs a step that shrinks. Does stochastic gradient *ascent on the dual*? Run it
    with constant steps $1/4$, $1$ and $1.9$ times $1/\max_i \|x_i\|^2$ and compare the gaps after 300 epochs.
    """
    X, y = toys.overlapping()
    problem = Problem(X, y, C=1.0, bias="augmented")
    safe = 1 / (1 + np.max(np.sum(X**2, axis=1)))
    gaps = []
    for factor in (0.25, 1.0, 1.9):
        run = solve(problem, StochasticAscent(step=factor * safe), tol=1e-12, max_iter=300)
        gaps.append(run.certificate.relative_gap)
    # At the optimum every single update is zero: no noise is left that a smaller step would have to damp.
    assert max(gaps) < 1e-2
    return "gaps after 300 epochs: " + ", ".join(f"{gap:.1g}" for gap in gaps)
