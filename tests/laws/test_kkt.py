"""The KKT conditions one by one: none looks violated where the gap is tiny, and each shows when it is broken."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest

from maxmargin import Problem, solve
from maxmargin.certificate.kkt import kkt_of, sample_gaps
from maxmargin.errors import InvalidInput
from maxmargin.losses import list_losses
from maxmargin.solvers.base import registry

SMALL = os.environ.get("MAXMARGIN_TEST_SIZE") == "small"
#: Too slow to reach 1e-10 but by luck; the law holds for them where they do.
SLOW = ("subgradient", "sgd", "pegasos")


def random_problem(rng, hard):
    n, d = int(rng.integers(4, 50)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d)) * 10 ** rng.uniform(-1, 1)
    y = np.where(X @ rng.normal(size=d) + 0.3 * rng.normal() > 0, 1, -1)
    if hard:
        X = X + y[:, None] * 0.3 * np.abs(X).mean()
    else:
        y = np.where(rng.random(n) < 0.15, -y, y)
    y[0] = -y[1]
    kernel, bias = str(rng.choice(["linear", "rbf"])), str(rng.choice(["free", "augmented", "none"]))
    return Problem(X, y, kernel=kernel, bias=bias, C=np.inf if hard else 10 ** rng.uniform(-2, 3))


def check(solver, seed, count):
    rng = np.random.default_rng(seed)
    reached = 0
    for k in range(count):
        p = random_problem(rng, hard=k % 2 == 0)
        if registry[solver].accepts(p) is not None:
            continue
        result = solve(p, solver=solver, tol=1e-10, max_iter=5000, max_time=2)
        if result.certificate.relative_gap > 1e-10:
            continue
        reached += 1
        where = f"{p!r}, problem {k} of seed {seed}: {result.certificate}\n{result.kkt}"
        assert result.certificate.kkt_violation <= 1e-6, where
        assert result.kkt.largest <= 1e-6, where
        if p.task == "classification" and p.bias == "free":  # b from any free support vector
            assert np.abs(result.support_biases - result.b).max(initial=0.0) <= 1e-5 * (1 + abs(result.b)), where
    return reached


@pytest.mark.compiled
@pytest.mark.parametrize("solver", [name for name in registry.names() if name != "perceptron"])
def test_no_condition_looks_violated_where_the_gap_is_tiny(solver):
    reached = check(solver, seed=1, count=12 if solver in SLOW else 40)
    assert reached > 0 or solver in (*SLOW, "truncated-newton", "proximal-newton")  # a hinge has no Newton step


@pytest.mark.slow
@pytest.mark.parametrize("solver", [name for name in registry.names() if name not in ("perceptron", *SLOW)])
def test_no_condition_looks_violated_on_hundreds_of_problems(solver):
    check(solver, seed=2, count=400)


@pytest.mark.parametrize("loss", list_losses())
def test_the_gaps_of_the_samples_sum_to_the_gap(loss):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20, 3))
    y = np.sign(X[:, 0]) if loss in ("hinge", "squared-hinge", "logistic") else X[:, 0]
    p = Problem(X, None if loss == "one-class" else y, loss=loss, kernel="rbf", bias="free")
    result = solve(p, "truncated-newton" if loss == "logistic" else "smo", tol=1e-2, max_iter=10)
    z = result.decision_function(X)
    if not result.point.linked:
        return  # then ½‖w − w(β)‖² is a part of it too
    assert result.certificate.gap > 1e-6  # there is something to share
    assert sample_gaps(p, result.beta, z).sum() == pytest.approx(result.certificate.gap, rel=1e-6)


def test_each_condition_shows_when_it_is_broken():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=30) > 0, 1, -1)
    p = Problem(X, y, C=1.0)
    result = solve(p, "smo", tol=1e-12)
    good = {condition.name: condition for condition in result.kkt.conditions}
    assert list(good) == [
        "primal feasibility",
        "dual feasibility",
        "stationarity in w",
        "stationarity in b",
        "complementary slackness",
    ]
    assert result.kkt.largest < 1e-6

    def broken(name, **changes):
        conditions = kkt_of(p, replace(result.point, **changes)).conditions
        return next(condition for condition in conditions if condition.name == name)

    outside = result.beta.copy()
    outside[4] = 3.0 * y[4]
    assert broken("dual feasibility", beta=outside).residual > 0.1
    assert broken("dual feasibility", beta=outside).worst == 4
    assert broken("stationarity in b", beta=outside).residual > 0.01
    w = result.point.w
    expected = 0.1 * np.linalg.norm(w) / np.sqrt(2.0 * p.primal(1.1 * w, result.b))  # the root of its share of the gap
    assert broken("stationarity in w", w=1.1 * w).residual == pytest.approx(expected, rel=1e-6) and expected > 0.01
    # A sample far outside the margin with a multiplier of its own.
    far = int(np.argmax(y * result.decision_function(X)))
    pushed = result.beta.copy()
    pushed[far] = 0.5 * y[far]
    assert broken("complementary slackness", beta=pushed).worst == far
    hard = Problem(X + 3 * y[:, None], y, C=np.inf)
    fit = solve(hard, "smo", tol=1e-10)
    assert {c.name: c for c in fit.kkt.conditions}["primal feasibility"].residual <= 1e-12
    table = str(result.kkt)
    assert table.splitlines()[0].split() == ["condition", "formula", "residual", "worst", "sample"]
    assert len(table.splitlines()) == 6


def test_what_the_sources_compute_from_a_solution():
    """α, ξ, C − α, 2/‖w‖ and b from each support vector, against their formulas."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=40) > 0, 1, -1)
    for kernel in ("linear", "rbf"):
        for bias in ("free", "augmented", "none"):
            p = Problem(X, y, kernel=kernel, bias=bias, C=2.0)
            r = solve(p, tol=1e-11)
            z = r.decision_function(X)
            np.testing.assert_allclose(r.alpha, y * r.beta)
            assert (r.alpha >= 0).all() and (r.slack_multipliers >= 0).all()
            np.testing.assert_allclose(r.slack, np.maximum(0, 1 - y * z), atol=1e-12)
            np.testing.assert_allclose(r.slack_multipliers, 2.0 - r.alpha)
            K = p.kernel.block(X, X)
            assert r.margin_width == pytest.approx(2 / np.sqrt(r.beta @ K @ r.beta), rel=1e-9)
            # Complementary slackness by hand: a slack only where α = C, and margin 1 where 0 < α < C.
            assert (r.slack * r.slack_multipliers).max() <= 1e-5
            free = r.certificate.kinds.free
            np.testing.assert_allclose(y[free] * z[free], 1.0, atol=1e-5)
            if bias != "none":
                np.testing.assert_allclose(r.support_biases, r.b, atol=1e-5)
    regression = solve(Problem(X, X[:, 0], loss="epsilon-insensitive"), tol=1e-3)
    for name in ("alpha", "slack", "slack_multipliers", "support_biases"):
        with pytest.raises(InvalidInput, match="two classes"):
            getattr(regression, name)


def test_the_penalty_shows_its_raw_duals_and_their_sum_falls_like_one_over_c():
    from maxmargin.data import toys
    from maxmargin.solvers import Penalty

    X, y = toys.separable()
    p = Problem(X, y, C=np.inf)
    sums = []
    for c in (1.0, 10.0, 100.0):
        result = solve(p, Penalty(c=c), tol=0, max_iter=4000, every=1, snapshots=True)
        last = result.trace.snapshots[-1]
        assert abs(last.beta.sum()) <= 1e-12 * np.abs(last.beta).sum()  # what is certified is feasible
        assert result.trace["beta_sum"][-1] == pytest.approx(last.raw_beta.sum(), abs=1e-15)
        sums.append(abs(last.raw_beta.sum()))
        assert result.raw_beta.shape == result.beta.shape
    assert sums[0] / sums[1] == pytest.approx(10.0, rel=0.02) and sums[1] / sums[2] == pytest.approx(10.0, rel=0.02)
