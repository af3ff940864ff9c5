"""convert, info, race and the lists."""

from __future__ import annotations

import csv

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.data import FORMATS, read
from maxmargin.kernels import list_kernels
from maxmargin.losses import list_losses
from maxmargin.models import load
from maxmargin.solvers import list_solvers

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("kind", FORMATS)
def test_data_converted_there_and_back(kind, files, tmp_path, command):
    if kind in ("parquet", "arrow"):
        pytest.importorskip("pyarrow")
    there = tmp_path / f"there.{'svm' if kind == 'svmlight' else kind}"
    ended = command("convert", files / "sparse.svm", there)
    assert ended.status == 0, ended.err
    assert command("convert", there, tmp_path / "back.svm.gz").status == 0
    before, after = read(files / "sparse.svm", columns=30), read(tmp_path / "back.svm.gz", columns=30)
    np.testing.assert_array_equal(after.X.toarray(), before.X.toarray())
    np.testing.assert_array_equal(after.y, before.y)


def test_models_converted_there_and_back(files, tmp_path, command):
    command("train", files / "two.svm", "-o", tmp_path / "model.mm")
    Z = read(files / "two.t.svm").X
    for suffix in ("libsvm-model", "liblinear-model"):
        assert command("convert", tmp_path / "model.mm", tmp_path / f"there.{suffix}").status == 0
        assert command("convert", tmp_path / f"there.{suffix}", tmp_path / "back.mm").status == 0
        expected = load(tmp_path / "model.mm").scores(Z)
        np.testing.assert_allclose(load(tmp_path / "back.mm").scores(Z), expected, rtol=1e-12)


def test_info_of_data_and_models(files, tmp_path, command):
    facts = command("info", files / "sparse.svm", "--json").facts
    data = read(files / "sparse.svm")
    assert (facts["rows"], facts["columns"]) == data.X.shape
    assert facts["non_zeros"].startswith(f"{data.X.nnz} (") and sp.issparse(data.X)
    assert facts["labels"] == f"0: {(data.y == 0).sum()}, 1: {(data.y == 1).sum()}"
    assert "from " in command("info", files / "values.csv").out
    command("train", files / "three.csv", "--kernel", "rbf", "--scale", "standard", "-o", tmp_path / "model.mm")
    facts = command("info", tmp_path / "model.mm", "--json").facts
    assert facts["classes"] == "red, rosé, white" and facts["machines"] == "3 (ovo)" and facts["scaling"] == "standard"
    assert facts["vectors"] == load(tmp_path / "model.mm").vectors.shape[0]


def test_a_race(files, tmp_path, command):
    pytest.importorskip("matplotlib")
    options = ["--max-time", "2", "--tol", "1e-2", "--csv", tmp_path / "race.csv", "-o", tmp_path / "race.png"]
    ended = command("race", files / "two.svm", "--solvers", "smo,interior-point", *options)
    assert ended.status == 0, ended.err
    assert "smo" in ended.out and "converged" in ended.out
    with open(tmp_path / "race.csv") as file:
        looks = list(csv.DictReader(file))
    assert {look["solver"] for look in looks} == {"smo", "interior-point"}
    assert min(float(look["relative_gap"]) for look in looks) <= 1e-2
    assert (tmp_path / "race.png").read_bytes().startswith(b"\x89PNG")


def test_a_race_of_all_names_those_that_refuse(files, command):
    ended = command("race", files / "two.svm", "--max-time", "0.3", "--tol", "1e-1")
    assert ended.status == 0, ended.err
    assert "not for this problem: " in ended.out and "coordinate-ascent" in ended.out


@pytest.mark.parametrize("name, known", [("solvers", list_solvers), ("kernels", list_kernels), ("losses", list_losses)])
def test_the_lists_are_complete(name, known, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    ended = command(name)
    assert ended.status == 0
    for entry in known():
        assert entry in ended.out


def test_the_example_of_race_runs(files, tmp_path, command, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("COLUMNS", "200")
    example = next(line for line in command("race", "--help").out.splitlines() if "Example: maxmargin race" in line)
    (tmp_path / "a9a.svm").write_bytes((files / "two.svm").read_bytes())
    monkeypatch.chdir(tmp_path)
    ended = command(*example.strip().removeprefix("Example: maxmargin ").split())
    assert ended.status == 0 and ended.out.count("converged") == 2, ended.out + ended.err
    assert (tmp_path / "race.png").exists() and (tmp_path / "race.csv").exists()


RACES = [
    ("two.svm", ["--kernel", "rbf", "-g", "0.01", "-c", "10", "--scale", "standard"]),
    ("two.svm", ["-t", "1", "-d", "2", "-r", "1", "-w1", "3"]),
    ("two.svm", ["--bias", "augmented", "--bias-scale", "3", "--class-weight", "balanced"]),
    ("values.csv", ["--loss", "epsilon-insensitive", "--epsilon", "0.3"]),
    ("two.svm", ["--loss", "one-class", "--nu", "0.3", "--kernel", "rbf"]),
    ("values.csv", ["--loss", "least-squares", "--task", "regression", "--lam", "2"]),
]


@pytest.mark.parametrize("name, options", RACES, ids=lambda part: part if isinstance(part, str) else " ".join(part))
def test_a_race_is_about_the_problem_that_train_solves(name, options, files, tmp_path, command):
    trained = command("train", files / name, *options, "--tol", "1e-6", "--json", "-o", tmp_path / "m.mm").facts
    solver = trained["machines"][0]["solver"]
    races = ["--solvers", solver, "--tol", "1e-6", "--csv", tmp_path / "race.csv"]
    ended = command("race", files / name, *options, *races)
    assert ended.status == 0, ended.err
    with open(tmp_path / "race.csv") as file:
        last = list(csv.DictReader(file))[-1]
    assert float(last["primal"]) == pytest.approx(trained["machines"][0]["primal"], rel=1e-5)


def test_options_that_a_race_does_not_have(files, command):
    assert "has no --gamma" in command("race", files / "two.svm", "--gamma", "1").err
    assert "has no --nu" in command("race", files / "two.svm", "--nu", "0.2").err
    ended = command("race", files / "values.csv", "--loss", "epsilon-insensitive", "--class-weight", "balanced")
    assert "--class-weight is for classification" in ended.err


@pytest.mark.parametrize(
    "options", [[], ["--kernel", "rbf"], ["--multiclass", "ovr"], ["--nu", "0.1"]], ids=lambda given: " ".join(given)
)
def test_a_report_on_several_classes_has_a_section_for_each_machine(options, files, tmp_path, command):
    page, model = tmp_path / "r.html", tmp_path / "m.mm"
    ended = command(
        "train", files / "three.csv", "--report", page, "-o", model, "--scale", "standard", "--json", *options
    )
    assert ended.status == 0, ended.err
    text = page.read_text(encoding="utf-8")
    machines = ended.facts["machines"]
    assert len(machines) == 3
    assert text.count("<h2>") == 4 + len(machines)
    for machine in machines:
        assert f"<h2>{machine['name']}</h2>" in text
        assert f"{machine['dual']:.10g}" in text and f"{machine['relative_gap']:.3g}" in text
        assert machine["relative_gap"] <= 1e-4
    assert "Proved optimal" in text and "src=" not in text  # nothing from elsewhere
    if "--nu" not in options:  # what the file itself tells is the same, but for the course of the training
        again = load(model).report(tmp_path / "again.html").read_text(encoding="utf-8")
        assert again.count("<h2>") == 3 + len(machines)
        assert all(f"{machine['primal']:.10g}" in again for machine in machines)
