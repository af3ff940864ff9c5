"""Every numbered statement of docs/theory.md holds: `test_08_...` checks statement (8), by formulas typed here."""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog, minimize, minimize_scalar

from maxmargin import NuProblem, Problem, solve
from maxmargin.certificate import certify
from maxmargin.lesson.twins import pla
from maxmargin.result import Iterate

PAGE = (Path(__file__).parent.parent / "docs" / "theory.md").read_text(encoding="utf-8")


# Data, objectives and optima in a few lines, so that nothing below leans on the code under test unless it says so.


def clouds(n=40, d=3, apart=0.7, seed=0):
    """Two clouds of points: overlapping, or separable if they are far apart."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return rng.normal(size=(n, d)) + apart * y[:, None], y, rng


def hinge_primal(w, b, X, y, C):
    return 0.5 * w @ w + np.sum(C * np.maximum(0.0, 1.0 - y * (X @ w + b)))


def hinge_dual(beta, K, y):
    return y @ beta - 0.5 * beta @ K @ beta


def feasible(y, C, rng):
    """A random β of the hinge's dual with Σβ = 0."""
    alpha = C * rng.random(len(y))
    sums = alpha[y > 0].sum(), alpha[y < 0].sum()
    alpha[y > 0] *= min(sums) / sums[0]
    alpha[y < 0] *= min(sums) / sums[1]
    return alpha * y


@pytest.fixture(scope="module")
def soft():
    """Overlapping clouds, C = 0.8, free bias, solved to the last digits: X, y, C and the result."""
    X, y, _ = clouds()
    result = solve(Problem(X, y, C=0.8, bias="free"), "smo", tol=1e-13)
    assert result.converged
    return X, y, 0.8, result


@pytest.fixture(scope="module")
def hard():
    """Separable clouds and their hard margin."""
    X, y, _ = clouds(apart=3.0, d=2)
    result = solve(Problem(X, y, C=np.inf), "smo", tol=1e-12)
    assert result.converged
    return X, y, result


# 1. and 2. The primal and its Lagrangian


def test_01_two_scales():
    X, y, rng = clouds()
    lam = 0.3
    w, alpha = rng.normal(size=3), rng.random(40)
    theirs = np.sum(np.maximum(0.0, 1.0 - y * (X @ w))) + lam / 2 * w @ w
    assert theirs == pytest.approx(lam * hinge_primal(w, 0.0, X, y, 1 / lam))
    Q = np.diag(y) @ X @ X.T @ np.diag(y)
    assert alpha.sum() - alpha @ Q @ alpha / (2 * lam) == pytest.approx(
        lam * hinge_dual(y * alpha / lam, X @ X.T, y), abs=1e-10
    )
    C, lam = (solve(Problem(X, y, bias="none", **weight), tol=1e-12) for weight in ({"C": 1 / lam}, {"lam": lam}))
    np.testing.assert_allclose(C.w, lam.w, atol=1e-9)


def test_02_the_best_slack_is_the_hinge():
    for margin in np.linspace(-2.0, 3.0, 11):
        slack = linprog([1.0], A_ub=[[-1.0]], b_ub=[margin - 1.0], bounds=[(0.0, None)])
        assert slack.fun == pytest.approx(max(0.0, 1.0 - margin), abs=1e-9)


def test_03_the_lagrangian_dual_of_the_hinge():
    X, y, rng = clouds(n=8)
    C = 0.8
    beta = feasible(y, C, rng)
    alpha = y * beta
    mu = C - alpha

    def lagrangian(w, b, xi):
        return 0.5 * w @ w + C * xi.sum() - alpha @ (y * (X @ w + b) - 1.0 + xi) - mu @ xi

    dual = alpha.sum() - 0.5 * sum(
        alpha[i] * alpha[j] * y[i] * y[j] * (X[i] @ X[j]) for i in range(8) for j in range(8)
    )
    at = X.T @ beta
    assert lagrangian(at, 0.0, np.zeros(8)) == pytest.approx(dual)
    for _ in range(100):  # no other point is lower, and neither b nor ξ matters
        w, b, xi = at + rng.normal(size=3), rng.normal(), rng.random(8)
        assert lagrangian(w, b, xi) >= dual
        assert lagrangian(at, b, xi) == pytest.approx(dual)


# 3. and 4. Conjugates

EPSILON = 0.3
#: Loss, conjugate and its domain as the page has them, as functions of z (or u) and the target.
TABLE = {
    "hinge": (lambda z, y: np.maximum(0, 1 - y * z), lambda u, y: y * u, lambda u, y: -1 <= y * u <= 0),
    "squared-hinge": (
        lambda z, y: np.maximum(0, 1 - y * z) ** 2,
        lambda u, y: y * u + u * u / 4,
        lambda u, y: y * u <= 0,
    ),
    "least-squares": (lambda z, t: (t - z) ** 2, lambda u, t: t * u + u * u / 4, lambda u, t: True),
    "logistic": (
        lambda z, y: np.log1p(np.exp(-y * z)),
        lambda u, y: sum(a * np.log(a) for a in (-y * u, 1 + y * u) if a > 0),
        lambda u, y: -1 <= y * u <= 0,
    ),
    "epsilon-insensitive": (
        lambda z, t: np.maximum(0, np.abs(z - t) - EPSILON),
        lambda u, t: t * u + EPSILON * abs(u),
        lambda u, t: abs(u) <= 1,
    ),
    "squared-epsilon-insensitive": (
        lambda z, t: np.maximum(0, np.abs(z - t) - EPSILON) ** 2,
        lambda u, t: t * u + EPSILON * abs(u) + u * u / 4,
        lambda u, t: True,
    ),
    "one-class": (lambda z, t: np.maximum(0, -z), lambda u, t: 0.0, lambda u, t: -1 <= u <= 0),
}
#: The last column but one of the page's table: what a loss puts into the dual.
DUAL_TERMS = {
    "hinge": lambda b, y, C: y * b,
    "squared-hinge": lambda b, y, C: y * b - b * b / (4 * C),
    "least-squares": lambda b, t, C: t * b - b * b / (4 * C),
    "logistic": lambda b, y, C: -C * sum(a * np.log(a) for a in (y * b / C, 1 - y * b / C) if a > 0),
    "epsilon-insensitive": lambda b, t, C: t * b - EPSILON * abs(b),
    "squared-epsilon-insensitive": lambda b, t, C: t * b - EPSILON * abs(b) - b * b / (4 * C),
    "one-class": lambda b, t, C: 0.0,
}
LABELLED = ("hinge", "squared-hinge", "logistic")


def targets(name):
    return (1.0,) if name == "one-class" else (-1.0, 1.0) if name in LABELLED else (-0.7, 0.0, 1.3)


def library_loss(name):
    from maxmargin.losses import loss

    made = loss(name)
    return type(made)(epsilon=EPSILON) if hasattr(made, "epsilon") else made


def test_04_the_minimum_over_z_is_the_conjugate():
    z = np.linspace(-200.0, 200.0, 400_001)
    for name, (value, conjugate, inside) in TABLE.items():
        for t in targets(name):
            for C, beta in ((0.5, 0.3), (0.5, -0.3), (2.0, 1.4), (2.0, -0.1)):
                if inside(-beta / C, t):
                    least = (C * value(z, t) + beta * z).min()
                    assert least == pytest.approx(-C * conjugate(-beta / C, t), abs=1e-4), (name, t, beta)


