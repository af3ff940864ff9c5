"""What is said of answers: accuracy, errors and correlation for every task; the exit status of what is not proved."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from maxmargin.cli.scores import Moments
from maxmargin.data import Data, read, write
from maxmargin.models import load

pytestmark = pytest.mark.compiled


def test_moments_in_blocks_are_those_of_the_whole():
    rng = np.random.default_rng(0)
    y, z = 1e6 + rng.normal(size=(2, 100))
    y += z
    moments = Moments()
    for start in range(0, 100, 7):
        moments.add(y[start : start + 7], z[start : start + 7])
    assert moments.squares == pytest.approx(((y - z) ** 2).sum())
    assert moments.squared_correlation == pytest.approx(np.corrcoef(y, z)[0, 1] ** 2, rel=1e-9)
    constant = Moments()
    constant.add(np.ones(3), np.arange(3.0))
    assert np.isnan(constant.squared_correlation)


def test_a_regression(files, tmp_path, command):
    trained = command(
        "train", files / "values.csv", "--loss", "epsilon-insensitive", "-o", tmp_path / "m.mm", "--json"
    ).facts
    data = read(files / "values.csv")
    answers = load(tmp_path / "m.mm").predict(data.X)
    expected = np.corrcoef(data.y, answers)[0, 1] ** 2
    assert trained["training_squared_correlation"] == pytest.approx(expected)
    assert trained["training_mean_squared_error"] == pytest.approx(((data.y - answers) ** 2).mean())
    found = command("predict", tmp_path / "m.mm", files / "values.csv", "-o", tmp_path / "answers", "--json").facts
    assert found["squared_correlation"] == pytest.approx(expected)
    said = command("predict", tmp_path / "m.mm", files / "values.csv").err
    assert re.fullmatch(r"148 rows: mean squared error [\d.]+, squared correlation 0\.\d+\n", said)
    assert "training squared correlation" in command("train", files / "values.csv", "--loss", "least-squares").out


def test_a_one_class_model_with_labels(files, tmp_path, command):
    data = read(files / "two.svm")
    write(tmp_path / "signs.svm", Data(data.X, np.where(data.y == 1, 1, -1)))
    options = ["--loss", "one-class", "--nu", "0.3", "--kernel", "rbf", "-o", tmp_path / "m.mm"]
    trained = command("train", tmp_path / "signs.svm", *options, "--json").facts
    predicted = command(
        "predict", tmp_path / "m.mm", tmp_path / "signs.svm", "-o", tmp_path / "answers", "--json"
    ).facts
    right = (load(tmp_path / "m.mm").predict(data.X) == np.where(data.y == 1, 1, -1)).mean()
    assert trained["training_accuracy"] == predicted["accuracy"] == pytest.approx(right)
    said = command("predict", tmp_path / "m.mm", files / "two.svm")  # its labels are 0 and 1
    assert "no accuracy" in said.err and "accuracy 0" not in said.err
    assert "training_accuracy" not in command("train", files / "two.svm", *options, "--json").facts


def test_what_is_not_proved_ends_with_status_three_and_a_model(files, tmp_path, command):
    options = ["--solver", "subgradient", "--max-iter", "2", "--tol", "1e-9", "-o", tmp_path / "m.mm"]
    ended = command("train", files / "two.svm", *options)
    assert ended.status == 3 and "not proved" in ended.out and ended.err == ""
    load(tmp_path / "m.mm")
    ended = command("train", files / "two.svm", *options, "--json")
    assert ended.status == 3 and not ended.facts["converged"]


def test_the_keys_of_json_are_documented(files, tmp_path, command):
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    known = set(re.findall(r"`(\w+)`", page.partition("## JSON")[2].partition("## Models")[0]))
    model = tmp_path / "m.mm"
    found = [
        command("train", files / "two.svm", "--cv", "3", "--json", "-o", model).facts,
        command("train", files / "values.csv", "--loss", "least-squares", "--json").facts,
        command("predict", model, files / "two.svm", "-o", tmp_path / "answers", "--json").facts,
        command("check", model, files / "two.svm", "--json").facts,
        command("info", model, "--json").facts,
        command("info", files / "two.svm", "--json").facts,
        command("info", files / "values.csv", "--json").facts,
    ]
    keys = {key for facts in found for key in facts}
    keys |= {key for facts in found[:4] for key in (facts.get("machines") or [{}])[0]}
    keys |= set(found[0]["cross_validation"]) | set(found[2]["confusion"][0])
    assert keys <= known, keys - known
