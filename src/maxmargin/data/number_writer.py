"""Doubles to decimal text that is read back as the same double, and is short wherever a short one will do.

Problem: for v > 0, an integer w of at most 17 digits and a power of ten x so that v is the double nearest to w·10^x.

    1. D ← v·10^q rounded, with q such that D has 17 digits; one product with the 128-bit table of the number parser.
    2. For n = 15, 16, 17 digits: w ← D rounded to n digits; take it if the parser makes v of it, bit for bit.
    3. Otherwise (numbers next to the smallest there are) say so: the caller writes that one by other means.
    4. Drop trailing zeros of w; write it plainly, or with an exponent where it would be long.

Step 2 is the guarantee: nothing is written that has not been read back.
"""

from __future__ import annotations

import numpy as np

from maxmargin.data.numbers import DOT, HIGH, LEAST, MINUS, MOST, PLUS, SMALL_E, ZERO, bits_of
from maxmargin.data.svmlight_lines import COLON, LINE_END, SPACE
from maxmargin.data.uint64 import high_product, leading_zeros, word
from maxmargin.numeric.compiled import compiled

#: The most bytes that a number, and an entry with its index, take.
LONGEST, LONGEST_ENTRY = 26, 40
#: From a binary exponent to a decimal one.
LOG10_OF_2 = 0.30102999566398120


@compiled
def scaled(bits, q):
    """V·10^q rounded to an integer, for the double with these bits (1.)."""
    mantissa = bits & word(0xFFFFFFFFFFFFF)
    biased = np.int64(bits >> word(52))
    exponent = biased if biased > 0 else np.int64(1)
    if biased > 0:  # a normal number has a 1 before its fraction
        mantissa = mantissa | word(word(1) << word(52))
    zeros = leading_zeros(mantissa)
    high = word(high_product(word(mantissa << word(zeros)), HIGH[q - LEAST]))
    shift = -(exponent - 1075 - np.int64(zeros) + ((217706 * q) >> 16) + 1)
    if shift < 1 or shift > 63:
        return word(0)
    return word(high + word(word(1) << word(shift - 1))) >> word(shift)


@compiled
def decimal(bits):
    """An integer w and a power of ten x with w·10^x = v; w is 0 where there is none (3.)."""
    exponent = np.int64(bits >> word(52)) - 1023
    q = 16 - np.int64(np.floor(exponent * LOG10_OF_2))
    if q > MOST - 2 or q < LEAST + 2 or exponent < -1000:
        return word(0), 0
    D = scaled(bits, q)
    if D >= word(100000000000000000):
        q -= 1
        D = scaled(bits, q)
    elif D < word(10000000000000000):
        q += 1
        D = scaled(bits, q)
    # 2.
    power = word(100)
    for dropped in range(2, -1, -1):
        w = word(D + (power >> word(1))) // power
        if bits_of(w, dropped - q) == bits:
            x = dropped - q
            while w % word(10) == word(0):  # 4.
                w = w // word(10)
                x += 1
            return w, x
        power = power // word(10)
    return word(0), 0


@compiled
def put_integer(out, at, value):
    """Write an integer ≥ 0 at out[at:]; gives where it ends."""
    digits = 1
    power = word(10)
    value = word(value)
    while digits < 20 and value >= power:
        digits += 1
        if digits == 20:
            break
        power = word(power * word(10))
    for p in range(at + digits - 1, at - 1, -1):
        out[p] = ZERO + np.int64(value % word(10))
        value = value // word(10)
    return at + digits


@compiled
def put_number(out, at, bits):
    """Write the double with these bits at out[at:]; gives where it ends, or −1 where it cannot (3.)."""
    if bits >> word(63) == word(1):
        out[at] = MINUS
        at += 1
        bits = bits & word(0x7FFFFFFFFFFFFFFF)
    if bits == word(0):
        out[at] = ZERO
        return at + 1
    w, x = decimal(bits)
    if w == word(0):
        return -1
    start = at
    at = put_integer(out, at, w)
    digits = at - start
    point = digits + x  # where the decimal point stands
    if 0 <= x and point <= 17:
        for _ in range(x):
            out[at] = ZERO
            at += 1
    elif 0 < point <= 17:
        for p in range(at, start + point, -1):
            out[p] = out[p - 1]
        out[start + point] = DOT
        at += 1
    elif -4 < point <= 0:
        moved = 2 - point
        for p in range(at - 1, start - 1, -1):
            out[p + moved] = out[p]
        for p in range(start, start + moved):
            out[p] = ZERO
        out[start + 1] = DOT
        at += moved
    else:
        if digits > 1:
            for p in range(at, start + 1, -1):
                out[p] = out[p - 1]
            out[start + 1] = DOT
            at += 1
        out[at] = SMALL_E
        out[at + 1] = MINUS if point < 1 else PLUS
        at = put_integer(out, at + 2, abs(point - 1))
    return at


@compiled
def put_text(out, at, text, first, last):
    """Copy text[first:last] to out[at:]; gives where it ends."""
    for p in range(first, last):
        out[at] = text[p]
        at += 1
    return at


@compiled
def put_rows(first, text, ends, indptr, indices, shift, values, out, at):
    """Write svmlight lines from row `first` on: the labels are text[ends[i]:ends[i + 1]], the values bits of doubles.

    Gives the row that it could not write, or the number of rows, and where the text ends.
    """
    for i in range(first, len(indptr) - 1):
        begin = at
        at = put_text(out, at, text, ends[i], ends[i + 1])
        for p in range(indptr[i], indptr[i + 1]):
            out[at] = SPACE
            at = put_integer(out, at + 1, np.int64(indices[p]) + shift)
            out[at] = COLON
            at = put_number(out, at + 1, values[p])
            if at < 0:
                return i, begin
        out[at] = LINE_END
        at += 1
    return len(indptr) - 1, at


@compiled
def put_table(first, values, text, ends, delimiter, out, at):
    """Write rows of numbers from row `first` on, each with its label text[ends[i]:ends[i + 1]] behind them."""
    for i in range(first, len(values)):
        begin = at
        for j in range(values.shape[1]):
            if j:
                out[at] = delimiter
                at += 1
            at = put_number(out, at, values[i, j])
            if at < 0:
                return i, begin
        at = put_text(out, at, text, ends[i], ends[i + 1])
        out[at] = LINE_END
        at += 1
    return len(values), at
