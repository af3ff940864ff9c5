"""Exercises on source 003: losses, the saddle point, kinds of vectors, coordinate ascent and SGD, its questions."""

# mypy: ignore-errors
# The bodies stand in the page as a reader would type them, who declares nothing.

from __future__ import annotations

import numpy as np

from maxmargin.data import toys
from maxmargin.loop import solve
from maxmargin.losses import EpsilonInsensitive
from maxmargin.problem import Problem
from maxmargin.saddle import Saddle
from maxmargin.solvers import CoordinateAscent


def a_sample_far_on_the_correct_side() -> str:
    r"""A sample far on the correct side.

    Add one sample of the class $+1$ at $(6, -3)$, which every reasonable hyperplane classifies correctly. How far
    does it turn the hyperplane of each of the three losses?
    """
    X, y = toys.separable()
    more, labels = np.vstack([X, [6.0, -3.0]]), np.append(y, 1)
    turned = {}
    for loss in ("hinge", "least-squares", "logistic"):
        before, after = (solve(Problem(*data, loss=loss, C=1.0), tol=1e-8).w for data in ((X, y), (more, labels)))
        cosine = before @ after / np.linalg.norm(before) / np.linalg.norm(after)
        turned[loss] = np.degrees(np.arccos(min(1.0, cosine)))
    assert turned["hinge"] < 1e-3 < turned["logistic"] < turned["least-squares"]
    return ", ".join(f"{loss}: {angle:.2g}°" for loss, angle in turned.items())


def slopes_below_the_hinge() -> str:
    r"""Slopes below the hinge.

    $\alpha_n$ is the slope of a line below the hinge, $\alpha_n v \le [v]_+$ for $0 \le \alpha_n \le 1$. For each
    sample of a fit, which slope reaches the loss itself? Compare with the optimal $\alpha_n$.
    """
    X, y = toys.overlapping()
    result = solve(Problem(X, y, lam=1.0), "smo", tol=1e-10)
    v = 1 - y * (X @ result.w + result.b)
    assert np.allclose(result.alpha * v, np.maximum(0, v), atol=1e-3)
    sure = np.abs(v) > 1e-3
    assert np.allclose(result.alpha[sure], v[sure] > 0, atol=1e-6)
    return f"{sure.sum()} samples off the margin have slope 0 or 1; the {np.sum(~sure)} on it take a value in between"


def the_swap_costs_nothing() -> str:
    r"""The swap costs nothing.

    Evaluate $G$ at the solution: maximise over $\alpha$ for the optimal $w$, minimise over $w$ for the optimal
    $\alpha$. Are the two values equal? Then do the same for a poor $w$ and a poor $\alpha$: what do the two values
    bound?
    """
    X, y = toys.overlapping()
    problem = Problem(X, y, lam=1.0, bias="none")
    G, best = Saddle(problem, objective="lam"), solve(problem, tol=1e-12)
    top = G(best.w, G.best_alpha(best.w))
    bottom = G(G.best_w(best.alpha), best.alpha)
    assert np.isclose(top, bottom, rtol=1e-6)
    poor_w, poor_alpha = np.array([1.0, -1.0]), np.full(100, 0.01)
    above, below = G(poor_w, G.best_alpha(poor_w)), G(G.best_w(poor_alpha), poor_alpha)
    assert below <= bottom + 1e-9 and top <= above + 1e-9
    return f"both are {top:.4f} at the solution; the poor pair bounds it by {below:.2f} ≤ {top:.2f} ≤ {above:.2f}"


def delete_what_is_not_needed() -> str:
    r"""Delete what is not needed.

    Fit the overlapping clouds, delete every sample that is not a support vector, and fit again. What changes? What
    changes if one of the free support vectors is deleted instead?
    """
    X, y = toys.overlapping()
    full = solve(Problem(X, y, C=1.0), tol=1e-10)
    kept = full.support
    reduced = solve(Problem(X[kept], y[kept], C=1.0), tol=1e-10)
    assert np.allclose(full.w, reduced.w, atol=1e-5) and np.isclose(full.b, reduced.b, atol=1e-5)
    without = np.delete(np.arange(100), full.certificate.kinds.free[0])
    other = solve(Problem(X[without], y[without], C=1.0), tol=1e-10)
    moved = np.linalg.norm(other.w - full.w)
    assert moved > 1e-4
    return (
        f"without {100 - len(kept)} of 100 samples: the same w; without one free support vector w moves by {moved:.3f}"
    )


