"""Models answer as the fit that they come from, and a saved one as the one that was saved, bit for bit."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine

from maxmargin import Problem, solve
from maxmargin.data import Data
from maxmargin.errors import InvalidInput
from maxmargin.estimators import SVC, LinearSVC
from maxmargin.models import load, model_of, save
from maxmargin.models.certify import certify
from maxmargin.models.probability import coupled
from maxmargin.transforms import PolynomialTransform
from tests.models.fitted import ESTIMATORS, EVERY, fitted, rows

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("name", EVERY)
def test_a_model_answers_as_its_fit(name):
    model, Z, decision, answer = fitted(name)
    scale = np.abs(decision).max()
    np.testing.assert_allclose(model.decision_function(Z), np.squeeze(decision), rtol=1e-9, atol=1e-9 * scale)
    if model.task == "regression":
        np.testing.assert_allclose(model.predict(Z), answer, rtol=1e-9)
    else:
        np.testing.assert_array_equal(model.predict(Z), answer)


@pytest.mark.parametrize("name", EVERY)
def test_what_is_saved_is_loaded_bit_for_bit(name, tmp_path):
    model, Z, _, _ = fitted(name)
    save(model, tmp_path / "model.mm")
    back = load(tmp_path / "model.mm")
    assert back.scores(Z).tobytes() == model.scores(Z).tobytes()
    np.testing.assert_array_equal(back.predict(Z), model.predict(Z))
    save(back, tmp_path / "again.mm")
    assert (tmp_path / "again.mm").read_bytes() == (tmp_path / "model.mm").read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["again.mm", "model.mm"]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: repr(one))
def test_every_estimator_becomes_a_model(estimator, tmp_path):
    X, y, Z, _ = rows(load_breast_cancer)
    estimator = clone(estimator).fit(X, y)
    model = model_of(estimator)
    np.testing.assert_allclose(model.predict(Z), estimator.predict(Z), rtol=1e-9)
    save(model, tmp_path / "model.mm")
    back = load(tmp_path / "model.mm")
    np.testing.assert_array_equal(back.predict(Z), model.predict(Z))
    assert all(finding.holds() for finding in certify(back, [Data(X, y)]))


@pytest.mark.parametrize("weight", [None, "balanced"])
@pytest.mark.parametrize("estimator", [SVC(), SVC(multi_class="ovr"), LinearSVC(loss="hinge", multi_class="ovo")])
def test_an_estimator_of_several_classes_is_certified_again(estimator, weight):
    X, y, _, _ = rows(load_wine)
    model = model_of(clone(estimator).set_params(class_weight=weight).fit(X, y))
    assert all(finding.holds() for finding in certify(model, [Data(X[:20], y[:20]), Data(X[20:], y[20:])]))
    wrong = np.where(np.arange(len(y)) == 3, y[-1], y)
    assert not all(finding.holds() for finding in certify(model, [Data(X, wrong)]))


def test_weights_of_rows_show_in_the_duals():
    X, y, _, _ = rows(load_breast_cancer)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = model_of(SVC(C=0.1).fit(X, y, weights))
    assert all(finding.holds() for finding in certify(model, [Data(X, y)], weights))
    with pytest.raises(InvalidInput, match="trained with weights of rows"):
        certify(model, [Data(X, y)])


def test_a_precomputed_kernel(tmp_path):
    X, y, Z, _ = rows(load_breast_cancer)
    result = solve(Problem(X @ X.T, y, kernel="precomputed"))
    save(model_of(result), tmp_path / "model.mm")
    np.testing.assert_allclose(load(tmp_path / "model.mm").predict(Z @ X.T), result.predict(Z @ X.T))
    with pytest.raises(InvalidInput, match=r"the rows have 3 columns; the model was trained on \d+"):
        model_of(result).predict(np.ones((1, 3)))


def test_sparse_rows_may_be_shorter_or_longer():
    model, Z, decision, _ = fitted("binary sparse")
    short = sp.csr_array(Z[:, :20])
    padded = sp.csr_array(sp.hstack([short, sp.csr_array((Z.shape[0], Z.shape[1] - 20))]))
    np.testing.assert_allclose(model.decision_function(short), model.decision_function(padded))
    longer = sp.csr_array(sp.hstack([Z, sp.csr_array(np.ones((Z.shape[0], 1)))]))
    # exp(−γ(‖x − v‖² + 1)): every kernel value is e^−γ of what it was
    expected = (decision - model.b) * np.exp(-model.kernel.gamma) + model.b
    np.testing.assert_allclose(model.decision_function(longer), expected)
    with pytest.raises(InvalidInput, match="columns; the model was trained on"):
        model.predict(np.ones((2, 99)))


def test_code_cannot_be_saved(tmp_path):
    X, y, _, _ = rows(load_breast_cancer)
    mine = solve(Problem(X, y, kernel=lambda A, B: A @ B.T), tol=0.1)
    with pytest.raises(InvalidInput, match="cannot be saved: a model file holds no code"):
        save(model_of(mine), tmp_path / "model.mm")
    with pytest.raises(InvalidInput, match="a transform cannot be saved"):
        model_of(solve(Problem(X[:, :3], y, transform=PolynomialTransform(2)), tol=0.1))
    assert list(tmp_path.iterdir()) == []


def repacked(path, change, checksum=True):
    """The archive with its document changed, and its checksum made right again."""
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    contents = change(contents) or contents
    if checksum:
        contents["model.sha256"] = hashlib.sha256(contents["model.json"]).hexdigest().encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, raw in contents.items():
            archive.writestr(name, raw)
    path.write_bytes(out.getvalue())


def edit(**changes):
    def change(contents):
        document = json.loads(contents["model.json"]) | changes
        contents["model.json"] = json.dumps(document).encode()

    return change


@pytest.fixture
def saved(tmp_path):
    save(fitted("binary rbf")[0], tmp_path / "model.mm")
    return tmp_path / "model.mm"


@pytest.mark.parametrize(
    "change, words",
    [
        (edit(version=2), "its version is 2; this maxmargin reads 1: update it"),
        (edit(format="other"), "it is not a model of maxmargin"),
        (edit(kernel={"name": "rbf", "parameters": {"gamma": -1}}), "gamma is -1"),
        (edit(kernel={"name": "rbf", "parameters": {"function": 1}}), "damaged"),
        (edit(kernel={"name": "os.system", "parameters": {}}), "there is no kernel"),
        (edit(columns=10**12), "not a number of columns"),
        (edit(columns=7), "the shape of the vectors"),
        (edit(scheme="ovo"), "the number of machines"),
        (edit(task="regression"), "contradicts itself"),
        (lambda contents: contents.pop("b.npy") and None, "arrays are not those"),
        (lambda contents: contents.update({"evil.npy": b"x"}), "arrays are not those"),
        (lambda contents: contents.update({"b.npy": contents["b.npy"][:-1] + b"\1"}), "the checksum of b is wrong"),
    ],
)
def test_a_file_that_is_not_right_is_refused(change, words, saved):
    repacked(saved, change)
    with pytest.raises(InvalidInput, match=rf"cannot load .*model\.mm: .*{words}"):
        load(saved)


def test_the_document_has_a_checksum(saved):
    repacked(saved, edit(columns=7), checksum=False)
    with pytest.raises(InvalidInput, match="the checksum of its document is wrong"):
        load(saved)


def test_a_crash_leaves_the_old_file(saved, monkeypatch):
    before = saved.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InvalidInput, match=r"cannot write .*model\.mm: No space left on device"):
        save(fitted("binary linear")[0], saved)
    assert saved.read_bytes() == before
    assert [file.name for file in saved.parent.iterdir()] == ["model.mm"]


def test_what_is_no_model(tmp_path):
    (tmp_path / "a").write_text("hello")
    with pytest.raises(InvalidInput, match="is not a model"):
        load(tmp_path / "a")
    with pytest.raises(InvalidInput, match=r"cannot read .*nothing: No such file"):
        load(tmp_path / "nothing")
    with pytest.raises(InvalidInput, match="is a folder"):
        load(tmp_path)
    with pytest.raises(InvalidInput, match="is no fit"):
        model_of("x")


def test_probabilities_of_the_logistic_loss():
    model, Z, decision, _ = fitted("binary logistic")
    p = model.probabilities(model.scores(Z))
    np.testing.assert_allclose(p[:, 1], 1 / (1 + np.exp(-decision)))
    np.testing.assert_allclose(p.sum(axis=1), 1)
    with pytest.raises(InvalidInput, match="has no probabilities"):
        fitted("binary rbf")[0].probabilities(decision[:, None])


def test_coupling_gives_back_the_probabilities_that_made_the_pairs():
    p = np.random.default_rng(0).dirichlet(np.ones(4), size=50)
    pairs = [p[:, i] / (p[:, i] + p[:, j]) for i in range(4) for j in range(i + 1, 4)]
    np.testing.assert_allclose(coupled(np.column_stack(pairs), 4), p, atol=1e-5)
