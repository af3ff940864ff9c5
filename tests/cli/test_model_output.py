"""Where a model goes: beside the data, to the file that is named, to standard output; never to a name of data."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from maxmargin.cli import model_output
from maxmargin.data import read
from maxmargin.models import load

pytestmark = pytest.mark.compiled
PROGRAM = [sys.executable, "-c", "from maxmargin.cli import main; main()"]


@pytest.fixture
def folder(files, tmp_path, monkeypatch):
    """d.svm in an empty folder."""
    (tmp_path / "d.svm").write_bytes((files / "two.svm").read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_beside_the_data(folder, command):
    ended = command("train", "d.svm")
    assert ended.status == 0 and ended.out.endswith("; model in d.svm.mm\n")
    first = (folder / "d.svm.mm").read_bytes()
    assert command("train", "d.svm", "--json").facts["model"] == "d.svm.mm"
    ended = command("train", "d.svm", "-C", "3")
    assert ended.out.endswith("; model in d.svm.mm, in place of the one that was there\n")
    assert (folder / "d.svm.mm").read_bytes() != first
    (folder / "sub").mkdir()
    (folder / "sub" / "e.svm").write_bytes((folder / "d.svm").read_bytes())
    command("train", "sub/e.svm")
    load("sub/e.svm.mm")


def test_a_file_that_is_no_model_is_not_replaced(folder, command):
    (folder / "d.svm.mm").write_text("notes")
    ended = command("train", "d.svm")
    assert ended.status == 2 and "is no model of maxmargin" in ended.err and ended.out == ""
    assert (folder / "d.svm.mm").read_text() == "notes"
    (folder / "d.svm.mm").unlink()
    (folder / "d.svm.mm").mkdir()
    assert command("train", "d.svm").status == 2
    ended = command("train", "d.svm", "-o", "m.mm", "--trace", "d.svm.mm")
    assert ended.status == 1 and "is a folder" in ended.err


def test_the_default_is_an_output_as_any_other(folder, command):
    ended = command("train", "d.svm", "--trace", "d.svm.mm")
    assert ended.status == 2 and "is the same file as" in ended.err


def test_no_place_beside_the_data_is_said(folder, monkeypatch, command):
    with open("d.svm", "rb") as file:
        ended = subprocess.run([*PROGRAM, "train", "-", "-q"], stdin=file, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0
    assert ended.stdout.endswith("; NO MODEL WAS SAVED: name a file with -o\n")
    monkeypatch.setattr(model_output.os, "access", lambda path, mode: False)
    assert "NO MODEL WAS SAVED: . is not writable" in command("train", "d.svm", "-q").out
    assert {file.name for file in folder.iterdir()} == {"d.svm"}


@pytest.mark.parametrize("name", ["x.svm", "x.csv", "x.tsv.gz", "x.npy", "x.parquet", "x.libsvm"])
def test_a_name_for_data_is_refused(name, folder, command):
    ended = command("train", "d.svm", "-o", name)
    assert ended.status == 2 and "is a name for" in ended.err and ".libsvm-model" in ended.err
    assert {file.name for file in folder.iterdir()} == {"d.svm"}


def test_a_model_on_standard_output(folder, command):
    command("train", "d.svm", "-o", "m.mm")
    ended = subprocess.run([*PROGRAM, "train", "d.svm", "-o", "-"], capture_output=True, timeout=300)
    assert ended.returncode == 0
    assert ended.stdout == (folder / "m.mm").read_bytes()
    assert b"model on standard output" in ended.stderr and b"190 rows" in ended.stderr
    assert command("train", "d.svm", "-o", "-", "--json").status == 2
    assert not (folder / "-").exists()


def test_standard_output_of_the_other_commands(folder, command):
    command("train", "d.svm", "-o", "m.mm")
    assert command("predict", "m.mm", "d.svm", "-o", "-").out == command("predict", "m.mm", "d.svm").out
    (folder / "e.csv").write_text(command("convert", "d.svm", "-", "--to", "csv").out)
    assert (read("e.csv").X == read("d.svm").X.toarray()).all()
    (folder / "e.libsvm-model").write_text(command("convert", "m.mm", "-", "--to", "libsvm").out)
    load("e.libsvm-model")
    assert "Say it with --to" in command("convert", "d.svm", "-").err
    for option in ("--trace", "--report", "--checkpoint"):
        assert "cannot be standard output" in command("train", "d.svm", option, "-").err
    assert not os.path.exists("-")


def test_quiet_is_one_line(folder, command):
    ended = command("train", "d.svm", "-q", "--cv", "3", "-o", "m.mm")
    assert ended.out.count("\n") == 1 and ", 3-fold score 0.9" in ended.out and ended.err == ""
    ended = command("predict", "m.mm", "d.svm", "-q", "-o", "answers")
    assert ended.out.count("\n") == 1 and "accuracy" in ended.out
    assert command("check", "m.mm", "d.svm", "-q").out == "the certificate holds as claimed\n"
    assert command("convert", "m.mm", "m.onnx", "-q").out.count("\n") == 1
