"""How Numba compiles the row primitives of `numeric.rows`: each to the storage at hand."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from maxmargin.numeric.compiled import FAST
from maxmargin.numeric.rows import (
    _csr_axpy,
    _csr_dot,
    _csr_prefetch,
    _csr_sqnorm,
    _dense_axpy,
    _dense_dot,
    _dense_prefetch,
    _dense_sqnorm,
    prefetch,
    prefetch_numbers,
    row_axpy,
    row_dot,
    row_prefetch,
    row_sqnorm,
)


@intrinsic
def _prefetch(typing_context, array, i):
    """The processor's prefetch instruction on the address of array[i]: for reading, into all caches."""

    def generate(context, builder, signature, arguments):
        kind = signature.args[0]
        view = context.make_array(kind)(context, builder, arguments[0])
        element = cgutils.get_item_pointer(context, builder, kind, view, [arguments[1]], wraparound=False)
        address = builder.bitcast(element, ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        instruction = ir.FunctionType(ir.VoidType(), [address.type, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, instruction, "llvm.prefetch.p0")
        builder.call(function, [address, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@overload(prefetch)
def _prefetch_compiled(array, i):
    return lambda array, i: _prefetch(array, np.intp(i))  # type: ignore[call-arg]


@overload(row_prefetch)
def _row_prefetch(X, i):
    return _csr_prefetch if isinstance(X, types.BaseTuple) else _dense_prefetch


@overload(prefetch_numbers, inline="always")
def _prefetch_numbers(i, target, ridge, tube, lower, upper, q, beta):
    def ask(i, target, ridge, tube, lower, upper, q, beta):
        prefetch(target, i)
        prefetch(ridge, i)
        prefetch(tube, i)
        prefetch(lower, i)
        prefetch(upper, i)
        prefetch(q, i)
        prefetch(beta, i)

    return ask


@overload(row_dot, jit_options={"fastmath": FAST})
def _row_dot(X, i, w):
    return _csr_dot if isinstance(X, types.BaseTuple) else _dense_dot


@overload(row_axpy, jit_options={"fastmath": FAST})
def _row_axpy(X, i, step, w):
    return _csr_axpy if isinstance(X, types.BaseTuple) else _dense_axpy


@overload(row_sqnorm, jit_options={"fastmath": FAST})
def _row_sqnorm(X, i):
    return _csr_sqnorm if isinstance(X, types.BaseTuple) else _dense_sqnorm
