"""Every error path: one sentence on standard error, status 2 (usage) or 1 (failed), and nothing half-written."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys

import pytest

from maxmargin.cli.app import app

pytestmark = pytest.mark.compiled

USAGE = [
    (["train"], "Missing argument"),
    (["nonsense"], "No such command 'nonsense'"),
    (["train", "two.svm", "--nonsense"], "No such option"),
    (["train", "two.svm", "--tol", "small"], "Invalid value for '--tol'"),
    (["train", "two.svm", "--loss", "nonsense"], "there is no loss 'nonsense'"),
    (["train", "two.svm", "--kernel", "nonsense"], "there is no kernel 'nonsense'"),
    (["train", "two.svm", "--solver", "nonsense"], "there is no solver 'nonsense'"),
    (["train", "two.svm", "--kernel", "custom"], "is for Python"),
    (["train", "two.svm", "--kernel", "precomputed", "--gamma", "1"], "a precomputed kernel has no --gamma"),
    (["train", "two.svm", "--kernel", "precomputed", "--scale", "min-max"], "--scale is for features"),
    (["train", "two.svm", "--gamma", "1"], "the kernel 'linear' has no --gamma"),
    (["train", "two.svm", "--kernel", "rbf", "--gamma", "big"], "must be a number, scale or auto"),
    (["train", "two.svm", "--epsilon", "1"], "the loss 'hinge' has no --epsilon"),
    (["train", "two.svm", "-C", "-1"], "C is -1.0; it must be a number > 0"),
    (["train", "two.svm", "-C", "1", "--lam", "1"], "give -C or --lam, not both"),
    (["train", "two.svm", "--lam", "-1"], "--lam is -1.0"),
    (["train", "two.svm", "--class-weight", "heavy"], "write balanced, or label=weight"),
    (["train", "two.svm", "--class-weight", "1=-3"], "must be a finite number > 0"),
    (["train", "two.svm", "--multiclass", "all"], "must be ovr, ovo or crammer-singer"),
    (["train", "two.svm", "--scale", "log"], "there is no scaling 'log'"),
    (["train", "two.svm", "--bias", "some"], "bias is 'some'; it must be one of"),
    (["train", "two.svm", "--bias-scale", "2"], "goes with an augmented bias only"),
    (["train", "two.svm", "--tol", "-1"], "tol is -1.0; it must be a number ≥ 0"),
    (["train", "two.svm", "--max-iter", "0"], "max_iter is 0; it must be > 0"),
    (["train", "two.svm", "--task", "clustering"], "must be classification or regression"),
    (["train", "two.svm", "-C", "inf", "--loss", "logistic"], "needs a finite C"),
    (["train", "two.svm", "--loss", "one-class", "--bias", "none"], "needs bias='free'"),
    (["train", "two.svm", "--loss", "one-class", "--nu", "2"], "nu is 2.0; it must lie in"),
    (["train", "two.svm", "--nu", "2"], "nu is 2.0; it must lie in"),
    (["train", "two.svm", "--nu", "0.2", "-C", "3"], "takes the place of C"),
    (["train", "two.svm", "--nu", "0.2", "--loss", "logistic"], "has no nu"),
    (["train", "two.svm", "--nu", "0.2", "--bias", "none"], "nu needs bias='free'"),
    (["train", "values.csv", "--loss", "epsilon-insensitive", "--nu", "0.2", "--epsilon", "1"], "place of --epsilon"),
    (["train", "three.csv", "--multiclass", "crammer-singer"], "needs bias augmented or none"),
    (["train", "three.csv", "--multiclass", "crammer-singer", "--kernel", "rbf"], "the linear kernel"),
    (["train", "two.svm", "--stream", "--bias", "none", "--multiclass", "crammer-singer"], "one against the rest"),
    (["train", "two.svm", "--resume"], "--resume needs --checkpoint"),
    (["train", "two.svm", "--cv", "1"], "at least 2 folds"),
    (["train", "two.svm", "--max-time", "0"], "--max-time must be > 0"),
    (["train", "two.svm", "--task", "regression"], "for least squares only"),
    (["train", "values.csv", "--loss", "least-squares", "--probability"], "--probability is for classification"),
    (["train", "two.svm", "--stream", "--kernel", "rbf"], "--stream is for the linear kernel"),
    (["train", "two.svm", "--stream", "--bias", "none", "--search"], "--stream goes with neither"),
    (["predict", "model.mm", "two.svm", "--decision", "--probability"], "choose --decision or --probability"),
    (["predict", "model.mm", "two.svm", "--json"], "--json needs -o"),
    (["check", "model.mm", "two.svm", "--tol", "-1"], "must be a number ≥ 0"),
    (["race", "two.svm", "--solvers", "nonsense"], "there is no solver 'nonsense'"),
    (["convert", "model.mm", "out.txt"], "which format should"),
    (["convert", "model.mm", "out.onnx", "--target", "y"], "are for data; this is a model"),
]
FAILED = [
    (["train", "nowhere.svm"], "cannot read .*nowhere.svm: No such file"),
    (["train", "."], "is a folder"),
    (["train", "broken.svm"], r"broken\.svm:2:5: the value of '1:x' is not a number"),
    (["train", "empty.svm"], "has no rows"),
    (["train", "three.csv", "--kernel", "precomputed"], "three.csv has 89 rows and 13 columns; a precomputed kernel"),
    (["train", "target.csv"], "a target is 'nan', which is not finite"),
    (["predict", "model.mm", "empty.svm", "-o", "answers"], "empty.svm has no rows"),
    (["convert", "empty.svm", "out.csv"], "empty.svm has no rows"),
    (["train", "one.svm"], "holds only the class '1'"),
    (["train", "three.csv", "--target", "colour"], "has no column 'colour'"),
    (["train", "three.csv", "--loss", "epsilon-insensitive"], "needs targets that are numbers"),
    (["train", "three.csv", "--zero-based"], "only svmlight files have indices"),
    (["train", "two.svm", "--target", "y"], "has its target first in the line"),
    (["train", "two.svm", "--format", "xls"], "there is no data format 'xls'"),
    (["train", "two.svm", "-o", "no/such/folder/model.mm"], "there is no folder"),
    (["train", "two.svm", "--report", "no/such/folder/fit.html"], "there is no folder"),
    (["train", "two.svm", "--trace", "."], "is a folder"),
    (["train", "two.svm", "--class-weight", "7=2"], "name '7', which is not among the labels"),
    (["train", "two.svm", "--weights", "one.svm"], "is not one weight a line"),
    (["train", "two.svm", "--weights", "nowhere"], "cannot read .*nowhere"),
    (["train", "two.svm", "--solver", "coordinate-ascent"], "refuses this problem"),
    (["train", "two.svm", "--cv", "500"], "folds"),
    (["train", "two.svm", "--checkpoint", "broken.svm", "--resume"], "cannot load .*broken.svm"),
    (["predict", "nowhere.mm", "two.svm"], "cannot read .*nowhere.mm"),
    (["predict", "two.svm", "two.svm"], "is not a model"),
    (["predict", "model.mm", "broken.svm", "-o", "answers"], "is not a number"),
    (["predict", "model.mm", "two.svm", "--probability", "-o", "answers"], "has no probabilities"),
    (["predict", "model.mm", "three.csv", "-o", "answers"], "columns; the model was trained on 30"),
    (["check", "model.mm", "broken.svm"], "is not a number"),
    (["check", "model.mm", "one.svm"], "the data has 2 rows; the model was trained on 190"),
    (["check", "libsvm.model", "two.svm"], "does not say how it was trained"),
    (["race", "two.svm", "--solvers", "coordinate-ascent"], "coordinate-ascent refuses this problem"),
    (["race", "three.csv"], "3 classes"),
    (["convert", "two.svm", "out.xyz"], "which format should"),
    (["convert", "broken.svm", "out.csv"], "is not a number"),
    (["convert", "rbf.mm", "out.liblinear-model"], "LIBLINEAR is for linear models"),
    (["info", "nowhere"], "cannot read nowhere"),
    (["info", "broken.svm"], "is not a number"),
]


@pytest.fixture(scope="module")
def folder(files, tmp_path_factory):
    """The files of the table above, in a folder that must not change."""
    made = tmp_path_factory.mktemp("errors")
    for file in files.iterdir():
        (made / file.name).write_bytes(file.read_bytes())
    (made / "broken.svm").write_text("1 1:1\n0 1:x\n")
    (made / "empty.svm").write_text("")
    (made / "target.csv").write_text("x,target\n1,1\n2,nan\n")
    (made / "one.svm").write_text("1 1:1\n1 1:2\n")
    from maxmargin.data import read
    from maxmargin.loop import solve
    from maxmargin.models import model_of, save
    from maxmargin.problem import Problem

    data = read(made / "two.svm")
    save(model_of(solve(Problem(data.X, data.y), tol=0.01)), made / "model.mm")
    save(model_of(solve(Problem(data.X, data.y, kernel="rbf"), tol=0.01)), made / "rbf.mm")
    save(model_of(solve(Problem(data.X, data.y), tol=0.01)), made / "libsvm.model", "libsvm")
    return made


@pytest.mark.parametrize(
    "arguments, words, status",
    [(arguments, words, 2) for arguments, words in USAGE] + [(arguments, words, 1) for arguments, words in FAILED],
    ids=lambda part: " ".join(part) if isinstance(part, list) else None,
)
def test_one_sentence_and_the_right_status(arguments, words, status, folder, command, monkeypatch):
    monkeypatch.chdir(folder)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    ended = command(*arguments)
    assert ended.status == status, ended.out + ended.err
    assert re.fullmatch(r"maxmargin: [^\n]+\n", ended.err), ended.err
    assert re.search(words, ended.err) or words in ended.err, ended.err
    assert "Traceback" not in ended.out + ended.err
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


OUTPUTS = [
    ["train", "two.svm", "-o"],
    ["train", "two.svm", "--trace"],
    ["train", "two.svm", "--report"],
    ["predict", "model.mm", "two.svm", "-o"],
    ["convert", "--to", "csv", "two.svm"],
    ["convert", "--to", "libsvm", "model.mm"],
    ["race", "two.svm", "--solvers", "smo", "--csv"],
]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no such device")
@pytest.mark.parametrize("arguments", OUTPUTS, ids=" ".join)
def test_a_full_disk_is_told_and_a_device_stays_a_device(arguments, folder, tmp_path, command, monkeypatch):
    """A pipe stands for a device that this test may lose; the device that is always full is only pointed to."""
    monkeypatch.chdir(folder)
    (tmp_path / "full").symlink_to("/dev/full")
    ended = command(*arguments, tmp_path / "full")
    assert ended.status == 1
    assert re.fullmatch(r"maxmargin: cannot write [^\n]*No space left on device[^\n]*\n", ended.err), ended.err
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    os.mkfifo(tmp_path / "pipe")
    with open(tmp_path / "read", "wb") as file:
        reader = subprocess.Popen(["timeout", "60", "cat", tmp_path / "pipe"], stdout=file)
    assert command(*arguments, tmp_path / "pipe").status == 0
    assert reader.wait() == 0 and (tmp_path / "read").stat().st_size > 0
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no such device")
@pytest.mark.parametrize("arguments", [["losses"], ["info", "model.mm"], ["predict", "model.mm", "two.svm"]])
def test_a_full_disk_behind_standard_output(arguments, folder):
    program = [sys.executable, "-c", "from maxmargin.cli import main; main()", *arguments]
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(program, cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, timeout=600)
    assert ended.returncode == 1
    assert ended.stderr == "maxmargin: No space left on device\n"


def test_a_pipe_that_closes_is_no_traceback(folder):
    script = f"{sys.executable} -c 'from maxmargin.cli import main; main()' predict model.mm two.svm | head -1"
    ended = subprocess.run(["sh", "-c", script], cwd=folder, capture_output=True, text=True, timeout=600)
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("name", [command.name or command.callback.__name__ for command in app.registered_commands])
def test_help_shows_an_example(name, command):
    ended = command(name, "--help")
    assert ended.status == 0
    assert f"Example: maxmargin {name}" in " ".join(ended.out.replace("│", " ").split())


@pytest.mark.parametrize("arguments", [["solvers"], ["train", "two.svm"]], ids=" ".join)
def test_a_number_of_threads_that_is_none(arguments, command, files, monkeypatch):
    monkeypatch.chdir(files)
    monkeypatch.setenv("MAXMARGIN_THREADS", "abc")
    ended = command(*arguments)
    assert ended.status == 1
    assert ended.err == "maxmargin: MAXMARGIN_THREADS is 'abc'; set it to a whole number ≥ 1, or unset it\n"
