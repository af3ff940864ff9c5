"""A fit in a process of its own, which can be killed when its time is up; the interpreter and the libraries stay warm.

The child holds one solver and one data set and answers three requests:

    ("task", C, bias, gamma, gaps)        prepare it and warm up             → the settings to try
    ("run", setting)                      fit, with the clock around it      → a Fit
    ("memory", C, bias, gamma, setting)   fit, with an eye on the memory     → bytes at the peak

The clock runs inside, around `Solver.run` alone. A refusal, an error or the end of the time comes back as a Failure.
"""

from __future__ import annotations

import gc
import importlib.util
import multiprocessing as mp
import os
import sys
import traceback
import warnings
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from racing import memory
from racing.data import load
from racing.judge import Task

FOLDER = Path(__file__).resolve().parents[1]
#: Seconds that preparing and warming up may take: libraries are imported and loops compiled in it.
PATIENCE = 600.0
#: The failure of a fit that was killed when its time was up.
CAP = "cap"


@dataclass(frozen=True)
class Racer:
    """A solver file with the values of its parameters, under the name that tables show."""

    name: str
    problems: str
    file: str
    parameters: tuple[tuple[str, Any], ...] = ()

    @property
    def ours(self) -> bool:
        """Whether this is one of maxmargin's."""
        return self.file == "maxmargin"


@dataclass(frozen=True, eq=False)
class Fit:
    """What one fit took and gave: its seconds, and the judge's arguments."""

    seconds: float
    solution: dict[str, Any]


@dataclass(frozen=True)
class Failure:
    """Why there is no fit: CAP, a refusal, or what went wrong."""

    reason: str


def racer(problems: str, name: str) -> Racer:
    """A racer by the name of its solver file, or by the name of one of maxmargin's solvers."""
    from maxmargin import list_solvers

    if name in solver_files(problems) and name != "maxmargin":
        return Racer(name, problems, name)
    if name in ("auto", *list_solvers()):
        return Racer(f"maxmargin {name}", problems, "maxmargin", (("solver", name),))
    known = [*(file for file in solver_files(problems) if file != "maxmargin"), "auto", *list_solvers()]
    raise ValueError(f"there is no solver {name!r} for {problems} problems; there are: {', '.join(known)}")


def solver_files(problems: str) -> list[str]:
    """The names of the solver files of a benchmark."""
    return sorted(path.stem for path in (FOLDER / problems / "solvers").glob("*.py"))


def load_solver(racer: Racer) -> Any:
    """The Solver of a file, with its parameters set; ImportError where its library is missing."""
    path = FOLDER / racer.problems / "solvers" / f"{racer.file}.py"
    spec = importlib.util.spec_from_file_location(f"{racer.problems}_{racer.file}_solver", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    defaults = {key: values[0] for key, values in getattr(module.Solver, "parameters", {}).items()}
    return module.Solver.get_instance(**defaults | dict(racer.parameters))


class Worker:
    """The parent's side: a child that is started when it is needed, and again after it was killed."""

    def __init__(self, racer: Racer, data: str) -> None:
        self.racer, self.data = racer, data
        self.process: Any = None
        self.task: tuple | None = None
        self.connection: Connection

    def begin(self, C: float, bias: str, gamma: float | None, gaps: tuple[float, ...]) -> tuple[float, ...] | Failure:
        """Get ready for a task; returns the settings to climb, from loose to tight."""
        self.task = ("task", C, bias, gamma, gaps)
        return self._ask(self.task, PATIENCE)

    def run(self, setting: float, cap: float) -> Fit | Failure:
        """One fit, killed after `cap` seconds."""
        assert self.task is not None, "begin comes first"
        if self.process is None:  # killed before
            answer = self._ask(self.task, PATIENCE)
            if isinstance(answer, Failure):
                return answer
        return self._ask(("run", setting), cap)

    def memory(self, C: float, bias: str, gamma: float | None, setting: float, cap: float) -> float | Failure:
        """The bytes that a fit needs at its peak besides the data, in a child that has done nothing before."""
        assert self.process is None, "memory that was used once may be used again unseen"
        return self._ask(("memory", C, bias, gamma, setting), PATIENCE + cap)

    def stop(self) -> None:
        """End the child."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.connection.close()
            self.process = None

    def _ask(self, request: tuple, seconds: float) -> Any:
        if self.process is None:
            self._start()
        try:
            self.connection.send(request)
            if self.connection.poll(seconds):
                return self.connection.recv()
            self.stop()
            return Failure(CAP)
        except (EOFError, ConnectionError):
            self.process.join()
            code = self.process.exitcode
            self.stop()
            return Failure(f"crashed with exit code {code}")

    def _start(self) -> None:
        context = mp.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other, self.racer, self.data), daemon=True)
        self.process.start()
        other.close()


def limit_threads(count: int) -> None:
    """Let this process and its children use so many threads, by every means that libraries listen to."""
    for variable in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ[f"{variable}_NUM_THREADS"] = str(count)
    os.environ["MAXMARGIN_THREADS"] = str(count)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])


def _serve(connection: Connection, racer: Racer, data: str) -> None:
    warnings.simplefilter("ignore")  # "did not converge" is what the judge is there for
    sys.stdout = open(os.devnull, "w")
    answer: Any
    solver = X = y = None
    while True:
        try:
            request = connection.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            if solver is None:
                solver, (X, y) = load_solver(racer), load(data)
            if request[0] == "task":
                answer = _begin(solver, Task(X, y, *request[1:-1]), request[-1])
            elif request[0] == "run":
                answer = _fit(solver, request[1])
            else:
                answer = _memory(solver, Task(X, y, *request[1:-1]), request[-1])
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            answer = Failure(f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})")
        connection.send(answer)


def _begin(solver: Any, task: Task, gaps: tuple[float, ...]) -> tuple[float, ...] | Failure:
    refusal = solver.refusal(task)
    if refusal is not None:
        return Failure(refusal)
    solver.task = task
    solver.warm_up()  # leaves it prepared
    return solver.settings(gaps)


def _fit(solver: Any, setting: float) -> Fit:
    if solver.task.gamma is not None:  # a kernel
        memory.get_at_hand()
    tick = perf_counter()
    solver.run(setting)
    seconds = perf_counter() - tick
    solution = {key: value if key == "b" else np.asarray(value) for key, value in solver.get_result().items()}
    return Fit(seconds, solution)


def _memory(solver: Any, task: Task, setting: float) -> float:
    """The peak above what the process holds with the data loaded and everything compiled."""
    solver.set_objective(**vars(task.few()))
    solver.run(setting)
    gc.collect()
    before = memory.start_peak()
    solver.set_objective(**vars(task))
    solver.run(setting)
    return memory.peak() - before
