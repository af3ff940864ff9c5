"""solve(): the one loop. It owns the clock, the looks, the stopping, the trace and the best point so far.

    1. Ask the solver for its next iterate; the clock runs only here.
    2. If a look is affordable (or asked for), certify the iterate with what the solver keeps, and trace it.
    3. If the relative gap is within tol, certify afresh from the data; stop if that confirms it.
    4. Stop for a callback, a budget, Ctrl-C, a proof of non-separability, a stall, or the solver's own end.
    5. Hand back the best pair seen, with a certificate recomputed from the data.

When to look is decided by counted work, not by the clock, so that the same seed gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from maxmargin.best import Best
from maxmargin.certificate import Certificate, Examined, certify, examine
from maxmargin.diagnosis import advice
from maxmargin.errors import InvalidInput, Refused
from maxmargin.parallel import one_blas_thread
from maxmargin.problem import Problem
from maxmargin.progress import Progress
from maxmargin.result import Iterate, Reason, Result, Snapshot, Status, Trace
from maxmargin.separability import Inseparable, prove_inseparable
from maxmargin.solvers import Solver
from maxmargin.solvers import solver as solver_by_name

#: What the interpreter costs besides the arithmetic, in multiply-adds (about a nanosecond each).
STEP_OVERHEAD, LOOK_OVERHEAD = 5e3, 3e5
#: Looks may take this share of the solver's work; less where the solver itself knows when it is done.
SHARE, LESS_SHARE = 0.1, 0.05


@dataclass(frozen=True, eq=False)
class Look:
    """What a callback sees."""

    iteration: int
    seconds: float
    certificate: Certificate
    #: The pair that was looked at; live views, to be copied by whoever keeps them.
    point: Iterate


Callback = Callable[[Look], object]


def solve(
    problem: Problem,
    solver: str | Solver = "auto",
    tol: float = 1e-4,
    max_time: float | None = None,
    max_iter: int | None = None,
    random_state: int | np.random.Generator | None = 0,
    start: Any = None,
    callbacks: Iterable[Callback] = (),
    every: int | None = None,
    snapshots: bool = False,
    progress: bool = False,
) -> Result:
    """Train by one solver until its relative duality gap is at most `tol`, or a budget ends.

    Parameters
    ----------
    problem : Problem
        What to solve.
    solver : str or Solver
        A name from `maxmargin.solvers()`, "auto", or a Solver with hyperparameters of your own.
    tol : float
        The relative duality gap to reach, (P − D)/max(|P|, |D|): it means the same for every solver.
    max_time, max_iter
        Budgets in seconds and in the solver's own iterations, looked at after each of its steps.
    random_state : int, Generator or None
        The same number gives the same bits; None is different every time.
    start : Result, array, or pair (w, b)
        A warm start: another fit, a dual point β, or a hyperplane.
    callbacks : functions of one `Look`
        Called at each look; a true answer stops the run.
    every : int
        Look at every so many iterates, whatever it costs (for figures); by default looks take at most a tenth of the
        run, or a few milliseconds.
    snapshots : bool
        Keep the hyperplane and the duals of each look in the trace.
    progress : bool
        Show time, gap and support vectors while it runs.

    Returns
    -------
    Result
        The best point found with its certificate, recomputed in float64 from the data. Ctrl-C returns it too.
    """
    if not tol >= 0:
        raise InvalidInput(f"tol is {tol}; it must be a number ≥ 0")
    for name, budget in (("max_time", max_time), ("max_iter", max_iter), ("every", every)):
        if budget is not None and not budget > 0:
            raise InvalidInput(f"{name} is {budget}; it must be > 0")
    chosen = solver_by_name(solver, problem)
    refusal = chosen.accepts(problem)
    if refusal:
        raise Refused(f"{chosen.name} refuses this problem: {refusal}")
    with one_blas_thread(), Progress(progress, chosen.name, tol) as display:
        run = _Run(problem, chosen, tol, every, snapshots, tuple(callbacks), display)
        iterates = chosen.iterates(problem, _start(problem, start), np.random.default_rng(random_state))
        return run.until_done(iterates, max_time, max_iter)


class _Run:
    """One run of one solver: what it has seen, and the best of it."""

    def __init__(
        self,
        problem: Problem,
        solver: Solver,
        tol: float,
        every: int | None,
        snapshots: bool,
        callbacks: tuple[Callback, ...],
        display: Progress,
    ) -> None:
        self.problem, self.solver, self.tol, self.callbacks = problem, solver, tol, callbacks
        self.every, self.snapshots, self.display = every, snapshots, display
        self.trace = Trace()
        self.best = Best()
        self.yields = 0
        self.solver_work = self.look_work = 0.0
        #: Whether the solver says how far it is.
        self.knowing = False
        self.confirm_at = tol
        self.confirmed: Examined | None = None
        self.proof: Inseparable | None = None
        self.history: list[tuple[float, float, float, float]] = []

    def until_done(self, iterates: Any, max_time: float | None, max_iter: int | None) -> Result:
        began = perf_counter()
        iterate: Iterate | None = None
        looked = False
        try:
            while True:
                # 1.
                tick = perf_counter()
                following = next(iterates, None)
                self.trace.solver_seconds += perf_counter() - tick
                if following is None:
                    reason = Reason.FINISHED
                    break
                iterate = following
                self.yields += 1
                self.solver_work += iterate.work + STEP_OVERHEAD
                # 2. to 4.
                looked = self._due(iterate)
                stop = self._look(iterate) if looked else None
                if stop is None and max_iter is not None and iterate.k >= max_iter:
                    stop = Reason.MAX_ITER
                if stop is None and max_time is not None and perf_counter() - began >= max_time:
                    stop = Reason.MAX_TIME
                if stop is not None:
                    reason = stop
                    break
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
            if iterate is not None and iterate.beta is not None:  # live views: only β can be trusted now
                iterate, looked = replace(iterate, w=None, scores=None, linked=True), False
            elif iterate is None:
                raise
        # 5.
        if iterate is None:
            raise RuntimeError(f"{self.solver.name} gave no iterate")
        if not looked and self.confirmed is None:
            reason = self._look(iterate) or reason
        return self._result(reason)

    def _due(self, iterate: Iterate) -> bool:
        if self.every is not None:
            return self.yields % self.every == 0 or self.yields == 1
        cost = self._cost(iterate)
        self.knowing = self.knowing or iterate.estimate is not None
        if self.look_work + cost <= (LESS_SHARE if self.knowing else SHARE) * self.solver_work:
            return True
        if cost < 1e6 and self.yields & (self.yields - 1) == 0:  # 1, 2, 4, 8, ...: next to nothing
            return True
        return iterate.estimate is not None and iterate.estimate <= self.tol and self.history_age() >= 2 * cost

    def history_age(self) -> float:
        """Work since the last look."""
        return self.solver_work - (self.history[-1][0] if self.history else 0.0)

    def _cost(self, iterate: Iterate) -> float:
        if iterate.scores is not None:
            passes = 0
        elif iterate.linked and iterate.w is not None and iterate.beta is not None:
            passes = 1
        else:
            passes = 2
        each = 60 if self.problem.bias == "free" else 30  # the best bias is looked for
        return passes * self.problem.space.work + each * self.problem.n + LOOK_OVERHEAD

    def _look(self, iterate: Iterate) -> Reason | None:
        tick = perf_counter()
        self.look_work += self._cost(iterate)
        # Where the solver thinks that it is done, the first look may as well be the last one: straight from the data.
        fresh = iterate.estimate is not None and iterate.estimate <= self.tol
        seen = examine(self.problem, iterate, fresh)
        certificate = self.best.update(seen)
        self._record(seen, certificate)
        self.trace.look_seconds += perf_counter() - tick
        look = Look(iterate.k, self.trace.solver_seconds, certificate, seen.point)
        self.display.show(look)
        # Every callback sees every look, even when an earlier one has asked to stop.
        stopped = any([bool(callback(look)) for callback in self.callbacks])
        tick = perf_counter()
        reason = self._verdict(certificate, seen if fresh else None)
        self.trace.look_seconds += perf_counter() - tick
        return reason or (Reason.CALLBACK if stopped else None)

    def _verdict(self, certificate: Certificate, fresh: Examined | None) -> Reason | None:
        if certificate.relative_gap <= self.confirm_at:
            if fresh is None:
                fresh = examine(self.problem, self.best.point())  # seldom: each failure halves what is asked for
            if fresh.certificate.relative_gap <= self.tol:
                self.confirmed = fresh
                return Reason.CONVERGED
            self.confirm_at /= 2  # the running sums have drifted: ask for more before trying again
        if self.problem.hard and np.isinf(certificate.primal) and self._power_of_two_looks():
            beta = self.best.point().beta
            assert beta is not None
            self.proof = prove_inseparable(self.problem, beta)
            if self.proof is not None:
                return Reason.INSEPARABLE
        return Reason.STALLED if self._stalled() else None

    def _power_of_two_looks(self) -> bool:
        looks = len(self.trace)
        return looks & (looks - 1) == 0

    def _stalled(self) -> bool:
        """Nothing gained a twentieth in the last three quarters of the work: neither gap nor primal nor dual."""
        work, *now = self.history[-1]
        if work < 1e9 or len(self.history) < 20:
            return False
        _, *then = next(past for past in reversed(self.history) if past[0] <= work / 4 or past is self.history[0])
        return all(
            after == before or abs(after - before) <= 0.05 * abs(before)
            for after, before in zip(now, then, strict=True)
        )

    def _record(self, seen: Examined, certificate: Certificate) -> None:
        counts = certificate.kinds.counts
        seconds = self.trace.solver_seconds
        _, gap, primal, dual = self.history[-1] if self.history else (0.0, np.inf, np.inf, -np.inf)
        best = min(gap, certificate.relative_gap), min(primal, certificate.primal), max(dual, certificate.dual)
        self.history.append((self.solver_work, *best))
        self.trace.rows.append(
            (
                seen.point.k,
                seconds,
                certificate.primal,
                certificate.dual,
                certificate.gap,
                certificate.relative_gap,
                certificate.kkt_violation,
                seen.accuracy,
                counts["free"] + counts["bound"],
                counts["free"],
                counts["bound"],
            )
        )
        if self.snapshots:
            point = seen.point
            assert point.w is not None and point.beta is not None
            w = point.w[: self.problem.X.shape[1]] if self.problem.linear else point.w
            b = self.problem.space.bias(point.w) + (point.b or 0.0)
            self.trace.snapshots.append(Snapshot(point.k, seconds, w.copy(), b, point.beta.copy()))

    def _result(self, reason: Reason) -> Result:
        tick = perf_counter()
        final = self.confirmed or examine(self.problem, self.best.point())
        certificate = replace(final.certificate, inseparable=self.proof)
        if reason is not Reason.INSEPARABLE and certificate.relative_gap <= self.tol:
            reason = Reason.CONVERGED
        related = {}
        if final.point.related is not None:
            other = final.point.related
            related[other.name] = certify(other.problem, Iterate(beta=other.beta))
        self.trace.look_seconds += perf_counter() - tick
        status = Status(reason, self._text(reason, certificate))
        return Result(self.problem, self.solver, status, final.point, certificate, self.trace, self.tol, related)

    def _text(self, reason: Reason, certificate: Certificate) -> str:
        gap = f"relative gap {certificate.relative_gap:.2g}"
        if reason is Reason.CONVERGED:
            kind = "a stationary point" if certificate.positive is False else gap
            return f"{kind}, asked for {self.tol:g}"
        if reason is Reason.INSEPARABLE:
            return f"{self.proof}; use a finite C"
        if reason in (Reason.INTERRUPTED, Reason.CALLBACK):
            return f"{gap} at the best point so far; go on from it with start=result"
        if reason is Reason.FINISHED:
            return f"{gap}, asked for {self.tol:g}; for a smaller gap use another solver, such as 'auto'"
        return f"{gap}, asked for {self.tol:g}; {advice(self.problem, certificate, self.tol)}"


def _start(problem: Problem, start: Any) -> Iterate:
    """A warm start as an iterate: a Result, a dual point, or a hyperplane (w, b)."""
    if start is None:
        return Iterate()
    if isinstance(start, Result):
        if start.beta.shape != (problem.n,):
            raise InvalidInput(f"start has {len(start.beta)} samples; this problem has {problem.n}")
        same_space = start.point.w is not None and start.point.w.shape == (problem.space.size,)
        return Iterate(w=start.point.w if same_space else None, b=start.point.b, beta=start.beta)
    if isinstance(start, tuple):
        w, b = start
        w = np.asarray(w, dtype=np.float64)
        if not problem.linear or w.shape != (problem.X.shape[1],):
            raise InvalidInput(
                f"start w has shape {w.shape}; a linear problem with {problem.X.shape[1]} features is needed"
            )
        constant = problem.space.constant
        inside = float(b) / constant if constant else 0.0
        return Iterate(w=np.append(w, inside), b=float(b) if problem.bias == "free" else None)
    beta = np.asarray(start, dtype=np.float64)
    if beta.shape != (problem.n,) or not np.isfinite(beta).all():
        raise InvalidInput(f"start has shape {beta.shape}; a dual point is {problem.n} finite numbers")
    return Iterate(beta=beta)
