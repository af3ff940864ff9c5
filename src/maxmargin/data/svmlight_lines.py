"""The compiled inner loop of the svmlight reader: lines of text to the arrays of a CSR matrix.

    line:  label [index:value ...] [# comment]

    1. Count the colons and the line ends of a block: no more entries and rows than that.
    2. For each line: skip blanks; nothing, or a comment, is no row.
    3. Its label, by the kind of the file's labels: a number, where its text is, or none.
    4. Its entries: an index that fits 31 bits, a colon, a number, then a blank or the end of the line.
    5. Anything else ends the loop with a code for the mistake and the place of it.

Blanks are spaces, tabs and carriage returns.
"""

from __future__ import annotations

from maxmargin.data.numbers import BAD, CLOSE, ZERO, number
from maxmargin.data.uint64 import word
from maxmargin.numeric.compiled import compiled

#: What can be wrong, in the order of `svmlight.MISTAKES`.
FINE, BAD_LABEL, NO_LABEL, BAD_INDEX, LARGE_INDEX, NO_COLON, BAD_VALUE, NOT_FINITE = range(8)

#: What the labels of a file are: numbers, texts, or absent, so that every line begins with an entry.
NUMBERS, TEXTS, ABSENT = range(3)

LINE_END, RETURN, SPACE, TAB, COLON, HASH = b"\n\r \t:#"
LARGEST_INDEX = 2**31 - 2
#: The bits of +∞; a double without its sign is finite below it.
INFINITY = 0x7FF0000000000000


@compiled
def count(text, start, stop):
    """Line ends and colons in text[start:stop] (1.)."""
    lines, colons = 0, 0
    for p in range(start, stop):
        lines += text[p] == LINE_END
        colons += text[p] == COLON
    return lines, colons


@compiled
def ends_token(text, at, end):
    """Whether a token may end here: before a blank, a comment or the end of the line."""
    if at >= end:
        return True
    c = text[at]
    return c == SPACE or c == TAB or c == LINE_END or c == RETURN or c == HASH


@compiled
def finite(bits):
    """Whether these are the bits of a finite double."""
    return bits & word(0x7FFFFFFFFFFFFFFF) < word(INFINITY)


@compiled
def after_blanks(text, at, stop):
    """The first place from `at` on that is no blank."""
    while at < stop and (text[at] == SPACE or text[at] == TAB or text[at] == RETURN):
        at += 1
    return at


@compiled
def line_end(text, at, stop):
    """The place of the next line end."""
    while at < stop and text[at] != LINE_END:
        at += 1
    return at


@compiled
def note(close, doubtful, what, began, at):
    """Note a number that is close to a tie, while there is room; returns how many there are."""
    if doubtful < len(close):
        close[doubtful, 0], close[doubtful, 1], close[doubtful, 2] = what, began, at
    return doubtful + 1


@compiled
def index_at(text, at, stop):
    """The index that begins at a place, and the place after it; no further than the first digit that is too much."""
    index = 0
    while at < stop and index <= LARGEST_INDEX:
        digit = int(text[at]) - ZERO
        if digit < 0 or digit > 9:
            break
        index = 10 * index + digit
        at += 1
    return index, at


@compiled
def label_at(text, at, stop, kind, row, labels, spans, close, doubtful):
    """Read the label of a row (3.); returns the place after it, the number of close ones, and the mistake."""
    began = at
    if kind == TEXTS:
        while not ends_token(text, at, stop):
            if text[at] == COLON:
                return at, doubtful, NO_LABEL
            at += 1
        spans[row, 0], spans[row, 1] = began, at
    elif kind == NUMBERS:
        bits, at, status = number(text, at, stop)
        if status == BAD or not ends_token(text, at, stop):
            return at, doubtful, NO_LABEL if at < stop and text[at] == COLON else BAD_LABEL
        if status == CLOSE:
            doubtful = note(close, doubtful, -1 - row, began, at)
        elif not finite(bits):
            return at, doubtful, BAD_LABEL
        labels[row] = bits
    return at, doubtful, FINE


@compiled
def parse(text, start, stop, kind, labels, spans, indptr, indices, values, close):
    """Fill labels (or spans), indptr, indices and values from text[start:stop].

    `labels` and `values` hold the bits of doubles. Entries whose number is close to a tie go to `close` as (entry or
    −1 − row, from, to) while there is room. Gives the number of rows, entries and close numbers, the smallest and the
    largest index, how many rows are not in strictly increasing order of the index, the mistake, and its place.
    """
    row, entry, doubtful, unsorted = 0, 0, 0, 0
    least, most = LARGEST_INDEX + 1, -1
    at = start
    indptr[0] = 0
    while at < stop:
        # 2.
        at = after_blanks(text, at, stop)
        if at >= stop:
            break
        if text[at] == LINE_END:
            at += 1
            continue
        if text[at] == HASH:
            at = line_end(text, at, stop)
            continue
        began = at
        at, doubtful, mistake = label_at(text, at, stop, kind, row, labels, spans, close, doubtful)
        if mistake != FINE:
            return row, entry, doubtful, least, most, unsorted, mistake, began
        # 4.
        previous, ordered = -1, True
        while True:
            at = after_blanks(text, at, stop)
            if at >= stop or text[at] == LINE_END or text[at] == HASH:
                break
            began = at
            index, at = index_at(text, at, stop)
            if index > LARGEST_INDEX:
                return row, entry, doubtful, least, most, unsorted, LARGE_INDEX, began
            if at == began:
                return row, entry, doubtful, least, most, unsorted, BAD_INDEX, began
            if at >= stop or text[at] != COLON:
                return row, entry, doubtful, least, most, unsorted, NO_COLON, began
            began = at + 1
            bits, at, status = number(text, began, stop)
            if status == BAD or not ends_token(text, at, stop):
                return row, entry, doubtful, least, most, unsorted, BAD_VALUE, began
            if status == CLOSE:
                doubtful = note(close, doubtful, entry, began, at)
            elif not finite(bits):
                return row, entry, doubtful, least, most, unsorted, NOT_FINITE, began
            indices[entry] = index
            values[entry] = bits
            entry += 1
            ordered = ordered and index > previous
            previous = index
            least, most = min(least, index), max(most, index)
        if at < stop and text[at] == HASH:
            at = line_end(text, at, stop)
        unsorted += not ordered
        row += 1
        indptr[row] = entry
    return row, entry, doubtful, least, most, unsorted, FINE, at


@compiled
def first_repetition(indptr, indices):
    """The first row whose sorted indices have the same one twice, or −1."""
    for i in range(len(indptr) - 1):
        for p in range(indptr[i] + 1, indptr[i + 1]):
            if indices[p] == indices[p - 1]:
                return i
    return -1
