"""Bad input is refused at the border: each refusal is one sentence that names what is wrong, and where."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import Iterate, Problem, certify
from maxmargin.errors import InvalidInput
from maxmargin.kernels import Polynomial, list_kernels
from maxmargin.losses import list_losses
from maxmargin.losses.epsilon_insensitive import EpsilonInsensitive
from maxmargin.losses.one_class import OneClass
from maxmargin.losses.squared_epsilon_insensitive import SquaredEpsilonInsensitive

X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 10.0], [0.0, 1.0, 0.0]])
Y = np.array([0, 1, 1, 0])
TARGETS = np.array([0.5, 1.5, -1.0, 0.0])


def with_value(value, row=2, column=1, dtype=np.float64):
    changed = X.astype(dtype)
    changed[row, column] = value
    return changed


def refusal(*names, X=X, y=Y, **parameters):
    """Make the problem, and check that it is refused in one sentence that holds all the names."""
    with pytest.raises(InvalidInput) as raised:
        Problem(X, y, **parameters)
    message = str(raised.value)
    assert "\n" not in message and not re.search(r"[.!?]\s", message) and len(message) < 250, message
    for name in names:
        assert str(name) in message, f"{name!r} is not in {message!r}"


# Values


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("value", "text"), [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")])
def test_not_finite(dtype, value, text):
    refusal("X[2, 1]", text, X=with_value(value, dtype=dtype))
    for make in (sp.csr_array, sp.csr_matrix, sp.coo_array):
        refusal("X[2, 1]", text, X=make(with_value(value, dtype=dtype)))


def test_the_first_bad_value_is_named_in_a_large_table():
    large = np.ones((3000, 700))  # more than one block of the check
    large[2500, 600] = np.nan
    refusal("X[2500, 600]", "nan", X=large, y=np.arange(3000) % 2)


def test_a_bad_value_after_empty_rows_of_a_sparse_matrix():
    rows = np.zeros((6, 3))
    rows[0, 0], rows[4, 2] = 1.0, np.nan
    refusal("X[4, 2]", "nan", X=sp.csr_array(rows), y=[0, 1, 0, 1, 0, 1])


@pytest.mark.parametrize("value", [1e151, -1e151, 1e300])
def test_squares_that_overflow(value):
    refusal("X[2, 1]", f"{value:g}", X=with_value(value))
    refusal("X[2, 1]", f"{value:g}", X=sp.csr_array(with_value(value)))


def test_a_kernel_that_overflows():
    refusal("polynomial", "overflow", X=with_value(1e140), kernel=Polynomial(degree=3, gamma=1.0))


@pytest.mark.parametrize("bad", ["red", "1,5", "", [1.0], (2, 3)])
def test_text_in_a_column(bad):
    table = X.astype(object)
    table[2, 1] = bad
    refusal("X[2, 1]", repr(bad), X=table)


def test_nothing_in_a_column():
    table = X.astype(object)
    table[2, 1] = None
    refusal("X[2, 1]", X=table)


def test_text_in_a_list_of_rows():
    refusal("X[1, 0]", "red", X=[[1.0, 2.0], ["red", 3.0]], y=[0, 1])


def test_rows_of_different_length():
    refusal("X", X=[[1.0, 2.0], [3.0]], y=[0, 1])


def test_complex():
    refusal("X", "complex", X=X + 1j)
    refusal("X", "complex", X=sp.csr_array(X + 1j))


# Shapes


@pytest.mark.parametrize("shape", [(0, 3), (4, 0), (0, 0)])
def test_empty(shape):
    refusal("X", shape, X=np.zeros(shape), y=np.zeros(shape[0]))
    refusal("X", shape, X=sp.csr_array(shape), y=np.zeros(shape[0]))


def test_wrong_dimensions():
    refusal("X", "1 dimension", X=X[0], y=Y[:3])
    refusal("X", "3 dimension", X=X[None], y=Y[:1])
    refusal("X", "0 dimension", X=np.float64(3.0), y=Y[:1])
    refusal("X", "dimension", X=None)


@pytest.mark.parametrize("y", [Y[:3], Y[:, None], np.r_[Y, Y], 1])
def test_y_of_the_wrong_shape(y):
    refusal("y", np.shape(y), "4 rows", y=y)
    refusal("y", np.shape(y), "4 rows", y=np.asarray(y, dtype=float), loss="least-squares")


# Targets


def test_missing_y():
    refusal("y", "missing", y=None)
    refusal("y", "missing", y=None, loss="least-squares")


@pytest.mark.parametrize("y", [[0, 0, 0, 0], ["ham"] * 4, np.array(["ham"] * 4, dtype=object), [True] * 4, [2.5] * 4])
def test_one_class_is_named(y):
    refusal("y", repr(np.asarray(y).tolist()[0]), "two classes", y=y)


@pytest.mark.parametrize(
    "y", [[0, 1, 2, 0], ["ham", "spam", "eggs", "ham"], np.array(["ham", "spam", "eggs", "ham"], dtype=object)]
)
def test_three_classes_are_named(y):
    refusal("3 classes", *map(repr, sorted(set(np.asarray(y).tolist()))), y=y)


def test_many_classes_are_counted():
    refusal("4 classes", y=[0, 1, 2, 3])
    refusal("5 classes", "...", X=np.eye(5), y=[0, 1, 2, 3, 4])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_y_not_finite(value):
    refusal("y[1]", value, y=[0.0, value, 1.0, 0.0])
    refusal("y[1]", value, y=[0.0, value, 1.0, 0.0], loss="least-squares")
    refusal("y", y=np.array([0, value, 1, 0], dtype=object))


@pytest.mark.parametrize("y", [["a", None, "b", "a"], ["a", 1, "b", "a"]])
def test_y_of_mixed_kinds(y):
    refusal("y", y=np.array(y, dtype=object))


def test_text_for_a_regression():
    refusal("y", "numbers", y=["a", "b", "c", "d"], loss="least-squares")


def test_targets_whose_squares_overflow():
    refusal("y[2]", "1e+200", y=[0.0, 1.0, 1e200, 0.0], loss="least-squares")


# Weights


@pytest.mark.parametrize("C", [0.0, -1.0, np.nan, -np.inf, "1", "large", [1.0, 2.0], np.ones(4), 1j])
def test_bad_C(C):
    refusal("C is", C=C)


@pytest.mark.parametrize("lam", [-1.0, np.nan, np.inf, "1", [1.0, 2.0]])
def test_bad_lam(lam):
    refusal("lam is", lam=lam)


def test_C_and_lam():
    refusal("C", "lam", "not both", C=1.0, lam=1.0)


def test_negative_weights():
    refusal("sample_weight[2]", "-0.5", sample_weight=[1.0, 1.0, -0.5, 1.0])


def test_weights_all_zero():
    refusal("sample_weight", "0 for every row", sample_weight=np.zeros(4))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_not_finite(value):
    refusal("sample_weight[3]", value, sample_weight=[1.0, 1.0, 1.0, value])


@pytest.mark.parametrize("weights", [np.ones(3), np.ones((4, 1)), 2.0])
def test_weights_of_the_wrong_shape(weights):
    refusal("sample_weight", np.shape(weights), "4 rows", sample_weight=weights)


def test_weights_that_are_not_numbers():
    refusal("sample_weight", "numbers", sample_weight=["a"] * 4)


@pytest.mark.parametrize("y", [Y, np.array(["ham", "spam", "spam", "ham"], dtype=object)])
def test_a_class_without_weight_is_named(y):
    refusal("class", repr(np.asarray(y).tolist()[0]), y=y, sample_weight=[0.0, 1.0, 1.0, 0.0])


@pytest.mark.parametrize(
    ("class_weight", "names"),
    [
        ("even", ["class_weight", "'even'", "'balanced'"]),
        ({7: 1.0}, ["class_weight", "7"]),
        ({0: -1.0}, ["class_weight", "-1.0"]),
        ({0: np.nan}, ["class_weight", "nan"]),
        ({0: "heavy"}, ["class_weight", "heavy"]),
        (3.0, ["class_weight", "3.0"]),
        ([1.0, 2.0], ["class_weight"]),
    ],
)
def test_bad_class_weights(class_weight, names):
    refusal(*names, class_weight=class_weight)


def test_class_weights_without_classes():
    refusal("class_weight", "classification", y=TARGETS, loss="least-squares", class_weight="balanced")


def test_weights_whose_product_overflows():
    """C·weight = ∞ would be a hard margin that nobody asked for."""
    refusal("sample_weight", C=1e10, sample_weight=[1.0, 1e300, 1.0, 1.0])


def test_weights_whose_product_vanishes():
    """C·weight = 0 for every row leaves nothing to train on."""
    refusal("sample_weight", C=1e-300, sample_weight=np.full(4, 1e-300))


# Names and parameters


@pytest.mark.parametrize("name", ["hing", "Hinge ", ""])
def test_unknown_loss(name):
    refusal("loss", repr(name), *list_losses(), loss=name)


@pytest.mark.parametrize("name", ["gauss", "RBF ", ""])
def test_unknown_kernel(name):
    refusal("kernel", repr(name), *list_kernels(), kernel=name)


@pytest.mark.parametrize("value", [None, 3, ["hinge"]])
def test_names_that_are_not_names(value):
    refusal("loss", value, loss=value)
    refusal("kernel", value, kernel=value)


@pytest.mark.parametrize("bias", ["yes", None, True, 1.0, ["free"]])
def test_unknown_bias(bias):
    refusal("bias", repr(bias), "none", "augmented", "free", bias=bias)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf, "1"])
def test_bad_bias_scale(scale):
    refusal("bias_scale is", scale, bias="augmented", bias_scale=scale)


@pytest.mark.parametrize("bias", ["none", "free"])
def test_bias_scale_without_an_augmented_bias(bias):
    refusal("bias_scale", "augmented", repr(bias), bias=bias, bias_scale=2.0)


@pytest.mark.parametrize("loss", [name for name in list_losses() if name != "hinge"])
def test_hard_margin_with_another_loss(loss):
    y = TARGETS if loss in ("least-squares", "epsilon-insensitive", "squared-epsilon-insensitive") else Y
    refusal("C=inf", "hinge", repr(loss), y=y, loss=loss, C=np.inf)
    refusal("hinge", repr(loss), y=y, loss=loss, lam=0.0)


@pytest.mark.parametrize("bias", ["none", "augmented"])
def test_one_class_without_a_free_bias(bias):
    refusal("one-class", "free", y=None, loss="one-class", bias=bias)


@pytest.mark.parametrize(
    ("loss", "task"), [("hinge", "regression"), ("one-class", "classification"), ("least-squares", "novelty")]
)
def test_a_loss_for_another_task(loss, task):
    refusal(repr(loss), repr(task), loss=loss, task=task)


def test_a_transform_and_a_kernel():
    refusal("transform", "rbf", transform=lambda X: X, kernel="rbf")


def test_a_transform_that_makes_bad_rows():
    refusal("transform(X)[0, 0]", "nan", transform=lambda X: np.full_like(X, np.nan))


@pytest.mark.parametrize("made", [EpsilonInsensitive, SquaredEpsilonInsensitive])
@pytest.mark.parametrize("epsilon", [-0.1, np.nan, np.inf])
def test_bad_epsilon(made, epsilon):
    with pytest.raises(InvalidInput, match=f"epsilon is {epsilon}"):
        made(epsilon=epsilon)


@pytest.mark.parametrize("nu", [0.0, -0.1, 1.1, np.nan])
def test_bad_nu(nu):
    with pytest.raises(InvalidInput, match=f"nu is {nu}"):
        OneClass(nu=nu)


# Precomputed kernels


def test_precomputed_must_be_square():
    refusal("precomputed", "square", "(4, 3)", kernel="precomputed")


def test_precomputed_must_be_symmetric():
    K = X @ X.T
    K[3, 1] += 1.0
    refusal("symmetric", "K[1, 3]", "K[3, 1]", X=K, kernel="precomputed")


def test_precomputed_asymmetry_is_found_in_a_large_matrix():
    K = np.eye(1500)
    K[1400, 20] = 0.5
    refusal("symmetric", "K[20, 1400]", "K[1400, 20]", X=K, y=np.arange(1500) % 2, kernel="precomputed")


def test_precomputed_symmetric_up_to_rounding_is_accepted():
    K = X @ X.T
    K[3, 1] *= 1.0 + 1e-12
    assert Problem(K, Y, kernel="precomputed").n == 4


def test_precomputed_must_be_dense():
    refusal("precomputed", "dense", X=sp.csr_array(X @ X.T), kernel="precomputed")


# New rows


def test_new_rows():
    problem = Problem(X, Y)
    for Z, message in (
        (X[:, :2], "Z has 2 columns; the problem was made with 3"),
        (with_value(np.nan), r"Z\[2, 1\] is nan"),
        (X[0], "Z has 1 dimension"),
    ):
        with pytest.raises(InvalidInput, match=message):
            problem.check_new(Z)


# Corner cases that are not bad input: section 7 of MATH.md


@pytest.mark.parametrize("loss", list_losses())
@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (np.zeros((4, 2)), "rows of zeros"),
        (np.ones((4, 2)), "constant features"),
        (np.repeat([[1.0, 2.0]], 4, axis=0), "equal rows with opposite labels"),
        (1e-150 * X, "tiny values"),
    ],
)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial"])
def test_corner_cases_have_a_certificate(loss, kernel, rows, why):
    y = None if loss == "one-class" else Y
    problem = Problem(rows, y, loss=loss, kernel=kernel)
    certificate = certify(problem, Iterate(beta=problem.feasible(problem.target)))
    assert np.isfinite([certificate.primal, certificate.dual, certificate.kkt_violation]).all(), why
    assert certificate.primal >= certificate.dual - 1e-12 * abs(certificate.primal), why


@pytest.mark.parametrize("loss", ["least-squares", "epsilon-insensitive", "squared-epsilon-insensitive", "one-class"])
def test_a_single_sample(loss):
    problem = Problem(X[:1], None if loss == "one-class" else [2.0], loss=loss)
    certificate = certify(problem, Iterate(beta=problem.feasible(np.zeros(1))))
    assert certificate.primal >= certificate.dual and np.isfinite(certificate.primal)


def test_whole_numbers_and_booleans_are_features():
    for rows in (X.astype(int), X > 2, X.astype(np.float16), X.astype(object), X.tolist()):
        assert Problem(rows, Y).X.dtype == np.float64
