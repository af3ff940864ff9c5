"""The long fuzzer itself, for a moment: it goes on where it was stopped, and tells what fails."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.faults import fuzz

pytestmark = pytest.mark.compiled


def test_chunks_go_on_from_the_state(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    pytest.importorskip("zstandard")
    monkeypatch.setattr(fuzz, "CHUNK", 5)
    state = tmp_path / "state.json"
    first = fuzz.run(50, 1, state)
    assert sum(fuzz.total(first).values()) == 50 and not first["failed"]
    again = fuzz.run(100, 1, state)
    assert sum(fuzz.total(again).values()) == 100 and len(again["done"]) == 20
    assert {kind for kind, _ in fuzz.total(again)} == {*fuzz.data.KINDS, *fuzz.models.KINDS}


def test_what_fails_is_told(tmp_path, monkeypatch):
    def chunk(seed):
        if seed == "1-1":
            raise ZeroDivisionError
        return Counter({("kind", "read"): 5})

    monkeypatch.setattr(fuzz, "CHUNK", 5)
    monkeypatch.setattr(fuzz, "kinds", lambda: {"kind": chunk})
    state = tmp_path / "state.json"
    kept = fuzz.run(20, 1, state)
    assert list(kept["failed"]) == ["1"] and "ZeroDivisionError" in kept["failed"]["1"]
    state.write_text(json.dumps(kept | {"running": "4"}))  # as a process that died has left it
    assert "crashed" in fuzz.run(30, 1, state)["failed"]["4"]