def where_support_vectors_lie() -> str:
    r"""Where support vectors lie.

    Source 003 asks what a support vector is and where in the data space support vectors lie. Compare $y_n z_n$ for the
    three kinds of vectors.
    """
    X, y = toys.overlapping()
    result = solve(Problem(X, y, C=1.0), "smo", tol=1e-10)
    margin, kinds = y * result.decision_function(X), result.certificate.kinds
    assert margin[kinds.outside].min() > 1 - 1e-4
    assert np.allclose(margin[kinds.free], 1, atol=1e-3)
    assert margin[kinds.bound].max() < 1 + 1e-4
    counts = kinds.counts
    return (
        f"{counts['outside']} outside with y z > 1, {counts['free']} free with y z = 1,"
        f" {counts['bound']} bound with y z ≤ 1; {np.sum(margin < 0)} of them are misclassified"
    )


def why_they_arise() -> str:
    r"""Why support vectors arise.

    Source 003 asks why support vectors arise. Count the samples with $\beta_n \ne 0$ for the hinge, the squared
    hinge, least squares and the logistic loss, and look at the slope of each loss where $y z > 1$.
    """
    X, y = toys.overlapping()
    counts = {}
    for loss in ("hinge", "squared-hinge", "least-squares", "logistic"):
        fit = solve(Problem(X, y, loss=loss, C=1.0), tol=1e-8)
        counts[loss] = int(np.sum(np.abs(fit.beta) > 1e-6))
    # β_n is minus C times the slope of the loss: it is zero exactly where the loss is flat.
    assert counts["hinge"] < counts["least-squares"] == counts["logistic"] == 100
    return ", ".join(f"{loss}: {count} of 100" for loss, count in counts.items())


def a_rate_per_epoch() -> str:
    r"""A rate per epoch.

    Plot (or fit) the logarithm of the gap of coordinate ascent against the epoch. By which factor does each epoch
    multiply the gap? Is it the same factor late in the run as early?
    """
    X, y = toys.breast_cancer()
    run = solve(Problem(X, y, C=0.03, bias="augmented"), CoordinateAscent("shuffled"), tol=1e-9, every=1)
    epoch, gap = run.trace["iteration"], np.minimum.accumulate(run.trace["relative_gap"])
    late = (gap < 1e-3) & (gap > 1e-8)
    slope, start = np.polyfit(epoch[late], np.log(gap[late]), 1)
    fitted = slope * epoch[late] + start
    explained = 1 - np.var(np.log(gap[late]) - fitted) / np.var(np.log(gap[late]))
    early = (gap[9] / gap[0]) ** (1 / 9)
    assert slope < 0 and explained > 0.9
    assert early < np.exp(slope)  # the first epochs gain more; then the factor settles
    return (
        f"an epoch multiplies the gap by {early:.3f} at first, by {np.exp(slope):.3f} later;"
        f" there a straight line explains {explained:.1%} of log gap"
    )


def support_vectors_of_a_regression() -> str:
    r"""Support vectors of a regression.

    Source 003 points to regression. Fit a noisy sine with the $\epsilon$-insensitive loss. Where do the support
    vectors lie now, and how does their number change with $\epsilon$?
    """
    rng = np.random.default_rng(0)
    x = np.linspace(0, 6, 80)[:, None]
    t = np.sin(x[:, 0]) + rng.normal(scale=0.1, size=80)
    counts = []
    for epsilon in (0.02, 0.1, 0.3):
        fit = solve(Problem(x, t, loss=EpsilonInsensitive(epsilon), kernel="rbf", C=10.0), tol=1e-8)
        error = np.abs(t - fit.predict(x))
        assert error[fit.support].min() > epsilon - 1e-3  # on the tube or outside it
        counts.append(len(fit.support))
    assert counts[0] > counts[1] > counts[2]
    return f"support vectors for ε = 0.02, 0.1, 0.3: {counts}; all of them on the tube or outside"


def three_classes() -> str:
    r"""Three classes.

    Source 003 says that several classes are not trivial. Train one machine per class against the rest on three
    clouds. On a grid, count how many machines claim each point. Is it always one?
    """
    rng = np.random.default_rng(0)
    centres = np.array([[0, 2], [-2, -1], [2, -1]])
    label = np.repeat([0, 1, 2], 40)
    X = centres[label] + rng.normal(scale=0.7, size=(120, 2))
    machines = [solve(Problem(X, np.where(label == k, 1, -1), C=1.0), tol=1e-8) for k in range(3)]
    grid = np.stack(np.meshgrid(np.linspace(-5, 5, 101), np.linspace(-5, 5, 101)), axis=-1).reshape(-1, 2)
    claims = sum((machine.decision_function(grid) > 0).astype(int) for machine in machines)
    share = [np.mean(claims == k) for k in range(3)]
    assert share[0] > 0 and share[2] > 0
    # The scores of separate machines have different scales (their ‖w‖ differ): "the largest score" is a convention.
    scales = [round(float(np.linalg.norm(machine.w)), 2) for machine in machines]
    return f"{share[0]:.0%} of the grid is claimed by none, {share[2]:.0%} by two; the norms ‖w‖ are {scales}"
