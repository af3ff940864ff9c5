"""Where arrays lie in memory changes no bit of a result."""

import numpy as np
import pytest
from numba import njit

from maxmargin.estimators import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM
from maxmargin.numeric.compiled import FAST
from tests import compiled_loops

pytestmark = pytest.mark.compiled

ESTIMATORS = {
    "SVC": SVC(),
    "SVC linear": SVC(kernel="linear"),
    "LinearSVC": LinearSVC(),
    "LinearSVC hinge": LinearSVC(loss="hinge"),
    "LinearSVC l1": LinearSVC(penalty="l1"),
    "LinearSVC all in one": LinearSVC(multi_class="crammer_singer"),
    "NuSVC": NuSVC(nu=0.3),
    "SVR": SVR(),
    "LinearSVR": LinearSVR(epsilon=0.1),
    "NuSVR": NuSVR(nu=0.3),
    "OneClassSVM": OneClassSVM(nu=0.2),
}
#: Arrays of these lengths are filled and left in between, and rows begin at these places of a buffer.
LENGTHS, PLACES, FITS = 3000, 8, 40


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_same_bits_wherever_the_arrays_lie(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1.0, 3.0, 0.5]
    classes, values = np.digitize(X[:, 0] - X[:, 1], [-1.0, 1.5]), X[:, 0] - 0.3 * X[:, 1] ** 2
    y = classes if "SVC" in name else values
    weights, bits, left = rng.uniform(0.5, 3.0, len(y)), set(), []
    for _ in range(FITS):
        left.append(np.empty(rng.integers(1, LENGTHS), np.uint8))
        if len(left) > 20:
            left.pop(rng.integers(20))
        start = rng.integers(PLACES)
        rows = np.empty(X.size + PLACES)[start : start + X.size].reshape(X.shape)
        rows[:] = X
        machine = ESTIMATORS[name].fit(rows, y.copy(), sample_weight=weights.copy())
        bits.add(machine.decision_function(X).tobytes() if hasattr(machine, "decision_function") else b"")
        if "SVR" in name:
            bits.add(machine.predict(X).tobytes())
    bits.discard(b"")
    assert len(bits) == 1


def test_a_sum_in_a_loop_that_writes_is_found():
    def sums_and_writes(a, b, out):
        total = 0.0
        for k in range(len(out)):
            total += a[k] * b[k]
            out[k] = a[k] + b[k]
        return total

    def sums_then_writes(a, b, out):
        total = 0.0
        for k in range(len(out)):
            total += a[k] * b[k]
        for k in range(len(out)):
            out[k] = a[k] + b[k]
        return total

    for function, count in ((sums_then_writes, 0), (sums_and_writes, 1)):
        made = njit(fastmath=FAST, error_model="numpy")(function)  # not from the cache
        made(np.ones(9), np.ones(9), np.ones(9))
        assert bool(compiled_loops.found) == bool(count)
    compiled_loops.found.clear()
