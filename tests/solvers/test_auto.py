"""What "auto" takes, and what its linear solver survives: any C, many and few features."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from maxmargin import Problem, solve
from maxmargin.solvers import candidates, choose
from maxmargin.solvers.linear.sweeps import shuffle
from tests.solvers.problems import noisy

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("d", [5, 60])
def test_coordinate_newton_reaches_a_tiny_gap_whatever_C(C, d):
    X, y = noisy(3000, d)
    for bias in ("augmented", "free"):
        for rows in (X, sp.csr_array(X * (np.abs(X) > 0.7))):
            result = solve(Problem(rows, y, C=C, bias=bias), "coordinate-newton", tol=1e-9)
            assert result.certificate.holds(1e-9), (bias, result.status)


def test_many_features_are_left_to_the_sweeps():
    rng = np.random.default_rng(0)
    X = sp.random_array((2000, 5000), density=0.01, random_state=rng, format="csr")
    y = np.where(X @ rng.normal(size=5000) + 0.1 * rng.normal(size=2000) > 0, 1, -1)
    for bias in ("none", "augmented", "free"):
        assert solve(Problem(X, y, C=10.0, bias=bias), "coordinate-newton", tol=1e-6).certificate.holds(1e-6)
    theirs = LinearSVC(loss="hinge", C=10.0, tol=1e-8, max_iter=100_000).fit(X, y)
    problem = Problem(X, y, C=10.0, bias="augmented")
    result = solve(problem, "coordinate-newton", tol=1e-7)
    w = np.append(theirs.coef_[0], theirs.intercept_)
    assert result.certificate.primal == pytest.approx(problem.primal(w), rel=1e-5)


def test_auto_takes_the_fast_solvers():
    X, y = noisy(2000, 5)
    assert choose(Problem(X, y)) == choose(Problem(X, y, bias="none")) == "coordinate-newton"
    assert choose(Problem(X, y, kernel="rbf")) == choose(Problem(X, y, kernel="rbf", bias="augmented")) == "working-set"
    assert choose(Problem(X, y, kernel="sigmoid")) == "smo"


def test_auto_takes_what_is_quick_on_small_problems():
    X, y = noisy(100, 5)
    assert choose(Problem(X, y)) == choose(Problem(X, y, kernel="rbf")) == "smo"
    assert choose(Problem(X, y, bias="none")) == "coordinate-newton"
    for bias in ("free", "augmented", "none"):
        assert choose(Problem(X, y, loss="squared-hinge", bias=bias)) == "truncated-newton"
    assert choose(Problem(X[:4], y[:4], loss="squared-hinge", bias="none")) == "coordinate-newton"
    assert choose(Problem(X, y, kernel="rbf", bias="augmented")) == "working-set"
    assert choose(Problem(X, y, loss="logistic")) == "truncated-newton"
    assert "interior-point" in candidates(Problem(X, y))


def test_shuffle_is_a_permutation_that_the_seed_decides():
    first, second = np.arange(1000, dtype=np.uint32), np.arange(1000, dtype=np.uint32)
    for order in (first, second):
        shuffle(order, 700, np.array([12345], np.uint64))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(np.sort(first[:700]), np.arange(700))
    np.testing.assert_array_equal(first[700:], np.arange(700, 1000))
    assert (first[:700] != np.arange(700)).mean() > 0.9
