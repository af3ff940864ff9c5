"""What every kernel must obey, whatever its formula; then Gram, which serves its rows, and the explicit transforms."""

import math
from dataclasses import asdict, replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.svm import SVC

from maxmargin import Problem
from maxmargin.errors import InvalidInput, MemoryLimit
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Custom, Laplacian, Linear, Polynomial, Precomputed, Sigmoid, list_kernels
from maxmargin.kernels import kernel as kernel_by_name
from maxmargin.transforms import PolynomialTransform


def row_of(gram, i, now=None):
    """Row i of K, fetched if it must be; a view into the cache."""
    gram.fetch(np.array([i]), int(gram.stamp.max(initial=0)) + 1 if now is None else now)
    return gram.cache[gram.slot[i]]


def inner(a, b):
    return sum(p * q for p, q in zip(a, b, strict=True))


#: k(a, b) of two rows as plain Python: a new kernel writes its formula down a second time here.
FORMULAS = {
    "linear": lambda kernel, a, b: inner(a, b),
    "polynomial": lambda kernel, a, b: (kernel.gamma * inner(a, b) + kernel.coef0) ** kernel.degree,
    "sigmoid": lambda kernel, a, b: math.tanh(kernel.gamma * inner(a, b) + kernel.coef0),
    "rbf": lambda kernel, a, b: math.exp(-kernel.gamma * sum((p - q) ** 2 for p, q in zip(a, b, strict=True))),
    "laplacian": lambda kernel, a, b: math.exp(-kernel.gamma * sum(abs(p - q) for p, q in zip(a, b, strict=True))),
    "custom": lambda kernel, a, b: (inner(a, b) + 1.0) ** 2,
}


