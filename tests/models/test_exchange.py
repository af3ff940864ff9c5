"""LIBSVM, LIBLINEAR and ONNX: their programs say of our models what we say, and we of theirs what they say."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from maxmargin.data import Data, write
from maxmargin.errors import InvalidInput
from maxmargin.models import load, save
from tests.models.fitted import EVERY, fitted, rows

pytestmark = pytest.mark.compiled

FOR_LIBSVM = [
    name
    for name in EVERY
    if not name.startswith("ovr") and name not in ("binary laplacian", "binary text", "binary scaled")
] + ["binary scaled"]
FOR_LIBLINEAR = ["binary linear", "binary scaled", "binary logistic", "ovr linear", "regression linear"]


def needs(program):
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    return program


def run(program, *arguments):
    done = subprocess.run([needs(program), *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def predicted(program, folder, model, Z):
    write(folder / "rows.svm", Data(Z, None))
    run(program, folder / "rows.svm", model, folder / "answers")
    return np.loadtxt(folder / "answers")


def agree(model, ours, theirs):
    if model.task == "regression":
        np.testing.assert_allclose(theirs, ours, rtol=1e-4)  # they print six digits
    else:
        np.testing.assert_array_equal(theirs, ours)


@pytest.mark.parametrize("name", FOR_LIBSVM)
def test_libsvm_reads_our_models(name, tmp_path):
    model, Z, _, answer = fitted(name)
    save(model, tmp_path / "our.libsvm-model")
    agree(model, answer, predicted("svm-predict", tmp_path, tmp_path / "our.libsvm-model", Z))


@pytest.mark.parametrize("name", FOR_LIBLINEAR)
def test_liblinear_reads_our_models(name, tmp_path):
    model, Z, _, answer = fitted(name)
    save(model, tmp_path / "our.liblinear-model")
    agree(model, answer, predicted("liblinear-predict", tmp_path, tmp_path / "our.liblinear-model", Z))


@pytest.mark.parametrize(
    "name, format", [(n, "libsvm") for n in FOR_LIBSVM] + [(n, "liblinear") for n in FOR_LIBLINEAR]
)
def test_our_exchange_files_come_back(name, format, tmp_path):
    model, Z, _, answer = fitted(name)
    save(model, tmp_path / "model", format)
    back = load(tmp_path / "model")
    np.testing.assert_allclose(back.decision_function(Z), model.decision_function(Z), rtol=1e-9, atol=1e-9)
    agree(model, answer, back.predict(Z))


DATA = {"classification": load_breast_cancer, "several": load_wine, "regression": load_diabetes}
SVM_TRAIN = [
    ("classification", ["-t", "0"]),
    ("classification", ["-t", "1", "-d", "2", "-r", "1"]),
    ("classification", ["-t", "2", "-b", "1"]),
    ("classification", ["-t", "3", "-g", "0.01"]),
    ("classification", ["-s", "1", "-n", "0.2"]),
    ("classification", ["-s", "2", "-n", "0.2"]),
    ("several", ["-t", "0"]),
    ("several", ["-t", "2"]),
    ("regression", ["-s", "3", "-t", "2"]),
    ("regression", ["-s", "4", "-t", "0"]),
]
LIBLINEAR_TRAIN = [(kind, ["-s", solver, "-B", bias]) for kind in ("classification", "several") for solver in "01237"
                   for bias in ("1", "-1")]  # fmt: skip
LIBLINEAR_TRAIN += [("classification", ["-s", "4", "-B", "1"]), ("several", ["-s", "4", "-B", "1"])]
LIBLINEAR_TRAIN += [("regression", ["-s", solver, "-B", "1"]) for solver in ("11", "12", "13")]


@pytest.mark.parametrize(
    "program, kind, options",
    [("svm", kind, options) for kind, options in SVM_TRAIN]
    + [("liblinear", kind, options) for kind, options in LIBLINEAR_TRAIN],
)
def test_we_read_their_models(program, kind, options, tmp_path):
    X, y, Z, _ = rows(DATA[kind])
    write(tmp_path / "train.svm", Data(X, y))
    run(f"{program}-train", "-q", *options, tmp_path / "train.svm", tmp_path / "model")
    model = load(tmp_path / "model")
    agree(model, model.predict(Z), predicted(f"{program}-predict", tmp_path, tmp_path / "model", Z))


def test_probabilities_of_libsvm(tmp_path):
    for kind in ("classification", "several"):
        X, y, Z, _ = rows(DATA[kind])
        write(tmp_path / "train.svm", Data(X, y))
        write(tmp_path / "rows.svm", Data(Z, None))
        run("svm-train", "-q", "-b", "1", tmp_path / "train.svm", tmp_path / "model")
        run("svm-predict", "-b", "1", tmp_path / "rows.svm", tmp_path / "model", tmp_path / "answers")
        header, *lines = (tmp_path / "answers").read_text().splitlines()
        model = load(tmp_path / "model")
        order = [model.classes.tolist().index(int(label)) for label in header.split()[1:]]
        theirs = np.array([[float(word) for word in line.split()[1:]] for line in lines])
        np.testing.assert_allclose(
            model.probabilities(model.scores(Z))[:, order], theirs, atol=5e-3
        )  # their iteration stops there


@pytest.mark.parametrize(
    "name, format, words",
    [
        ("binary laplacian", "libsvm", "LIBSVM has no kernel 'laplacian'"),
        ("ovr rbf", "libsvm", "train with --multiclass ovo"),
        ("binary text", "libsvm", "only whole numbers as labels"),
        ("binary rbf", "liblinear", "LIBLINEAR is for linear models"),
        ("ovo linear", "liblinear", "train with --multiclass ovr"),
        ("binary rbf", "pickle", "there is no model format 'pickle'"),
    ],
)
def test_what_a_format_has_no_place_for(name, format, words, tmp_path):
    with pytest.raises(InvalidInput, match=words):
        save(fitted(name)[0], tmp_path / "model", format)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", EVERY)
def test_onnx_gives_the_same_decision_values(name, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    model, Z, decision, answer = fitted(name)
    save(model, tmp_path / "model.onnx")
    session = runtime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    Z = np.ascontiguousarray(Z.toarray() if hasattr(Z, "toarray") else Z)
    labels, scores = session.run(None, {"X": Z})
    np.testing.assert_allclose(np.squeeze(scores), np.squeeze(decision), rtol=1e-5, atol=1e-5)
    if model.task == "regression":
        np.testing.assert_allclose(labels, answer, rtol=1e-5)
    else:
        np.testing.assert_array_equal(labels, answer)
