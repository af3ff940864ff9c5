"""The certificate finds a misprint: source 000's algorithm 2, typed as it is printed and as it should be."""

from itertools import count

import numpy as np
import pytest

from maxmargin import Problem, Solver, solve
from maxmargin.result import Iterate

c, eta = 0.5, 1e-3


class AsPrinted(Solver):
    name, paper = "algorithm-2-as-printed", "source 000"
    weight = c

    def accepts(self, problem):
        return None

    def iterates(self, problem, start, rng):
        X, Y, dual_vars = problem.X, np.diag(problem.target), np.zeros(problem.n)
        for k in count(1):
            gradient = -1 - self.weight * (Y @ X @ X.T @ Y @ dual_vars)
            dual_vars = np.clip(dual_vars + eta * gradient, -1, 0)
            yield Iterate(k, beta=-problem.target * dual_vars / c)


class Corrected(AsPrinted):
    name = "algorithm-2-corrected"
    weight = 1 / c


@pytest.fixture(scope="module")
def problem():
    """Two overlapping clouds; the constant feature is one of the data's own, as in the source."""
    rng = np.random.default_rng(5)
    y = np.repeat([-1.0, 1.0], 30)
    X = np.c_[rng.normal(size=(60, 2)) + 0.8 * y[:, None], np.ones(60)]
    return Problem(X, y, lam=c, bias="none")


def test_the_printed_algorithm_is_exposed_by_its_gap(problem):
    shorter, longer = (solve(problem, AsPrinted(), tol=1e-6, max_iter=steps, every=10) for steps in (10_000, 20_000))
    for result in (shorter, longer):
        assert not result.converged
        assert result.certificate.relative_gap > 0.3  # of the best point on the way, recomputed from the data
        assert result.trace["relative_gap"][-1] > 0.5  # where it ends up
    # Twice the patience is no cure.
    assert longer.trace["relative_gap"][-1] == pytest.approx(shorter.trace["relative_gap"][-1], rel=0.02)


def test_the_corrected_algorithm_converges(problem):
    result = solve(problem, Corrected(), tol=1e-6, max_iter=20_000)
    assert result.converged and result.certificate.relative_gap <= 1e-6


def test_the_two_differ_in_one_number_only():
    assert AsPrinted.iterates is Corrected.iterates and AsPrinted.weight * Corrected.weight == 1.0
