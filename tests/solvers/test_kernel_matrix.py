"""The kernel matrix as solvers use it: the exponential, sparse products, the active square, kept rows, caps."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.gram import Gram
from maxmargin.gram.active_square import ActiveSquare
from maxmargin.gram.row_store import RowStore
from maxmargin.kernels import RBF, Polynomial
from maxmargin.kernels.base import FREQUENT, block_width, dot, take_rows, with_columns
from maxmargin.numeric.exponential import exponential

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exponential_is_exact_to_its_precision(dtype):
    K = -np.random.default_rng(0).uniform(0, 40, size=(50, 300)).astype(dtype)
    exponent = 2.0 * K.astype(np.float64)
    exponential(K, np.zeros(50), np.zeros(300), 1.0)
    # The exponent itself is rounded: that alone costs |exponent| times the spacing of the type.
    allowed = np.finfo(dtype).eps * (4.0 + 1.5 * np.abs(exponent))
    assert (np.abs(K / np.exp(exponent) - 1.0) < allowed).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exponential_ends_at_nothing_and_never_exceeds_one(dtype):
    K = np.array([[-1e30, -1e4, -800.0, 0.0, 1e-7, 5.0]], dtype)
    exponential(K, np.zeros(1), np.zeros(6), 1.0)
    assert (K[0, :3] < 1e-37).all() and (K[0, 3:] == 1.0).all()


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("kernel", [RBF(0.1), Polynomial(2, 0.1, 1.0)])
def test_active_square_is_part_of_the_kernel_matrix(storage, kernel):
    X = storage(np.random.default_rng(0).normal(size=(1500, 7)))
    square = ActiveSquare(kernel, X, 0.5, 2.0**30)
    order = np.random.default_rng(1).permutation(1500)
    square.extend(order[:700])
    square.extend(order[700:1300])
    square.keep(np.arange(1300) % 3 > 0)
    index = square.index
    assert set(index) == set(order[:1300][np.arange(1300) % 3 > 0]) and len(set(index)) == square.size
    expected = kernel.block(X[index], X[index]) + 0.5
    np.testing.assert_allclose(square.K[: square.size, : square.size], expected, rtol=1e-12)
    weights = np.random.default_rng(2).normal(size=index.size)
    rows = order[1300:]
    np.testing.assert_allclose(
        square.scores(rows, index, weights), (kernel.block(X[rows], X[index]) + 0.5) @ weights, rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("density", [0.02, 0.2])
def test_sparse_products_add_rare_and_frequent_columns(density):
    rng = np.random.default_rng(0)
    often = sp.random_array((400, 10), density=0.6, random_state=rng, format="csr")
    A = sp.csr_array(sp.hstack([often, sp.random_array((400, 300), density=density, random_state=rng, format="csr")]))
    A.data = rng.normal(size=A.nnz)
    B = A[150:]
    np.testing.assert_allclose(dot(A[:100], B), (A[:100] @ B.T).toarray(), atol=1e-12)
    np.testing.assert_allclose(dot(B, A[:100]), (B @ A[:100].T).toarray(), atol=1e-12)
    np.testing.assert_array_equal(take_rows(A, np.array([7, 3, 7])).toarray(), A.toarray()[[7, 3, 7]])
    ready = with_columns(B)
    for rows in (A[:1], A[:100], A):
        np.testing.assert_allclose(dot(rows, ready), (rows @ B.T).toarray(), atol=1e-12)


@pytest.mark.parametrize(("length", "narrower"), [(3, False), (200, False), (3000, True)])
def test_a_block_of_long_sparse_rows_is_narrower(length, narrower):
    X = sp.random_array((2100, 6000), density=length / 6000, random_state=np.random.default_rng(0), format="csr")
    width = block_width(X, 254, 2032)
    assert width % 254 == 0 and 0 < width <= 2032 == block_width(np.empty(X.shape, bool), 254, 2032)
    assert (width < 2032) == narrower
    _, dense, *_ = with_columns(X[:width]).columns
    assert dense.size <= FREQUENT
    kernel = RBF(1.0 / length)
    square = ActiveSquare(kernel, X, 0.0, 8.0 * 2100**2)
    square.extend(np.arange(300))
    square.extend(np.arange(300, 500))
    some = X[:500].toarray()
    assert square.width == width
    np.testing.assert_allclose(square.K[:500, :500], kernel.block(some, some), rtol=1e-9)
    v = np.where(np.arange(2100) < 300, 1.0, 0.0)
    np.testing.assert_allclose(Gram(kernel, X).product(v)[:500], kernel.block(some, some[:300]).sum(axis=1), rtol=1e-9)


def test_sparse_products_of_rows_that_repeat_their_columns():
    often = sp.csr_array((np.arange(1.0, 7.0), np.array([0, 1, 0, 0, 1, 0]), np.array([0, 5, 6])), shape=(2, 40))
    other = sp.random_array((60, 40), density=0.5, random_state=np.random.default_rng(0), format="csr")
    np.testing.assert_allclose(dot(often, with_columns(other)), often.toarray() @ other.toarray().T, rtol=1e-12)
    np.testing.assert_allclose(dot(other, with_columns(often)), other.toarray() @ often.toarray().T, rtol=1e-12)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("used", [0, 40, 2500, 3000])
def test_products_are_those_of_the_matrix_whatever_the_threads(storage, used, monkeypatch):
    rng = np.random.default_rng(0)
    X = storage(rng.normal(size=(3000, 6)))
    v = np.zeros(3000)
    v[rng.permutation(3000)[:used]] = rng.normal(size=used)
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("MAXMARGIN_THREADS", threads)
        found.append(Gram(RBF(0.1), X, 0.5).product(v))
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0], (RBF(0.1).block(X, X) + 0.5) @ v, rtol=1e-10, atol=1e-10)


def test_row_store_keeps_what_fits_and_computes_the_rest():
    X = np.random.default_rng(0).normal(size=(600, 7))
    square = ActiveSquare(RBF(0.1), X, 0.5, 8.0 * 600 * 600)
    square.extend(np.arange(100))
    store = RowStore(square, 0.5)
    assert square.dtype.itemsize * (square.capacity**2 + store.rows.size) <= 8 * 600 * 600
    assert 0 < len(store.rows) < 400
    K = RBF(0.1).block(X, X) + 0.5
    weights = np.random.default_rng(1).normal(size=400)
    samples = np.arange(400, 600)
    for _ in range(2):
        np.testing.assert_allclose(store.scores(samples, np.arange(400), weights), K[400:, :400] @ weights, rtol=1e-9)
    assert store.count == len(store.rows)
