"""What the fast solvers are made of, and what they must survive: small caps, large problems, many and few features."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC
from threadpoolctl import ThreadpoolController, threadpool_info

from maxmargin import Problem, solve
from maxmargin.gram import Gram
from maxmargin.gram.active_square import ActiveSquare
from maxmargin.gram.row_store import RowStore
from maxmargin.kernels import RBF, Polynomial
from maxmargin.kernels.base import FREQUENT, block_width, dot, take_rows, with_columns
from maxmargin.numeric import parallel
from maxmargin.numeric.exponential import exponential
from maxmargin.numeric.parallel import one_blas_thread, over_blocks
from maxmargin.solvers import candidates, choose
from maxmargin.solvers.linear.sweeps import shuffle
from tests.solvers.problems import noisy

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
    often = sp.random_array((400, 10), density=0.6, rng=rng, format="csr")
    A = sp.csr_array(sp.hstack([often, sp.random_array((400, 300), density=density, rng=rng, format="csr")]))
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
    X = sp.random_array((2100, 6000), density=length / 6000, rng=np.random.default_rng(0), format="csr")
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
    other = sp.random_array((60, 40), density=0.5, rng=np.random.default_rng(0), format="csr")
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


def test_panel_keeps_what_fits_and_computes_the_rest():
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


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("d", [5, 60])
def test_coordinate_newton_reaches_a_tiny_gap_whatever_C(C, d):
    X, y = noisy(3000, d)
    for bias in ("augmented", "free"):
        for rows in (X, sp.csr_array(X * (np.abs(X) > 0.7))):
            result = solve(Problem(rows, y, C=C, bias=bias), "coordinate-newton", tol=1e-9)
            assert result.certificate.holds(1e-9), (bias, result.status)


def test_many_features_are_left_to_the_sweeps():
    rng = np.random.default_rng(0)
    X = sp.random_array((2000, 5000), density=0.01, rng=rng, format="csr")
    y = np.where(X @ rng.normal(size=5000) + 0.1 * rng.normal(size=2000) > 0, 1, -1)
    for bias in ("none", "augmented", "free"):
        assert solve(Problem(X, y, C=10.0, bias=bias), "coordinate-newton", tol=1e-6).certificate.holds(1e-6)
    theirs = LinearSVC(loss="hinge", C=10.0, tol=1e-8, max_iter=100_000).fit(X, y)
    problem = Problem(X, y, C=10.0, bias="augmented")
    result = solve(problem, "coordinate-newton", tol=1e-7)
    w = np.append(theirs.coef_[0], theirs.intercept_)
    assert result.certificate.primal == pytest.approx(problem.primal(w), rel=1e-5)


def test_auto_takes_the_fast_solvers():
    X, y = noisy(2000, 5)
    assert choose(Problem(X, y)) == choose(Problem(X, y, bias="none")) == "coordinate-newton"
    assert choose(Problem(X, y, kernel="rbf")) == choose(Problem(X, y, kernel="rbf", bias="augmented")) == "working-set"
    assert choose(Problem(X, y, kernel="sigmoid")) == "smo"


def test_auto_takes_what_is_quick_on_small_problems():
    X, y = noisy(100, 5)
    assert choose(Problem(X, y)) == choose(Problem(X, y, kernel="rbf")) == "smo"
    assert choose(Problem(X, y, bias="none")) == "coordinate-newton"
    for bias in ("free", "augmented", "none"):
        assert choose(Problem(X, y, loss="squared-hinge", bias=bias)) == "truncated-newton"
    assert choose(Problem(X[:4], y[:4], loss="squared-hinge", bias="none")) == "coordinate-newton"
    assert choose(Problem(X, y, kernel="rbf", bias="augmented")) == "working-set"
    assert choose(Problem(X, y, loss="logistic")) == "truncated-newton"
    assert "interior-point" in candidates(Problem(X, y))


def test_shuffle_is_a_permutation_that_the_seed_decides():
    first, second = np.arange(1000, dtype=np.uint32), np.arange(1000, dtype=np.uint32)
    for order in (first, second):
        shuffle(order, 700, np.array([12345], np.uint64))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(np.sort(first[:700]), np.arange(700))
    np.testing.assert_array_equal(first[700:], np.arange(700, 1000))
    assert (first[:700] != np.arange(700)).mean() > 0.9


def test_threads_inside_threads_do_not_wait_for_each_other(monkeypatch):
    monkeypatch.setenv("MAXMARGIN_THREADS", "2")
    seen = np.zeros(100)

    def outer(start: int, stop: int) -> None:
        def inner(first: int, last: int) -> None:
            seen[start + first : start + last] += 1

        over_blocks(inner, stop - start, 5)

    over_blocks(outer, 100, 25)
    assert (seen == 1).all()


def _count_in_child(queue) -> None:
    seen = np.zeros(10)
    over_blocks(lambda start, stop: seen.__setitem__(slice(start, stop), 1), 10, 1)
    queue.put(float(seen.sum()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_blas_is_looked_for_again_when_modules_have_come(monkeypatch):
    looked = []
    monkeypatch.setattr(parallel, "ThreadpoolController", lambda: looked.append(1) or ThreadpoolController())
    monkeypatch.setattr(parallel, "_found", None)
    for module, times in ((None, 1), (None, 1), ("a module that was not there", 2)):
        if module:
            monkeypatch.setitem(sys.modules, module, sys)
        with one_blas_thread():
            assert {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"} == {1}
        assert len(looked) == times


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_blas_has_one_thread_whoever_asks_for_it_and_as_many_as_before_afterwards():
    """Some versions of threadpoolctl ignore every thread but the first one that ever set a limit."""
    before = blas_threads()
    inside, leave, seen = threading.Event(), threading.Event(), []

    def other() -> None:
        with one_blas_thread():
            seen.append(blas_threads())
            inside.set()
            leave.wait(30)

    with one_blas_thread():
        pass  # the main thread has been first
    worker = threading.Thread(target=other)
    worker.start()
    assert inside.wait(30)
    with one_blas_thread():
        leave.set()
        worker.join(30)
        seen.append(blas_threads())  # the thread that set the limit is gone
    assert seen == [{1}, {1}]
    assert blas_threads() == before


def test_a_forked_process_starts_threads_of_its_own(monkeypatch):
    monkeypatch.setenv("MAXMARGIN_THREADS", "2")
    over_blocks(lambda start, stop: None, 10, 1)  # the parent's threads exist now
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_count_in_child, args=(queue,))
    child.start()
    child.join(30)
    assert child.exitcode == 0 and queue.get() == 10.0
