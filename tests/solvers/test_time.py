"""max_time is kept: by every solver, on problems where one step without an eye on the clock would take minutes."""

from time import perf_counter

import numpy as np
import pytest

from maxmargin import Problem, list_solvers, solve
from maxmargin.errors import MaxMarginError
from maxmargin.losses import EpsilonInsensitive
from maxmargin.numeric.stopwatch import now
from maxmargin.result import Reason
from maxmargin.solvers import clock

#: Seconds that a loaded machine may take longer: the point is that it ends.
SLACK = 5.0
TIME = 0.5


def rows(n, d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=n) > 0, 1, -1)


def accepted(solver, X, y, kernel):
    """The problem with a bias that the solver accepts; compiled loops are compiled on a small one first."""
    for bias in ("free", "none"):
        for loss in ("hinge", "squared-hinge"):
            small = Problem(X[:1100], y[:1100], loss=loss, kernel=kernel, bias=bias)
            try:
                solve(small, solver, max_time=0.2)
            except MaxMarginError:
                continue
            return Problem(X, y, loss=loss, kernel=kernel, bias=bias)
    return None


def ends(solver, n, d, kernel, slack):
    problem = accepted(solver, *rows(n, d), kernel)
    if problem is None:
        pytest.skip(f"{solver} is not for {kernel} problems")
    began = perf_counter()
    try:
        result = solve(problem, solver, tol=1e-12, max_time=TIME)
    except MaxMarginError:  # too large for it, and it says so
        result = None
    assert perf_counter() - began <= 1.5 * TIME + 0.3 + slack
    if result is not None:
        assert np.isfinite(result.certificate.dual)
        assert result.beta.shape == (n,)


@pytest.mark.compiled
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("solver", [*list_solvers(), "auto"])
def test_every_solver_ends_in_time(solver, kernel):
    ends(solver, *((30_000, 20) if kernel == "linear" else (3000, 10)), kernel, SLACK)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("solver", [*list_solvers(), "auto"])
def test_every_solver_ends_in_time_on_large_problems(solver, kernel):
    ends(solver, *((100_000, 50) if kernel == "linear" else (8000, 20)), kernel, 0.3)


@pytest.mark.compiled
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("solver", [*list_solvers(), "auto"])
def test_a_budget_that_is_not_needed_makes_no_run_longer(solver, kernel):
    """Once, a fit with a time budget used all of it: an early look for safety's sake left no work for others."""
    X, y = rows(1200, 6)
    problem = accepted(solver, X, y, kernel)
    if problem is None or solver == "perceptron":
        pytest.skip(f"{solver} is not for {kernel} problems, or does not converge")
    options = {"tol": 1e-2, "max_iter": 20_000}
    without, within = solve(problem, solver, **options), solve(problem, solver, max_time=1e4, **options)
    assert within.iterations <= 1.2 * without.iterations
    if within.iterations == without.iterations:
        np.testing.assert_array_equal(within.beta, without.beta)


def test_a_run_without_time_for_a_step_hands_back_its_start():
    X, y = rows(1500, 5)
    for solver in ("projected-gradient", "qp", "penalty"):
        result = solve(Problem(X, y, kernel="rbf"), solver, max_time=1e-9)
        assert result.status.reason is Reason.MAX_TIME
        assert not result.beta.any()
        assert result.certificate.dual == 0.0


def test_the_clock_of_a_thread_never_outlasts_the_one_around_it():
    assert clock.left() is None
    with clock.until(now() + 100):
        with clock.until(now() + 1000):
            assert clock.left() < 101
        with clock.until(now() - 1), pytest.raises(clock.TimeUp):
            clock.check()
        clock.check()
    assert clock.left() is None


def test_a_quadratic_program_in_another_process_is_the_same():
    X, y = rows(600, 5)
    here = solve(Problem(X, y, kernel="rbf"), "qp", tol=1e-8)
    there = solve(Problem(X, y, kernel="rbf"), "qp", tol=1e-8, max_time=120)
    assert there.converged
    assert there.certificate.dual == pytest.approx(here.certificate.dual, rel=1e-9)


@pytest.mark.compiled
def test_working_set_gives_up_below_its_rounding():
    X, y = rows(300, 5)
    result = solve(Problem(X, y, kernel="rbf", C=100.0), "working-set", tol=1e-16, max_time=60)
    assert result.status.reason is Reason.STALLED


def test_a_penalty_that_outgrows_the_kernel_ends():
    """Two rows whose best β is nearly 0: found by the campaign, where c grew until it was infinite."""
    X = np.array([[7.9e10], [2.4e14]], dtype=np.float32)
    problem = Problem(X, [1.2, 2.3e5], loss=EpsilonInsensitive(0.0), C=8.8e-06)
    result = solve(problem, "penalty", tol=1e-3, max_time=5.0)
    assert result.status.reason in (Reason.STALLED, Reason.CONVERGED, Reason.MAX_TIME)
