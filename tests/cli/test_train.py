"""train, predict, check: whatever is trained is predicted with and checked, and what is wrong does not pass."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, NuSVC, NuSVR

from maxmargin.data import read
from maxmargin.losses import list_losses
from maxmargin.models import load, save

pytestmark = pytest.mark.compiled

KERNELS = ["linear", "rbf", "polynomial", "laplacian"]
TRAININGS = [("two.svm", ["--kernel", kernel, "--bias", bias]) for kernel in KERNELS for bias in ("free", "augmented")]
TRAININGS += [
    ("two.svm", ["--bias", "none", "-C", "10"]),
    ("three.csv", ["--lam", "0.1", "--scale", "min-max"]),
    ("two.svm", ["--class-weight", "0=2,1=0.5", "--solver", "smo"]),
    ("two.svm", ["--solver", "pegasos", "--tol", "0.1", "--bias", "none"]),
    ("two.svm", ["--bias", "augmented", "--bias-scale", "3"]),
    ("two.svm", ["--scale", "min-max", "--kernel", "rbf"]),
    ("sparse.svm", ["--scale", "max-abs", "--kernel", "rbf", "--class-weight", "balanced"]),
    ("sparse.svm", ["--loss", "logistic"]),
    ("three.csv", ["--scale", "standard"]),
    ("three.csv", ["--scale", "standard", "--multiclass", "ovo"]),
    ("three.csv", ["--scale", "standard", "--kernel", "rbf", "--gamma", "0.1"]),
    ("three.csv", ["--scale", "standard", "--kernel", "rbf", "--multiclass", "ovr", "--class-weight", "balanced"]),
    ("two.svm", ["--stream", "--bias", "augmented"]),
    ("sparse.svm", ["--stream", "--bias", "none", "--scale", "max-abs", "--class-weight", "balanced"]),
    ("three.csv", ["--stream", "--bias", "augmented", "--scale", "max-abs"]),
    ("values.csv", ["--stream", "--bias", "augmented", "--loss", "epsilon-insensitive"]),
]
TASKS = {"epsilon-insensitive": "values.csv", "squared-epsilon-insensitive": "values.csv"}
TRAININGS += [
    (TASKS.get(loss, "two.svm"), ["--loss", loss])
    for loss in list_losses()
    if loss not in ("least-squares", "one-class")
]
TRAININGS += [("two.svm", ["--loss", "one-class", "--nu", "0.2", "--kernel", "rbf"])]
TRAININGS += [
    ("values.csv", ["--loss", "least-squares"]),
    ("two.svm", ["--loss", "least-squares", "--task", "classification"]),
]


@pytest.mark.parametrize("name, options", TRAININGS, ids=lambda part: part if isinstance(part, str) else " ".join(part))
def test_what_is_trained_can_be_used_and_checked(name, options, files, tmp_path, command):
    trained = command("train", files / name, "-o", tmp_path / "model.mm", "--json", *options)
    assert trained.status == 0, trained.err
    facts = trained.facts
    assert facts["converged"] and facts["model"] == str(tmp_path / "model.mm")
    checked = command("check", tmp_path / "model.mm", files / name, "--json")
    assert checked.status == 0, checked.out + checked.err
    for machine, claim in zip(checked.facts["machines"], facts["machines"], strict=True):
        assert machine["primal"] == pytest.approx(claim["primal"], rel=1e-9)
        assert machine["dual"] == pytest.approx(claim["dual"], rel=1e-9)
        assert machine["infeasibility"] < 1e-9
    predicted = command("predict", tmp_path / "model.mm", files / name, "-o", tmp_path / "answers", "--json")
    assert predicted.status == 0, predicted.err
    data = read(files / name)
    answers = (tmp_path / "answers").read_text().splitlines()
    assert answers == [
        str(answer) if isinstance(answer, str) else f"{answer!r}"
        for answer in load(tmp_path / "model.mm").predict(data.X).tolist()
    ]
    if "training_accuracy" in facts:
        assert facts["training_accuracy"] == predicted.facts["accuracy"] > 0.8


NU = [("two.svm", NuSVC, []), ("three.csv", NuSVC, []), ("values.csv", NuSVR, ["--loss", "epsilon-insensitive"])]


@pytest.mark.parametrize("name, peer, options", NU)
def test_nu_is_that_of_scikit_learn(name, peer, options, files, tmp_path, command):
    more = ["--nu", "0.2", "--kernel", "rbf", "--gamma", "0.05", "--scale", "standard", "--tol", "1e-6", *options]
    trained = command("train", files / name, *more, "-o", tmp_path / "model.mm", "--json")
    assert trained.status == 0, trained.err
    assert trained.facts["converged"] and trained.facts["relative_gap"] <= 1e-6
    data = read(files / name)
    X = data.X.toarray() if name.endswith(".svm") else data.X
    model = make_pipeline(StandardScaler(), peer(nu=0.2, gamma=0.05, tol=1e-6)).fit(X, data.y)
    answers, expected = load(tmp_path / "model.mm").predict(data.X), model.predict(X)
    if peer is NuSVC:
        assert (answers == expected).mean() > 0.99
    else:
        np.testing.assert_allclose(answers, expected, atol=1e-3)
    assert command("check", tmp_path / "model.mm", files / name).status == 0


def test_crammer_singer_is_that_of_scikit_learn(files, tmp_path, command):
    more = ["--multiclass", "crammer-singer", "--bias", "augmented", "--scale", "standard", "--tol", "1e-5"]
    trained = command("train", files / "three.csv", *more, "-C", "0.1", "-o", tmp_path / "model.mm")
    assert trained.status == 0, trained.err
    assert "\nprimal " in trained.out and "proved" in trained.out
    data = read(files / "three.csv")
    peer = LinearSVC(multi_class="crammer_singer", C=0.1, tol=1e-8, max_iter=10**6)
    w = peer.fit(StandardScaler().fit_transform(data.X), data.y).coef_
    np.testing.assert_allclose(load(tmp_path / "model.mm").w, w, atol=0.01)


def test_a_certificate_that_does_not_hold(files, tmp_path, command):
    command("train", files / "two.svm", "--solver", "smo", "--tol", "1e-2", "-o", tmp_path / "model.mm")
    model = load(tmp_path / "model.mm")
    training = model.training
    (proof,) = training.proofs
    changes = {
        "w": replace(model, w=1.1 * model.w),
        "beta": replace(model, training=replace(training, proofs=(replace(proof, beta=proof.beta * 1.5),))),
        "claim": replace(model, training=replace(training, proofs=(replace(proof, relative_gap=1e-12),))),
    }
    for name, changed in changes.items():
        save(changed, tmp_path / f"{name}.mm")
        ended = command("check", tmp_path / f"{name}.mm", files / "two.svm")
        assert ended.status == 1, name
        assert "does NOT hold" in ended.out
    assert command("check", tmp_path / "model.mm", files / "two.svm", "--tol", "1e-12").status == 1
    other = command("check", tmp_path / "model.mm", files / "two.t.svm")
    assert other.status == 1


def test_the_same_seed_gives_the_same_bytes(files, tmp_path, command):
    for name in ("a.mm", "b.mm"):
        command("train", files / "two.svm", "--kernel", "rbf", "-o", tmp_path / name)
    assert (tmp_path / "a.mm").read_bytes() == (tmp_path / "b.mm").read_bytes()


def test_the_verdict_in_words(files, command):
    ended = command("train", files / "two.svm")
    assert ended.status == 0
    assert "190 rows, 30 columns" in ended.out
    assert "proved: at most" in ended.out and "training accuracy" in ended.out
    short = command("train", files / "two.svm", "--solver", "subgradient", "--max-iter", "2", "--tol", "1e-9")
    assert short.status == 3
    assert "not proved: iteration budget used up" in short.out


def test_cross_validation_search_and_probabilities(files, tmp_path, command):
    ended = command("train", files / "three.csv", "--scale", "standard", "--cv", "4", "--json")
    assert ended.facts["cross_validation"]["score"] > 0.85
    ended = command(
        *("train", files / "two.svm", "--kernel", "rbf", "--search", "--cv", "3", "--tol", "1e-2", "--probability"),
        *("-o", tmp_path / "model.mm", "--json"),
    )
    assert ended.status == 0, ended.err
    assert ended.facts["search"]["score"] > 0.93
    predicted = command("predict", tmp_path / "model.mm", files / "two.t.svm", "--probability")
    header, *lines = predicted.out.splitlines()
    assert header == "labels 0 1"
    shares = np.array([line.split() for line in lines], float)
    np.testing.assert_allclose(shares[:, 1:].sum(axis=1), 1, atol=1e-5)
    assert (shares[:, 0] == np.argmax(shares[:, 1:], axis=1)).all(), "labels are those of the largest probability"


def test_weights_of_rows(files, tmp_path, command):
    n = read(files / "two.svm").n
    np.savetxt(tmp_path / "weights.txt", np.where(np.arange(n) % 2, 2.0, 1.0))
    model = tmp_path / "model.mm"
    assert command("train", files / "two.svm", "--weights", tmp_path / "weights.txt", "-o", model).status == 0
    assert command("check", model, files / "two.svm", "--weights", tmp_path / "weights.txt").status == 0
    assert "was trained with weights" in command("check", model, files / "two.svm").err


def test_trace_and_report(files, tmp_path, command):
    pytest.importorskip("matplotlib")
    ended = command("train", files / "two.svm", "--trace", tmp_path / "trace.csv", "--report", tmp_path / "fit.html")
    assert ended.status == 0, ended.err
    with open(tmp_path / "trace.csv") as file:
        looks = list(csv.DictReader(file))
    assert looks[-1]["machine"] == "0 vs 1" and float(looks[-1]["relative_gap"]) < 1e-4
    assert "<html" in (tmp_path / "fit.html").read_text()


def test_predictions_go_to_the_screen_and_the_summary_beside_them(files, tmp_path, command):
    command("train", files / "three.csv", "--scale", "standard", "-o", tmp_path / "model.mm")
    ended = command("predict", tmp_path / "model.mm", files / "three.csv")
    assert set(ended.out.split()) == {"red", "rosé", "white"}
    assert "accuracy" in ended.err and "(answers)" in ended.err
    values = command("predict", tmp_path / "model.mm", files / "three.csv", "--decision").out
    assert len(values.splitlines()[0].split()) == 3


def test_unlabelled_rows_and_columns_by_name(files, tmp_path, command):
    """A table whose columns stand in another order, without the target, gives the same answers."""
    command("train", files / "three.csv", "--scale", "standard", "-o", tmp_path / "model.mm")
    with open(files / "three.csv", encoding="utf-8") as file:
        table = list(csv.reader(file))
    turned = [[*row[::-1][1:], "7"] for row in table]
    turned[0][-1] = "unused"
    with open(tmp_path / "new.csv", "w", encoding="utf-8") as file:
        csv.writer(file).writerows(turned)
    first = command("predict", tmp_path / "model.mm", files / "three.csv").out
    second = command("predict", tmp_path / "model.mm", tmp_path / "new.csv")
    assert second.out == first
    assert second.err.startswith("89 rows\n")


@pytest.mark.parametrize("limit", ["0.05"])
def test_a_time_budget_ends_with_a_model(limit, files, tmp_path, command):
    options = ["--solver", "subgradient", "--tol", "1e-12", "--max-time", limit, "-o", tmp_path / "model.mm"]
    ended = command("train", files / "two.svm", *options)
    assert ended.status == 3
    assert "not proved: time budget used up" in ended.out
    assert command("check", tmp_path / "model.mm", files / "two.svm").status == 0
