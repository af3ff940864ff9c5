"""solve(): the one way to train. It runs a solver (`run.py`); "auto" tries one solver after the other.

1. Check what was asked for, and whether the solver accepts the problem. Where the solver is left to us ("auto") and
   the run is not watched, a small problem is solved in one compiled call (`small/`).
2. Run the solver until its gap is closed, or a budget ends.
3. Where the solver was left to us ("auto") and has failed or stalled, go on with the next that accepts the problem.
4. Hand back the best result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInput, Refused
from maxmargin.loop.progress import Progress
from maxmargin.loop.run import Callback, Run
from maxmargin.loop.start import generator_of, start_of
from maxmargin.numeric.interrupts import interruptible
from maxmargin.numeric.parallel import one_blas_thread
from maxmargin.numeric.stopwatch import now
from maxmargin.problem import Problem
from maxmargin.result import Iterate, Reason, Result
from maxmargin.small import solve_small
from maxmargin.solvers import Solver, candidates, refusal
from maxmargin.solvers import solver as solver_by_name
from maxmargin.solvers.base import SolverFailed
from maxmargin.solvers.base import registry as solvers

#: A budget of so many iterations lets a compiled call try, which counts them only at its end.
FEW_STEPS = 50


def solve(
    problem: Problem,
    solver: str | Solver = "auto",
    tol: float = 1e-4,
    max_time: float | None = None,
    max_iter: int | None = None,
    random_state: int | np.random.Generator | None = 0,
    rng: Any = None,
    start: Any = None,
    callbacks: Iterable[Callback] = (),
    every: int | None = None,
    snapshots: bool = False,
    progress: bool = False,
    **options: Any,
) -> Result:
    """Train by one solver until its relative duality gap is at most `tol`, or a budget ends.

    Parameters
    ----------
    problem : Problem
        What to solve.
    solver : str or Solver, default "auto"
        A name from `maxmargin.list_solvers()`, "auto", or a Solver with hyperparameters of your own, such as
        `maxmargin.solvers.Subgradient(rate=0.1)`.
    tol : float, default 1e-4
        The relative duality gap to reach, (P − D)/max(|P|, |D|): it means the same for every solver.
    max_time : float, default None
        Seconds after which the run ends with the best point so far; None is no limit.
    max_iter : int, default None
        Iterations, as the solver counts them, after which it ends; None is no limit.
    random_state : int, Generator or None, default 0
        The same number gives the same bits; None is different every time.
    rng : int, SeedSequence, Generator or BitGenerator, default None
        The same by the name of SPEC 7, instead of `random_state`: whatever ``numpy.random.default_rng`` takes.
    start : Result, array, or pair (w, b), default None
        Where to begin: another fit, a dual point β, or a hyperplane. A solver that cannot start there refuses it.
    callbacks : functions of one `Look`, default ()
        Called at each look; a true answer stops the run.
    every : int, default None
        Look at every `every`-th iterate, whatever it costs (for figures); by default looks take at most a tenth of the
        run, or a few milliseconds.
    snapshots : bool, default False
        Keep the hyperplane and the duals of each look in the trace.
    progress : bool, default False
        Show time, gap and support vectors while it runs.
    **options
        Fields of the named solver: ``solve(problem, "subgradient", rate=0.1)``. `maxmargin solvers subgradient` on the
        command line, or ``help(maxmargin.solvers.Subgradient)``, tells what there is.

    Returns
    -------
    Result
        The best point found with its certificate, recomputed in float64 from the data. Ctrl-C returns it too.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> result = solve(Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], C=10.0), tol=1e-6)
    >>> result.converged, result.w.round(3), round(result.b, 3)
    (True, array([1.]), -2.0)
    >>> result.predict([[0.5], [2.5]])
    array([-1,  1])
    """
    if not tol >= 0:
        raise InvalidInput(f"tol is {tol}; it must be a number ≥ 0")
    for name, budget in (("max_time", max_time), ("max_iter", max_iter), ("every", every)):
        if budget is not None and not budget > 0:
            raise InvalidInput(f"{name} is {budget}; it must be > 0")
    generator = generator_of(random_state, rng)
    given = every, snapshots, tuple(callbacks)
    auto = isinstance(solver, str) and solver == "auto" and not options
    watched = snapshots or progress or every is not None or bool(given[-1])
    if auto and not watched and start is None and (max_iter is None or max_iter >= FEW_STEPS):
        with one_blas_thread(), interruptible():
            small = solve_small(problem, tol, max_time)
        if isinstance(small, Result) and (max_iter is None or small.iterations <= max_iter):
            return small
        start = None if isinstance(small, Result) else small
    chosen, enough = [solver_by_name(solver, problem, **options)], {}
    refused = refusal(chosen[0], problem)
    if refused:
        raise Refused(f"{chosen[0].name} refuses this problem: {refused}")
    if auto:
        enough = candidates(problem)
        chosen = [solvers[name] for name in enough]
        chosen.sort(key=lambda one: start is not None and not one.starts)  # a start is for one that takes it
    began = now()
    result: Result | None = None
    failure: SolverFailed | None = None
    with one_blas_thread(), interruptible():
        for one in chosen:
            with Progress(progress, one.name, tol) as display:
                begin = start_of(problem, one, start)
                patience = np.inf if one is chosen[-1] else enough[one.name]
                run = Run(problem, one, tol, *given, watched or not auto, display, one is not chosen[-1], patience)
                iterates = _iterates(one, problem, begin, generator())
                left = None if max_time is None else began + max_time - now()
                start = None
                try:
                    found = run.until_done(iterates, begin, left, max_iter)
                except SolverFailed as error:
                    failure = failure or error
                    continue
            if result is None or found.certificate.relative_gap < result.certificate.relative_gap:
                result = found
            if not _stuck(found) or (max_time is not None and now() - began >= max_time):
                break
    if result is None:
        raise failure or SolverFailed(f"{chosen[0].name} gave no point")
    return replace(result, chosen=True) if auto else result


def _stuck(result: Result) -> bool:
    """Whether another solver might get further: this one has come to its end, and rounding is not the reason (3.)."""
    ended = result.status.reason in (Reason.STALLED, Reason.FINISHED)
    return ended and not result.certificate.rounding > 0.5 * result.certificate.gap


def _iterates(solver: Solver, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
    """The iterates of a solver, none of whose work is done before the first is asked for."""
    yield from solver.iterates(problem, start, rng)
