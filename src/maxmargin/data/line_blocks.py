"""Lines of text cut into blocks that threads work on side by side; the cuts do not depend on the number of threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from maxmargin.data.source import Source, Text
from maxmargin.errors import InvalidInput
from maxmargin.numeric.parallel import threads

#: Text that one thread parses at a time.
BLOCK = 2**20
#: Labels that are remembered.
MOST_KNOWN = 2**16

Parsed = TypeVar("Parsed")


def side_by_side(text: Text, start: int, work: Callable[[int, int], Parsed]) -> list[Parsed]:
    """What work(first, last) makes of each block of lines from `start` on; of several mistakes the first is told."""

    def attempt(first: int, last: int) -> Parsed | InvalidInput:
        try:
            return work(first, last)
        except InvalidInput as error:
            return error

    cuts = [start]
    while cuts[-1] < len(text.raw):
        end = text.raw.find(b"\n", cuts[-1] + BLOCK)
        cuts.append(end + 1 if end >= 0 else len(text.raw))
    if len(cuts) == 2:
        return [work(*cuts)]
    with ThreadPoolExecutor(threads()) as pool:
        found = list(pool.map(attempt, cuts, cuts[1:]))
    done = []
    for part in found:
        if isinstance(part, InvalidInput):
            raise part
        done.append(part)
    return done


def place(source: Source, text: Text, at: int) -> str:
    """A byte of the text as file:line:column, both from 1."""
    line = text.line + text.raw.count(b"\n", 0, at)
    column = at - text.raw.rfind(b"\n", 0, at)
    return f"{source.name}:{line}:{column}"


def decoded(source: Source, text: Text, first: int, last: int, known: dict[bytes, str]) -> str:
    """A label's text; the same text is the same object."""
    raw = text.raw[first:last]
    found = known.get(raw)
    if found is None:
        try:
            found = raw.decode("utf-8")
        except UnicodeDecodeError:
            raise InvalidInput(f"{place(source, text, first)}: the label {raw[:80]!r} is not UTF-8 text") from None
        if len(known) >= MOST_KNOWN:  # as good as all are different: remembering them is a waste
            known.clear()
        known[raw] = found
    return found
