"""Every kernel keeps the bounds on its rounding that certificates rest on: against 60 digits, on hostile rows."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.kernels import RBF, Laplacian, Polynomial, Sigmoid, list_kernels
from maxmargin.kernels.base import sqnorms
from maxmargin.problem.space import entries_per_pair

KERNELS = [
    *(RBF(gamma) for gamma in (1e-3, 0.3, 12.0)),
    *(Laplacian(gamma) for gamma in (1e-3, 0.3, 12.0)),
    Polynomial(1, 0.5, 0.0),
    Polynomial(3, 0.1, 1.0),
    Sigmoid(0.01, 0.5),
]
#: Kernels that add nothing to the rounding of what they are given.
WITHOUT = {"linear", "precomputed", "custom"}


def rows(kind):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(9, 3))
    X[-1] = X[0]
    if kind == "one far away":
        X[4] *= 3e7
    elif kind == "all far away":
        X += 1e6
    elif kind == "two clouds":
        X[::2] += 1e5
    elif kind == "long and close":
        X = 1.0 + 1e-9 * X
    elif kind == "features of different sizes":
        X *= [1e-6, 1.0, 1e5]
    elif kind == "few entries in common":
        X = np.where(rng.random((9, 30)) < 0.2, rng.normal(size=(9, 30)), 0.0)
    return X


KINDS = (
    "ordinary", "one far away", "all far away", "two clouds", "long and close", "features of different sizes",
    "few entries in common",
)  # fmt: skip


def exactly(kernel, a, b):
    """The value of a kernel between two rows to 60 digits."""
    a, b = [Decimal(float(v)) for v in a], [Decimal(float(v)) for v in b]
    if kernel.name in ("rbf", "laplacian"):
        apart = [p - q for p, q in zip(a, b, strict=True)]
        distance = sum(v * v if kernel.name == "rbf" else abs(v) for v in apart)
        return (-Decimal(kernel.gamma) * distance).exp()
    base = Decimal(kernel.gamma) * sum(p * q for p, q in zip(a, b, strict=True)) + Decimal(kernel.coef0)
    if kernel.name == "polynomial":
        return base ** int(kernel.degree)
    twice = (2 * min(max(base, Decimal(-100)), Decimal(100))).exp()  # beyond, tanh is ±1 to 80 digits
    return (twice - 1) / (twice + 1)


def test_every_kernel_is_here():
    assert {kernel.name for kernel in KERNELS} | WITHOUT == set(list_kernels())


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_block_is_as_near_to_the_truth_as_the_kernel_says(kernel, kind, make):
    X = rows(kind)
    stored = make(X)
    with localcontext() as context:
        context.prec = 60
        truth = [[exactly(kernel, a, b) for b in X] for a in X]
    largest, width = float(sqnorms(stored).max()), entries_per_pair(stored)
    for block, bounds in (
        (kernel.block(stored, stored), kernel.rounding(width, largest)),
        (kernel.exact_block(stored, stored), kernel.exact_rounding(width, largest)),
    ):
        for i in range(len(X)):
            for j in range(len(X)):
                error = float(abs(Decimal(float(block[i, j])) - truth[i][j]))
                assert error <= bounds[0], (i, j, error)
                value = float(truth[i][j])
                if np.isfinite(bounds[1]) and value > np.finfo(float).eps:
                    assert error <= bounds[1] * value, (i, j, error)
