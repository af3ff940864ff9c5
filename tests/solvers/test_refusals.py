"""A solver that cannot do a problem says why, in one sentence, and names one that can."""

from __future__ import annotations

import re

import numpy as np
import pytest

from maxmargin import Problem, solve
from maxmargin.errors import MaxMarginError, MemoryLimit, Refused
from maxmargin.losses import list_losses
from maxmargin.solvers.base import registry

from .problems import BIASES

rng = np.random.default_rng(0)
X = rng.normal(size=(12, 3))
labels = np.repeat(["no", "yes"], 6)
values = X @ [1.0, -1.0, 0.5]


def problems():
    for loss in list_losses():
        for kernel in ("linear", "rbf", "sigmoid"):
            for bias in BIASES:
                for C in (1.0, np.inf):
                    y = labels if loss in ("hinge", "squared-hinge", "logistic") else values
                    try:
                        yield Problem(X, y, loss=loss, kernel=kernel, bias=bias, C=C)
                    except MaxMarginError:
                        continue  # not a problem at all: tested with the bad input


@pytest.mark.parametrize("solver", registry.names())
def test_a_refusal_names_a_solver_that_accepts(solver):
    refused = 0
    for p in problems():
        reason = registry[solver].accepts(p)
        if reason is None:
            continue
        refused += 1
        assert "\n" not in reason
        named = re.search(r"solver='([a-z-]+)'", reason)
        if p.kernel.positive is False:
            assert named or "loss='hinge'" in reason
            continue
        assert named, f"{solver} on {p!r}: {reason}"
        assert named[1] == "auto" or registry[named[1]].accepts(p) is None, f"{solver} on {p!r}: {reason}"
        with pytest.raises(Refused, match=f"{solver} refuses"):
            solve(p, solver=solver)
    assert refused > 0


def test_every_problem_with_a_definite_kernel_has_a_solver():
    for p in problems():
        if p.kernel.positive is not False:
            assert any(registry[name].accepts(p) is None for name in registry.names() if name != "perceptron"), p


def test_the_dense_qp_refuses_with_the_bytes_it_would_need():
    Z = np.zeros((30_000, 1))
    Z[::2] = 1.0
    p = Problem(Z, Z.ravel())
    with pytest.raises(Refused, match=r"7\.2 GB.*smo"):
        solve(p, solver="qp")


def test_a_kernel_matrix_over_the_cap_is_refused_with_the_bytes():
    p = Problem(X, labels, kernel="rbf", bias="augmented", cache_bytes=12 * 8 * 5)
    with pytest.raises(MemoryLimit, match=r"1\.2 kB.*480 bytes.*coordinate-ascent"):
        solve(p, solver="penalty")


def test_unknown_names_list_what_there_is():
    p = Problem(X, labels)
    with pytest.raises(MaxMarginError, match=r"no solver 'sno'.*smo"):
        solve(p, solver="sno")
