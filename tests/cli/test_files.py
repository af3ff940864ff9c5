"""Outputs are never inputs, old checkpoints stay, modes are kept, and no file commands the terminal."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys

import numpy as np
import pytest

from maxmargin.data import Data, read, write
from maxmargin.files import distinct, replacing, shown
from maxmargin.models import load, model_of, save

pytestmark = pytest.mark.compiled


@pytest.fixture
def folder(files, tmp_path, monkeypatch):
    """d.svm with names that lead to it, w.txt, and a model m."""
    from maxmargin.loop import solve
    from maxmargin.problem import Problem

    (tmp_path / "d.svm").write_bytes((files / "two.svm").read_bytes())
    data = read(tmp_path / "d.svm")
    (tmp_path / "w.txt").write_text("1\n" * data.n)
    save(model_of(solve(Problem(data.X, data.y), tol=0.1)), tmp_path / "m")
    (tmp_path / "soft").symlink_to("d.svm")
    os.link(tmp_path / "d.svm", tmp_path / "hard")
    (tmp_path / "sub").mkdir()
    (tmp_path / "loop").symlink_to("sub/../d.svm")
    monkeypatch.chdir(tmp_path)
    return tmp_path


SAME = [
    ["train", "d.svm", "-o", "d.svm"],
    ["train", "d.svm", "-o", "./sub/../d.svm"],
    ["train", "d.svm", "-o", "soft"],
    ["train", "soft", "-o", "d.svm"],
    ["train", "d.svm", "-o", "hard"],
    ["train", "loop", "-o", "hard"],
    ["train", "d.svm", "--report", "d.svm"],
    ["train", "d.svm", "--trace", "d.svm"],
    ["train", "d.svm", "--checkpoint", "d.svm"],
    ["train", "d.svm", "--checkpoint", "d.svm", "--overwrite"],
    ["train", "d.svm", "--checkpoint", "d.svm", "--resume"],
    ["train", "d.svm", "--weights", "w.txt", "-o", "w.txt"],
    ["train", "d.svm", "-o", "x", "--report", "x"],
    ["train", "d.svm", "-o", "x", "--report", "sub/../x"],
    ["train", "d.svm", "--trace", "x", "--checkpoint", "x"],
    ["train", "d.svm", "--stream", "--bias", "none", "-o", "d.svm"],
    ["predict", "m", "d.svm", "-o", "d.svm"],
    ["predict", "m", "d.svm", "-o", "m"],
    ["race", "d.svm", "--csv", "d.svm"],
    ["race", "d.svm", "-o", "soft"],
    ["race", "d.svm", "-o", "x.png", "--csv", "x.png"],
    ["convert", "d.svm", "d.svm"],
    ["convert", "d.svm", "hard", "--to", "csv"],
    ["convert", "m", "m", "--to", "libsvm"],
]


@pytest.mark.parametrize("arguments", SAME, ids=" ".join)
def test_an_output_is_never_an_input_or_another_output(arguments, folder, command):
    before = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    ended = command(*arguments)
    assert ended.status == 2, ended.out + ended.err
    assert ended.out == ""
    assert re.fullmatch(r"maxmargin: \S+ \S+ is the same file as [^\n]+\n", ended.err), ended.err
    assert {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()} == before


def test_standard_input_is_an_input(folder):
    code = "from maxmargin.cli import main; main()"
    before = (folder / "d.svm").read_bytes()
    with open("d.svm", "rb") as file:
        ended = subprocess.run(
            [sys.executable, "-c", code, "train", "-", "-o", "d.svm"], stdin=file, capture_output=True, timeout=300
        )
    assert ended.returncode == 2 and b"same file" in ended.stderr
    assert (folder / "d.svm").read_bytes() == before


def test_a_device_may_be_several_outputs(folder):
    distinct({"DATA": "/dev/null"}, {"-o": "/dev/null", "--csv": "/dev/null", "--report": None})
    distinct({"DATA": "d.svm"}, {"-o": "new", "--csv": "newer"})


# Checkpoints


def test_an_old_checkpoint_is_not_replaced_without_a_word(folder, command):
    options = ["--kernel", "rbf", "--checkpoint", "state"]
    assert command("train", "d.svm", *options).status == 0
    before = (folder / "state").read_bytes()
    ended = command("train", "d.svm", *options, "-C", "3")
    assert ended.status == 2
    assert "--resume" in ended.err and "--overwrite" in ended.err
    assert (folder / "state").read_bytes() == before
    assert command("train", "d.svm", *options, "--resume").status == 0
    assert command("train", "d.svm", *options, "-C", "3", "--overwrite").status == 0
    assert (folder / "state").read_bytes() != before
    assert command("train", "d.svm", "--overwrite").status == 2
    assert command("train", "d.svm", *options, "--overwrite", "--resume").status == 2


# Modes


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_what_is_replaced_keeps_its_mode(mode, tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(mode)
    seen = []
    with replacing(path) as file:
        seen = [stat.S_IMODE(part.stat().st_mode) for part in tmp_path.glob(".*.part")]
        file.write(b"new")
    assert seen == [mode]
    assert path.read_bytes() == b"new" and stat.S_IMODE(path.stat().st_mode) == mode


def test_a_private_model_stays_private(folder, command):
    (folder / "m").chmod(0o600)
    (folder / "link").symlink_to("m")
    assert command("train", "d.svm", "-o", "link").status == 0
    assert stat.S_IMODE((folder / "m").stat().st_mode) == 0o600
    assert (folder / "link").is_symlink()
    load("m")


@pytest.mark.parametrize("umask, mode", [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_mode_of_the_umask(umask, mode, tmp_path):
    before = os.umask(umask)
    try:
        with replacing(tmp_path / "new") as file:
            file.write(b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == mode


# Terminals

EVIL = "\x1b]0;owned\x07\x1b[2J\x7f\x9b31m\r\u202e"


def harmless(text):
    return all(c.isprintable() or c == "\n" for c in text)


def test_what_cannot_be_printed_is_escaped():
    assert shown("rosé \x1b[1m") == "rosé \\x1b[1m"
    assert shown("\x9b\x7f\udc80\n\t\u202e") == "\\x9b\\x7f\\udc80\\n\\t\\u202e"
    assert harmless(shown(EVIL))


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """A table whose file name, columns and labels hold terminal commands."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, f"good{EVIL}", "bad\x1b[31m").astype(str)
    name = "data\x1b[5m\x9b.csv"
    write(tmp_path / name, Data(X, y, (f"first{EVIL}".replace("\r", ""), "second")))
    monkeypatch.chdir(tmp_path)
    return name


def test_names_and_labels_do_not_command_the_terminal(evil, tmp_path, command):
    model = "model\x1b[1m"
    for arguments in (
        ["train", evil, "-o", model, "--trace", "trace\x1b[1m"],
        ["info", evil],
        ["info", evil, "--json"],
        ["info", model],
        ["check", model, evil],
        ["predict", model, evil, "-o", "answers\x1b"],
        ["predict", model, evil, "-o", "answers\x1b", "--json"],
        ["convert", evil, "out\x1b.csv"],
        ["train", evil, "--target", "x\x1b[1m"],
        ["train", evil, "--class-weight", "x\x1b[1m=1"],
        ["train", evil, "--loss", "x\x1b[1m"],
        ["train", "none\x1b[1m"],
        ["train", evil, "--\x1b[1m"],
        ["race", evil, "--solvers", "smo", "--tol", "0.1"],
    ):
        ended = command(*arguments)
        assert harmless(ended.out) and harmless(ended.err), (arguments, ended.out, ended.err)
        assert ended.out or ended.err
    # Files keep the true text.
    assert set((tmp_path / "answers\x1b").read_bytes().decode().split("\n")) >= {"bad\x1b[31m"}
    assert EVIL.replace("\r", "") in (tmp_path / "out\x1b.csv").read_bytes().decode()


def test_answers_on_a_terminal_are_escaped_and_in_a_pipe_are_not(evil, command):
    import pty

    assert command("train", evil, "-o", "model").status == 0
    arguments = [sys.executable, "-c", "from maxmargin.cli import main; main()", "predict", "model", evil]
    ended = subprocess.run(arguments, capture_output=True, timeout=300)
    assert b"bad\x1b[31m\n" in ended.stdout
    ours, theirs = pty.openpty()
    with subprocess.Popen(arguments, stdout=theirs, stderr=subprocess.DEVNULL) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                more = os.read(ours, 2**16)
            except OSError:
                break
            if not more:
                break
            seen += more
        assert process.wait() == 0
    os.close(ours)
    assert b"bad\\x1b[31m" in seen and b"\x1b" not in seen