@pytest.mark.parametrize("name", TABLE)
def test_05_conjugates_by_brute_force(name):
    value, conjugate, inside = TABLE[name]
    z = np.linspace(-100.0, 100.0, 200_001)
    for t in targets(name):
        for u in np.linspace(-1.5, 1.5, 31):
            found = (u * z - value(z, t)).max()
            if inside(u, t):
                assert found == pytest.approx(conjugate(u, t), abs=1e-4), (t, u)
                C = 1.7
                assert -C * conjugate(u, t) == pytest.approx(DUAL_TERMS[name](-C * u, t, C)), (t, u)
            else:  # a wider range gives more, without end
                assert found > conjugate(u, t) + 1.0 or found > 5.0, (t, u)
    made = library_loss(name)  # and the library's loss is the page's
    t = np.repeat(targets(name), 7)
    at = np.tile(np.linspace(-3.0, 3.0, 7), len(t) // 7)
    np.testing.assert_allclose(made.value(at, t), value(at, t), atol=1e-12)


def test_06_quadratic_duals_as_arrays():
    for name in TABLE:
        form = library_loss(name).dual_form(np.array(targets(name)), np.full(len(targets(name)), 1.7))
        if name == "logistic":
            assert form is None
            continue
        for i, t in enumerate(targets(name)):
            low, high = max(form.lower[i], -3.0), min(form.upper[i], 3.0)
            for beta in np.linspace(low, high, 9):
                arrays = form.target[i] * beta - form.tube[i] * abs(beta) - 0.5 * form.ridge[i] * beta**2
                assert arrays == pytest.approx(DUAL_TERMS[name](beta, t, 1.7), abs=1e-12)


# 5. and 6. Duality


@pytest.mark.parametrize("name", TABLE)
def test_07_fenchel_young(name):
    value, conjugate, inside = TABLE[name]
    z = np.linspace(-4.0, 4.0, 81) + 0.013  # away from the kinks
    for t in targets(name):
        for u in np.linspace(-1.5, 1.5, 31):
            if inside(u, t):
                assert (value(z, t) + conjugate(u, t) - u * z).min() >= -1e-12
        for at in z:
            slope = (value(at + 1e-6, t) - value(at - 1e-6, t)) / 2e-6
            slope = np.clip(slope, -1.0, 1.0) if not inside(1.0001 * slope, t) else slope
            if inside(slope, t):
                assert value(at, t) + conjugate(slope, t) - slope * at == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("name", [name for name in TABLE if name != "one-class"])
def test_08_the_gap_identity(name):
    value, conjugate, inside = TABLE[name]
    X, y, rng = clouds(n=12)
    t = y if name in LABELLED else rng.normal(size=12)
    C = 0.2 + rng.random(12)
    K = X @ X.T
    for _ in range(20):
        w, b = rng.normal(size=3), rng.normal()
        share = rng.random(12) * np.where(rng.random(12) < 0.2, 0.0, 1.0)
        beta = C * share * (y if name in LABELLED else np.where(rng.random(12) < 0.5, -1.0, 1.0))
        assert all(inside(-beta[i] / C[i], t[i]) for i in range(12))
        stars = np.array([conjugate(-beta[i] / C[i], t[i]) for i in range(12)])
        z = X @ w + b
        P = 0.5 * w @ w + C @ value(z, t)
        D = -0.5 * beta @ K @ beta - C @ stars
        brackets = value(z, t) + stars + beta * z / C
        apart = w - X.T @ beta
        assert (brackets >= -1e-12).all()
        assert P - D == pytest.approx(0.5 * apart @ apart + C @ brackets - b * beta.sum(), rel=1e-12)


def test_09_a_samples_share_of_the_gap():
    rng = np.random.default_rng(1)
    C, alpha, m = 1.5, 1.5 * rng.random(200), rng.normal(size=200) + 1.0
    share = C * np.maximum(0, 1 - m) - alpha * (1 - m)
    np.testing.assert_allclose(share, np.where(m < 1, (C - alpha) * (1 - m), alpha * (m - 1)), atol=1e-12)
    assert (share >= 0).all()


def test_10_strong_duality(soft):
    X, y, C, result = soft
    primal, dual = hinge_primal(result.w, result.b, X, y, C), hinge_dual(result.beta, X @ X.T, y)
    assert primal == pytest.approx(dual, rel=1e-11)
    # No point near the optimum is better on either side, and far ones are worse.
    _, _, rng = clouds()
    for size in (1e-3, 0.1, 1.0):
        for _ in range(100):
            w, b = result.w + size * rng.normal(size=3), result.b + size * rng.normal()
            assert hinge_primal(w, b, X, y, C) >= dual - 1e-11
            assert hinge_dual(feasible(y, C, rng), X @ X.T, y) <= primal + 1e-11


# 7. The saddle function


def G(w, b, alpha, X, y):
    return 0.5 * w @ w + alpha @ (1 - y * (X @ w + b))


def test_11_the_saddle_function_is_both_objectives():
    X, y, rng = clouds(n=10)
    C = 0.8
    for _ in range(20):
        w, b, alpha = rng.normal(size=3), rng.normal(), C * rng.random(10)
        best = linprog(-(1 - y * (X @ w + b)), bounds=[(0, C)] * 10).x
        assert G(w, b, best, X, y) == pytest.approx(hinge_primal(w, b, X, y, C))
        least = minimize(lambda v, alpha=alpha: G(v, 0.0, alpha, X, y), np.zeros(3)).fun
        assert least == pytest.approx(hinge_dual(y * alpha, X @ X.T, y), abs=1e-6)


def test_12_the_optimum_is_a_saddle_point(soft):
    X, y, C, result = soft
    _, _, rng = clouds()
    star = y * result.beta
    value = G(result.w, result.b, star, X, y)
    assert value == pytest.approx(result.certificate.primal, rel=1e-11)
    for _ in range(200):
        assert G(result.w, result.b, C * rng.random(40), X, y) <= value + 1e-10
        assert G(result.w + rng.normal(size=3), result.b + rng.normal(), star, X, y) >= value - 1e-10


def test_13_the_saddle_function_of_source_003():
    X, y, rng = clouds(n=10)
    lam, w, alpha = 0.3, rng.normal(size=3), rng.random(10)
    theirs = alpha @ (1 - y * (X @ w)) + lam / 2 * w @ w
    assert theirs == pytest.approx(lam * G(w, 0.0, alpha / lam, X, y))
    best = X.T @ np.diag(y) @ alpha / lam
    assert np.abs(-(alpha * y) @ X + lam * best).max() < 1e-12  # the gradient of theirs there


# 8. KKT


def test_14_every_sample_is_of_one_kind(soft):
    X, y, C, result = soft
    alpha, m = y * result.beta, y * (X @ result.w + result.b)
    near = 1e-6
    outside, free, bound = alpha <= near, (alpha > near) & (alpha < C - near), alpha >= C - near
    assert (m[outside] >= 1 - near).all() and (np.abs(m[free] - 1) <= near).all() and (m[bound] <= 1 + near).all()
    assert outside.any() and free.any() and bound.any()
    counts = result.certificate.kinds.counts
    assert (counts["free"], counts["bound"]) == (free.sum(), bound.sum())
    # Without the outside samples the solution is the same.
    kept = solve(Problem(X[~outside], y[~outside], C=C, bias="free"), "smo", tol=1e-13)
    np.testing.assert_allclose(kept.w, result.w, atol=1e-6)


def test_15_the_bias_from_any_free_support_vector(soft):
    X, y, C, result = soft
    alpha = y * result.beta
    free = (alpha > 1e-6) & (alpha < C - 1e-6)
    np.testing.assert_allclose((y - X @ result.w)[free], result.b, atol=1e-6)


def test_16_the_interval_of_the_bias(soft):
    X, y, C, result = soft
    K = X @ X.T
    lower, upper = np.minimum(0, C * y), np.maximum(0, C * y)

    def violation(beta):
        g = y - K @ beta
        return g[beta < upper - 1e-9].max() - g[beta > lower + 1e-9].min()

    assert violation(result.beta) <= 1e-6
    _, _, rng = clouds()
    for _ in range(20):
        beta = feasible(y, C, rng)
        assert violation(beta) > 0.1 and hinge_dual(beta, K, y) < result.certificate.dual - 1e-3


# 9. Hulls


def nearest_points(X, y, cap=1.0):
    """The nearest points p and q of two (reduced) hulls, by a general method."""
    n = len(y)
    V = y[:, None] * X
    sums = [{"type": "eq", "fun": lambda a, s=s: a[y == s].sum() - 1.0} for s in (1.0, -1.0)]
    start = np.where(y > 0, 1 / (y > 0).sum(), 1 / (y < 0).sum())
    options = {"ftol": 1e-15, "maxiter": 1000}
    found = minimize(
        lambda a: a @ V @ V.T @ a,
        start,
        jac=lambda a: 2 * V @ (V.T @ a),
        bounds=[(0, cap)] * n,
        constraints=sums,
        method="SLSQP",
        options=options,
    )
    return found.x[y > 0] @ X[y > 0], found.x[y < 0] @ X[y < 0]


def test_17_the_distance_of_the_hulls_is_the_width_of_the_margin(hard):
    X, y, result = hard
    p, q = nearest_points(X, y)
    distance = np.linalg.norm(p - q)
    assert distance == pytest.approx(2 / np.linalg.norm(result.w), rel=1e-5)
    assert 2 / distance**2 == pytest.approx(result.certificate.dual, rel=1e-5)
    np.testing.assert_allclose(result.w @ (p + q) / 2 + result.b, 0.0, atol=1e-4)  # half-way
    np.testing.assert_allclose((p - q) * 2 / distance**2, result.w, rtol=1e-3)  # at a right angle
    _, _, rng = clouds()
    beta = feasible(y, 1.0, rng)
    A = beta[y > 0].sum()
    p, q = beta[y > 0] @ X[y > 0] / A, -beta[y < 0] @ X[y < 0] / A
    for theta in (0.1, 1.0, 3.0):
        formula = 2 * theta * A - 0.5 * (theta * A) ** 2 * (p - q) @ (p - q)
        assert hinge_dual(theta * beta, X @ X.T, y) == pytest.approx(formula)
    best = max(hinge_dual(beta / A * size, X @ X.T, y) for size in 2 / ((p - q) @ (p - q)) * np.linspace(0.5, 1.5, 101))
    assert best == pytest.approx(2 / ((p - q) @ (p - q)))


def test_18_any_separating_hyperplane_bounds_the_optimum(hard):
    X, y, result = hard
    _, _, rng = clouds()
    tried = 0
    while tried < 20:
        w, b = result.w + 0.3 * rng.normal(size=2), result.b + 0.3 * rng.normal()
        m = (y * (X @ w + b)).min()
        if m > 0:
            tried += 1
            assert (y * (X @ w + b) / m >= 1 - 1e-12).all()
            assert 0.5 * w @ w / m**2 >= result.certificate.dual * (1 - 1e-9)


def test_19_a_point_in_both_hulls_proves_non_separability():
    X, y, rng = clouds(apart=0.3, d=2)
    # α ≥ 0 with both sums 1 and Σ α y x = 0, by linear programming: there is one, as the clouds overlap.
    rows = np.vstack([(y[:, None] * X).T, y > 0, y < 0])
    found = linprog(np.zeros(40), A_eq=rows, b_eq=[0, 0, 1, 1])
    assert found.success
    alpha = found.x
    for _ in range(100):
        w, b = rng.normal(size=2), rng.normal()
        z = X @ w + b
        assert alpha @ (y * z) == pytest.approx(0.0, abs=1e-9) and (y * z).min() <= 1e-9
    for theta in (1.0, 10.0, 100.0):
        assert hinge_dual(theta * alpha * y, X @ X.T, y) == pytest.approx(2 * theta, rel=1e-6)
    # Separable clouds have no such point; and the library's proof is one of these.
    X, y, _ = clouds(apart=3.0, d=2)
    assert not linprog(np.zeros(40), A_eq=np.vstack([(y[:, None] * X).T, y > 0, y < 0]), b_eq=[0, 0, 1, 1]).success
    X, y, _ = clouds(apart=0.3, d=2)
    proof = solve(Problem(X, y, C=np.inf), "smo").certificate.inseparable
    assert proof is not None and (proof.alpha >= 0).all()
    assert proof.alpha[y > 0].sum() == pytest.approx(1) and proof.alpha[y < 0].sum() == pytest.approx(1)
    assert np.linalg.norm((proof.alpha * y) @ X) <= 1e-6


def test_20_no_margin_above_half_the_distance():
    X, y, rng = clouds(d=2, apart=3.0)
    for _ in range(50):
        alpha = np.abs(feasible(y, 1.0, rng))
        alpha /= alpha[y > 0].sum()
        r = np.linalg.norm((alpha * y) @ X)
        for _ in range(20):
            w, b = rng.normal(size=2), rng.normal()
            assert (y * (X @ w + b)).min() / np.linalg.norm(w) <= r / 2 + 1e-12


def test_21_reduced_hulls():
    X, y, _ = clouds(n=24, d=2, apart=0.7)
    for C in (0.1, 0.5, 2.0):
        result = solve(Problem(X, y, C=C, bias="free"), "smo", tol=1e-12)
        alpha = y * result.beta
        A = alpha[y > 0].sum()
        assert alpha[y < 0].sum() == pytest.approx(A) and (alpha / A <= C / A + 1e-12).all()
        p, q = alpha[y > 0] @ X[y > 0] / A, alpha[y < 0] @ X[y < 0] / A
        np.testing.assert_allclose(A * (p - q), result.w, atol=1e-9)
        apart = np.subtract(*nearest_points(X, y, cap=C / A))
        assert np.linalg.norm(p - q) == pytest.approx(np.linalg.norm(apart), rel=1e-4)
        assert result.certificate.dual == pytest.approx(2 * A - 0.5 * A**2 * (p - q) @ (p - q), rel=1e-9)


# 10. Bias


def test_22_an_augmented_bias_is_a_constant_feature():
    X, y, rng = clouds()
    s, C = 2.5, 0.8
    column = Problem(np.c_[X, np.full(40, s)], y, C=C, bias="none")
    augmented = solve(Problem(X, y, C=C, bias="augmented", bias_scale=s), tol=1e-12)
    plain = solve(column, tol=1e-12)
    np.testing.assert_allclose(np.r_[augmented.w, augmented.b / s], plain.w, atol=1e-7)
    w, b = augmented.w, augmented.b
    assert augmented.certificate.primal == pytest.approx(hinge_primal(w, b, X, y, C) + b**2 / (2 * s**2))
    beta = y * rng.random(40)
    assert beta @ (X @ X.T + s**2) @ beta == pytest.approx(beta @ X @ X.T @ beta + s**2 * beta.sum() ** 2)
    balanced = feasible(y, C, rng)  # augmenting and keeping Σβ = 0: the constant feature does nothing
    assert hinge_dual(balanced, X @ X.T + s**2, y) == pytest.approx(hinge_dual(balanced, X @ X.T, y))


def test_23_the_penalty_is_an_augmented_bias():
    X, y, rng = clouds()
    c = 7.0
    beta = 0.8 * rng.random(40) * y
    penalised = hinge_dual(beta, X @ X.T, y) - c / 2 * beta.sum() ** 2
    assert penalised == pytest.approx(Problem(X, y, C=0.8, bias="augmented", bias_scale=np.sqrt(c)).dual(beta))


def test_24_the_violated_constraint_falls_like_one_over_c():
    X, y, _ = clouds()
    X = X + 0.5  # so that the bias is not 0
    free = solve(Problem(X, y, C=0.8, bias="free"), "smo", tol=1e-12)
    for c in (1e2, 1e3, 1e4):
        problem = Problem(X, y, C=0.8, bias="augmented", bias_scale=np.sqrt(c))
        result = solve(problem, tol=1e-13)
        assert result.b == pytest.approx(c * result.beta.sum(), rel=1e-6)
        assert c * result.beta.sum() == pytest.approx(free.b, rel=50 / c)


def test_25_the_best_bias_by_sorted_kinks():
    _, y, rng = clouds()
    for _ in range(20):
        s, C = rng.normal(size=40), rng.random(40)
        kinks = np.argsort(y - s)
        slopes = -C[y > 0].sum() + np.cumsum(C[kinks])
        b = (y - s)[kinks[np.argmax(slopes >= -1e-12)]]

        def total(b, s=s, C=C):
            return C @ np.maximum(0, 1 - y * (s + b))

        tried = minimize_scalar(total, bounds=(-10, 10), method="bounded", options={"xatol": 1e-10})
        assert total(b) <= tried.fun + 1e-12 and total(b) == pytest.approx(tried.fun, rel=1e-6)


def test_26_projection_is_a_shift_and_a_clip():
    _, y, rng = clouds(n=8)
    lower, upper = np.minimum(0, y), np.maximum(0, y)
    for _ in range(10):
        v = 2 * rng.normal(size=8)
        found = minimize(
            lambda b, v=v: 0.5 * (b - v) @ (b - v),
            np.zeros(8),
            bounds=list(zip(lower, upper, strict=True)),
            constraints=[{"type": "eq", "fun": np.sum}],
            method="SLSQP",
            options={"ftol": 1e-14},
        ).x
        shifts = np.linspace(-8, 8, 160_001)
        sums = np.clip(v[None] - shifts[:, None], lower, upper).sum(axis=1)
        assert (np.diff(sums) <= 1e-12).all()
        mu = shifts[np.argmin(np.abs(sums))]
        np.testing.assert_allclose(np.clip(v - mu, lower, upper), found, atol=1e-3)


# 11. The certificate


def random_pairs(soft, count=60):
    """Pairs of a hyperplane and a feasible β, from far away to near the optimum."""
    _, y, C, result = soft
    rng = np.random.default_rng(2)
    for size in np.geomspace(2.0, 1e-3, count):
        w, b = result.w + size * rng.normal(size=3), result.b + size * rng.normal()
        beta = (1 - min(size, 1)) * result.beta + min(size, 1) * feasible(y, C, rng)
        yield w, b, beta


def test_27_the_gap_bounds_both_values(soft):
    X, y, C, result = soft
    best = result.certificate.primal
    for w, b, beta in random_pairs(soft):
        primal, dual = hinge_primal(w, b, X, y, C), hinge_dual(beta, X @ X.T, y)
        assert -1e-10 <= primal - best <= primal - dual + 1e-10 and -1e-10 <= best - dual <= primal - dual + 1e-10
        # The library's certificate of the same pair is the same two numbers.
        seen = certify(result.problem, Iterate(w=np.append(w, 0.0), b=b, beta=beta, linked=False))
        assert (seen.primal, seen.dual) == (pytest.approx(primal), pytest.approx(dual))


def test_28_the_gap_bounds_the_distance_of_the_weights(soft):
    X, y, C, result = soft
    for w, b, beta in random_pairs(soft):
        gap = hinge_primal(w, b, X, y, C) - hinge_dual(beta, X @ X.T, y)
        first, second = w - result.w, X.T @ beta - result.w
        assert 0.5 * first @ first + 0.5 * second @ second <= gap + 1e-10
        linked = hinge_primal(X.T @ beta, b, X, y, C) - hinge_dual(beta, X @ X.T, y)
        assert second @ second <= linked + 1e-10


def test_29_the_gap_bounds_every_score(soft):
    X, y, C, result = soft
    Z = np.random.default_rng(3).normal(size=(50, 3)) * 5
    for w, b, beta in random_pairs(soft):
        gap = hinge_primal(w, b, X, y, C) - hinge_dual(beta, X @ X.T, y)
        assert (np.abs(Z @ (w - result.w)) <= np.sqrt(2 * gap + 1e-10) * np.linalg.norm(Z, axis=1)).all()


def test_30_a_dual_point_from_a_primal_point():
    X, y, rng = clouds()
    C = 0.8
    for _ in range(20):
        w, b = rng.normal(size=3), rng.normal()
        beta = C * y * (y * (X @ w + b) < 1)
        apart = w - X.T @ beta
        gap = hinge_primal(w, b, X, y, C) - hinge_dual(beta, X @ X.T, y)
        assert gap == pytest.approx(0.5 * apart @ apart - b * beta.sum())
        # The squared hinge without bias: half the squared gradient.
        slack = np.maximum(0, 1 - y * (X @ w))
        beta = 2 * C * y * slack
        gradient = w - 2 * C * (y * slack) @ X
        primal = 0.5 * w @ w + C * slack @ slack
        dual = y @ beta - beta @ beta / (4 * C) - 0.5 * beta @ X @ X.T @ beta
        assert primal - dual == pytest.approx(0.5 * gradient @ gradient)


def test_31_repairs():
    X, y, rng = clouds()
    K, C = X @ X.T, 0.8
    for _ in range(20):
        alpha = C * rng.random(40) * np.where(y > 0, 1.0, rng.random())
        plus, minus = alpha[y > 0].sum(), alpha[y < 0].sum()
        alpha = np.where(y > 0, alpha * min(1, minus / plus), alpha * min(1, plus / minus))
        assert (alpha >= 0).all() and (alpha <= C).all() and alpha @ y == pytest.approx(0.0, abs=1e-12)
        beta = alpha * y
        theta = min(1.0, (y @ beta) / (beta @ K @ beta))
        multiples = [hinge_dual(share * beta, K, y) for share in np.linspace(0, 1, 1001)]
        assert hinge_dual(theta * beta, K, y) >= max(multiples) - 1e-12


# 12. Solvers


def test_32_sub_gradient_descent_averages_pulls():
    X, y, _ = clouds()
    C, w, beta = 0.8, np.zeros(3), np.zeros(40)
    for t in range(1, 51):
        eta = 2 / (t + 1)
        u = C * y * (y * (X @ w) < 1)
        w = w - eta * (w - X.T @ u)
        beta = (1 - eta) * beta + eta * u
        np.testing.assert_allclose(w, X.T @ beta, atol=1e-12)
        assert (y * beta >= 0).all() and (y * beta <= C + 1e-12).all()
    start = np.array([5.0, -3.0, 1.0])  # a start outside leaves its remainder
    w, left = start, 1.0
    beta = np.zeros(40)
    for _ in range(20):
        u = C * y * (y * (X @ w) < 1)
        w, beta, left = 0.9 * w + 0.1 * X.T @ u, 0.9 * beta + 0.1 * u, 0.9 * left
    np.testing.assert_allclose(w, X.T @ beta + left * start, atol=1e-12)


def test_33_the_steps_of_source_000():
    X, y, rng = clouds()
    c, eta = 0.5, 0.01
    a = rng.normal(size=3)
    mask = y * (X @ a) < 1
    theirs = a - eta * (-(y * mask) @ X + c * a)
    ours = a - c * eta * (a - X.T @ (y * mask / c))
    np.testing.assert_allclose(theirs, ours, atol=1e-12)
    lam = -rng.random(40)
    Y = np.diag(y)
    theirs = np.clip(lam + eta * (-1 - Y @ X @ X.T @ Y @ lam / c), -1, 0)
    beta = -y * lam / c
    ours = np.clip(y * (beta + eta / c * (y - X @ X.T @ beta)), 0, 1 / c)
    np.testing.assert_allclose(-theirs / c, ours, atol=1e-12)


def ascend(K, y, C, eta, steps):
    """Projected gradient ascent on the box: all iterates."""
    beta = np.zeros(len(y))
    iterates = [beta]
    for _ in range(steps):
        beta = y * np.clip(y * (beta + eta * (y - K @ beta)), 0, C)
        iterates.append(beta)
    return iterates


def test_34_the_step_that_the_curvature_allows():
    X, y, rng = clouds()
    K = X @ X.T
    values, vectors = np.linalg.eigh(K)
    L = values[-1]
    rising = [hinge_dual(beta, K, y) for beta in ascend(K, y, 0.8, 1 / L, 200)]
    assert (np.diff(rising) >= -1e-12).all()
    beta, delta = rng.normal(size=40), rng.normal(size=40)
    bound = hinge_dual(beta, K, y) + (y - K @ beta) @ delta - L / 2 * delta @ delta
    assert hinge_dual(beta + delta, K, y) >= bound
    # Along the steepest eigenvector, without bounds: the error is multiplied by 1 − ηL.
    for eta in (0.5 / L, 1.9 / L, 2.1 / L):
        error = vectors[:, -1]
        np.testing.assert_allclose(error - eta * K @ error, (1 - eta * L) * error, atol=1e-9)
    swinging = [hinge_dual(beta, K, y) for beta in ascend(K, y, 0.8, 10 / L, 200)]
    assert (np.diff(swinging)[-50:] < -1e-9).any()


def test_35_the_exact_coordinate_step():
    X, y, rng = clouds()
    K, C = X @ X.T, 0.8
    for i in range(40):
        beta = C * y * rng.random(40)
        g, q = y[i] - K[i] @ beta, K[i, i]

        def along(v, beta=beta, i=i):
            return hinge_dual(np.where(np.arange(40) == i, v, beta), K, y)

        grid = np.linspace(min(0, C * y[i]), max(0, C * y[i]), 2001)
        best = np.clip(beta[i] + g / q, grid[0], grid[-1])
        assert along(best) >= max(along(v) for v in grid) - 1e-9
        assert along(beta[i] + g / q) - along(beta[i]) == pytest.approx(g**2 / (2 * q))
        for eta in (0.3 / q, 1.9 / q, 2.1 / q):
            gain = along(beta[i] + eta * g) - along(beta[i])
            assert gain == pytest.approx(eta * g**2 * (1 - eta * q / 2), abs=1e-9)
            assert (gain > 0) == (eta < 2 / q)


def test_36_the_exact_pair_step():
    X, y, rng = clouds()
    K = X @ X.T
    for _ in range(20):
        beta = feasible(y, 0.8, rng)
        i, j = rng.choice(40, 2, replace=False)
        e = np.zeros(40)
        e[i], e[j] = 1.0, -1.0
        g = y - K @ beta
        curvature = K[i, i] + K[j, j] - 2 * K[i, j]
        assert curvature == pytest.approx((X[i] - X[j]) @ (X[i] - X[j]))
        t = (g[i] - g[j]) / curvature
        best = minimize_scalar(lambda s, beta=beta, e=e: -hinge_dual(beta + s * e, K, y))
        assert t == pytest.approx(best.x, rel=1e-5, abs=1e-7)
        gain = hinge_dual(beta + t * e, K, y) - hinge_dual(beta, K, y)
        assert gain == pytest.approx((g[i] - g[j]) ** 2 / (2 * curvature))


def test_37_sgd_averages_pulls():
    X, y, rng = clouds()
    n, C = 40, 0.8
    w, total = np.zeros(3), np.zeros(3)
    sums = np.zeros(n)
    order = np.concatenate([rng.permutation(n) for _ in range(5)])
    for t, i in enumerate(order, 1):
        u = C * y[i] * (y[i] * (X[i] @ w) < 1)
        w = w - (w - n * u * X[i]) / t
        total += n * u * X[i]
        sums[i] += u
        np.testing.assert_allclose(w, total / t, atol=1e-10)
    beta = sums / 5
    np.testing.assert_allclose(w, X.T @ beta, atol=1e-10)
    assert (y * beta >= 0).all() and (y * beta <= C + 1e-12).all()
    u = C * y * (y * (X @ w) < 1)  # unbiased
    np.testing.assert_allclose(np.mean([n * u[i] * X[i] for i in range(n)], axis=0), X.T @ u, atol=1e-12)


def test_38_frank_wolfes_gain_is_the_duality_gap():
    X, y, rng = clouds()
    K, C = X @ X.T, 0.8
    box = [tuple(sorted((0.0, C * label))) for label in y]
    for _ in range(10):
        beta = feasible(y, C, rng)
        g = y - K @ beta
        gain = -linprog(-g, bounds=box).fun - g @ beta
        assert gain == pytest.approx(hinge_primal(X.T @ beta, 0.0, X, y, C) - hinge_dual(beta, K, y))
        gain = -linprog(-g, A_eq=np.ones((1, 40)), b_eq=[0.0], bounds=box).fun - g @ beta
        least = min(hinge_primal(X.T @ beta, b, X, y, C) for b in y - X @ (X.T @ beta))  # the kinks
        assert gain == pytest.approx(least - hinge_dual(beta, K, y))


def test_39_the_step_of_the_penalty_and_the_variant_with_d():
    X, y, rng = clouds(apart=3.0, d=2)
    K, c = X @ X.T, 1.0
    largest = np.linalg.eigvalsh(K + c)[-1]
    assert largest <= np.linalg.eigvalsh(K)[-1] + c * 40
    star = y * solve(Problem(X, y, C=np.inf, bias="augmented", bias_scale=np.sqrt(c)), "qp", tol=1e-10).beta

    def gradient(lam):
        return -1 + y * (K @ (lam * y)) + c * (lam @ y) * y

    def penalised(lam, d):
        value = -lam.sum() + 0.5 * (lam * y) @ K @ (lam * y) + c / 2 * (lam @ y) ** 2
        return value + d * np.maximum(-lam, 0).sum()

    multipliers = np.where(star > 1e-9, 0.0, gradient(star))
    assert (multipliers > -1e-6).all()
    d = 1.1 * multipliers.max()
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(50):
            assert penalised(star + size * rng.normal(size=40), d) > penalised(star, d) - 1e-9
    down = np.zeros(40)
    down[multipliers.argmax()] = -1e-4
    assert penalised(star + down, 0.5 * multipliers.max()) < penalised(star, 0.5 * multipliers.max())
    eta, lam, lowest = 0.5 / largest, np.zeros(40), []
    for _ in range(5000):
        lam = lam - eta * (gradient(lam) - d * (lam < 0))
        lowest.append(lam.min())
    assert -2 * eta * d <= min(lowest[-100:]) < -0.1 * eta * d  # it swings about 0


def test_40_both_quadratic_programs():
    pytest.importorskip("qpsolvers")
    from maxmargin.lesson.twins import dual_qp, hyperplane, primal_qp, qp

    Z, y, _ = clouds(n=20, d=2, apart=3.0)
    (Q, p, A, c), (QD, pD, AD, cD) = primal_qp(Z, y), dual_qp(Z, y)
    assert (Q.shape, A.shape, QD.shape, AD.shape) == ((3, 3), (20, 3), (20, 20), (22, 20))
    u, alpha = qp(Q, p, A, c), qp(QD, pD, AD, cD)
    assert (A @ u >= c - 1e-7).all() and (AD @ alpha >= cD - 1e-7).all()
    assert 0.5 * u @ Q @ u + p @ u == pytest.approx(-(0.5 * alpha @ QD @ alpha + pD @ alpha), rel=1e-7)
    w, b = hyperplane(alpha, Z, y)
    np.testing.assert_allclose(np.r_[b, w], u, atol=1e-6)
    assert 8 * 30_000**2 == 7.2e9


def test_41_novikoffs_bound():
    for seed in range(5):
        X, y, _ = clouds(apart=2.5, d=2, seed=seed)
        rows = np.c_[X, np.ones(40)]
        best = solve(Problem(rows, y, C=np.inf, bias="none"), "qp", tol=1e-10)
        gamma = (y * (rows @ best.w)).min() / np.linalg.norm(best.w)
        corrections = pla(X, y, passes=1000)[-1][2].sum()
        assert 0 < corrections <= (np.linalg.norm(rows, axis=1).max() / gamma) ** 2


# 13. Rates


@pytest.fixture(scope="module")
def boxed():
    """A problem without bias, its kernel matrix and its optimum."""
    X, y, _ = clouds()
    result = solve(Problem(X, y, C=0.8, bias="none"), tol=1e-13)
    assert result.converged
    return X, y, 0.8, X @ X.T, result


def test_42_the_rate_of_sub_gradient_descent(boxed):
    X, y, C, _, result = boxed
    w, mean, B = np.zeros(3), np.zeros(3), 0.0
    for t in range(1, 301):
        g = w - X.T @ (C * y * (y * (X @ w) < 1))
        B = max(B, np.linalg.norm(g))
        mean = mean + 2 / (t + 1) * (w - mean)  # weights that grow like t
        assert hinge_primal(mean, 0.0, X, y, C) - result.certificate.primal <= 2 * B**2 / (t + 1) + 1e-9
        w = w - 2 / (t + 1) * g


def test_43_the_rate_of_a_constant_step(boxed):
    X, y, C, _, result = boxed
    for eta in (0.01, 0.1):
        w, B, best = np.ones(3), 0.0, np.inf
        start = (w - result.w) @ (w - result.w)
        for t in range(1, 301):
            best = min(best, hinge_primal(w, 0.0, X, y, C) - result.certificate.primal)
            g = w - X.T @ (C * y * (y * (X @ w) < 1))
            B = max(B, np.linalg.norm(g))
            assert best <= eta * B**2 / 2 + (1 - eta) ** t * start / (2 * eta) + 1e-9
            w = w - eta * g


def stochastic_runs(X, y, C, steps, eta, runs=100):
    """The iterates w_1, ..., w_T of many runs of SGD, and the largest norm of a stochastic sub-gradient."""
    rng, n, B = np.random.default_rng(4), len(y), 0.0
    w = np.zeros((runs, X.shape[1]))
    iterates = []
    for t in range(1, steps + 1):
        iterates.append(w)
        i = rng.integers(0, n, runs)
        u = C * y[i] * (y[i] * (X[i] * w).sum(axis=1) < 1)
        g = w - n * u[:, None] * X[i]
        B = max(B, np.linalg.norm(g, axis=1).max())
        w = w - eta(t) * g
    return np.array(iterates), B


def test_44_the_rate_of_sgd(boxed):
    X, y, C, _, result = boxed
    T = 300
    iterates, B = stochastic_runs(X, y, C, T, lambda t: 1 / t)
    mean = iterates.mean(axis=0)
    error = np.mean([hinge_primal(w, 0.0, X, y, C) for w in mean]) - result.certificate.primal
    assert 0 < error <= B**2 * (1 + np.log(T)) / (2 * T)


def test_45_the_rate_of_sgd_with_growing_weights(boxed):
    X, y, C, _, result = boxed
    T = 300
    iterates, B = stochastic_runs(X, y, C, T, lambda t: 2 / (t + 1))
    mean = np.average(iterates, axis=0, weights=np.arange(1, T + 1))
    error = np.mean([hinge_primal(w, 0.0, X, y, C) for w in mean]) - result.certificate.primal
    assert 0 < error <= 2 * B**2 / (T + 1)


def test_46_the_rate_of_projected_gradient_ascent(boxed):
    _, y, C, K, result = boxed
    L = np.linalg.eigvalsh(K)[-1]
    for t, beta in enumerate(ascend(K, y, C, 1 / L, 300)[1:], 1):
        assert result.certificate.dual - hinge_dual(beta, K, y) <= L * result.beta @ result.beta / (2 * t) + 1e-9


def test_47_the_rate_of_accelerated_ascent(boxed):
    _, y, C, K, result = boxed
    L = np.linalg.eigvalsh(K)[-1]
    beta = v = np.zeros(40)
    momentum = 1.0
    for t in range(1, 301):
        following = y * np.clip(y * (v + (y - K @ v) / L), 0, C)
        grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        v = following + (momentum - 1) / grown * (following - beta)
        beta, momentum = following, grown
        bound = 2 * L * result.beta @ result.beta / (t + 1) ** 2
        assert result.certificate.dual - hinge_dual(beta, K, y) <= bound + 1e-9


def test_48_the_rate_of_frank_wolfe(boxed):
    _, y, C, K, result = boxed
    L, diameter = np.linalg.eigvalsh(K)[-1], C * np.sqrt(40)
    beta = np.zeros(40)
    for t in range(300):
        v = C * y * (y * (K @ beta) < 1)
        beta = beta + 2 / (t + 2) * (v - beta)
        assert result.certificate.dual - hinge_dual(beta, K, y) <= 2 * L * diameter**2 / (t + 3) + 1e-9


# 14. Misprints


def test_49_two_misprints_in_numbers():
    X, y, rng = clouds(n=12)
    K = X @ X.T
    alpha = rng.random(12)
    for i in range(12):
        cross = alpha * y
        cross[i] = 0.0
        derivative = 1 - y[i] * (K[i] @ (alpha * y))
        for factor, right in ((1.0, True), (0.5, False)):

            def part(a, i=i, cross=cross, factor=factor):
                return a - 0.5 * a**2 * K[i, i] - factor * a * y[i] * (K[i] @ cross)

            slope = (part(alpha[i] + 1e-5) - part(alpha[i] - 1e-5)) / 2e-5
            assert (abs(slope - derivative) < 1e-6) == right
    c = 0.5
    a = solve(Problem(X, y, lam=c, bias="none"), tol=1e-12).w
    primal = np.sum(np.maximum(0, 1 - y * (X @ a))) + c / 2 * a @ a
    Q = np.diag(y) @ K @ np.diag(y)
    for weight, right in ((1 / c, True), (c, False)):
        dual = minimize(
            lambda lam, weight=weight: lam.sum() + weight / 2 * lam @ Q @ lam,
            -0.5 * np.ones(12),
            bounds=[(-1, 0)] * 12,
            options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000},
        )
        assert (abs(-dual.fun - primal) < 1e-6 * primal) == right


