"""The one loop: budgets, callbacks, Ctrl-C, warm starts, the trace, and how often it looks."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import Problem, solve
from maxmargin.errors import InvalidInput
from maxmargin.loop.schedule import SHARE
from maxmargin.result import COLUMNS, Reason

from .problems import problem


def test_max_iter_stops_at_the_iteration_and_certifies():
    result = solve(problem("cancer", "augmented"), solver="coordinate-ascent", tol=0, max_iter=7)
    assert result.status.reason is Reason.MAX_ITER
    assert result.iterations <= 7
    assert np.isfinite(result.certificate.gap)
    assert not result.converged


def test_max_time_ends_a_hopeless_run():
    X, y = problem("cancer", "free").X * 1e4, problem("cancer", "free").target
    began = time.perf_counter()
    result = solve(Problem(X, y, C=1e6), solver="projected-gradient", tol=1e-12, max_time=0.5)
    assert result.status.reason is Reason.MAX_TIME
    assert "standardise" in str(result.status)
    # A generous bound: the point is that it ends at all.
    assert time.perf_counter() - began < 30


def test_callbacks_see_every_look_and_may_stop():
    seen = []

    def stop_at_five(look):
        seen.append(look)
        return len(seen) >= 5

    result = solve(problem("cancer", "augmented"), "coordinate-ascent", tol=0, callbacks=[stop_at_five], every=1)
    assert result.status.reason is Reason.CALLBACK
    assert "start=result" in str(result.status)
    assert [look.iteration for look in seen] == [1, 2, 3, 4, 5]
    assert all(a.seconds <= b.seconds for a, b in pairwise(seen))
    assert len(result.trace) == 5
    assert [look.certificate.gap for look in seen] == list(result.trace["gap"])


@pytest.fixture
def listening():
    """Ctrl-C as a terminal sends it: a background job starts with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("solver", ["coordinate-ascent", "accelerated-gradient", "subgradient"])
def test_ctrl_c_returns_the_best_so_far(solver, listening):
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    rng = np.random.default_rng(0)  # classes that overlap, and a large C: none of these ends within the 0.3 s
    X = rng.normal(size=(4000, 50))
    p = Problem(X, X[:, 0] + rng.normal(size=4000) > 0, bias="augmented", C=100.0)
    solve(p, solver=solver, tol=0, max_time=0.2)  # compiled before the clock starts
    timer.start()
    result = solve(p, solver=solver, tol=0, max_time=20)
    timer.join()
    assert result.status.reason is Reason.INTERRUPTED
    assert result.certificate.relative_gap < 1.0
    assert result.certificate.relative_gap == pytest.approx(result.certify().relative_gap)
    assert "start=result" in str(result.status)


def test_a_warm_start_goes_on_where_the_other_stopped():
    p = problem("cancer", "augmented")
    first = solve(p, solver="coordinate-ascent", tol=1e-3)
    again = solve(p, solver="coordinate-ascent", tol=1e-3, start=first, every=1)
    assert again.converged and again.iterations == 1
    # From another C, from a dual point alone, and from a hyperplane.
    X, y = p.X, p.target
    other = Problem(X, y, bias="augmented", C=2.0)
    cold = solve(other, solver="coordinate-ascent", tol=1e-6, every=1)
    warm = solve(other, solver="coordinate-ascent", tol=1e-6, every=1, start=first)
    assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=1e-5)
    assert solve(p, "coordinate-ascent", tol=1e-3, start=first.beta, every=1).iterations == 1
    assert solve(p, "subgradient", tol=1e-2, start=(first.w, first.b)).converged


def test_bad_warm_starts_are_refused():
    p = problem("separable", "free")
    with pytest.raises(InvalidInput, match=r"3 samples|shape"):
        solve(p, start=np.zeros(3))
    with pytest.raises(InvalidInput, match="features"):
        solve(p, start=(np.zeros(5), 0.0))
    with pytest.raises(InvalidInput, match="samples"):
        solve(p, start=solve(problem("cancer", "free"), tol=0.1))


def test_the_trace_has_all_columns_and_snapshots_on_request():
    result = solve(problem("overlapping", "free"), solver="smo", tol=1e-8, every=1, snapshots=True)
    assert all(len(result.trace[column]) == len(result.trace) for column in COLUMNS)
    assert len(result.trace.snapshots) == len(result.trace)
    last = result.trace.snapshots[-1]
    np.testing.assert_allclose(last.beta, result.beta)
    np.testing.assert_allclose(last.w, result.w)
    assert (np.diff(result.trace["dual"]) >= -1e-9).all()  # SMO climbs
    assert next(iter(result.trace)).keys() == set(COLUMNS)
    quiet = solve(problem("overlapping", "free"), solver="smo", tol=1e-8)
    assert quiet.trace.snapshots == []


@pytest.mark.compiled
def test_a_noisy_method_that_still_gains_is_not_called_stalled():
    """Its gap jumps from look to look; judged by the last look instead of the best, it was given up at 1e-3."""
    result = solve(problem("digits", "augmented"), solver="subgradient", tol=4e-4, max_time=60)
    assert result.converged, str(result.status)


def test_parameters_are_checked():
    p = problem("separable", "free")
    for options in ({"tol": -1}, {"tol": np.nan}, {"max_iter": 0}, {"max_time": -1}, {"every": 0}):
        with pytest.raises(InvalidInput, match=next(iter(options))):
            solve(p, **options)


@pytest.mark.compiled
def test_looks_take_about_a_tenth_of_the_work():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 100))
    y = np.sign(X[:, 0] + rng.normal(size=20_000))
    p = Problem(X, y, bias="augmented", C=1.0)
    solve(p, solver="coordinate-ascent", tol=0.5)
    result = solve(p, solver="coordinate-ascent", tol=0, max_iter=100)
    # Counted work decides, so the share in seconds is only about that; every=1 would be half of it all.
    assert result.trace.look_seconds < 0.3 * result.trace.solver_seconds
    assert len(result.trace) >= 10


@pytest.mark.compiled
def test_fewer_looks_where_the_solver_knows_its_gap(monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.random_array((3000, 2000), density=0.05, random_state=rng, format="csr")
    p = Problem(X, np.where(X @ rng.normal(size=2000) + rng.normal(size=3000) > 0, 1, -1), bias="augmented", C=10.0)

    def looks() -> int:
        return len(solve(p, solver="coordinate-newton", tol=0, max_iter=300).trace)

    fewer = looks()
    monkeypatch.setattr(sys.modules["maxmargin.loop.schedule"], "LESS_SHARE", SHARE)
    assert 10 <= fewer <= 0.7 * looks()


def test_progress_is_shown_on_request(capsys):
    result = solve(problem("overlapping", "free"), solver="smo", tol=1e-6, progress=True)
    assert result.converged
    assert capsys.readouterr().out == ""  # it goes to the error stream: output can be piped


def test_solve_in_two_threads_at_once():
    p = problem("cancer", "free")
    alone = solve(p, solver="smo", tol=1e-6)
    together: dict[int, object] = {}

    def run(which: int) -> None:
        together[which] = solve(p, solver="smo", tol=1e-6)

    workers = [threading.Thread(target=run, args=(i,)) for i in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for result in together.values():
        np.testing.assert_array_equal(result.beta, alone.beta)
