"""Scaling: what scikit-learn's scalers do, on the training rows and on new ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from maxmargin.data import scaling
from maxmargin.errors import InvalidInput

PEERS = {"standard": StandardScaler, "min-max": MinMaxScaler, "max-abs": MaxAbsScaler}


@pytest.mark.parametrize("kind", PEERS)
def test_the_same_as_scikit_learn(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, [1.0, 10.0, 0.1], size=(50, 3))
    X = np.column_stack([X, np.full(50, 0.1)])  # a constant column
    Z = rng.normal(size=(9, 4))
    peer = PEERS[kind]().fit(X)
    np.testing.assert_allclose(scaling(kind, X).apply(Z), peer.transform(Z), rtol=1e-12)


def test_sparse_rows_stay_sparse():
    X = sp.csr_array(np.array([[0.0, -4.0], [2.0, 0.0]]))
    scaled = scaling("max-abs", X).apply(X)
    assert sp.issparse(scaled) and scaled.toarray().tolist() == [[0, -1], [1, 0]]
    with pytest.raises(InvalidInput, match=r"800\.0 MB instead of 120\.0 kB: use max-abs"):
        scaling("standard", sp.eye_array(10000, format="csr"))


@pytest.mark.parametrize("kind", PEERS)
def test_a_sparse_matrix_that_is_nearly_full_is_scaled_as_the_same_dense_one(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4)) * (rng.random((30, 4)) < 0.9)
    learnt = scaling(kind, sp.csr_array(X))
    scaled = learnt.apply(sp.csr_array(X))
    dense = scaled.toarray() if sp.issparse(scaled) else scaled
    np.testing.assert_allclose(dense, PEERS[kind]().fit_transform(X), rtol=1e-12, atol=1e-15)


def test_refusals():
    with pytest.raises(InvalidInput, match="there is no scaling 'log'"):
        scaling("log", np.eye(2))
    with pytest.raises(InvalidInput, match="3 columns; the scaling was learnt on 2"):
        scaling("standard", np.eye(2)).apply(np.eye(3))


@pytest.mark.parametrize("kind", ["standard", "min-max"])
def test_a_column_whose_spread_overflows_is_named(kind):
    X = np.array([[1.0, 1.7e308], [2.0, -1.7e308], [4.0, 1.7e308]])
    with pytest.raises(InvalidInput, match="the spread of column 2 overflows"):
        scaling(kind, X)
