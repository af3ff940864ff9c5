"""Numbers are read to the nearest double, ties to even: compared with Python's own exact conversion."""

from __future__ import annotations

import struct
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from maxmargin.data.number_writer import LONGEST, put_number
from maxmargin.data.numbers import BAD, CLOSE, GOOD, number
from maxmargin.data.numbers import bits_of as compiled_bits_of

bits_of = getattr(compiled_bits_of, "py_func", compiled_bits_of)
finite = st.floats(allow_nan=False, allow_infinity=False)


def read(text):
    raw = np.frombuffer(text.encode(), np.uint8)
    bits, at, status = number(raw, 0, len(raw))
    return struct.pack("<Q", int(bits)), at, status


def assert_nearest(text):
    bits, at, status = read(text)
    assert at == len(text)
    if status == CLOSE:  # only more than 19 digits can be that
        assert sum(c.isdigit() for c in text.split("e")[0].lstrip("-+0.")) > 19
    else:
        assert status == GOOD
        assert bits == struct.pack("<d", float(text))


@given(finite)
@example(5e-324)
@example(2.2250738585072011e-308)
@example(1.7976931348623157e308)
@example(-0.0)
def test_what_python_writes_is_read_back(x):
    assert_nearest(repr(x))
    assert read(repr(x))[2] == GOOD


@given(finite, st.integers(1, 30))
def test_any_number_of_digits(x, digits):
    assert_nearest(f"{x:.{digits}g}")
    assert_nearest(f"{x:.{digits}e}")


@given(st.integers(0, 2**64), st.integers(-400, 400))
def test_integers_times_powers_of_ten(w, q):
    assert_nearest(f"{w}e{q}")


@given(st.integers(2**52, 2**53 - 1), st.integers(-80, 80))
def test_half_way_between_two_doubles(mantissa, exponent):
    middle = Fraction(2 * mantissa + 1) * Fraction(2) ** (exponent - 1)
    with localcontext() as context:
        context.prec = 400
        text = str(Decimal(middle.numerator) / Decimal(middle.denominator))
    assert_nearest(text)
    assert_nearest(text + "1")


@given(st.integers(0, 2**64 - 1), st.integers(-345, 310))
def test_plain_python_gives_the_same_bits(w, q):
    """The loops must run without the compiler too."""
    assert bits_of(w, q) == int(compiled_bits_of(np.uint64(w), q))


@pytest.mark.parametrize("text", ["0", "-0", "1.", ".5", "+3", "1E+5", "00012.50", "1e999", "1e-999", "1e99999999999"])
def test_ways_to_write_a_number(text):
    assert_nearest(text)


@pytest.mark.parametrize("text", ["", ".", "-", "e5", "1e", "1e+", "nan", "inf", "x"])
def test_what_is_no_number(text):
    assert read(text)[2] == BAD


@pytest.mark.parametrize("text, rest", [("1.5 2", 3), ("1.2.3", 3), ("7:8", 1), ("1e5e5", 3), ("--1", 1)])
def test_a_number_ends_where_it_ends(text, rest):
    assert read(text)[1] == rest


def written(x):
    out = np.zeros(LONGEST, np.uint8)
    end = put_number(out, 0, np.uint64(struct.unpack("<Q", struct.pack("<d", x))[0]))
    return None if end < 0 else bytes(out[:end]).decode()


@given(st.one_of(finite, st.floats(-1e6, 1e6), st.integers(-(10**18), 10**18).map(float)))
@example(-0.0)
@example(1e23)
@example(9007199254740993.0)
@example(5e-324)
def test_what_is_written_is_read_back(x):
    text = written(x)
    if text is None:  # left to Python: the extremes of the range, and a few numbers that need it
        assert not 1e-5 < abs(x) < 1e15 or len(repr(x)) > 17
    else:
        assert struct.pack("<d", float(text)) == struct.pack("<d", x)
        assert read(text)[0] == struct.pack("<d", x)


@given(st.integers(-(10**15) + 1, 10**15 - 1), st.integers(-30, 30))
def test_what_has_fifteen_digits_is_written_with_no_more(w, x):
    text = written(float(f"{w}e{x}"))
    digits = [c for c in text.split("e")[0] if c.isdigit()]
    assert len("".join(digits).strip("0")) <= len(str(abs(w)))