def rows(n, seed=0, d=3):
    """Rows with zeros in them, one row of zeros, and the last row twice."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    X[0] = 0.0
    X[-1] = X[-2]
    return X


A, B = rows(8), rows(6, seed=1)


def int64_csr(X):
    """SciPy shortens the indices of a small matrix; a large one has 64 bits."""
    X = sp.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


STORAGES = {"csr_array": sp.csr_array, "csr_matrix": sp.csr_matrix, "int64 indices": int64_csr}


# The function


def test_every_kernel_has_its_formula_here():
    assert set(list_kernels()) == {*FORMULAS, "precomputed"}


def test_block_is_the_formula(kernel):
    kernel = kernel.fitted(A)
    expected = [[FORMULAS[kernel.name](kernel, a, b) for b in B.tolist()] for a in A.tolist()]
    assert_allclose(kernel.block(A, B), expected, rtol=1e-12, atol=1e-14)


def test_diag_is_the_diagonal_of_the_block(kernel):
    kernel = kernel.fitted(A)
    for X in (A, sp.csr_array(A), A.astype(np.float32), sp.csr_array(A.astype(np.float32))):
        diagonal = kernel.diag(X)
        assert diagonal.dtype == np.float64 and diagonal.shape == (len(A),)
        assert_allclose(diagonal, np.diag(kernel.block(A, A)), rtol=1e-6 if X.dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("storage", STORAGES)
def test_sparse_is_dense(kernel, storage):
    make = STORAGES[storage]
    kernel = kernel.fitted(A)
    dense = kernel.block(A, B)
    for first, second in ((make(A), make(B)), (make(B), make(A))):  # either side may be the smaller one
        block = kernel.block(first, second)
        assert type(block) is np.ndarray
        assert_allclose(block, dense if first.shape == A.shape else dense.T, rtol=1e-12, atol=1e-14)
    assert_allclose(kernel.diag(make(A)), kernel.diag(A), rtol=1e-12)
    assert type(kernel.diag(make(A))) is np.ndarray and kernel.diag(make(A)).shape == (len(A),)


@pytest.mark.parametrize("storage", STORAGES)
def test_mixed_storage_is_dense(kernel, storage):
    """New rows may be stored otherwise than the training data were."""
    make = STORAGES[storage]
    kernel = kernel.fitted(A)
    assert_allclose(kernel.block(A, make(B)), kernel.block(A, B), rtol=1e-12, atol=1e-14)
    assert_allclose(kernel.block(make(A), B), kernel.block(A, B), rtol=1e-12, atol=1e-14)


def test_a_block_has_the_precision_of_its_data(kernel):
    kernel = kernel.fitted(A)
    expected = kernel.block(A, B)
    for make in (np.asarray, sp.csr_array):
        single = kernel.block(make(A.astype(np.float32)), make(B.astype(np.float32)))
        assert single.dtype == np.float32
        assert_allclose(single, expected, rtol=1e-5, atol=1e-5)
        assert kernel.block(make(A), make(B)).dtype == np.float64


def test_float64_rows_against_float32_rows_are_summed_in_float64(kernel):
    """Certificates are float64 whatever the data are: only the data themselves may be rounded."""
    kernel = kernel.fitted(A)
    single = B.astype(np.float32)
    expected = kernel.block(A, single.astype(np.float64))
    for make in (np.asarray, sp.csr_array):
        mixed = kernel.block(make(A), make(single))
        assert mixed.dtype == np.float64
        assert_allclose(mixed, expected, rtol=1e-12, atol=1e-14)


def test_the_diagonal_of_float32_rows_is_summed_in_float64(kernel):
    if kernel.name == "custom":
        return  # what the user's function does with float32 is the user's choice
    kernel = kernel.fitted(A)
    single = A.astype(np.float32)
    for make in (np.asarray, sp.csr_array):
        assert_allclose(kernel.diag(make(single)), kernel.diag(single.astype(np.float64)), rtol=1e-12)
    large = np.array([[1e30, 0.0]], np.float32)  # its square is beyond float32
    assert_allclose(Linear().diag(sp.csr_array(large)), Linear().diag(large), rtol=1e-12)


def test_known_norms_change_nothing(kernel):
    kernel = kernel.fitted(A)
    given_norms = kernel.block(A, B, (A**2).sum(axis=1), (B**2).sum(axis=1))
    assert_allclose(given_norms, kernel.block(A, B), rtol=1e-12, atol=1e-14)


def test_the_data_are_left_alone(kernel):
    kernel = kernel.fitted(A)
    first, second = A.copy(), B.copy()
    kernel.block(first, second)
    kernel.diag(first)
    assert_array_equal(first, A)
    assert_array_equal(second, B)


def test_symmetric(kernel):
    K = kernel.fitted(A).block(A, A)
    assert_allclose(K, K.T, rtol=1e-13, atol=1e-14)
    assert_allclose(kernel.fitted(A).block(B, A), kernel.fitted(A).block(A, B).T, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_positive_semi_definite_where_it_says_so(kernel, seed):
    X = rows(25, seed, d=2)
    kernel = kernel.fitted(X)
    if kernel.positive is not True:
        return
    eigenvalues = np.linalg.eigvalsh(kernel.block(X, X))
    assert eigenvalues.min() >= -1e-12 * eigenvalues.max()


def test_sigmoid_and_a_negative_constant_are_indefinite():
    X = np.array([[1.0], [2.0]])
    for kernel in (Sigmoid(gamma=1.0), Polynomial(degree=2, gamma=1.0, coef0=-1.0)):
        assert kernel.positive is False
        assert np.linalg.eigvalsh(kernel.block(X, X)).min() < -1e-3
    assert Precomputed().positive is None
    assert Custom(lambda A, B: A @ B.T).positive is None


def test_distances_do_not_feel_a_shift():
    """‖a‖² + ‖b‖² − 2⟨a, b⟩ cancels; the error must stay that of float64."""
    for kernel in (RBF(gamma=0.3), Laplacian(gamma=0.3)):
        assert_allclose(kernel.block(A + 1000.0, B + 1000.0), kernel.block(A, B), atol=1e-8)
        assert kernel.block(A + 1e6, A + 1e6).max() <= 1.0


def test_scikit_learn_agrees(kernel):
    kernel = kernel.fitted(A)
    if kernel.name not in PAIRWISE_KERNEL_FUNCTIONS:
        return
    for make in (np.asarray, sp.csr_matrix):
        theirs = pairwise_kernels(make(A), make(B), metric=kernel.name, **asdict(kernel))
        assert_allclose(kernel.block(make(A), make(B)), theirs, rtol=1e-12, atol=1e-14)


# gamma


@pytest.mark.parametrize("made", [RBF, Polynomial, Sigmoid, Laplacian])
@pytest.mark.parametrize("gamma", ["scale", "auto"])
def test_gamma_is_scikit_learns(made, gamma):
    y = np.arange(len(A)) % 2
    for X in (A, A + 100.0, A * 1e-8, sp.csr_array(A), sp.csr_matrix(A)):
        theirs = SVC(kernel="rbf", gamma=gamma).fit(sp.csr_matrix(X) if sp.issparse(X) else X, y)._gamma
        ours = made(gamma=gamma).fitted(X).gamma
        assert ours == pytest.approx(theirs, rel=1e-9)


def test_gamma_scale_by_definition():
    for X in (A, A + 1e6, A.astype(np.float32), np.c_[A, A]):
        exact = X.astype(np.float64)
        expected = 1.0 / (X.shape[1] * exact.var())
        assert RBF().fitted(X).gamma == pytest.approx(expected, rel=1e-6 if X.dtype == np.float32 else 1e-9)
        assert RBF().fitted(sp.csr_array(X)).gamma == pytest.approx(expected, rel=1e-5)
    assert RBF().fitted(np.zeros((4, 2))).gamma == 1.0  # no variance: scikit-learn's choice
    assert RBF(gamma="auto").fitted(A).gamma == 1.0 / 3.0
    assert RBF(gamma=0.25).fitted(A).gamma == 0.25


def test_gamma_scale_counts_the_zeros_stored_and_not_stored():
    X = sp.csr_array(A)
    X.data[0] = 0.0  # an explicit zero
    assert RBF().fitted(X).gamma == pytest.approx(1.0 / (3 * X.toarray().var()), rel=1e-12)


@pytest.mark.parametrize("value", [0.0, 0.1, 0.3, 3.7, 1e6])
@pytest.mark.parametrize("d", [3, 7])
def test_equal_rows_are_equal_to_a_kernel_of_distances(value, d):
    """On constant features "scale" is 1, or about 1e30 if rounding passes for a variance: K must be 1 all the same."""
    X = np.full((9, d), value)
    for kernel in (RBF(), Laplacian()):
        for make in (np.asarray, sp.csr_array):
            assert_allclose(kernel.fitted(X).block(make(X), make(X)), 1.0)


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.nan, np.inf, "large"])
@pytest.mark.parametrize("made", [RBF, Polynomial, Sigmoid, Laplacian])
def test_bad_gamma_is_refused(made, gamma):
    with pytest.raises(InvalidInput, match="gamma is"):
        made(gamma=gamma)


@pytest.mark.parametrize("parameters", [{"degree": 0}, {"degree": 1.5}, {"coef0": np.nan}])
def test_bad_polynomials_are_refused(parameters):
    with pytest.raises(InvalidInput, match=f"{next(iter(parameters))} is"):
        Polynomial(**parameters)


def test_bad_constant_of_a_sigmoid_is_refused():
    with pytest.raises(InvalidInput, match="coef0 is"):
        Sigmoid(coef0=np.nan)


def test_names():
    for name in list_kernels():
        if name != "custom":
            assert kernel_by_name(name).name == name
    with pytest.raises(InvalidInput, match="function"):
        kernel_by_name("custom")
    with pytest.raises(InvalidInput, match="kernel is 3"):
        kernel_by_name(3)


# Gram: rows of K on demand


X_GRAM = rows(12, seed=2)
ROW = 12 * 8  # bytes of one row in float64


def gram_of(kernel, X=X_GRAM, offset=0.0, rows_kept=12):
    return Gram(kernel.fitted(X), X, offset, rows_kept * X.shape[0] * np.dtype(X.dtype).itemsize)


@pytest.mark.parametrize("offset", [0.0, 2.25])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_gram_is_the_matrix(kernel, make, offset):
    X = make(X_GRAM)
    K = kernel.fitted(X_GRAM).block(X_GRAM, X_GRAM) + offset
    gram = gram_of(kernel, X, offset, rows_kept=3)
    for i in range(12):
        assert_allclose(row_of(gram, i, i), K[i], rtol=1e-12, atol=1e-13)
    assert_allclose(gram.diag, np.diag(K), rtol=1e-12)
    assert_allclose(gram_of(kernel, X, offset).full(), K, rtol=1e-12, atol=1e-13)
    v = np.random.default_rng(0).normal(size=12)
    v[3:6] = 0.0
    assert_allclose(gram.product(v), K @ v, rtol=1e-10, atol=1e-11)
    some = np.array([7, 4, 0])
    assert_allclose(gram.product_of(some, v), K[some] @ v, rtol=1e-10, atol=1e-11)


def test_gram_of_float32_keeps_float32_rows_and_multiplies_in_float64(kernel):
    X = X_GRAM.astype(np.float32)
    exact = kernel.fitted(X).block(X.astype(np.float64), X.astype(np.float64))
    v = np.random.default_rng(0).normal(size=12)
    for make in (np.asarray, sp.csr_array):
        gram = Gram(kernel.fitted(X), make(X))
        assert row_of(gram, 3).dtype == np.float32 and gram.full().dtype == np.float32
        assert_allclose(gram.full(), exact, rtol=1e-5, atol=1e-5)
        assert gram.product(v).dtype == np.float64
        assert_allclose(gram.product(v), exact @ v, rtol=1e-11, atol=1e-12 * np.abs(exact).sum())


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_blocks_change_nothing(make, threads, monkeypatch):
    """More rows than a block of the product, more columns than a block of a row, and more than one thread."""
    monkeypatch.setattr("maxmargin.gram.cached_rows.COLUMNS", 100)
    monkeypatch.setenv("MAXMARGIN_THREADS", threads)
    X = rows(600, seed=3)
    kernel = RBF(gamma=0.5)
    K = kernel.block(X, X) + 2.0
    gram = Gram(kernel, make(X), offset=2.0)
    assert_allclose(row_of(gram, 7), K[7], rtol=1e-12)
    gram.fetch(np.array([3, 599]), 1)
    assert_allclose(gram.cache[gram.slot[[3, 599]]], K[[3, 599]], rtol=1e-12)
    v = np.random.default_rng(0).normal(size=600) * (np.arange(600) % 3 > 0)
    assert_allclose(gram.product(v), K @ v, rtol=1e-9, atol=1e-9)
    assert_allclose(gram.full(), K, rtol=1e-12)


def test_product_of_nothing_is_zero():
    gram = gram_of(RBF(), offset=4.0)
    assert_array_equal(gram.product(np.zeros(12)), np.zeros(12))


def test_product_adds_the_offset_everywhere():
    v = np.arange(12.0)
    plain, shifted = gram_of(RBF()), gram_of(RBF(), offset=4.0)
    assert_allclose(shifted.product(v), plain.product(v) + 4.0 * v.sum(), rtol=1e-12)


@given(order=st.lists(st.integers(0, 11), max_size=60), rows_kept=st.integers(2, 12))
def test_cache_stays_under_its_cap_and_serves_the_right_rows(order, rows_kept):
    K = X_GRAM @ X_GRAM.T
    gram = gram_of(Linear(), rows_kept=rows_kept)
    for now, i in enumerate(order):
        assert_allclose(row_of(gram, i, now), K[i], atol=1e-14)
        assert gram.cache.nbytes <= rows_kept * ROW
        kept = np.flatnonzero(gram.slot >= 0)
        assert kept.size <= rows_kept and i in kept
        assert_array_equal(gram.owner[gram.slot[kept]], kept)
        for j in kept:
            assert_allclose(gram.cache[gram.slot[j]], K[j], atol=1e-14)


def test_evicts_the_least_recently_used():
    """A compiled loop marks a use by its stamp; `fetch` goes by the stamps."""
    gram = gram_of(Linear(), rows_kept=3)
    for now, i in enumerate((5, 6, 7)):
        gram.fetch(np.array([i]), now)
    gram.stamp[gram.slot[5]] = 10  # used again
    gram.fetch(np.array([8]), 11)
    assert set(np.flatnonzero(gram.slot >= 0)) == {5, 7, 8}
    gram.fetch(np.array([9, 10]), 12)
    assert set(np.flatnonzero(gram.slot >= 0)) == {8, 9, 10}


def test_asking_for_a_row_is_a_use_of_it():
    gram = gram_of(Linear(), rows_kept=2)
    for now, i in enumerate((5, 6, 5, 7)):
        row_of(gram, i, now)
    assert set(np.flatnonzero(gram.slot >= 0)) == {5, 7}


def test_fetch_brings_all_that_it_is_asked_for():
    """A row that is there already must not make room for the others."""
    gram = gram_of(Linear(), rows_kept=2)
    gram.fetch(np.array([5]), 0)
    gram.fetch(np.array([6]), 1)
    gram.fetch(np.array([5, 7]), 2)
    assert set(np.flatnonzero(gram.slot >= 0)) == {5, 7}


def test_rows_that_are_there_are_not_computed_again():
    gram = gram_of(Linear())
    gram.fetch(np.array([1, 2]), 0)
    gram.fetch(np.array([2, 1]), 1)
    assert gram.fetched == 2


@pytest.mark.parametrize("before", [[], [3], [3, 3, 1], list(range(11, -1, -1))])
def test_full_is_in_order_whatever_was_fetched_before(before):
    gram = gram_of(Linear())
    for now, i in enumerate(before):
        gram.fetch(np.array([i, i]), now)
    assert_allclose(gram.full(), X_GRAM @ X_GRAM.T, atol=1e-14)
    assert_allclose(row_of(gram, 4), X_GRAM @ X_GRAM[4], atol=1e-14)


def test_full_refuses_with_the_bytes_it_needs():
    X = np.zeros((100, 1))
    gram = Gram(Linear(), X, cache_bytes=79_999)
    with pytest.raises(MemoryLimit, match=r"a test needs .* 80\.0 kB for n=100, .* 80\.0 kB; .* solver='other'"):
        gram.full("a test", instead="other")
    assert Gram(Linear(), X, cache_bytes=80_000).full().shape == (100, 100)
    # 7.2 GB for n=30,000: nothing of that size is ever reserved
    gram = Gram(Linear(), np.zeros((30_000, 1)), cache_bytes=2e6)
    with pytest.raises(MemoryLimit, match=r"7\.2 GB for n=30000"):
        gram.full()


def test_two_rows_must_fit():
    with pytest.raises(MemoryLimit, match=r"two rows .* need 192 bytes"):
        Gram(Linear(), X_GRAM, cache_bytes=2 * ROW - 1)
    assert Gram(Linear(), X_GRAM, cache_bytes=2 * ROW).capacity == 2
    assert Gram(Linear(), X_GRAM[:1], cache_bytes=8).capacity == 1  # a single sample has a single row


def test_precomputed():
    K = X_GRAM @ X_GRAM.T
    for dtype in (np.float64, np.float32):
        X = K.astype(dtype)
        gram = Gram(Precomputed().fitted(X), X, offset=1.0, cache_bytes=4 * 12 * X.itemsize)
        for i in range(12):
            assert_array_equal(row_of(gram, i, i), X[i] + dtype(1.0))
        v = np.arange(12.0) - 3.0
        assert_allclose(gram.product(v), (X.astype(np.float64) + 1.0) @ v, rtol=1e-13)
        assert_allclose(gram.product_of(np.array([5, 2]), v), (X.astype(np.float64) + 1.0)[[5, 2]] @ v, rtol=1e-13)
        assert_allclose(gram.diag, np.diag(X) + 1.0, rtol=1e-7)
    new = X_GRAM[:3] @ X_GRAM.T
    assert_array_equal(Precomputed().cross(new, K, np.array([2, 5])), new[:, [2, 5]])
    with pytest.raises(InvalidInput, match="all 12 training samples; got 5 columns"):
        Precomputed().cross(new[:, :5], K, np.array([2]))


def test_callable_kernels():
    def function(A, B):
        return np.tanh(A @ B.T)

    gram = Gram(kernel_by_name(function), X_GRAM)
    assert_allclose(gram.full(), function(X_GRAM, X_GRAM), rtol=1e-13)
    assert_allclose(gram.diag, np.diag(function(X_GRAM, X_GRAM)), rtol=1e-13)


def test_callable_kernel_that_returns_a_sparse_block():
    """A @ B.T is the first kernel anybody writes, and sparse for sparse rows: it works, or is refused in words."""
    kernel = kernel_by_name(lambda A, B: A @ B.T)
    try:
        block = kernel.block(sp.csr_array(A), sp.csr_array(B))
    except InvalidInput as refusal:
        assert "kernel function" in str(refusal)
    else:
        assert_allclose(block, A @ B.T, atol=1e-13)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda A, B: np.zeros(3), r"returned shape \(3,\) for 8 rows against 6"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), r"returned nan for the pair \(0, 0\)"),
    ],
)
def test_callable_kernels_are_watched(function, message):
    with pytest.raises(InvalidInput, match=message):
        Custom(function).block(A, B)


# Explicit transforms


@pytest.mark.parametrize(("degree", "d"), [(1, 3), (2, 1), (2, 2), (2, 4), (3, 2)])
def test_transform_spans_the_features_of_the_polynomial_kernel(degree, d):
    """[1, Φ(x)] and φ of (⟨a, b⟩ + 1)^p span the same space: the same scores can be written in either."""
    features = math.comb(d + degree, degree)
    X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(3 * features, d))
    explicit = np.c_[np.ones(len(X)), PolynomialTransform(degree)(X)]
    assert explicit.shape[1] == features
    K = Polynomial(degree=degree, gamma=1.0, coef0=1.0).block(X, X)
    assert np.linalg.matrix_rank(K) == np.linalg.matrix_rank(explicit) == features
    for left, right in ((explicit, K), (K, explicit)):
        solution = np.linalg.lstsq(left, right, rcond=1e-12)[0]
        assert_allclose(left @ solution, right, atol=1e-8)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
def test_transform_dense_is_sparse(make):
    dense = PolynomialTransform(2)(A)
    sparse = PolynomialTransform(2)(make(A))
    assert sp.issparse(sparse)
    assert_allclose(sparse.toarray(), dense, rtol=1e-13)


def test_transform_in_a_problem():
    y = np.arange(len(A)) % 2
    for make in (np.asarray, sp.csr_array):
        for dtype in (np.float64, np.float32):
            problem = Problem(make(A.astype(dtype)), y, transform=PolynomialTransform(2))
            assert problem.X.shape == (len(A), 9) and problem.X.dtype == dtype
            assert problem.check_new(make(B)).shape == (len(B), 9)


@pytest.mark.parametrize("degree", [0, -1, 1.5])
def test_transform_of_no_degree_is_refused(degree):
    with pytest.raises(InvalidInput, match="degree is"):
        PolynomialTransform(degree)


def test_fitted_parameters_are_numbers(kernel):
    """After `fitted` nothing is left to read off the data: fitting again changes nothing."""
    fitted = kernel.fitted(A)
    assert not any(isinstance(value, str) for value in vars(fitted).values())
    assert fitted.fitted(B + 5.0) == fitted
    assert replace(fitted) == fitted
