"""What a part of the lesson is: plain data, and functions for what has to be computed when the page is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maxmargin.result import Result

#: The header and the rows of a table.
Rows = tuple[Sequence[str], Sequence[Sequence[str]]]
#: An exercise is a function: its docstring asks, its body answers, and it returns what came out as a sentence.
Exercise = Callable[[], str]


@dataclass(frozen=True)
class Formula:
    """A formula on a line of its own, with the words that go before it."""

    words: str
    formula: str


@dataclass(frozen=True)
class Picture:
    """A figure: `draw(columns)` returns a display; columns is None on a wide page and 1 on a narrow one."""

    name: str
    caption: str
    draw: Callable[[int | None], Any]


@dataclass(frozen=True)
class Recording:
    """A run to play and to step through: `run()` returns it, solved with ``every=1, snapshots=True``.

    A browser without scripts shows an animation in its place, where `animate(file, columns)` writes one.
    """

    name: str
    caption: str
    run: Callable[[], Result]
    animate: Callable[[Path, int | None], Any] | None = None


@dataclass(frozen=True)
class Table:
    """A table: `make()` returns the header and the rows."""

    caption: str
    make: Callable[[], Rows]


@dataclass(frozen=True)
class Printed:
    """What Python prints: `make()` returns the text, `code` is what was typed."""

    caption: str
    code: str
    make: Callable[[], str]
    #: Whether long lines are broken: for sentences, not for matrices.
    wrapped: bool = False


Shown = Picture | Recording | Table | Printed


@dataclass(frozen=True)
class Part:
    """One part of the course.

    In `idea`, `notice` and `misprints` stand `$formulas$`, `code` in backticks, `*stress*`, and `<<name>>` for a value
    that `facts()` computes.
    """

    #: Its anchor in the page.
    key: str
    #: The source that it follows: "000" to "004".
    source: str
    title: str
    #: Paragraphs.
    idea: tuple[str, ...]
    formulas: tuple[Formula, ...]
    shown: tuple[Shown, ...]
    notice: tuple[str, ...]
    exercises: tuple[Exercise, ...]
    #: A run for the lesson on the site, where `shown` has none: all of them would make the one page too large.
    recorded: Recording | None = None
    #: Names in `maxmargin.lesson.twins`.
    twins: tuple[str, ...] = ()
    #: The same by this library, as code that runs after PRELUDE.
    call: str = ""
    misprints: tuple[str, ...] = ()
    facts: Callable[[], dict[str, Any]] = dict