# 15. Rounding: exact arithmetic by fractions


EPS = 2.0**-52


def exactly(values):
    return [Fraction(float(value)) for value in values]


def inner(a, b):
    return sum((p * q for p, q in zip(exactly(a), exactly(b), strict=True)), Fraction(0))


def test_50_a_sum_of_products_is_off_by_no_more_than_its_bound():
    rng = np.random.default_rng(50)
    for k in (3, 30, 300):
        a, b = rng.normal(size=k) * 10.0 ** rng.uniform(-3, 9, k), rng.normal(size=k)
        a[-1] = -float(a[:-1] @ b[:-1]) / b[-1]  # it nearly cancels
        off = abs(Fraction(float(a @ b)) - inner(a, b))
        assert off <= k * EPS * float(np.abs(a) @ np.abs(b))


def test_51_scores_weights_and_kernel_values():
    from maxmargin.kernels import RBF

    rng = np.random.default_rng(51)
    X, w, beta = rng.normal(size=(20, 6)) + 1e5, rng.normal(size=6), rng.normal(size=20)
    p = Problem(X, np.sign(rng.normal(size=20)), bias="none")
    R = np.sqrt((X**2).sum(axis=1).max())
    scores = p.space.scores(np.append(w, 0.0))
    for i in range(20):
        assert abs(Fraction(float(scores[i])) - inner(X[i], w)) <= 7 * EPS * R * np.linalg.norm(w)
    v = p.space.combine(beta)
    off = [float(abs(Fraction(float(v[j])) - inner(X[:, j], beta))) for j in range(6)]
    assert np.linalg.norm(off) <= 20 * EPS * R * np.abs(beta).sum()
    # The RBF kernel far from the origin, against 50 digits.
    kernel = RBF(gamma=0.3)
    bound, _ = kernel.exact_rounding(6, 0.0)
    for i, j in ((0, 1), (2, 3), (4, 4)):
        t = Fraction(0.3) * sum(((a - b) ** 2 for a, b in zip(exactly(X[i]), exactly(X[j]), strict=True)), Fraction(0))
        with localcontext() as context:
            context.prec = 50
            true = (-Decimal(t.numerator) / Decimal(t.denominator)).exp()
        value = kernel.exact_block(X[i : i + 1], X[j : j + 1])[0, 0]
        assert abs(Decimal(float(value)) - true) <= Decimal(bound)
    assert (np.diagonal(kernel.block(X, X)) <= 1.0 + 1e-15).all()


