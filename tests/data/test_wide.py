"""Huge indices in small files: what can be done in little memory is done, the rest refused in a sentence."""

from __future__ import annotations

import resource
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from maxmargin import SVC, SVCCV, SVR, LinearSVC, NuSVC, OneClassSVM, Problem
from maxmargin.data import Data, read
from maxmargin.data.wide import dense_parts
from maxmargin.errors import InvalidInput
from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial, Sigmoid
from maxmargin.losses.hinge import Hinge
from maxmargin.losses.one_class import OneClass
from maxmargin.models import load, save
from maxmargin.numeric.sparse_columns import check_width, mostly_empty, narrowed, occurring
from maxmargin.training.fit import fit
from maxmargin.training.recipe import Recipe

pytestmark = pytest.mark.compiled

LARGEST = 2**31 - 2


def lines(gap):
    """Rows of a few features; those above 7 are moved by `gap`."""
    rows = (
        f"{'+1' if k % 2 else '-1'} {k % 7 + 1}:{(k * 37 % 11) / 5 + k % 2} {8 + gap + k % 5}:{k % 3 + 1}\n"
        for k in range(60)
    )
    return "".join(rows)


@pytest.fixture
def wide(tmp_path):
    (tmp_path / "wide.svm").write_text(lines(LARGEST - 20))
    (tmp_path / "narrow.svm").write_text(lines(0))
    return read(tmp_path / "wide.svm"), read(tmp_path / "narrow.svm")


def same(found, expected, digits):
    """Equal to so many digits of the largest: dense rows and sparse ones are added up in different orders."""
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=10.0**-digits * np.abs(expected).max())


def test_columns_are_numbered_anew(wide):
    X = wide[0].X
    columns = occurring(X)
    assert len(columns) == 12 and mostly_empty(X.shape[1], X.nnz) and not mostly_empty(10**6, 1)
    few = narrowed(X, columns)
    for row in range(X.shape[0]):
        part, same = X[[row]], few[[row]]
        np.testing.assert_array_equal(columns[same.indices], part.indices)
        np.testing.assert_array_equal(same.data, part.data)
    without = narrowed(X, columns[1:])
    assert without.sum() == pytest.approx(X.sum() - few[:, [0]].sum())
    assert occurring(sp.csr_array((3, 2**30))).tolist() == [0]


@pytest.mark.parametrize(
    "kernel", [RBF(0.3), Polynomial(2, 0.5, 1.0), Sigmoid(0.1), Laplacian(0.2)], ids=lambda one: one.name
)
def test_a_kernel_does_not_see_the_gap(kernel, wide, tmp_path):
    wide, narrow = wide
    recipe = Recipe(Hinge(), kernel)
    one, other = fit(wide, recipe).model, fit(narrow, recipe).model
    assert one.columns == wide.X.shape[1] > 2**30
    same(one.scores(wide.X), other.scores(narrow.X), 12)
    save(one, tmp_path / "model.mm")
    np.testing.assert_array_equal(load(tmp_path / "model.mm").scores(wide.X), one.scores(wide.X))
    if kernel.name != "laplacian":
        save(one, tmp_path / "model.libsvm-model")
        back = load(tmp_path / "model.libsvm-model")
        np.testing.assert_allclose(back.scores(wide.X), one.scores(wide.X), rtol=1e-12)


def test_other_trainings(wide):
    wide, narrow = wide
    for recipe in (Recipe(OneClass(0.3), RBF(0.3)), Recipe(Hinge(), RBF(0.3), nu=0.4)):
        same(fit(wide, recipe).model.scores(wide.X), fit(narrow, recipe).model.scores(narrow.X), 12)


def test_a_gap_that_is_no_burden_keeps_its_weights(tmp_path):
    (tmp_path / "some.svm").write_text(lines(2 * 10**6))
    (tmp_path / "narrow.svm").write_text(lines(0))
    recipe = Recipe(Hinge(), Linear())
    some, narrow = read(tmp_path / "some.svm"), read(tmp_path / "narrow.svm")
    one, other = fit(some, recipe), fit(narrow, recipe)
    assert one.model.w.shape == (1, some.X.shape[1])
    # Their sums have different orders, so they may stop at different points; but each gap bounds ½‖w − w*‖².
    moved = one.model.w[:, occurring(some.X)] - other.model.w[:, occurring(narrow.X)]
    bound = sum(np.sqrt(2.0 * fitted.result.certificate.gap) for fitted in (one, other))
    assert 0.0 < bound < 0.1 * np.linalg.norm(other.model.w)
    assert np.linalg.norm(moved) <= bound
    np.testing.assert_allclose(one.model.scores(some.X) - one.model.b, some.X @ one.model.w.T, rtol=1e-12, atol=1e-12)


