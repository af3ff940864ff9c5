"""Data as it comes: pipes, standard input, no labels, columns to leave out; what cannot be read is named."""

from __future__ import annotations

import bz2
import os
import re
import subprocess
import sys
import threading

import numpy as np
import pytest

from maxmargin.data import Data, read, write
from maxmargin.models import load

pytestmark = pytest.mark.compiled
PROGRAM = f"{sys.executable} -c 'from maxmargin.cli import main; main()'"


@pytest.fixture
def folder(files, tmp_path, monkeypatch):
    """two.svm and two.csv, and a model of them."""
    data = read(files / "two.svm")
    write(tmp_path / "two.svm", data)
    write(tmp_path / "two.csv", Data(data.X, data.y))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(script):
    script = script.replace("maxmargin", PROGRAM)
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    "source", ["<(cat two.svm)", "<(gzip -c two.svm)", "<(cat two.csv)", "- < two.csv", "- < two.svm"]
)
def test_a_pipe_gives_the_same_model(source, folder, command):
    suffix = "csv" if "csv" in source else "svm"
    command("train", f"two.{suffix}", "-o", "file.mm")
    ended = shell(f"maxmargin train {source} -o pipe.mm")
    assert ended.returncode == 0, ended.stderr
    np.testing.assert_array_equal(load("pipe.mm").w, load("file.mm").w)
    assert load("pipe.mm").names == load("file.mm").names


def through(path, target):
    """Send a file through a pipe."""

    def send():
        with open(target, "wb") as pipe:
            pipe.write(path.read_bytes())

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    return thread


def test_a_fifo_is_read_once_by_every_command(folder, command):
    os.mkfifo("pipe")
    command("train", "two.csv", "-o", "m.mm")
    expected = command("predict", "m.mm", "two.csv").out
    for arguments in (
        ["train", "pipe", "-o", "n.mm"],
        ["predict", "m.mm", "pipe"],
        ["check", "m.mm", "pipe"],
        ["info", "pipe"],
    ):
        thread = through(folder / "two.csv", "pipe")
        ended = command(*arguments)
        thread.join(60)
        assert ended.status == 0, ended.err
        if arguments[0] == "predict":
            assert ended.out == expected
    thread = through(folder / "two.csv", "pipe")
    assert command("convert", "pipe", "out.svm").status == 0
    np.testing.assert_array_equal(read("out.svm").X.toarray(), read("two.svm").X.toarray())


def test_binary_data_needs_a_file(folder, command):
    np.save("two.npy", np.ones((3, 2)))
    ended = shell("cat two.npy | maxmargin train -")
    assert ended.returncode == 1 and "standard input holds npy data, which is read from a file only" in ended.stderr


def test_bzip2(folder, command):
    (folder / "two.svm.bz2").write_bytes(bz2.compress((folder / "two.svm").read_bytes()))
    np.testing.assert_array_equal(read("two.svm.bz2").X.toarray(), read("two.svm").X.toarray())
    assert command("convert", "two.svm", "again.csv.bz2").status == 0
    assert bz2.decompress((folder / "again.csv.bz2").read_bytes()).startswith(b"x1,")
    (folder / "cut.svm.bz2").write_bytes((folder / "two.svm.bz2").read_bytes()[:-20])
    assert re.fullmatch("maxmargin: cannot read cut.svm.bz2: [^\\n]+\\n", command("train", "cut.svm.bz2").err)


def test_rows_without_labels(folder, command):
    command("train", "two.svm", "-o", "m.mm")
    expected = command("predict", "m.mm", "two.svm").out
    lines = (folder / "two.svm").read_text().splitlines()
    (folder / "bare.svm").write_text("".join(line.split(" ", 1)[1] + "\n" for line in lines))
    ended = command("predict", "m.mm", "bare.svm")
    assert ended.out == expected and ended.err == "190 rows\n"
    assert command("predict", "m.mm", "bare.svm", "-o", "answers", "--json").facts == {"rows": 190}
    assert "begin the line with a label" in command("train", "bare.svm").err
    assert command("train", "bare.svm", "--loss", "one-class", "--kernel", "rbf").status == 0
    (folder / "mixed.svm").write_text("1:2\n1 1:2\n")
    assert "mixed.svm:2:1: '1' is not an entry" in command("predict", "m.mm", "mixed.svm", "-o", "answers").err


