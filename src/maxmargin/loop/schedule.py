"""When the loop looks at an iterate, and when it must begin to prove what there is.

Looks are decided by counted work, not by the clock, so that the same seed gives the same bits. Only a run whose time is
limited keeps an eye on the clock: the point that is handed back must be proved, and that takes time as well.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from maxmargin.certificate.pair import proves_kkt
from maxmargin.numeric.stopwatch import now
from maxmargin.problem import Problem
from maxmargin.problem.space import KernelSpace
from maxmargin.result import Iterate

#: What the interpreter costs besides the arithmetic, in multiply-adds (about a nanosecond each).
STEP_OVERHEAD, LOOK_OVERHEAD = 2e4, 3e5
#: Looks may take this share of the solver's work; less where the solver itself knows when it is done.
SHARE, LESS_SHARE = 0.1, 0.05
#: Looks of less work than this are made at the 1st, 2nd, 4th, 8th, ... iterate, for the trace.
CHEAP = 1e6
#: Up to this share of the time beyond it, and so many seconds, may go into the proof of the point that is handed back.
BEYOND, SECONDS = 0.25, 0.1
#: The share of the time after which there is a first look, if that takes no larger share itself.
EARLY = 0.1
#: Kernel values whose time is taken, rows times columns, and the rows from which on a proof takes long enough for that.
TRIED, MANY = (256, 256), 1000


class Schedule:
    """The work of one run so far, and what it allows.

    Parameters
    ----------
    problem, tol
        What is solved, and how well.
    every : int or None
        Look at every so many iterates, whatever it costs.
    watched : bool
        Whether a trace, callbacks or a display ask for the way, not only for the end.
    at_once : bool
        Look at the first iterate, whatever it costs.
    """

    def __init__(self, problem: Problem, tol: float, every: int | None, watched: bool, at_once: bool) -> None:
        self.problem, self.tol, self.every, self.watched, self.at_once = problem, tol, every, watched, at_once
        self.yields = self.looks = 0
        self.solver_work = self.look_work = self.last_look = 0.0
        #: Whether the solver says how far it is.
        self.knowing = False
        #: The iterates that the solver thought good enough.
        self.done = 0
        self.deadline: Deadline | None = None
        #: Whether there was a look, and whether the next one is only for safety: that is not counted as work, so that a
        #: time limit that is not reached changes nothing.
        self.seen, self.early = False, False

    def begin(self, began: float, max_time: float | None) -> None:
        """The clock runs from now on."""
        if max_time is not None and _takes_long(self.problem):
            self.deadline = Deadline(self.problem, began, max(0.0, max_time))

    def step(self, iterate: Iterate) -> None:
        """One more iterate."""
        self.yields += 1
        self.solver_work += iterate.work + STEP_OVERHEAD

    def look(self, iterate: Iterate) -> None:
        """One more look."""
        self.seen = True
        if self.early:
            self.early = False
            return
        self.looks += 1
        self.look_work += self._cost(iterate)
        self.last_look = self.solver_work

    def due(self, iterate: Iterate) -> bool:
        """Whether to look at this iterate."""
        if self.at_once and self.yields == 1:
            return True
        if self.every is not None:
            return self.yields % self.every == 0 or self.yields == 1
        cost = self._cost(iterate)
        self.knowing = self.knowing or iterate.estimate is not None
        if self.look_work + cost <= (LESS_SHARE if self.knowing else SHARE) * self.solver_work:
            return True
        if iterate.estimate is not None and iterate.estimate <= self.tol:
            # A small problem is solved further than was asked for, as long as that takes less than a look; one step
            # more squares the error of Newton's method.
            self.done += 1
            further = not self.looks and cost < CHEAP
            if self.solver_work - self.last_look >= (2.0 if self.looks else 1.0) * cost and self.done > further:
                return True
        # The way is not looked at where it is not watched and the solver knows when it is done: on small problems
        # the looks would take most of the time.
        if cost < CHEAP and self.yields & (self.yields - 1) == 0 and (self.watched or not self.knowing):
            return True
        self.early = self.deadline is not None and not self.seen and self.deadline.near(iterate)
        return self.early

    def _cost(self, iterate: Iterate) -> float:
        space = self.problem.space
        if iterate.scores is not None:
            values = 0.0
        elif iterate.linked and iterate.w is not None and iterate.beta is not None:
            values = space.work
        elif isinstance(space, KernelSpace) and iterate.w is not None and iterate.beta is not None:
            size = float(np.count_nonzero(iterate.beta))
            values = (_values_of_w(iterate) + 0.5 * size * size) * space.value_work
        else:
            values = 2 * space.work
        each = 60 if self.problem.bias == "free" else 30  # the best bias is looked for
        return values + each * self.problem.n + LOOK_OVERHEAD


def _values_of_w(point: Iterate) -> float:
    """The kernel values of a w that is not w(β): those of its own samples with all."""
    assert point.w is not None
    return float(len(point.w)) * float(np.count_nonzero(point.w))


def _takes_long(problem: Problem) -> bool:
    """Whether a proof takes so long that time must be kept for it."""
    return isinstance(problem.space, KernelSpace) and problem.n >= MANY and not problem.kernel.given


class Deadline:
    """When the proof of the point that is handed back must begin, in a run with a kernel whose time is limited."""

    def __init__(self, problem: Problem, began: float, max_time: float) -> None:
        self.problem = problem
        self.wary_from, self.proved_by = began + EARLY * max_time, began + (1.0 + BEYOND) * max_time + SECONDS
        #: The seconds in all.
        self.whole = self.proved_by - began

    def near(self, point: Iterate) -> bool:
        """Whether it is wise to look at this point, as there may be no time for another."""
        moment = now()
        return moment >= self.wary_from and self._seconds(point) <= EARLY * (self.proved_by - moment)

    def reached(self, *points: Iterate, late: float = 0.0) -> bool:
        """Whether the proof of one of these points would not be done in time, if it began any later.

        A proof that is under way may be `late` by this share of its seconds.
        """
        moment, seconds = now(), max(map(self._seconds, points))
        return moment >= self.wary_from and moment + (1.0 - late) * seconds >= self.proved_by

    def _seconds(self, point: Iterate) -> float:
        """What a proof takes: its kernel values; half of those between the point's own samples are mirror images."""
        n = self.problem.n
        if point.beta is None or (point.w is None and not point.linked):
            return 2.0 * n * n * self._value_seconds
        if not point.linked:
            apart = self.provable(point)
            return (_values_of_w(apart) + self._values_of_beta(apart.beta)) * self._value_seconds
        size = float(np.count_nonzero(point.beta))
        return size * (n - 0.5 * size) * self._value_seconds

    def provable(self, point: Iterate) -> Iterate:
        """The point with β = 0 where its w is another than w(β) and the proof of β takes more time than there ever was.

        That proves little, but of a w that is the best that is known; a β of fewer samples would prove hardly more.
        """
        if point.linked or point.beta is None or point.w is None:
            return point
        seconds = self._values_of_beta(point.beta) * self._value_seconds
        return self.of_w(point) if seconds > self.whole else point

    def of_w(self, point: Iterate) -> Iterate:
        """A point whose w is another than w(β) with β = 0, where that is feasible."""
        apart = point.w is not None and not point.linked and not self.problem.total
        return replace(point, beta=np.zeros(self.problem.n)) if apart else point

    def _values_of_beta(self, beta: np.ndarray | None) -> float:
        """The kernel values of a β that w does not belong to."""
        assert beta is not None
        size = float(np.count_nonzero(beta))
        return 0.5 * size * size + (self.problem.n * size if proves_kkt(self.problem, beta) else 0.0)

    @cached_property
    def _value_seconds(self) -> float:
        """How long one kernel value takes in a proof, by trying."""
        space = self.problem.space
        assert isinstance(space, KernelSpace)
        rows, columns = TRIED
        weights = np.zeros(self.problem.n)
        weights[:columns] = 1.0
        space.scores_of(np.arange(16), weights)
        tick = now()
        space.scores_of(np.arange(rows), weights)
        return (now() - tick) / (rows * columns)
