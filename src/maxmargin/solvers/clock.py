"""The time that is left, for what takes long inside a solver's step.

A solver does not time itself: the loop says how long it may run, and what takes long (filling a kernel matrix, a
quadratic program) asks here between two pieces of its work. When the time is over, `check` raises `TimeUp`, which the
loop catches; the best point so far is handed back. Each thread has its own time, and an inner one never outlasts the
one around it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import floor, inf, log2

from maxmargin.numeric.stopwatch import now

_here = threading.local()

#: Multiply-adds between two looks at the clock (some hundredths of a second) in a run of at most `SHORT` seconds.
PIECE, SHORT = 2e7, 0.5


class TimeUp(Exception):
    """The time of this thread is over; never leaves the package."""


@contextmanager
def until(moment: float | None) -> Iterator[None]:
    """Let this thread run until a moment of `now`; None sets no limit of its own."""
    before, piece_before = _moment(), piece()
    _here.moment = before if moment is None else moment if before is None else min(before, moment)
    if moment is not None:
        # In steps of 2, so that the same limit gives the same pieces, and the same bits.
        longer = max(1.0, (_here.moment - now()) / SHORT)
        _here.piece = PIECE * 2.0 ** floor(log2(1.05 * longer))
    try:
        yield
    finally:
        _here.moment, _here.piece = before, piece_before


@contextmanager
def stopping(asked: Callable[[], bool]) -> Iterator[None]:
    """Let another thread break off what this one does: the loop asks between two steps of a solver."""
    before = getattr(_here, "asked", None)
    _here.asked = asked
    try:
        yield
    finally:
        _here.asked = before


def stopped() -> bool:
    """Whether another thread has asked to break off."""
    asked = getattr(_here, "asked", None)
    return asked is not None and asked()


def left() -> float | None:
    """The seconds that are left, None where time does not matter."""
    moment = _moment()
    return None if moment is None else moment - now()


def check() -> None:
    """Raise `TimeUp` if the time is over."""
    moment = _moment()
    if moment is not None and now() >= moment:
        raise TimeUp


def piece() -> float:
    """Multiply-adds between two looks at the clock: some hundredths of the time that there was; else no limit."""
    return getattr(_here, "piece", inf)


def _moment() -> float | None:
    return getattr(_here, "moment", None)
