"""What all tests share: how many examples hypothesis tries, and every registered loss and kernel as a fixture.

A test that asks for `loss` or `kernel` runs on each registered one, with a few values of its parameters: a new file in
`maxmargin/losses` or `maxmargin/kernels` gets its laws unasked.
"""

from __future__ import annotations

import os
from dataclasses import fields
from itertools import product

import numpy as np
import pytest
from hypothesis import settings

from maxmargin.kernels import list_kernels
from maxmargin.kernels.base import registry as kernel_registry
from maxmargin.losses import list_losses
from maxmargin.losses.base import registry as loss_registry
from tests import compiled_loops

compiled_loops.watch()

# MAXMARGIN_TEST_SIZE=small is for runs without the compiler, where every inner loop is plain Python.
SMALL = os.environ.get("MAXMARGIN_TEST_SIZE") == "small"
settings.register_profile(
    "maxmargin", deadline=None, derandomize=True, database=None, max_examples=15 if SMALL else 120
)
settings.load_profile("maxmargin")


def near_product(A, B):
    """A kernel of the user's own, for `Custom`: (⟨a, b⟩ + 1)², dense or sparse."""
    inner = A @ B.T
    return (np.asarray(inner.todense() if hasattr(inner, "todense") else inner) + 1.0) ** 2


#: The values that a parameter of this name is tried with; one of another name keeps its default.
PARAMETERS = {
    "epsilon": (0.0, 0.1, 1.5),
    "nu": (0.05, 0.5, 0.9),
    "gamma": ("scale", "auto", 0.3),
    "degree": (1, 2, 3),
    "coef0": (0.0, 1.0),
    "function": (near_product,),
}


def variants(made: type) -> list:
    """One instance for every combination of the parameter values above."""
    known = [field.name for field in fields(made) if field.name in PARAMETERS]
    return [made(**dict(zip(known, values, strict=True))) for values in product(*map(PARAMETERS.get, known))]


EVERY_LOSS = [variant for name in list_losses() for variant in variants(loss_registry[name])]
# The threshold of a novelty detector is a free bias.
EVERY_LOSS_AND_BIAS = [
    (one, bias)
    for one in EVERY_LOSS
    for bias in ("none", "augmented", "free")
    if one.task != "novelty" or bias == "free"
]
# A precomputed kernel has no function to test; test_kernels.py has tests of its own for it.
EVERY_KERNEL = [
    variant for name in list_kernels() if name != "precomputed" for variant in variants(kernel_registry[name])
]


# The scope is the session's because hypothesis refuses fixtures that it would not set up again for each example.
@pytest.fixture(params=EVERY_LOSS, ids=str, scope="session")
def loss(request):
    return request.param


@pytest.fixture(params=[one for one in EVERY_LOSS if one.task != "novelty"], ids=str, scope="session")
def supervised_loss(request):
    """A loss that has a target, and so goes with every bias."""
    return request.param


@pytest.fixture(params=EVERY_LOSS_AND_BIAS, ids=lambda pair: f"{pair[0]}-{pair[1]}", scope="session")
def loss_and_bias(request):
    return request.param


@pytest.fixture(params=EVERY_KERNEL, ids=lambda kernel: str(kernel).split(" at 0x")[0], scope="session")
def kernel(request):
    return request.param


@pytest.fixture(autouse=True)
def _no_sum_depends_on_memory():
    """What a test compiles gives the same bits wherever its arrays lie (`compiled_loops.py`)."""
    compiled_loops.found.clear()
    yield
    assert not compiled_loops.found, (
        f"{compiled_loops.found}: a loop sums and writes to an array, so that its last bits depend on where arrays lie;"
        " let the sum have a loop of its own"
    )
