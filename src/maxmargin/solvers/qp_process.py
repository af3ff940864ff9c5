"""A quadratic program in a process of its own, which can be ended: for runs whose time is limited.

A QP library does not look at a clock, and a call into it cannot be broken off. Where the time is limited, the program
goes through a pipe to another interpreter, which knows nothing but the library; when the time is over, that is killed.
That takes a third of a second to be ready, so that small programs stay here.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import Any, Self

from maxmargin.solvers import clock

#: What the other process runs: one program in, its point and multipliers out, or the text of what went wrong.
CODE = """
import pickle, signal, sys, warnings
signal.signal(signal.SIGINT, signal.SIG_IGN)
warnings.simplefilter("ignore")
import qpsolvers
arguments, library, settings = pickle.load(sys.stdin.buffer)
try:
    solution = qpsolvers.solve_problem(qpsolvers.Problem(*arguments), library, **settings)
    answer = (bool(solution.found), solution.x, solution.z)
except Exception as error:
    answer = f"{type(error).__name__}: {error}"
pickle.dump(answer, sys.stdout.buffer, protocol=5)
"""


class QPProcess:
    """One other process for one program; use as a context, at the end of which it is gone."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", CODE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.process.kill()
        self.process.communicate()

    def solve(self, arguments: tuple[Any, ...], library: str, settings: dict[str, Any]) -> tuple[bool, Any, Any]:
        """Whether a point was found, the point, and the multipliers of its inequalities; `TimeUp` where time is up."""
        clock.check()
        program = pickle.dumps((arguments, library, settings), protocol=5)
        try:
            answer, _ = self.process.communicate(program, timeout=clock.left())
        except subprocess.TimeoutExpired:
            raise clock.TimeUp from None
        found = pickle.loads(answer) if answer else "the process ended without an answer"
        if isinstance(found, str):
            raise ArithmeticError(f"the QP library {library!r} failed ({found})")
        return found
