"""Answers as bytes: what is packed is what is unpacked, whatever it is."""

from __future__ import annotations

import json
import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from maxmargin.studio.frames import packed, plain, unpacked

kinds = st.sampled_from([np.float64, np.float32, np.int32, np.uint8])
some_arrays = kinds.flatmap(lambda kind: arrays(kind, array_shapes(min_side=0, max_dims=2)))
values = st.floats() | st.text(max_size=9) | st.none() | st.integers()


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.text(max_size=5), some_arrays, max_size=4))
def test_arrays_come_back_bit_for_bit_and_aligned(given):
    answer = packed({"id": 1, "ok": True}, given)
    header, found = unpacked(answer)
    assert header == {"id": 1, "ok": True}
    assert list(found) == list(given)
    for name, array in given.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()
    size = int.from_bytes(answer[:4], "little")
    told = json.loads(answer[4 : 4 + size])["arrays"]
    assert all(place["offset"] % 8 == 0 for place in told.values())


@settings(max_examples=40, deadline=None)
@given(st.recursive(values, lambda one: st.lists(one) | st.dictionaries(st.text(), one), max_leaves=12))
def test_headers_are_strict_json(thing):
    json.dumps(plain(thing), allow_nan=False)


def test_numbers_that_are_not_finite_are_what_javascript_reads():
    assert plain([math.inf, -math.inf, math.nan, np.float64(math.inf)]) == ["Infinity", "-Infinity", "NaN", "Infinity"]
