"""One-class problems: where they begin, beyond the cache, and without time."""

import numpy as np
import pytest

from maxmargin import Problem, certify, solve
from maxmargin.certificate.certificate import examine
from maxmargin.loop.last_resort import last_resort
from maxmargin.losses.one_class import OneClass
from maxmargin.result import Iterate, Reason
from maxmargin.solvers import clock
from maxmargin.solvers.kernel.outlying import outlying_start


def one_class(n, nu, seed=0, **options):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.5, 2.0, n)
    return Problem(rng.normal(size=(n, 3)), loss=OneClass(nu), kernel="rbf", sample_weight=weights, **options)


@pytest.mark.parametrize("nu", [0.001, 0.05, 0.5, 0.999, 1.0])
def test_the_start_is_feasible_and_all_but_one_multiplier_are_at_a_bound(nu):
    problem = one_class(700, nu)
    beta = outlying_start(problem, np.random.default_rng(0))
    assert problem.is_feasible(beta)
    lower, upper = problem.bounds
    inside = (beta > lower) & (beta < upper)
    assert np.count_nonzero(inside) <= 1


@pytest.mark.parametrize("nu", [0.05, 0.5])
def test_a_cache_of_a_tenth_of_the_matrix_needs_no_more_rounds(nu):
    n = 2000
    roomy = solve(one_class(n, nu), "working-set")
    narrow = solve(one_class(n, nu, cache_bytes=0.4 * n * n), "working-set")
    assert roomy.converged and narrow.converged
    assert narrow.iterations <= 3 * roomy.iterations + 10
    assert narrow.certificate.primal == pytest.approx(roomy.certificate.primal, rel=2e-4)


@pytest.mark.parametrize("nu", [0.05, 0.5, 1.0])
def test_what_is_proved_without_time_is_true(nu):
    problem = one_class(400, nu)
    best = solve(problem, tol=1e-8).certificate
    point = last_resort(problem)
    weak = examine(problem, point, bounded=True).certificate
    assert best.dual <= best.primal + best.rounding  # for nu = 1 there is one feasible point
    assert weak.dual <= best.dual and best.primal <= weak.primal + best.rounding
    assert weak.primal < 0.0  # better than w = 0
    assert weak.primal == pytest.approx(certify(problem, point).primal, rel=1e-9)
    assert np.isfinite(weak.gap)
    assert not weak.holds(0.1)


def test_a_problem_without_a_prescribed_sum_needs_no_last_resort():
    X = np.random.default_rng(0).normal(size=(50, 2))
    assert last_resort(Problem(X, np.sign(X[:, 0]), kernel="rbf")) is None


def test_a_run_without_time_hands_back_a_sparse_model(monkeypatch):
    problem = one_class(3000, 0.5)
    monkeypatch.setattr("maxmargin.loop.run.Run._too_late", lambda run, iterate: True)

    def at_once():
        raise clock.TimeUp

    monkeypatch.setattr(clock, "check", at_once)
    result = solve(problem, "working-set", max_time=1.0)
    assert result.status.reason is Reason.MAX_TIME
    assert 0 < np.count_nonzero(result.coef) <= 200
    share = float(problem.C[result.decision_function(problem.X) < 0.0].sum() / problem.C.sum())
    assert share == pytest.approx(0.5, abs=0.05)


def test_a_given_start_is_kept():
    problem = one_class(1200, 0.3)
    first = solve(problem, "working-set", tol=1e-6)
    again = solve(problem, "working-set", tol=1e-4, start=Iterate(beta=first.beta))
    assert again.converged
    assert again.iterations <= first.iterations
