"""A model that would fail or answer NaN later is refused when it is loaded, in one sentence."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin.errors import InvalidInput
from maxmargin.models import load, save
from maxmargin.models.archive import read as read_archive
from maxmargin.models.archive import write as write_archive
from tests.models.fitted import fitted

pytestmark = pytest.mark.compiled

KERNELS = [
    ({"name": "rbf", "parameters": {"gamma": "scale"}}, "gamma"),
    ({"name": "rbf", "parameters": {"gamma": 10**400}}, "gamma"),
    ({"name": "rbf", "parameters": {"gamma": float("nan")}}, "gamma"),
    ({"name": "rbf", "parameters": {"gamma": float("inf")}}, "gamma"),
    ({"name": "rbf", "parameters": {"gamma": 0}}, "gamma"),
    ({"name": "rbf", "parameters": {"gamma": True}}, "gamma"),
    ({"name": "rbf", "parameters": {"gamma": [1]}}, "gamma"),
    ({"name": "rbf", "parameters": {}}, "parameters of its kernel"),
    ({"name": "rbf", "parameters": {"gamma": 1, "coef0": 1}}, "parameters of its kernel"),
    ({"name": "custom", "parameters": {}}, "cannot hold"),
    ({"name": "custom", "parameters": {"function": 1}}, "cannot hold"),
    ({"name": "precomputed", "parameters": {"source": 1}}, "parameters of its kernel"),
    ({"name": "polynomial", "parameters": {"gamma": 1, "coef0": 0, "degree": 10**9}}, "degree"),
    ({"name": "polynomial", "parameters": {"gamma": 1, "coef0": 0, "degree": 1.5}}, "degree"),
    ({"name": "polynomial", "parameters": {"gamma": 1, "coef0": 0, "degree": 0}}, "degree"),
    ({"name": "polynomial", "parameters": {"gamma": 1, "coef0": float("nan"), "degree": 2}}, "coef0"),
]


def changed(path, document=None, arrays=None):
    """The archive with some of its parts replaced, and its checksums right."""
    known, held = read_archive(path, "model", 1)
    for key in ("format", "version", "arrays"):
        known.pop(key)
    write_archive(path, "model", 1, known | (document or {}), held | (arrays or {}))


@pytest.fixture
def saved(tmp_path):
    save(fitted("binary rbf")[0], tmp_path / "model.mm")
    return tmp_path / "model.mm"


@pytest.mark.parametrize("kernel, words", KERNELS, ids=lambda part: str(part)[:60])
def test_kernels_that_cannot_predict(kernel, words, saved):
    changed(saved, {"kernel": kernel})
    with pytest.raises(InvalidInput, match=rf"cannot load [^\n]*{words}[^\n]*$"):
        load(saved)


@pytest.mark.parametrize(
    "arrays",
    [
        {"classes": np.array([1.0, np.nan])},
        {"classes": np.array([-np.inf, np.inf])},
        {"classes": np.array([1, 1])},
        {"classes": np.array(["a", "a"])},
        {"classes": np.array([[1, 2]])},
        {"classes": np.array([1])},
        {"b": np.array([np.nan])},
        {"b": np.array([[0.0]])},
        {"b": np.array(["0"])},
        {"b": np.array([True])},
        {"coef": np.zeros((1, 3))},
        {"coef": np.zeros(3)},
        {"vectors": np.zeros((2, 2, 2))},
        {"vectors": np.array([["x"]])},
        {"sigmoids": np.zeros((5, 2))},
        {"vector_classes": np.array([0.5])},
        {"rows_0": np.array([1.5])},
        {"rows_0": np.array([3, 2, 1])},
        {"beta_0": np.array([np.inf])},
    ],
    ids=lambda part: f"{next(iter(part))} {next(iter(part.values())).tolist()}"[:50],
)
def test_arrays_that_contradict(arrays, saved):
    changed(saved, arrays=arrays)
    with pytest.raises(InvalidInput, match=r"^cannot load [^\n]+$"):
        load(saved)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["b", "coef", "vectors"])
def test_numbers_that_are_not_finite(name, value, saved):
    array = read_archive(saved, "model", 1)[1][name].copy()
    array.flat[-1] = value
    changed(saved, arrays={name: array})
    with pytest.raises(InvalidInput, match=r"^cannot load [^\n]+$"):
        load(saved)


@pytest.mark.parametrize(
    "training",
    [
        {"loss": "nonsense"},
        {"loss_parameters": {"nonsense": 1}},
        {"bias": "some"},
        {"bias_scale": float("nan")},
        {"C": "nan"},
        {"C": "-1"},
        {"tol": float("nan")},
        {"n": -1},
        {"n": 10**400},
        {"class_weight": "heavy"},
        {"class_weight": [["1", float("nan")]]},
        {"proofs": []},
        {"proofs": [{"status": "x", "primal": "nan", "dual": "1", "relative_gap": "0"}]},
        {"proofs": 3},
    ],
    ids=lambda part: str(part)[:50],
)
def test_what_it_says_of_its_training(training, saved):
    document, _ = read_archive(saved, "model", 1)
    changed(saved, {"training": document["training"] | training})
    with pytest.raises(InvalidInput, match=r"^cannot load [^\n]+$"):
        load(saved)


HEADER = (
    "svm_type c_svc\nkernel_type {kernel}\n{more}nr_class 2\ntotal_sv 1\nrho 0\nlabel {label}\nnr_sv 1 0\nSV\n1 1:1 \n"
)


@pytest.mark.parametrize(
    "parts",
    [
        {"kernel": "polynomial", "more": "degree 1000000000\ngamma 1\ncoef0 0\n"},
        {"kernel": "polynomial", "more": "degree 0\ngamma 1\ncoef0 0\n"},
        {"kernel": "rbf", "more": "gamma nan\n"},
        {"kernel": "rbf", "more": "gamma 1e999\n"},
        {"kernel": "rbf", "more": "gamma scale\n"},
        {"kernel": "rbf", "more": ""},
        {"kernel": "custom", "more": ""},
        {"kernel": "linear", "label": "1 1"},
        {"kernel": "linear", "label": "1 nan"},
    ],
    ids=str,
)
def test_models_of_libsvm(parts, tmp_path):
    text = HEADER.format(**{"more": "", "label": "1 -1"} | parts)
    (tmp_path / "model").write_text(text)
    with pytest.raises(InvalidInput, match=r"^cannot load [^\n]+$"):
        load(tmp_path / "model")


def test_many_classes_in_a_small_file(tmp_path):
    k = 2000
    rho = " ".join(["0"] * (k * (k - 1) // 2))
    counts = " ".join(["1"] * k)
    head = f"svm_type c_svc\nkernel_type rbf\ngamma 1\nnr_class {k}\ntotal_sv {k}\nrho {rho}\n"
    line = "0 " * (k - 1) + "1:1\n"
    (tmp_path / "model").write_text(f"{head}label {' '.join(map(str, range(k)))}\nnr_sv {counts}\nSV\n" + line * k)
    with pytest.raises(InvalidInput, match=r"2000 vectors would need 32\.0 GB in 1999000 pairs"):
        load(tmp_path / "model")


def test_a_row_on_which_the_model_overflows_is_named():
    model, Z, _, _ = fitted("binary polynomial")
    Z = Z.copy()
    Z[3] = 1e200
    with pytest.raises(InvalidInput, match="the decision value of row 4 overflows"):
        model.predict(Z)


@pytest.mark.parametrize(
    "part, arrays",
    [
        ({"iterations": float("inf")}, {}),
        ({"iterations": "many"}, {}),
        ({"reason": "NONSENSE"}, {}),
        ({"b": "nan?"}, {}),
        ({}, {"done_0_w": np.array([np.nan])}),
        ({}, {"done_0_beta": np.zeros((2, 2))}),
        ({}, {"done_0_beta": np.array(["x"])}),
    ],
    ids=str,
)
def test_a_damaged_checkpoint(part, arrays, tmp_path):
    from maxmargin.data import Data
    from maxmargin.kernels import RBF
    from maxmargin.losses.hinge import Hinge
    from maxmargin.training import checkpoint
    from maxmargin.training.budget import Budget
    from maxmargin.training.fit import fit
    from maxmargin.training.recipe import Recipe

    path = tmp_path / "state"
    X = np.random.default_rng(0).normal(size=(12, 2))
    fit(Data(X, np.arange(12) % 2), Recipe(Hinge(), RBF(0.5)), budget=Budget(checkpoint=str(path)))
    document, held = read_archive(path, "checkpoint", 2)
    mark = document["fingerprint"]
    assert len(checkpoint.load(path, mark).done) == 1
    for key in ("format", "version", "arrays"):
        document.pop(key)
    document["done"][0] |= part
    write_archive(path, "checkpoint", 2, document, held | arrays)
    with pytest.raises(InvalidInput, match=r"^cannot load [^\n]+damaged[^\n]+$"):
        checkpoint.load(path, mark)
