"""A short run of the fuzzer, and hypothesis on bytes of its own making."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.data import FORMATS
from tests.data.fuzz import KINDS, attempt, run

pytestmark = pytest.mark.compiled


def test_mutated_files_are_read_or_refused():
    pytest.importorskip("pyarrow")
    pytest.importorskip("zstandard")
    outcomes = run(inputs=200, seconds=120.0, seed=1)
    assert set(FORMATS) < set(KINDS)
    assert sum(outcomes.values()) == 200 * len(KINDS)
    assert all(outcomes[kind, "refused"] for kind in KINDS)
    assert all(outcomes[kind, "read"] for kind in KINDS)


LIKE_LINES = st.text(alphabet='0123456789:.-+e ,"\t\n\r#ayqid', max_size=60).map(str.encode)


@pytest.mark.parametrize("kind", ["svmlight", "csv", "tsv"])
@given(raw=st.one_of(LIKE_LINES, st.binary(max_size=40)))
def test_any_text_is_read_or_refused(kind, raw, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "fuzz.input"
    path.write_bytes(raw)
    assert attempt(path, kind) in ("read", "refused")
