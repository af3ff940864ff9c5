"""The compiled inner loop of the CSV reader: lines of fields to rows of numbers.

    1. For each line that is not blank, for each field, by the role of its column:
    2.     a feature: a number, which may stand in quotes;
    3.     the target: where its text is;
    4.     neither: skipped.
    5. Anything else ends the loop with a code for the mistake and the place of it.

A delimiter inside quotes is part of the field; a line end is not.
"""

from __future__ import annotations

from maxmargin.data.numbers import BAD, CLOSE, number
from maxmargin.data.svmlight_lines import LINE_END, RETURN, SPACE, TAB, finite
from maxmargin.numeric.compiled import compiled

#: What can be wrong, in the order of `table.MISTAKES`.
FINE, TOO_FEW, TOO_MANY, MISSING, BAD_VALUE, NOT_FINITE, OPEN_QUOTE = range(7)
#: What a column is: these, or the position of a feature.
TARGET, SKIPPED = -1, -2
QUOTE = ord('"')


@compiled
def blank(c, delimiter):
    """Whether a byte is white space within a line; a tab may be the delimiter."""
    return c == SPACE or c == RETURN or (c == TAB and delimiter != TAB)


@compiled
def field_end(text, at, stop, delimiter):
    """Where the field that begins at `at` ends; −1 if its quote stays open."""
    while at < stop and blank(text[at], delimiter):
        at += 1
    quoted = at < stop and text[at] == QUOTE
    if quoted:
        at += 1
    while at < stop and text[at] != LINE_END:
        if text[at] == QUOTE and quoted:
            quoted = False  # the second of two quotes opens again
        elif text[at] == QUOTE:
            quoted = True
        elif text[at] == delimiter and not quoted:
            break
        at += 1
    return -1 if quoted else at


@compiled
def parse(text, start, stop, delimiter, roles, values, spans, close):
    """Fill values (bits of doubles) and the spans of the target from text[start:stop].

    Gives the number of rows, the number of values too close to a tie, which go to `close` as (row, feature, from, to)
    while there is room, the mistake, and the place and the column of it.
    """
    row, doubtful = 0, 0
    at = start
    while at < stop:
        # 1.
        first = at
        while first < stop and (blank(text[first], delimiter) or text[first] == TAB):
            first += 1
        if first >= stop or text[first] == LINE_END:
            at = first + 1
            continue
        for column in range(len(roles)):
            end = field_end(text, at, stop, delimiter)
            if end < 0:
                return row, doubtful, OPEN_QUOTE, at, column
            role = roles[column]
            if role == TARGET:  # 3.
                spans[row, 0], spans[row, 1] = at, end
            elif role != SKIPPED:  # 2.
                first, last = at, end
                while first < last and blank(text[first], delimiter):
                    first += 1
                while first < last and blank(text[last - 1], delimiter):
                    last -= 1
                if last - first >= 2 and text[first] == QUOTE and text[last - 1] == QUOTE:
                    first, last = first + 1, last - 1
                if first == last:
                    return row, doubtful, MISSING, at, column
                bits, reached, status = number(text, first, last)
                if status == BAD or reached != last:
                    return row, doubtful, BAD_VALUE, first, column
                if status == CLOSE:
                    if doubtful < len(close):
                        close[doubtful, 0], close[doubtful, 1] = row, role
                        close[doubtful, 2], close[doubtful, 3] = first, last
                    doubtful += 1
                elif not finite(bits):
                    return row, doubtful, NOT_FINITE, first, column
                values[row, role] = bits
            if column < len(roles) - 1:
                if end >= stop or text[end] == LINE_END:
                    return row, doubtful, TOO_FEW, at, column
            elif end < stop and text[end] != LINE_END:
                return row, doubtful, TOO_MANY, end + 1, column
            at = end + 1
        row += 1
    return row, doubtful, FINE, at, 0
