"""64-bit words for the number parser: the same code runs compiled and as plain Python.

Compiled, a word is an unsigned 64-bit integer that wraps around; in plain Python it is an int cut to 64 bits. Write
every constant and every result that may overflow as ``word(...)``.
"""

from __future__ import annotations

from maxmargin.numeric.compiled import extensions

extensions.append("maxmargin.data.uint64_compiled")

MASK = 2**64 - 1


def word(x: int) -> int:
    """X modulo 2⁶⁴."""
    return int(x) & MASK


def high_product(a: int, b: int) -> int:
    """The upper word of the 128-bit product."""
    return (int(a) * int(b)) >> 64


def leading_zeros(a: int) -> int:
    """How many bits above the highest 1; a is not 0."""
    return 64 - int(a).bit_length()