def test_52_a_convex_loss_moves_by_its_steepest_slope():
    from maxmargin.losses import list_losses, loss

    rng = np.random.default_rng(52)
    for name in list_losses():
        one, z, e = loss(name), rng.normal(size=200), rng.uniform(0, 0.5, 200)
        t = np.sign(rng.normal(size=200))
        moved = z + e * rng.uniform(-1, 1, 200)
        steepest = np.maximum(np.abs(one.slope(z - e, t)), np.abs(one.slope(z + e, t)))
        assert (np.abs(one.value(moved, t) - one.value(z, t)) <= e * steepest + 1e-15).all(), name


def test_53_what_it_costs_to_make_the_sum_right():
    X, y, rng = clouds(20)
    K = X @ X.T
    beta = feasible(y, 1.0, rng)
    for r in (1e-3, -0.1):
        for i in range(20):
            changed = beta.copy()
            changed[i] -= r
            g = y[i] - K[i] @ beta
            difference = abs(hinge_dual(changed, K, y) - hinge_dual(beta, K, y))
            assert difference <= abs(r * g) + 0.5 * r * r * K[i, i] + 1e-12


def test_54_twice_the_precision():
    from maxmargin.certificate.exact import combination, decisions

    rng = np.random.default_rng(54)
    X = rng.normal(size=(30, 4)) + 1e8
    p = Problem(X, np.sign(rng.normal(size=30)), bias="free")
    w = rng.normal(size=4)
    b = -float(X.mean(axis=0) @ w)
    z = decisions(p.space, np.append(w, 0.0), b)
    for i in range(30):
        true = inner(X[i], w) + Fraction(b)
        allowed = EPS * abs(true) + (6 * EPS) ** 2 * 1e8 * np.abs(w).sum() * 4
        assert abs(Fraction(float(z[i])) - true) <= allowed
    beta = rng.normal(size=30)
    beta -= beta.mean()  # Σβ is nearly 0, so that the offset cancels
    high, low = combination(p.space, beta)
    for j in range(4):
        true = inner(X[:, j], beta)
        found = Fraction(float(high[j])) + Fraction(float(low[j]))
        assert abs(found - true) <= EPS * abs(true) + (31 * EPS) ** 2 * 1e8 * np.abs(beta).sum()