@pytest.mark.parametrize("target", [1, 4])
def test_a_table_without_a_header_and_without_the_target(target, folder, command):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)).round(3)
    table = np.insert(X, target - 1, np.sign(X[:, 0]), axis=1)
    np.savetxt("all.csv", table, delimiter=",", fmt="%g")
    np.savetxt("rows.csv", X, delimiter=",", fmt="%g")
    np.save("rows.npy", X)
    assert command("train", "all.csv", "--target", target, "-o", "m.mm").status == 0
    expected = command("predict", "m.mm", "all.csv")
    assert "accuracy" in expected.err
    assert command("predict", "m.mm", "rows.csv").out == expected.out
    assert command("predict", "m.mm", "rows.npy").out == expected.out


def test_columns_left_out(folder, command):
    lines = (folder / "two.csv").read_text().splitlines()
    lines = ["id," + lines[0]] + [f"row{k},{line}" for k, line in enumerate(lines[1:])]
    (folder / "named.csv").write_text("\n".join(lines))
    assert "leave the column out" in command("train", "named.csv").err
    assert command("train", "named.csv", "--drop", "id", "--drop", "x3", "-o", "m.mm").status == 0
    assert "id" not in load("m.mm").names and "x3" not in load("m.mm").names
    assert command("predict", "m.mm", "named.csv").status == 0
    assert command("convert", "named.csv", "out.svm", "--drop", "id").status == 0
    np.testing.assert_array_equal(read("out.svm").X.toarray(), read("two.svm").X.toarray())
    assert "no column 'nothing' to leave out" in command("train", "named.csv", "--drop", "nothing").err
    assert "to leave out" in command("train", "named.csv", "--drop", "target").err
    assert "no names of columns" in command("train", "two.svm", "--drop", "3").err


def test_an_npy_file_keeps_its_target(folder, command):
    assert command("convert", "two.svm", "two.npy").status == 0
    rows = np.load("two.npy")
    np.testing.assert_array_equal(rows["X"], read("two.svm").X.toarray())
    np.testing.assert_array_equal(rows["target"], read("two.svm").y)
    command("train", "two.npy", "-o", "m.mm")
    assert "accuracy" in command("predict", "m.mm", "two.npy").err
    assert "has its target with it" in command("train", "two.npy", "--target", "3").err


WRONG = [
    ('a,y\n"1,000",1\n', "x.csv:2:2: '1,000' in column 'a' has commas between its digits; write 1000"),
    ("a,y\nNA,1\n", "x.csv:2:1: the value of column 'a' is missing ('NA'); fill it in or drop the row"),
    ("a,y\n?,1\n", "is missing ('?')"),
    ("a,y\n,1\n", "the value of column 'a' is missing; fill it in or drop the row"),
    ("a;y\n1,5;1\n", "'1,5' in column 'a' has a decimal comma; write 1.5"),
    ("a;y\n1,500;1\n", "'1,500' in column 'a' has a decimal comma; write 1.500"),
    ('a,y\n"-2,5e3",1\n', "write -2.5e3"),
    ("a,y\n1,1\n2,NA\n", "the target of row 2 is missing ('NA')"),
    ("a,y\n1,red\n2,\n", "the target of row 2 is missing;"),
    ("1 2 3\n4 5 6\n", "x.csv:1:1: blanks stand between the fields"),
]


@pytest.mark.parametrize("text, said", WRONG)
def test_what_is_no_number_is_named(text, said, folder, command):
    (folder / "x.csv").write_text(text)
    ended = command("train", "x.csv")
    assert ended.status == 1 and ended.err.count("\n") == 1
    assert said in ended.err


def test_a_class_may_be_called_none(folder, command):
    (folder / "x.csv").write_text("a,y\n1,none\n2,some\n")
    assert command("train", "x.csv", "-o", "m.mm").status == 0
    assert load("m.mm").classes.tolist() == ["none", "some"]


def test_a_decimal_comma_in_svmlight(folder, command):
    (folder / "x.svm").write_text("1 1:0,5\n")
    assert "decimals have a point" in command("train", "x.svm").err


@pytest.mark.parametrize("y", [np.arange(300) * 7, np.arange(300) % 40 + 0.5])
def test_targets_of_a_regression_are_not_classes(y, folder, command):
    rng = np.random.default_rng(0)
    write("values.svm", Data(rng.normal(size=(300, 2)), y))
    ended = command("train", "values.svm")
    assert ended.status == 1 and "--loss epsilon-insensitive" in ended.err and "--multiclass" in ended.err
    assert command("train", "values.svm", "--loss", "epsilon-insensitive", "--tol", "0.1").status == 0