def test_a_linear_model_says_what_it_would_need(wide):
    for scaling, what in ((None, "a linear model"), ("max-abs", "a scaling"), ("standard", "a scaling")):
        with pytest.raises(InvalidInput, match=rf"{what} of 2147\d+ columns needs 17\.2 GB, but there are only 120"):
            fit(wide[0], Recipe(Hinge(), Linear(), scaling=scaling))
    check_width(50_000_000, 1, 5_000_000)  # as large text data are


def test_dense_parts_hold_all_rows():
    X = sp.random_array((50, 10**6), density=1e-5, format="csr", random_state=np.random.default_rng(0))
    parts = list(dense_parts(Data(X, np.arange(50))))
    assert len(parts) > 1 and sum(part.n for part in parts) == 50
    np.testing.assert_array_equal(np.concatenate([part.X.sum(axis=1) for part in parts]), X.toarray().sum(axis=1))
    np.testing.assert_array_equal(np.concatenate([part.y for part in parts]), np.arange(50))


@pytest.mark.parametrize("made", [SVC(), SVC(kernel="poly"), SVR(), OneClassSVM(nu=0.3), NuSVC(nu=0.3), SVCCV(cv=2)])
def test_estimators_do_not_see_the_gap(made, wide):
    rows, narrow = wide
    # "scale" and "auto" go by the number of columns.
    made.set_params(**{"gammas": [0.3]} if isinstance(made, SVCCV) else {"gamma": 0.3})
    found, expected = (clone(made).fit(one.X, one.y) for one in (rows, narrow))
    answers = "predict" if isinstance(made, SVR) else "decision_function"
    same(getattr(found, answers)(rows.X), getattr(expected, answers)(narrow.X), 8)


def test_a_linear_problem_of_huge_indices_is_refused(wide):
    for train in (lambda one: Problem(one.X, one.y), lambda one: LinearSVC().fit(one.X, one.y)):
        with pytest.raises(InvalidInput, match=r"a linear model of 2147483638 columns needs 17\.2 GB"):
            train(wide[0])


@pytest.mark.parametrize(
    "arguments, status",
    [
        (["train", "wide.svm", "--kernel", "rbf", "-o", "out"], 0),
        (["check", "rbf.mm", "wide.svm"], 0),
        (["train", "wide.svm"], 1),
        (["train", "wide.svm", "--stream", "--bias", "none"], 1),
        (["train", "wide.svm", "--kernel", "rbf", "--scale", "max-abs"], 1),
        (["race", "wide.svm", "--solvers", "smo", "--max-time", "5"], 0),
        (["predict", "rbf.libsvm-model", "wide.svm", "-o", "out"], 0),
        (["predict", "linear.libsvm-model", "wide.svm", "-o", "out"], 1),
        (["predict", "linear.liblinear-model", "wide.svm", "-o", "out"], 1),
        (["info", "wide.svm"], 0),
        (["info", "rbf.libsvm-model"], 0),
        (["convert", "wide.svm", "out.csv"], 1),
        (["convert", "wide.svm", "out.npy"], 1),
        (["convert", "wide.svm", "out.npz"], 0),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else "",
)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak of memory from /proc")
def test_commands_in_little_memory(arguments, status, wide, tmp_path):
    head = "svm_type c_svc\nkernel_type {}\n{}nr_class 2\ntotal_sv 2\nrho 0.5\nlabel 1 -1\nnr_sv 1 1\nSV\n"
    vectors = f"1 1:1 {LARGEST - 1}:1 \n-1 2:1 {LARGEST - 1}:2 \n"
    (tmp_path / "rbf.libsvm-model").write_text(head.format("rbf", "gamma 0.5\n") + vectors)
    (tmp_path / "linear.libsvm-model").write_text(head.format("linear", "") + vectors)
    (tmp_path / "linear.liblinear-model").write_text(
        f"solver_type L2R_L2LOSS_SVC_DUAL\nnr_class 2\nlabel 1 -1\nnr_feature {LARGEST - 1}\nbias -1\nw\n1\n2\n"
    )
    if "rbf.mm" in arguments:
        save(fit(wide[0], Recipe(Hinge(), RBF(0.3))).model, tmp_path / "rbf.mm")
    # Not ru_maxrss: Linux carries that over from the process that started this one.
    code = (
        "import atexit, sys\n"
        "def tell(): print(*(line for line in open('/proc/self/status') if 'VmHWM' in line), file=sys.stderr)\n"
        "atexit.register(tell)\nfrom maxmargin.cli import main; main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30)),
    )
    *told, peak = ended.stderr.strip().split("\n")
    assert ended.returncode == status, ended.stderr
    assert len(told) == status and "Unable to allocate" not in ended.stderr
    assert int(peak.split()[1]) < 500_000  # of which the interpreter and its libraries take up to 200,000 (kB)