def test_55_non_separability_is_proved_in_rational_numbers():
    X, y, _ = clouds(30, d=2, apart=0.2)
    proof = solve(Problem(X, y, C=np.inf)).certificate.inseparable
    assert proof is not None and proof.proved and proof.distance == 0.0
    # Separable by a hair: never called non-existent.
    for hair in (1e-8, 1e-12, 1e-15):
        result = solve(Problem([[1.0], [1.0 + hair]], [0, 1], C=np.inf), "smo", max_time=1)
        assert result.certificate.inseparable is None or not result.certificate.inseparable.proved


# 16. Another regulariser


def l1_problem(bias="none", C=1.0):
    rng = np.random.default_rng(56)
    rows = rng.normal(size=(30, 6))
    y = np.where(rows[:, 0] + 0.5 * rng.normal(size=30) > 0, 1.0, -1.0)
    return Problem(rows, y, loss="squared-hinge", bias=bias, C=C, regularizer="l1"), rows, y


def test_58_the_gap_of_the_l1_norm_is_a_sum():
    _, rows, y = l1_problem()
    rng = np.random.default_rng(0)
    for _ in range(50):
        w, alpha = rng.normal(size=6) * rng.integers(0, 2, 6), rng.random(30)
        v = rows.T @ (y * alpha)
        alpha, v = alpha / np.abs(v).max(), v / np.abs(v).max()
        z = rows @ w
        slack = np.maximum(0.0, 1.0 - y * z)
        gap = np.abs(w).sum() + (slack**2).sum() - (alpha - alpha**2 / 4.0).sum()
        weights = np.abs(w) - w * v
        samples = slack**2 - alpha + alpha**2 / 4.0 + y * alpha * z
        assert (weights >= -1e-12).all() and (samples >= -1e-12).all()
        assert gap == pytest.approx(weights.sum() + samples.sum(), abs=1e-9)
    problem, rows, y = l1_problem()
    result = solve(problem, tol=1e-10)
    v = rows.T @ result.beta
    assert np.abs(v).max() <= 1.0 + 1e-12
    np.testing.assert_allclose(v[result.w != 0.0], np.sign(result.w[result.w != 0.0]), atol=1e-4)


