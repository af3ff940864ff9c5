"""The bias of a small kernel problem is the best one for its scores, as everywhere else."""

import numpy as np
import pytest

from maxmargin import Problem
from maxmargin.losses.one_class import OneClass
from maxmargin.small.kernel import _best_bias
from maxmargin.small.proof import dual_of


@pytest.mark.parametrize("loss", ["hinge", "epsilon-insensitive", "one-class"])
@pytest.mark.parametrize("seed", range(8))
def test_the_bias_is_the_best_one(loss, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    X, weights = rng.normal(size=(n, 2)), rng.uniform(0.1, 3.0, n)
    target = None if loss == "one-class" else rng.normal(size=n)
    if loss == "hinge":
        target = np.where(np.arange(n) % 2 == 0, -1.0, 1.0)
    problem = Problem(
        X, target, loss=OneClass(0.3) if loss == "one-class" else loss, kernel="rbf", sample_weight=weights
    )
    scores = np.round(rng.normal(size=n), seed % 3)  # ties as well

    def value(b):
        return problem.loss_sum(scores + b) + (problem.total or 0.0) * b

    best = problem.best_bias(scores)
    found = _best_bias(dual_of(problem.form, problem.C), float(problem.total or 0.0), scores, best + 0.3 * rng.normal())
    assert value(found) <= value(best) + 1e-12 * abs(value(best))


@pytest.mark.parametrize("seed", range(6))
def test_samples_that_share_a_kink_but_for_rounding_count_once(seed):
    """The walk began between them, counted one for both sides, and ended at the next kink."""
    rng = np.random.default_rng(seed)
    target = np.repeat([1.0, -1.0], (11, 10))
    problem = Problem(rng.normal(size=(21, 2)), target, kernel="rbf")
    scores = np.where(target > 0, 0.7 + 0.1 * rng.random(), -1.0 + 0.1 * rng.random(21))
    scores += 1e-16 * rng.integers(-3, 4, 21)
    best = problem.best_bias(scores)
    lowest = problem.loss_sum(scores + best)
    for start in target - scores:
        found = _best_bias(dual_of(problem.form, problem.C), 0.0, scores, start)
        assert problem.loss_sum(scores + found) <= lowest + 1e-12
