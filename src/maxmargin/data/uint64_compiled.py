"""How Numba compiles the 64-bit words of `data.uint64`."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from maxmargin.data.uint64 import high_product, leading_zeros, word


@overload(word)
def _word(x):
    return lambda x: np.uint64(x)


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
