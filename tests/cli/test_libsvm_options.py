"""What users of LIBSVM and LIBLINEAR type: taken over where it means one thing, else answered in one sentence."""

from __future__ import annotations

import re

import pytest

from maxmargin.cli.libsvm_options import translated
from maxmargin.models import load

pytestmark = pytest.mark.compiled

SAME = [
    (["-c", "3"], ["--cost", "3"]),
    (["--C", "3"], ["-C", "3"]),
    (["-t", "0"], []),
    (["-t2", "-g", "0.1", "-c10"], ["--kernel", "rbf", "--gamma", "0.1", "-C", "10"]),
    (
        ["-t", "1", "-d", "2", "-r", "1", "-g", "auto"],
        ["--kernel", "polynomial", "--degree", "2", "--coef0", "1", "--gamma", "auto"],
    ),
    (["--kernel", "gaussian"], ["--kernel", "rbf"]),
    (["--kernel", "poly"], ["--kernel", "polynomial"]),
    (["-w1", "5", "-w0", "0.5"], ["--class-weight", "1=5,0=0.5"]),
    (["-B", "2"], ["--bias", "augmented", "--bias-scale", "2"]),
    (["-B", "-1"], ["--bias", "none"]),
    (["-n", "0.3", "-t", "2"], ["--nu", "0.3", "--kernel", "rbf"]),
    (["-b", "1"], ["--probability"]),
    (["-b", "0"], []),
    (["-m", "100", "-t", "2"], ["--cache-bytes", "1e8", "--kernel", "rbf"]),
    (["-s", "0", "-t", "2"], ["--kernel", "rbf"]),
    (["-s1", "-t", "2", "-n", "0.3"], ["--nu", "0.3", "--kernel", "rbf"]),
    (["-s", "2", "-g", "0.1", "-t2"], ["--loss", "one-class", "--nu", "0.5", "--kernel", "rbf", "--gamma", "0.1"]),
    (["-s", "3", "-B", "1"], ["--loss", "hinge", "--bias", "augmented"]),
    (["-s", "6", "-B", "-1"], ["--loss", "logistic", "--penalty", "l1", "--bias", "none"]),
]


@pytest.mark.parametrize("theirs, ours", SAME, ids=lambda part: " ".join(part) or "nothing")
def test_their_words_give_the_same_model(theirs, ours, files, tmp_path, command):
    for name, words in (("theirs.mm", theirs), ("ours.mm", ours)):
        ended = command("train", *words, files / "two.svm", "-o", tmp_path / name)
        assert ended.status == 0, ended.err
    assert (tmp_path / "theirs.mm").read_bytes() == (tmp_path / "ours.mm").read_bytes()


def test_folds_and_regression(files, tmp_path, command):
    values = tmp_path / "values.csv"
    values.write_bytes((files / "values.csv").read_bytes())
    asked = "train", values, "--loss", "epsilon-insensitive", "-p", "0.2"
    theirs = command(*asked, "-v", "3", "--json")
    assert theirs.facts["cross_validation"]["folds"] == 3, theirs.err
    alone = command(*asked, "-v3")
    assert alone.status == 0 and "3-fold mean squared error" in alone.out and "proved" not in alone.out
    assert list(tmp_path.iterdir()) == [values]  # as svm-train: no model
    both = command(*asked, "-v", "3", "-o", tmp_path / "both.mm")
    assert "3-fold mean squared error" in both.out and (tmp_path / "both.mm").exists()
    model = tmp_path / "model.mm"
    assert command("train", files / "values.csv", "--loss", "epsilon-insensitive", "-p", "0.2", "-o", model).status == 0
    assert load(model).training.loss_parameters == {"epsilon": 0.2}


def test_probabilities_of_predict(files, tmp_path, command):
    assert command("train", "-b", "1", files / "two.svm", "-o", tmp_path / "m.mm").status == 0
    theirs = command("predict", "-b", "1", tmp_path / "m.mm", files / "two.t.svm")
    assert theirs.out == command("predict", "--probability", tmp_path / "m.mm", files / "two.t.svm").out
    assert theirs.out.startswith("labels 0 1")


REFUSED = [
    (["-e", "0.001"], "write --tol"),
    (["-e0.001"], "write --tol"),
    (["-m", "much"], "number of MB"),
    (["-m", "-1"], "must be a number > 0"),
    (["-h", "0"], "shrinking"),
    (["-h"], "--help"),
    (["-R"], "--bias free"),
    (["-s", "0"], "--loss hinge for svm-train, --loss logistic --bias none for LIBLINEAR"),
    (["-s", "3"], "--loss epsilon-insensitive for svm-train, --loss hinge --bias none for LIBLINEAR"),
    (["-s", "13"], "--loss epsilon-insensitive --bias none for LIBLINEAR"),
    (["-s", "6"], "--loss logistic --penalty l1 --bias none for LIBLINEAR"),
    (["-s", "0", "-t", "2", "-B", "1"], "--loss hinge for svm-train, --loss logistic --bias none for LIBLINEAR"),
    (["-s", "21"], "no counterpart"),
    (["--no-model"], "goes with --cv alone"),
    (["--cv", "3", "--no-model", "--search"], "goes with --cv alone"),
    (["-t", "7"], "number from 0 to 4, or write --kernel"),
    (["-t", "rbf"], "write --kernel"),
    (["-t"], "-t needs a value"),
    (["-b", "2"], "write --probability"),
    (["-B", "x"], "--bias-scale"),
    (["-weights", "w.txt"], "--weights FILE"),
    (["-w1"], "needs a value"),
    (["-w1", "much"], "--class-weight"),
    (["-w1", "2", "--class-weight", "1=3"], "not both"),
    (["-w1", "2", "--class-weight=1=3"], "not both"),
    (["model.mm"], "write -o model.mm for the model"),
]


@pytest.mark.parametrize("words, said", REFUSED, ids=lambda part: " ".join(part) if isinstance(part, list) else None)
def test_what_cannot_be_taken_over_names_our_option(words, said, files, tmp_path, command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = command("train", files / "two.svm", *words)
    assert ended.status == 2
    assert re.fullmatch(r"maxmargin: [^\n]+\n", ended.err) and said in ended.err, ended.err
    assert not list(tmp_path.iterdir())


def test_values_of_our_options_are_not_looked_at():
    assert translated("train", ["d", "--target", "-t", "-o", "-w1"], {"--target", "-o"}) == (
        ["d", "--target", "-t", "-o", "-w1"]
    )
    assert translated("train", ["--", "-t"], set()) == ["--", "-t"]
    assert translated("train", ["-w-1", "2", "-", "-w1", "3"], set()) == ["--class-weight", "-1=2,1=3", "-"]


def test_the_order_of_svm_predict(files, tmp_path, command):
    model = tmp_path / "m.mm"
    assert command("train", files / "two.svm", "-o", model).status == 0
    for name in ("predict", "check"):
        ended = command(name, files / "two.svm", model)
        assert ended.status == 2 and "write the model first, then the data" in ended.err
    ended = command("predict", model, files / "two.svm", "out")
    assert ended.status == 2 and "write -o out for the answers" in ended.err


def test_the_help_of_train_is_in_groups(command):
    ended = command("train", "--help")
    for panel in ("Data", "Problem", "Kernel", "Solver and budget", "Selection and probabilities", "Output"):
        assert f"─ {panel} ─" in ended.out
