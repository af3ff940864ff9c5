"""The clock of time budgets stands still while something is compiled."""

import os
import subprocess
import sys
from contextlib import nullcontext
from time import perf_counter, sleep

import numpy as np
import pytest

from maxmargin import Problem, solve
from maxmargin.numeric import stopwatch
from maxmargin.result import Reason
from maxmargin.training.budget import Budget

CODE = """
import numpy as np
from maxmargin.numeric import compiler, sums
compiler.SOME = 0.0
print(sums.inner(np.ones(3), np.ones(3)), sums.sum_of(np.ones(2)))
"""


def test_it_stands_still_only_inside():
    before, wall = stopwatch.now(), perf_counter()
    with stopwatch.standing_still():
        inside = stopwatch.now()
        with stopwatch.standing_still():
            sleep(0.02)
        sleep(0.02)
        assert stopwatch.now() == inside
    sleep(0.01)
    after = stopwatch.now()
    assert before <= inside < after
    assert perf_counter() - wall - (after - before) >= 0.039
    assert stopwatch.compiled_for() >= 0.039


@pytest.mark.parametrize("compiling, reason", [(True, Reason.CONVERGED), (False, Reason.MAX_TIME)])
def test_a_run_is_not_stopped_by_a_compilation(monkeypatch, compiling, reason):
    moment = [0.0]
    monkeypatch.setattr(stopwatch, "perf_counter", lambda: moment[0])

    def takes_long(look):
        with stopwatch.standing_still() if compiling else nullcontext():
            moment[0] += 1000.0

    X = np.random.default_rng(0).normal(size=(50, 2))
    problem = Problem(X, np.where(X[:, 0] > 0, 1, -1))
    assert solve(problem, "smo", max_time=1.0, callbacks=[takes_long], every=1).status.reason is reason


def test_a_budget_is_not_spent_by_a_compilation(monkeypatch):
    moment = [0.0]
    monkeypatch.setattr(stopwatch, "perf_counter", lambda: moment[0])
    budget = Budget(max_time=1.0)
    with stopwatch.standing_still():
        moment[0] += 1000.0
    assert not budget.spent and budget.share(2) == 0.5
    moment[0] += 1.0
    assert budget.spent


@pytest.mark.compiled
def test_the_first_compilation_is_announced_once(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", CODE],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == ["3.0", "2.0"]
    assert run.stderr.count("compiling for this machine") == 1
