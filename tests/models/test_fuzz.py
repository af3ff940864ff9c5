"""A short run of the fuzzer."""

from __future__ import annotations

import pytest

from tests.models.fuzz import KINDS, run

pytestmark = pytest.mark.compiled


def test_mutated_models_are_loaded_or_refused():
    outcomes = run(inputs=300, seconds=60.0, seed=1)
    assert sum(outcomes.values()) == 300 * len(KINDS)
    assert all(outcomes[kind, "refused"] for kind in KINDS)
    assert all(outcomes[kind, "loaded"] for kind in KINDS)
