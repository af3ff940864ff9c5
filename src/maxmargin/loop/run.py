"""One run of one solver: the clock, the looks, the stopping, the trace and the best point so far.

1. Ask the solver for its next iterate; the clock runs only here.
2. If a look is affordable (or asked for, see `schedule.py`), certify the iterate with what the solver keeps, and
   trace it.
3. If the relative gap is within tol, certify afresh from the data; stop if that confirms it.
4. Stop for a callback, a budget, Ctrl-C, a proof of non-separability, a stall, or the solver's own end.
5. Hand back the best pair seen, with a certificate recomputed from the data: in time for that, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np

from maxmargin.certificate import Certificate, Examined, certify, examine
from maxmargin.certificate.diagnosis import advice
from maxmargin.certificate.separability import Inseparable, prove_inseparable
from maxmargin.errors import MaxMarginError
from maxmargin.loop.best import Best
from maxmargin.loop.last_resort import last_resort
from maxmargin.loop.progress import Progress
from maxmargin.loop.schedule import Schedule
from maxmargin.numeric.interrupts import interruptible
from maxmargin.numeric.stopwatch import now
from maxmargin.problem import Problem
from maxmargin.result import Iterate, Reason, Result, Snapshot, Status, Trace
from maxmargin.solvers import Solver, clock
from maxmargin.solvers.base import SolverFailed, start_beta

#: A weight or a dual variable beyond this shows that a run with steps of the user's own diverges.
GROWN = 1e100
#: Passes over the data after which a solver has stalled where another one would follow it.
PASSES = 3e3
#: The share of its seconds by which a proof that is due may end late: the step that it waited for took some.
LATE = 0.1


@dataclass(frozen=True, eq=False)
class Look:
    """What a callback sees.

    Attributes
    ----------
    iteration : int
        The solver's own count.
    seconds : float
        How long the solver has run; looks are not counted.
    certificate : Certificate
        What is proved of the point, from what the solver keeps.
    point : Iterate
        The pair that was looked at. Its arrays change when the solver goes on: copy what you keep.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1])
    >>> stop = lambda look: look.certificate.relative_gap < 0.5
    >>> solve(problem, "subgradient", tol=0.0, callbacks=[stop]).status.reason
    <Reason.CALLBACK: 'stopped by a callback'>
    """

    iteration: int
    seconds: float
    certificate: Certificate
    point: Iterate


Callback = Callable[[Look], object]


class Run:
    """One run of one solver: what it has seen, and the best of it."""

    def __init__(
        self,
        problem: Problem,
        solver: Solver,
        tol: float,
        every: int | None,
        snapshots: bool,
        callbacks: tuple[Callback, ...],
        watched: bool,
        display: Progress,
        replaceable: bool = False,
        enough: float = np.inf,
    ) -> None:
        self.problem, self.solver, self.tol, self.callbacks = problem, solver, tol, callbacks
        self.snapshots, self.display = snapshots, display
        self.trace = Trace()
        self.best = Best()
        self.confirm_at = tol
        self.confirmed: Examined | None = None
        self.proof: Inseparable | None = None
        #: No proof that there is no margin, but a bound on it.
        self.margin_bound: Inseparable | None = None
        #: The last look that was straight from the data.
        self.fresh: Examined | None = None
        self.history: list[tuple[float, float, float, float]] = []
        #: What went wrong inside the solver.
        self.failure: Exception | None = None
        #: Where the solver stands, whether that has been looked at, and when the time is over.
        self.iterate: Iterate | None = None
        self.looked = False
        self.ends: float | None = None
        #: The work after which a standstill is one, and the looks.
        self.patience = min(1e9, PASSES * (problem.space.work + 1e3)) if replaceable else 1e9, 20
        #: The work after which another solver has its turn.
        self.enough = enough
        #: Whether the user chose the steps: they may be too long, and then the iterates swing or grow without end.
        self.own_steps = solver.step_size(problem, 1) is not None
        self.longest_step = np.inf
        #: The dual of a hard margin grows without end, too, where the classes are not separable.
        self.may_grow = self.own_steps or problem.hard
        # Whatever comes of steps of the user's own, there is a point to hand back.
        self.schedule = Schedule(problem, tol, every, watched, at_once=self.own_steps)

    def until_done(
        self, iterates: Iterator[Iterate], start: Iterate, max_time: float | None, max_iter: int | None
    ) -> Result:
        """The whole run: to its end, or to that of a budget."""
        began = now()
        self.ends = None if max_time is None else began + max_time
        self.schedule.begin(began, max_time)
        try:
            with clock.until(self.ends), interruptible():
                while (reason := self.advance(iterates, max_iter)) is None:
                    pass
        except clock.TimeUp:
            reason, self.looked = Reason.MAX_TIME, False
            self.iterate = None if self.iterate is None else self._trusted(self.iterate)
        except KeyboardInterrupt:
            if self.iterate is None:
                raise
            reason, self.looked, self.iterate = Reason.INTERRUPTED, False, self._trusted(self.iterate)
        return self.end(reason, start)

    def advance(self, iterates: Iterator[Iterate], max_iter: int | None = None) -> Reason | None:
        """One more iterate of the solver; the reason to stop there, or None where there is none."""
        if self.own_steps and self.iterate is None:
            self.longest_step = self.solver.longest_step(self.problem)
        # 1.
        tick = now()
        following = self._next(iterates)
        self.trace.solver_seconds += now() - tick
        if following is None:
            return Reason.STALLED if self.failure is not None or self.solver.endless else Reason.FINISHED
        self.iterate, self.looked = following, False
        if clock.stopped():
            raise KeyboardInterrupt
        self.schedule.step(following)
        self.display.step(following, following.k, self.trace.solver_seconds)
        if self.may_grow and self.schedule.yields > 1 and _grown(following):
            # Nothing more to learn from these numbers.
            self.looked = True
            return Reason.DIVERGED if self.own_steps else Reason.STALLED
        # 2. to 4.
        stop = Reason.MAX_TIME if self.ends is not None and self._too_late(following) else None
        if stop is None:
            self.looked = self.schedule.due(following)
            stop = self._look(following) if self.looked else None
        if stop is None and self.schedule.solver_work >= self.enough:
            stop = Reason.STALLED
        if stop is None and max_iter is not None and following.k >= max_iter:
            stop = Reason.MAX_ITER
        if stop is None and self.ends is not None and now() >= self.ends:
            stop = Reason.MAX_TIME
        return stop

    def end(self, reason: Reason, start: Iterate) -> Result:
        """The best pair seen, certified from the data (5.)."""
        if self.iterate is None and reason is not Reason.MAX_TIME:
            raise self._failed() from self.failure
        if not self.looked and self.confirmed is None:
            seen = self._last_look(self.iterate, start, reason) or reason
            reason = reason if reason is Reason.INTERRUPTED else seen  # whoever pressed Ctrl-C wants no more of it
        return self._result(reason)

    def _next(self, iterates: Iterator[Iterate]) -> Iterate | None:
        """The next iterate; None where there is none, or where the solver has failed."""
        try:
            with np.errstate(over="ignore", invalid="ignore") if self.may_grow else nullcontext():
                return next(iterates, None)
        except (ArithmeticError, ValueError, AssertionError) as error:
            if isinstance(error, MaxMarginError):
                raise
            self.failure = error
            return None

    def _failed(self) -> SolverFailed:
        """The error of a solver that has nothing to show."""
        why = "it gave no point" if self.failure is None else f"{type(self.failure).__name__}: {self.failure}"
        zero = Iterate(beta=start_beta(self.problem, Iterate()))
        todo = advice(self.problem, examine(self.problem, zero).certificate, self.tol)
        return SolverFailed(f"{self.solver.name} failed on this problem ({why}); {todo}")

    def _last_look(self, iterate: Iterate | None, start: Iterate, reason: Reason) -> Reason | None:
        """Look at where the solver was broken off; at the start where it had nothing yet, or nothing provable in time.

        When the time is over, the look is the proof as well: there is none for two.
        """
        pressed = reason is Reason.MAX_TIME
        if pressed and iterate is not None and self.schedule.deadline is not None and self._too_late(iterate, LATE):
            iterate = self.schedule.deadline.of_w(iterate)  # without β there may be time
        if iterate is None or (pressed and self._too_late(iterate, LATE)):
            if len(self.trace) and iterate is not None:
                return None
            iterate = Iterate(beta=start_beta(self.problem, start))
            if self._too_late(iterate):
                simplest = last_resort(self.problem)
                if simplest is not None:
                    return self._look(simplest, pressed, bounded=True)
                iterate = Iterate(beta=start_beta(self.problem, Iterate()))
        return self._look(iterate, pressed)

    def _trusted(self, iterate: Iterate) -> Iterate:
        """What may be believed of the last iterate of a solver that was broken off: most are half changed views."""
        if iterate.beta is None or (self.solver.copies and not iterate.linked):
            return replace(iterate, scores=None)
        return replace(iterate, w=None, b=None, scores=None, linked=True)

    def _too_late(self, iterate: Iterate, late: float = 0.0) -> bool:
        """Whether a proof must begin now to be done in time: of this point, or of the best one so far."""
        if self.schedule.deadline is None:
            return False
        return self.schedule.deadline.reached(iterate, *([self.best.point()] if len(self.trace) else []), late=late)

    def _look(self, iterate: Iterate, fresh: bool = False, bounded: bool = False) -> Reason | None:
        tick = now()
        if self.schedule.deadline is not None:
            iterate = self.schedule.deadline.provable(iterate)
        self.schedule.look(iterate)
        # Where the solver thinks that it is done, the first look may as well be the last one: straight from the data.
        fresh = fresh or (iterate.estimate is not None and iterate.estimate <= self.tol)
        seen = examine(self.problem, iterate, fresh, self.tol, bounded)
        self.fresh = seen if fresh else self.fresh
        certificate = self.best.update(seen)
        self._record(seen, certificate)
        self.trace.look_seconds += now() - tick
        look = Look(iterate.k, self.trace.solver_seconds, certificate, seen.point)
        self.display.show(look)
        # Every callback sees every look, even when an earlier one has asked to stop.
        stopped = any([bool(callback(look)) for callback in self.callbacks])
        tick = now()
        reason = self._verdict(certificate, seen if fresh else None)
        self.trace.look_seconds += now() - tick
        return reason or (Reason.CALLBACK if stopped else None)

    def _verdict(self, certificate: Certificate, fresh: Examined | None) -> Reason | None:
        told = certificate if fresh is None else fresh.certificate
        scale = max(abs(told.primal), abs(told.dual))
        # A fresh look has its rounding in its gap, which may be all that is left of it.
        if certificate.relative_gap <= self.confirm_at or told.gap - told.rounding <= self.confirm_at * scale:
            if fresh is None:
                fresh = examine(
                    self.problem, self.best.point(), wanted=self.tol
                )  # seldom: each failure halves what is asked for
            if fresh.certificate.relative_gap <= self.tol:
                self.confirmed = fresh
                return Reason.CONVERGED
            if fresh.certificate.rounding >= self.tol * abs(fresh.certificate.primal) > 0.0:
                return Reason.STALLED  # rounding alone is more than was asked for, and no more steps will mend it
            self.confirm_at /= 2  # the running sums have drifted: ask for more before trying again
        if self.problem.hard and np.isinf(certificate.primal) and self._power_of_two_looks():
            beta = self.best.point().beta
            assert beta is not None
            found = prove_inseparable(self.problem, beta)
            if found is not None and found.proved:
                self.proof = found
                return Reason.INSEPARABLE
            self.margin_bound = found
        if self._steps_too_long(self.trace.rows[-1][0]) and self._stalled(0.0, 200):
            return Reason.DIVERGED
        return Reason.STALLED if self._stalled(*self.patience) else None

    def _steps_too_long(self, t: float) -> bool:
        size = self.solver.step_size(self.problem, max(1, int(t))) if self.own_steps else None
        return size is not None and size > self.longest_step

    def _power_of_two_looks(self) -> bool:
        looks = len(self.trace)
        return looks & (looks - 1) == 0

    def _stalled(self, least_work: float, least_looks: int) -> bool:
        """Nothing gained a twentieth in the last three quarters of the work: neither gap nor primal nor dual."""
        work, *now = self.history[-1]
        if work < least_work or len(self.history) < least_looks:
            return False
        _, *then = next(past for past in reversed(self.history) if past[0] <= work / 4 or past is self.history[0])
        return all(
            after == before or abs(after - before) <= 0.05 * abs(before)
            for after, before in zip(now, then, strict=True)
        )

    def _record(self, seen: Examined, certificate: Certificate) -> None:
        seconds = self.trace.solver_seconds
        _, gap, primal, dual = self.history[-1] if self.history else (0.0, np.inf, np.inf, -np.inf)
        best = min(gap, certificate.relative_gap), min(primal, certificate.primal), max(dual, certificate.dual)
        self.history.append((self.schedule.solver_work, *best))
        point = seen.point
        assert point.w is not None and point.beta is not None
        raw = point.beta if point.raw is None else point.raw
        self.trace.add(point.k, seconds, certificate, seen.accuracy, float(raw.sum()))
        if self.snapshots:
            w = self.problem.normal(point.w) if self.problem.linear else point.w
            b = self.problem.space.bias(point.w) + (point.b or 0.0)
            self.trace.snapshots.append(
                Snapshot(point.k, seconds, w.copy(), b, point.beta.copy(), raw.copy(), point.event)
            )

    def _result(self, reason: Reason) -> Result:
        tick = now()
        final = self.confirmed or self._proved()
        certificate = replace(final.certificate, inseparable=self.proof)
        if reason not in (Reason.INSEPARABLE, Reason.INTERRUPTED) and certificate.relative_gap <= self.tol:
            reason = Reason.CONVERGED
        elif reason in (Reason.MAX_ITER, Reason.MAX_TIME, Reason.STALLED) and self._steps_too_long(final.point.k):
            reason = Reason.DIVERGED
        related = {}
        if final.point.related is not None:
            other = final.point.related
            related[other.name] = certify(other.problem, Iterate(beta=other.beta))
        self.trace.look_seconds += now() - tick
        status = Status(reason, self._text(reason, certificate))
        return Result(self.problem, self.solver, status, final.point, certificate, self.trace, self.tol, related)

    def _proved(self) -> Examined:
        """The best point, certified from the data; the last look may have been just that."""
        fresh, best = self.fresh, self.best
        mine = (best.linked,) if best.primal is None else (best.primal, best.dual)
        if fresh is not None and all(one is not None and one.certificate is fresh.certificate for one in mine):
            if best.linked is None or best.primal is None:
                kept = best.linked or best.primal  # a copy: the solver has moved on since that look
                assert kept is not None
                return kept
        return examine(self.problem, best.point(), wanted=self.tol)

    def _text(self, reason: Reason, certificate: Certificate) -> str:
        gap = f"relative gap {certificate.relative_gap:.2g}"
        if reason is Reason.CONVERGED:
            kind = "a stationary point" if certificate.positive is False else gap
            return f"{kind}, asked for {self.tol:g}"
        if reason is Reason.INSEPARABLE:
            return f"{self.proof}; use a finite C"
        if self.failure is not None and reason is Reason.STALLED:
            gap = f"{self.solver.name} failed ({type(self.failure).__name__}: {self.failure}); {gap}"
        if reason in (Reason.INTERRUPTED, Reason.CALLBACK):
            return f"{gap} at the best point so far; go on from it with start=result"
        if np.isinf(certificate.primal) and self.margin_bound is not None:
            return f"no hyperplane that separates the classes was found; {self.margin_bound}; use a finite C"
        if certificate.rounding > 0.5 * certificate.gap and certificate.relative_gap > self.tol:
            return (
                f"{gap}, asked for {self.tol:g}, {certificate.rounding / certificate.gap:.0%} of it perhaps rounding;"
                f" centre and scale the features, lower C, or ask for a larger tol"
            )
        if reason is Reason.DIVERGED:
            return f"{gap} at the best point so far; {self._shorter_steps()}"
        if reason is Reason.FINISHED:
            return f"{gap}, asked for {self.tol:g}; for a smaller gap {self.solver.further}"
        return f"{gap}, asked for {self.tol:g}; {advice(self.problem, certificate, self.tol)}"

    def _shorter_steps(self) -> str:
        """What was wrong with the steps, and which ones would do."""
        looked = max(1, int(self.trace.rows[-1][0]))
        size = self.solver.step_size(self.problem, looked)
        if size is None or size <= self.longest_step:
            return "the steps are too long; use shorter ones"
        longest = f"{self.longest_step:.3g}"
        return (
            f"the step {size:.3g} is too long and the iterates overshoot; below {longest} they cannot:"
            f" use step={0.5 * self.longest_step:.2g}"
        )


def _grown(iterate: Iterate) -> bool:
    """Whether the numbers of an iterate have grown beyond all measure."""
    sides = [side for side in (iterate.w, iterate.beta) if side is not None]
    return not all(np.abs(side).max(initial=0.0) <= GROWN for side in sides)  # NaN is not within it either
