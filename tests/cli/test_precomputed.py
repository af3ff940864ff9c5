"""Kernel values from files: the same model as the kernel itself, in LIBSVM's lines and as matrices."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from maxmargin.data import Data, read, write

pytestmark = pytest.mark.compiled


def serial_lines(path, K, y):
    with open(path, "w") as file:
        for number, (row, label) in enumerate(zip(K.tolist(), y, strict=True), 1):
            file.write(f"{label} 0:{number} " + " ".join(f"{j}:{v!r}" for j, v in enumerate(row, 1)) + "\n")


@pytest.fixture(params=["two.svm", "three.csv"])
def folder(request, files, tmp_path, monkeypatch):
    """Features and kernel values of the same rows: train.* and test.* of two classes, or of three."""
    data = read(files / request.param)
    X = data.X.toarray() if request.param.endswith(".svm") else (data.X - 3) / 10
    y = np.unique(data.y, return_inverse=True)[1] + 1
    first, second = slice(0, None, 2), slice(1, None, 2)
    monkeypatch.chdir(tmp_path)
    for name, rows in (("train", first), ("test", second)):
        K = rbf_kernel(X[rows], X[first], 0.05)
        write(f"{name}.csv", Data(X[rows], y[rows]))
        serial_lines(f"{name}.kernel", K, y[rows])
        np.save(f"{name}.npy", np.column_stack([K, y[rows]]))
        np.savez(f"{name}.npz", X=K, y=y[rows])
    return tmp_path


@pytest.mark.parametrize("suffix", ["kernel", "npy", "npz"])
def test_the_same_answers_as_with_the_kernel_itself(suffix, folder, command):
    assert command("train", "train.csv", "-t", "2", "-g", "0.05", "-o", "m.mm").status == 0
    expected = command("predict", "m.mm", "test.csv", "--decision")
    width = len(read("train.csv").y)
    options = ["--target", width + 1] if suffix == "npy" else ["--format", "svmlight"] if suffix == "kernel" else []
    ended = command("train", f"train.{suffix}", "-t", "4", *options, "-o", "k.mm")
    assert ended.status == 0, ended.err
    found = command("predict", "k.mm", f"test.{suffix}", *options, "--decision")
    assert found.status == 0, found.err
    values = [np.array([line.split() for line in ended.out.splitlines()], float) for ended in (found, expected)]
    np.testing.assert_allclose(*values, atol=1e-2)
    assert found.err.splitlines()[0] == expected.err.splitlines()[0]


def test_what_a_kernel_matrix_must_be(files, tmp_path, command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    K = rbf_kernel(np.arange(6.0).reshape(-1, 1))
    serial_lines("good.svm", K, [1, 2] * 3)
    lines = (tmp_path / "good.svm").read_text().splitlines(keepends=True)
    (tmp_path / "order.svm").write_text("".join(lines[::-1]))
    (tmp_path / "bare.svm").write_text(lines[0].replace("0:1 ", ""))
    serial_lines("odd.svm", K + np.triu(K, 1), [1, 2] * 3)
    assert command("train", "good.svm", "-t", "4", "-o", "m.mm").status == 0
    assert "row 1 should have the entry 0:1" in command("train", "order.svm", "-t", "4").err
    assert "must be symmetric" in command("train", "odd.svm", "-t", "4").err
    assert "190 rows and 30 columns" in command("train", files / "two.svm", "-t", "4").err
    assert "needs an entry 0:serial" in command("predict", "m.mm", "bare.svm").err
    serial_lines("wide.svm", np.ones((1, 7)), [1])
    assert "the model was trained on 6" in command("predict", "m.mm", "wide.svm").err
    assert "cannot be checked" in command("check", "m.mm", "good.svm").err
    assert command("race", "good.svm", "-t", "4", "--solvers", "smo").status == 0