def test_59_a_scaled_dual_point_loses_no_more_than_its_share():
    _, rows, y = l1_problem()

    def dual(alpha):
        return (alpha - alpha**2 / 4.0).sum()

    rng = np.random.default_rng(1)
    for _ in range(50):
        alpha = 2.0 * np.maximum(0.0, 1.0 - y * (rows @ rng.normal(size=6)))
        theta = min(1.0, 1.0 / np.abs(rows.T @ (y * alpha)).max())
        assert np.abs(rows.T @ (y * theta * alpha)).max() <= 1.0 + 1e-12
        assert dual(theta * alpha) >= theta * dual(alpha) - 1e-12


def test_60_no_weight_below_the_critical_C():
    _, rows, y = l1_problem()
    critical = 1.0 / np.abs(rows.T @ (2.0 * y)).max()
    assert not solve(l1_problem(C=0.999 * critical)[0], tol=1e-10).w.any()
    assert solve(l1_problem(C=1.01 * critical)[0], tol=1e-10).w.any()


# 18. Landmarks


def landmarks():
    """A kernel matrix, some landmarks, and the Nyström approximation by them."""
    X, y, rng = clouds()
    K = np.exp(-0.5 * np.square(X[:, None] - X[None]).sum(axis=2))
    z = rng.permutation(len(y))[:8]
    return K, z, K[:, z] @ np.linalg.solve(K[np.ix_(z, z)], K[z]), y, rng


