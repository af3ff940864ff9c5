"""Ctrl-C that comes while Numba converts arguments or results."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin import Problem, solve
from maxmargin.numeric.interrupts import interruptible
from maxmargin.result import Iterate, Reason
from maxmargin.solvers import Solver


def from_numba():
    """What is raised where Ctrl-C comes inside of Numba's own code, as seen: a SystemError caused by another."""
    try:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as pressed:
            raise SystemError("_numba_unpickle returned a result with an exception set") from pressed
    except SystemError as error:
        raise SystemError("CPUDispatcher returned a result with an exception set") from error


def test_a_system_error_of_ctrl_c_is_ctrl_c():
    with pytest.raises(KeyboardInterrupt), interruptible():
        from_numba()


def test_any_other_system_error_stays_one():
    with pytest.raises(SystemError, match="another"), interruptible():
        raise SystemError("another one")


def test_a_run_that_ends_so_is_interrupted():
    class Pressed(Solver):
        name = "pressed"

        def accepts(self, problem):
            return None

        def iterates(self, problem, start, rng):
            yield Iterate(1, beta=np.zeros(problem.n))
            from_numba()

    problem = Problem(np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 1])
    result = solve(problem, Pressed(), tol=1e-9)
    assert result.status.reason is Reason.INTERRUPTED
