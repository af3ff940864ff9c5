"""Crammer–Singer on features as they come: the interior point ends where coordinate steps crawl, with a proof."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from maxmargin import LinearSVC
from maxmargin.training.crammer_singer import certify
from maxmargin.training.crammer_singer_interior import fits, interior

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("C", [1.0, 1e3])
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_raw_features_converge(load, C):
    X, y = load(return_X_y=True)
    machine = LinearSVC(multi_class="crammer_singer", C=C, max_iter=500).fit(X, y)
    assert machine.certificate_.relative_gap <= 1e-4 and machine.n_iter_ < 100
    assert machine.score(X, y) > 0.95


@pytest.mark.parametrize("constant", [0.0, 1.0])
def test_both_sides_are_those_of_the_problem(constant):
    """The α is feasible, and the objectives at (α, W) agree, typed here a second time."""
    rng = np.random.default_rng(0)
    X, y = 70.0 + 10.0 * rng.normal(size=(67, 4)), rng.integers(0, 4, 67)
    C = rng.uniform(1e2, 1e3, 67)
    alpha, W = interior(X, y, C, constant, 4, 1e-6)
    mine = np.arange(67), y
    upper = np.zeros_like(alpha)
    upper[mine] = C
    assert (alpha <= upper).all() and np.abs(alpha.sum(axis=1)).max() < 1e-9 * C.max()
    rows = np.column_stack([X, np.full(67, constant)])
    V = alpha.T @ rows
    e = np.ones_like(alpha)
    e[mine] = 0.0
    F = rows @ W.T
    primal = 0.5 * np.square(W).sum() + C @ (F + e - F[mine][:, None]).max(axis=1)
    dual = -0.5 * np.square(V).sum() - (e * alpha).sum()
    assert 0.0 <= (primal - dual) / primal < 1e-5
    proved = certify(X, y, C, constant, alpha, W, V)
    np.testing.assert_allclose([proved.primal, proved.dual], [primal, dual], rtol=1e-9)


def test_it_is_for_few_weights():
    assert fits(1000, 10, 64) and not fits(1000, 20, 100) and not fits(10**6, 10, 64)
