"""64-bit words for the number parser: the same code runs compiled and as plain Python.

Compiled, a word is an unsigned 64-bit integer that wraps around; in plain Python it is an int cut to 64 bits. Write
every constant and every result that may overflow as ``word(...)``.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

MASK = 2**64 - 1


def word(x: int) -> int:
    """X modulo 2⁶⁴."""
    return int(x) & MASK


@overload(word)
def _word(x):
    return lambda x: np.uint64(x)


def high_product(a: int, b: int) -> int:
    """The upper word of the 128-bit product."""
    return (int(a) * int(b)) >> 64


def leading_zeros(a: int) -> int:
    """How many bits above the highest 1; a is not 0."""
    return 64 - int(a).bit_length()


@intrinsic
def _high_product(typing_context, a, b):
    def generate(context, builder, signature, arguments):
        wide = ir.IntType(128)
        left, right = (builder.zext(argument, wide) for argument in arguments)
        return builder.trunc(builder.lshr(builder.mul(left, right), wide(64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic
def _leading_zeros(typing_context, a):
    def generate(context, builder, signature, arguments):
        return builder.ctlz(arguments[0], ir.IntType(1)(1))

    return types.uint64(types.uint64), generate


@overload(high_product)
def _compiled_high_product(a, b):
    return lambda a, b: _high_product(np.uint64(a), np.uint64(b))  # type: ignore[call-arg]


@overload(leading_zeros)
def _compiled_leading_zeros(a):
    return lambda a: _leading_zeros(np.uint64(a))  # type: ignore[call-arg]
