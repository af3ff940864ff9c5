"""Decimal text to the nearest double, exactly, without any floating-point arithmetic.

Problem: the bits of the double nearest to  ± w · 10^q  (ties to even), w an integer of up to 19 digits.

    1. Shift w until its highest bit is set: 64 significant bits.
    2. Multiply by the 128-bit approximation of 5^q (the power of two goes into the exponent). The upper word of the
       product is enough, unless its low bits are all ones: then the second word of 5^q joins in.
    3. Keep 54 bits, round the last away, to even where the product is exactly half way (possible for −4 ≤ q ≤ 23).
    4. Put exponent and mantissa together; below the normal range shift first, beyond it give infinity.

Of more than 19 digits the first 19 are used: if w and w + 1 give the same double it is the nearest one, otherwise the
caller is told that the number is CLOSE to a tie and must be read by other means.

Lemire, "Number parsing at a gigabyte per second", Software: Practice and Experience 51, 2021; that no second fall-back
is needed: Mushtak & Lemire, "Fast number parsing without fallback", ibid. 53, 2023.
"""

from __future__ import annotations

import numpy as np

from maxmargin.data.uint64 import high_product, leading_zeros, word
from maxmargin.numeric.compiled import compiled

#: What became of a number: read exactly, not a number, or too close to a tie to tell from 19 digits.
GOOD, BAD, CLOSE = 0, 1, 2

#: Beyond these powers of ten any 19-digit integer is 0 or infinite.
LEAST, MOST = -342, 308
DIGITS = 19
PLUS, MINUS, DOT, SMALL_E, LARGE_E, ZERO = b"+-.eE0"
INFINITE = 0x7FF


def _powers_of_five() -> tuple[np.ndarray, np.ndarray]:
    """5^q as 128 bits with the highest set, in two words, cut off; reciprocals of short powers are rounded up."""
    rows = []
    for q in range(LEAST, MOST + 1):
        power = 5 ** abs(q)
        if q >= 0:
            shift = 128 - power.bit_length()
            value = power << shift if shift >= 0 else power >> -shift
        else:
            value = (1 << (127 + power.bit_length())) // power + (q >= -27)  # as in the proof that 128 bits are enough
        rows.append((value >> 64, value & (2**64 - 1)))
    high, low = np.array(rows, dtype=np.uint64).T
    return np.ascontiguousarray(high), np.ascontiguousarray(low)


HIGH, LOW = _powers_of_five()


@compiled
def bits_of(w, q):
    """The bits of the double nearest to w·10^q."""
    if w == word(0) or q < LEAST:
        return word(0)
    if q > MOST:
        return word(word(INFINITE) << word(52))
    # 1.
    zeros = leading_zeros(w)
    w = word(w << word(zeros))
    # 2.
    high = word(high_product(w, HIGH[q - LEAST]))
    low = word(w * word(HIGH[q - LEAST]))
    if high & word(0x1FF) == word(0x1FF):
        carried = word(high_product(w, LOW[q - LEAST]))
        low = word(low + carried)
        if low < carried:
            high = word(high + word(1))
    # 3.
    top = high >> word(63)
    mantissa = high >> word(top + word(9))
    exponent = ((217706 * q) >> 16) + 63 + np.int64(top) - np.int64(zeros) + 1023
    if exponent <= 0:
        if 1 - exponent >= 64:
            return word(0)
        mantissa = mantissa >> word(1 - exponent)
        mantissa = word(mantissa + (mantissa & word(1))) >> word(1)
        return mantissa  # rounded up to 2^52 it is the smallest normal number, as its bits say
    if low <= word(1) and -4 <= q <= 23 and mantissa & word(3) == word(1):
        if word(mantissa << word(top + word(9))) == high:
            mantissa = mantissa & word(0xFFFFFFFFFFFFFFFE)
    mantissa = word(mantissa + (mantissa & word(1))) >> word(1)
    # 4.
    if mantissa == word(1 << 53):
        mantissa = word(1 << 52)
        exponent += 1
    if exponent >= INFINITE:
        return word(word(INFINITE) << word(52))
    return word(word(exponent) << word(52)) | (mantissa & word(0xFFFFFFFFFFFFF))


@compiled
def number(text, at, end):
    """Read a number at text[at:end]: its bits, where it ends, and GOOD, BAD or CLOSE."""
    negative = at < end and text[at] == MINUS
    if at < end and (text[at] == MINUS or text[at] == PLUS):
        at += 1
    w = word(0)
    taken, seen, q = 0, 0, 0
    more = False
    fraction = False
    while at < end:
        digit = int(text[at]) - ZERO
        if digit < 0 or digit > 9:
            if text[at] != DOT or fraction:
                break
            fraction = True
            at += 1
            continue
        if taken < DIGITS:
            w = word(word(w * word(10)) + word(digit))
            if w != word(0):  # leading zeros cost no digit
                taken += 1
            if fraction:
                q -= 1
        else:
            more = more or digit != 0
            if not fraction:
                q += 1
        seen += 1
        at += 1
    if seen == 0:
        return word(0), at, BAD
    if at < end and (text[at] == SMALL_E or text[at] == LARGE_E):
        at += 1
        below = at < end and text[at] == MINUS
        if at < end and (text[at] == MINUS or text[at] == PLUS):
            at += 1
        power, seen = 0, 0
        while at < end:
            digit = int(text[at]) - ZERO
            if digit < 0 or digit > 9:
                break
            power = min(10 * power + digit, 10**9)
            seen += 1
            at += 1
        if seen == 0:
            return word(0), at, BAD
        q += -power if below else power
    bits = word(bits_of(w, q))
    status = GOOD
    if more and bits_of(word(w + word(1)), q) != bits:
        status = CLOSE
    if negative:
        bits = bits | word(word(1) << word(63))
    return bits, at, status