def test_61_the_primal_value_of_landmarks_is_that_of_the_exact_problem():
    K, z, near, y, rng = landmarks()
    c = np.zeros(len(y))
    c[z] = rng.normal(size=len(z))
    np.testing.assert_allclose(near @ c, K @ c, atol=1e-9)
    assert c @ near @ c == pytest.approx(c @ K @ c)


def test_62_the_gap_of_the_exact_problem_and_of_the_approximate_one():
    K, z, near, y, rng = landmarks()
    C = 2.0
    problem = Problem(K, y, kernel="precomputed", C=C, bias="none")
    optimum = solve(problem, tol=1e-10).certificate
    for _ in range(20):
        beta, c = C * rng.random(len(y)) * y, np.zeros(len(y))
        c[z] = rng.normal(size=len(z))
        losses = C * np.maximum(0.0, 1.0 - y * (K @ c)).sum()
        P, D = 0.5 * c @ K @ c + losses, hinge_dual(beta, K, y)
        approximate = 0.5 * c @ near @ c + losses - hinge_dual(beta, near, y)
        assert P - D == pytest.approx(approximate + 0.5 * beta @ (K - near) @ beta)
        assert P >= optimum.dual and D <= optimum.primal


def test_63_the_price_of_landmarks_is_bounded_by_the_distances_from_their_span():
    K, z, near, y, rng = landmarks()
    r = np.diag(K - near)
    assert np.linalg.eigvalsh(K - near).min() >= -1e-10 and r.min() >= -1e-10
    for _ in range(20):
        beta = rng.normal(size=len(y))
        assert -1e-10 <= beta @ (K - near) @ beta <= (np.abs(beta) @ np.sqrt(np.maximum(r, 0.0))) ** 2 + 1e-10
    more = np.r_[z, np.setdiff1d(np.arange(len(y)), z)[:4]]
    nearer = K[:, more] @ np.linalg.solve(K[np.ix_(more, more)], K[more])
    assert (np.diag(K - nearer) <= r + 1e-10).all()


