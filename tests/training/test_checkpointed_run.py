"""Segments: long enough that restarts cost next to nothing, the same whenever resumed, and ended when asked."""

from __future__ import annotations

from threading import Event

import numpy as np
import pytest

from maxmargin import Problem, solve
from maxmargin.loop.schedule import STEP_OVERHEAD
from maxmargin.result import Iterate, Reason
from maxmargin.solvers import list_solvers, solver
from maxmargin.solvers.base import Solver, registry
from maxmargin.training.checkpointed_run import SHARE, WORK, Segment, State, Stoppable, in_segments, restart_work

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = np.where(np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=600) > 0, 1, -1)
    return Problem(X, y, kernel="rbf", C=10.0, bias="augmented")


class Counting(Solver):
    """A solver that does nothing but report work."""

    name, paper, starts = "counting", "", ("beta",)

    def __init__(self, work, beta):
        self.work, self.beta = work, beta

    def accepts(self, problem):
        return None

    def iterates(self, problem, start, rng):
        for k in range(1, 10_000):
            yield Iterate(k, beta=self.beta, work=self.work)


@pytest.mark.parametrize("support", [0, 50, 600])
def test_a_leg_is_twenty_restarts_long(problem, support):
    beta = np.zeros(problem.n)
    beta[:support] = 1e-3
    segment = Segment(Counting(1e7, beta), 1e8, pays=True)
    steps = sum(1 for _ in segment.iterates(problem, Iterate(), np.random.default_rng(0)))
    done = steps * (1e7 + STEP_OVERHEAD)
    assert segment.exhausted
    assert done >= 1e8 and SHARE * done >= restart_work(problem, Iterate(beta=beta))
    before = done - 1e7 - STEP_OVERHEAD
    assert before < 1e8 or SHARE * before < restart_work(problem, Iterate(beta=beta))


def trained(problem, name, work, pays=False, state=None, stop=None, **options):
    """Train in segments: what was found, and the states between them."""
    states = []
    wrapped = Stoppable(solver(name, problem), stop or Event())
    options = {"tol": 1e-6, **options}
    begin = state or State(work)
    one, result = in_segments(problem, (3, 0), begin, states.append, solver=wrapped, pays=pays, **options)
    return one, result, states


@pytest.mark.parametrize("name", ["coordinate-ascent", "working-set"])
def test_whoever_goes_on_from_any_state_ends_at_the_same_bits(problem, name):
    whole, result, states = trained(problem, name, 2e6)
    assert whole.reason is Reason.CONVERGED
    assert len(states) >= 2
    for state in states:
        one, _, _ = trained(problem, name, 2e6, state=state)
        assert one.beta.tobytes() == whole.beta.tobytes()
        assert (one.iterations, one.primal, one.dual) == (whole.iterations, whole.primal, whole.dual)
    iterations = result.trace["iteration"]
    assert (np.diff(iterations) >= 0).all()


def test_a_short_run_is_one_leg_and_that_of_a_run_without_checkpoints(problem):
    one, _, states = trained(problem, "working-set", WORK, pays=True)
    assert not states
    plain = solve(problem, "working-set", 1e-6, random_state=3)
    assert one.beta.tobytes() == plain.beta.tobytes() and one.status == str(plain.status)


def test_a_solver_that_takes_no_start_has_one_leg(problem):
    name = next(name for name in list_solvers() if not registry[name].starts and not registry[name].accepts(problem))
    one, _, states = trained(problem, name, 1.0, max_iter=20)
    assert not states and one.iterations


def test_whoever_stops_it_during_a_leg_gets_no_other(problem):
    stop, states = Event(), []

    def rest(state):
        states.append(state)
        stop.set()

    wrapped = Stoppable(solver("coordinate-ascent", problem), stop)
    one, result = in_segments(problem, (0, 0), State(2e6), rest, solver=wrapped, tol=1e-9, pays=False)
    assert len(states) == 1
    assert one.reason is result.status.reason is Reason.INTERRUPTED
    assert one.relative_gap == states[0].best.relative_gap


def test_no_leg_begins_when_no_time_is_left_for_a_restart(problem, monkeypatch):
    """The clock jumps to the end of the budget while the first state is kept."""
    from maxmargin.training import checkpointed_run as segments

    moments, states = [0.0], []
    monkeypatch.setattr(segments, "perf_counter", lambda: moments[0])

    def rest(state):
        states.append(state)
        moments[0] = 999.0

    wrapped = Stoppable(solver("coordinate-ascent", problem), Event())
    one, _ = in_segments(problem, (0, 0), State(2e6), rest, solver=wrapped, tol=1e-9, max_time=1000.0, pays=False)
    assert len(states) == 1 and one.reason is Reason.MAX_TIME