# The page itself


# 16. A share of the samples


@pytest.mark.parametrize("regression", [False, True])
def test_56_weak_duality_of_nu_problems(regression):
    X, y, rng = clouds()
    C, S = rng.uniform(0.5, 2.0, len(y)), 0.0
    t = y + rng.normal(size=len(y)) if regression else np.zeros(len(y))
    U, L = (C, C) if regression else (np.where(y > 0, C, 0.0), np.where(y < 0, C, 0.0))
    p, m = U * rng.random(len(y)), L * rng.random(len(y))
    S = 2.0 * min(p.sum(), m.sum())
    p, m = p * (0.5 * S / p.sum()), m * (0.5 * S / m.sum())
    beta = p - m
    for _ in range(20):
        w, a, c = rng.normal(size=3), rng.normal(), rng.normal()
        r = t - X @ w
        P = 0.5 * w @ w + U @ np.maximum(0, r - a) + L @ np.maximum(0, c - r) + 0.5 * S * (a - c)
        D = t @ beta - 0.5 * (X.T @ beta) @ (X.T @ beta)
        above = U * np.maximum(0, r - a) - p * (r - a)
        below = L * np.maximum(0, c - r) - m * (c - r)
        apart = w - X.T @ beta
        assert P - D == pytest.approx(0.5 * apart @ apart + above.sum() + below.sum())
        assert above.min() >= -1e-12 and below.min() >= -1e-12


def test_57_the_ordinary_problem_behind_a_nu_problem():
    X, y, _ = clouds(apart=1.0)
    result = solve(NuProblem(X, y, nu=0.4), tol=1e-9)
    P, D, rho, S = result.certificate.primal, result.certificate.dual, result.point.tau, 0.4 * len(y)
    w, b, beta = result.w / rho, result.b / rho, result.beta / rho
    assert hinge_primal(w, b, X, y, 1.0 / rho) == pytest.approx((P + S * rho) / rho**2)
    assert hinge_dual(beta, X @ X.T, y) == pytest.approx((D + S * rho) / rho**2)
    t = X[:, 0] + 0.2 * X[:, 1] ** 2
    result = solve(NuProblem(X, t, nu=0.4, loss="epsilon-insensitive"), tol=1e-9)
    P, D, eps, beta = result.certificate.primal, result.certificate.dual, result.point.tau, result.beta
    losses = np.maximum(0.0, np.abs(X @ result.w + result.b - t) - eps)
    assert 0.5 * result.w @ result.w + losses.sum() == pytest.approx(P - 0.4 * len(t) * eps)
    size = np.abs(beta).sum()
    assert t @ beta - eps * size - 0.5 * result.w @ result.w == pytest.approx(D - eps * size)


def all_together(W, alpha, X, y, C):
    """Both objectives of all classes in one problem, and F + e."""
    e = np.ones_like(alpha)
    e[np.arange(len(y)), y] = 0.0
    F, V = X @ W.T, alpha.T @ X
    P = 0.5 * (W**2).sum() + C @ ((F + e).max(axis=1) - F[np.arange(len(y)), y])
    return P, -0.5 * (V**2).sum() - (e * alpha).sum(), F + e


def dual_of_classes(y, C, k, rng):
    alpha = -rng.random((len(y), k)) * (C / k)[:, None]
    alpha[np.arange(len(y)), y] = 0.0
    alpha[np.arange(len(y)), y] = -alpha.sum(axis=1)
    return alpha


def test_64_weak_duality_class_by_class():
    rng = np.random.default_rng(0)
    X, y, C = rng.normal(size=(30, 3)), rng.integers(0, 4, 30), rng.uniform(0.5, 2.0, 30)
    alpha = dual_of_classes(y, C, 4, rng)
    shares = -alpha
    shares[np.arange(30), y] += C
    assert (shares >= 0.0).all() and np.allclose(shares.sum(axis=1), C)
    for _ in range(20):
        W = rng.normal(size=(4, 3))
        P, D, G = all_together(W, alpha, X, y, C)
        rest = C * G.max(axis=1) - (shares * G).sum(axis=1)
        assert P - D == pytest.approx(0.5 * ((W - alpha.T @ X) ** 2).sum() + rest.sum()) and rest.min() >= -1e-12


def test_65_two_classes_are_the_ordinary_problem_with_C_doubled():
    X, y, rng = clouds()
    C = rng.uniform(0.5, 2.0, len(y))
    ordinary = solve(Problem(X, y, C=1.0, bias="none", sample_weight=2.0 * C), tol=1e-10)
    W = np.array([-0.5 * ordinary.w, 0.5 * ordinary.w])
    codes = (y > 0).astype(int)
    alpha = np.column_stack([-0.5 * ordinary.beta, 0.5 * ordinary.beta])
    P, D, _ = all_together(W, alpha, X, codes, C)
    assert np.array([P, D]) == pytest.approx(0.5 * np.array([ordinary.certificate.primal, ordinary.certificate.dual]))
    assert (P - D) / P < 1e-9 and np.abs(W.sum(axis=0)).max() == 0.0


def test_66_sums_that_are_not_quite_0():
    rng = np.random.default_rng(1)
    X, y, C = rng.normal(size=(30, 3)), rng.integers(0, 4, 30), rng.uniform(0.5, 2.0, 30)
    R, mine = np.linalg.norm(X, axis=1).max(), (np.arange(30), y)
    for size in (1e-6, 1e-2, 0.5):
        alpha = dual_of_classes(y, C, 4, rng)
        alpha[mine] = np.minimum(alpha[mine] + size * rng.normal(size=30), C)
        r = np.abs(alpha.sum(axis=1))
        near = np.minimum(alpha, 0.0)
        near[mine] = 0.0
        near *= np.minimum(1.0, C / -near.sum(axis=1))[:, None]
        near[mine] = -near.sum(axis=1)
        assert (np.abs(near - alpha).sum(axis=1) <= 2.0 * r + 1e-12).all()
        (_, D, _), (_, other, _) = (all_together(one.T @ X, one, X, y, C) for one in (alpha, near))
        F = np.abs(X @ (alpha.T @ X).T).max(axis=1)
        bound = (2.0 * r * (F + 1.0)).sum() + 0.5 * R**2 * (2.0 * r).sum() ** 2
        assert abs(D - other) <= bound + 1e-9


def test_every_number_of_the_page_has_its_test():
    on_page = {int(number) for number in re.findall(r"\*\*\((\d+)\)\*\*", PAGE)}
    tested = {int(name[5:7]) for name in globals() if re.match(r"test_\d\d_", name)}
    assert on_page == tested == set(range(1, max(on_page) + 1))


def test_links_within_the_page_have_their_headings():
    headings = {
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^#+ (.*)$", PAGE, re.M)
    }
    links = set(re.findall(r"\]\(#([^)]*)\)", PAGE))
    assert links and links <= headings


def test_formulas_survive_markdown():
    """Markdown eats backslashes before punctuation, stars, and bars in tables: formulas must do without them."""
    displays = re.findall(r"^\$\$\n(.*?)\n\$\$$", PAGE, re.M | re.S)
    rest = re.sub(r"^\$\$\n.*?\n\$\$$", "", PAGE, flags=re.M | re.S)
    inline = re.findall(r"\$([^$\n]+)\$", rest)
    assert len(displays) >= 20 and len(inline) > 200
    assert "$" not in re.sub(r"\$[^$\n]+\$", "", rest)  # every one is closed, on its line
    for formula in [*displays, *inline]:
        assert not re.search(r"\\[^A-Za-z]|\*|(?<!\\)\|", formula), formula
        assert formula.count("{") == formula.count("}"), formula
    for before, formula, after in re.findall(r"(.?)\$([^$\n]+)\$(.?)", rest):
        assert before in ("", " ", "(", "[", "“", "*") and after in ("", *" .,;:)?!]”*"), (before, formula, after)
        assert formula == formula.strip(), formula
