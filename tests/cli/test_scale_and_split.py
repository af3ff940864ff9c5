"""scale does what svm-scale does, with its files; split loses no row and keeps the shares of the classes."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.data import Data, ranges, read, write

pytestmark = pytest.mark.compiled


@pytest.fixture
def folder(files, tmp_path, monkeypatch):
    """two.svm, two.t.svm, sparse.svm, three.csv and values.csv to work beside."""
    for file in files.iterdir():
        if file.is_file():
            (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def expected(X, lower, upper, least, most):
    spread = most > least
    scaled = lower + (upper - lower) * (X - least) / np.where(spread, most - least, 1.0)
    return np.where(spread, scaled, 0.0)


@pytest.mark.parametrize("options, ends", [([], (-1, 1)), (["-l", "0", "-u", "2.5"], (0, 2.5))])
@pytest.mark.parametrize("name", ["two.svm", "sparse.svm"])
def test_columns_onto_a_range(name, options, ends, folder, command):
    ended = command("scale", name, *options, "-s", "ranges", "-o", "out.svm")
    assert ended.status == 0, ended.err
    X = read(name, columns=30).X.toarray()
    least, most = X.min(0), X.max(0)
    np.testing.assert_allclose(read("out.svm", columns=30).X.toarray(), expected(X, *ends, least, most), atol=1e-12)
    np.testing.assert_array_equal(read("out.svm").y, read(name).y)
    assert command("scale", "two.t.svm", "-r", "ranges", "-o", "test.svm").status == 0
    Z = read("two.t.svm", columns=30).X.toarray()
    np.testing.assert_allclose(read("test.svm", columns=30).X.toarray(), expected(Z, *ends, least, most), atol=1e-12)


def test_zeros_stay_zeros_where_they_can(folder, command):
    data = read("sparse.svm")
    command("scale", "sparse.svm", "-l", "0", "-o", "out.svm")
    assert read("out.svm").X.nnz <= data.X.nnz


def test_tables_targets_and_standard_output(folder, command):
    text = command("scale", "values.csv", "-y", "-1", "1", "-s", "ranges", "--to", "csv").out
    (folder / "out.csv").write_text(text)
    before, after = read("values.csv"), read("out.csv")
    assert after.names == before.names and (after.y.min(), after.y.max()) == (-1, 1)
    np.testing.assert_allclose(after.X, expected(before.X, -1, 1, before.X.min(0), before.X.max(0)), atol=1e-12)
    again = command("scale", "values.csv", "-r", "ranges", "--to", "csv")
    assert again.out == text and again.err == ""


def test_indices_from_zero(folder, command):
    (folder / "zero.svm").write_text("1 0:1 3:4\n-1 0:3 2:5\n")
    command("scale", "zero.svm", "-s", "ranges", "-l", "0", "-o", "out.svm")
    assert (folder / "out.svm").read_text() == "1 3:1\n-1 0:1 2:1\n"
    assert (folder / "ranges").read_text() == "x\n0 1\n0 1 3\n2 0 5\n3 0 4\n"


def test_a_column_without_a_range_is_said(folder, command):
    (folder / "ranges").write_text("x\n-1 1\n1 0 1\n")
    ended = command("scale", "two.svm", "-r", "ranges", "-o", "out.svm")
    assert ended.status == 0 and "29 columns have no range in ranges" in ended.err


@pytest.mark.skipif(shutil.which("svm-scale") is None, reason="svm-scale is not installed")
@pytest.mark.parametrize("options", [[], ["-l", "0"], ["-y", "-2", "3"]])
def test_the_files_of_svm_scale(options, folder, command):
    theirs = subprocess.run(["svm-scale", "-s", "theirs", *options, "two.svm"], capture_output=True, check=True)
    command("scale", "two.svm", *options, "-s", "ours", "-o", "out.svm")
    assert (folder / "ours").read_bytes() == (folder / "theirs").read_bytes()
    (folder / "theirs.svm").write_bytes(theirs.stdout)
    np.testing.assert_allclose(read("out.svm").X.toarray(), read("theirs.svm").X.toarray(), atol=1e-5)
    np.testing.assert_allclose(read("out.svm").y, read("theirs.svm").y, atol=1e-5)


def test_ranges_there_and_back(tmp_path):
    rng = np.random.default_rng(0)
    data = Data(sp.csr_array(rng.normal(size=(20, 4))), rng.normal(size=20))
    found = ranges.ranges_of(data, -1 / 3, 1 / 7, (0.1, 0.7))
    ranges.save(found, tmp_path / "ranges")
    back = ranges.load(tmp_path / "ranges")
    assert (back.lower, back.upper, back.target) == (found.lower, found.upper, found.target)
    for part in ("index", "least", "most"):
        np.testing.assert_array_equal(getattr(back, part), getattr(found, part))


WRONG = [
    (["-l", "1", "-u", "0"], 2, "must be finite, the first below"),
    (["-y", "1", "1"], 2, "-y must be finite"),
    (["-s", "a", "-r", "b"], 2, "not both"),
    (["-r", "ranges", "-l", "0"], 2, "drop -l, -u and -y"),
    (["-r", "nowhere"], 1, "cannot read nowhere"),
    (["-r", "two.t.svm"], 1, "two.t.svm:1: x alone should stand"),
    (["-r", "cut"], 1, "cut:3: 3 numbers should stand"),
    (["-r", "twice"], 1, "different whole numbers"),
    (["-s", "two.svm"], 2, "is the same file as"),
    (["-o", "two.svm"], 2, "is the same file as"),
]


@pytest.mark.parametrize("options, status, said", WRONG)
def test_scales_that_are_refused(options, status, said, folder, command):
    (folder / "cut").write_text("x\n-1 1\n1 2\n")
    (folder / "twice").write_text("x\n-1 1\n1 2 3\n1 2 3\n")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    ended = command("scale", "two.svm", *options)
    assert ended.status == status and ended.err.count("\n") == 1 and said in ended.err, ended.err
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


# split


def sorted_rows(*data):
    X = np.vstack([part.X.toarray() if sp.issparse(part.X) else part.X for part in data])
    return X[np.lexsort(X.T)]


def test_no_row_is_lost_and_classes_keep_their_shares(folder, command):
    ended = command("split", "three.csv", "a.csv", "b.csv", "--test", "0.2")
    assert ended.status == 0 and "every class with the same share" in ended.out
    whole, train, test = read("three.csv"), read("a.csv"), read("b.csv")
    assert (train.n, test.n) == (71, 18) and train.names == whole.names
    np.testing.assert_array_equal(sorted_rows(train, test), sorted_rows(whole))
    for label in np.unique(whole.y):
        assert (test.y == label).sum() == pytest.approx(0.2 * (whole.y == label).sum(), abs=1)


def test_the_seed_decides(folder, command):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        command("split", "two.svm", f"{name}1.svm", f"{name}2.svm", "--seed", seed, "--test", "50")
    assert (folder / "a2.svm").read_bytes() == (folder / "b2.svm").read_bytes() != (folder / "c2.svm").read_bytes()
    assert read("a2.svm").n == 50


def test_values_are_not_classes(folder, command):
    assert "at random" in command("split", "values.csv", "a.csv", "b.csv").out
    assert "at random" in command("split", "two.svm", "a.svm", "b.svm", "--no-stratify").out


def test_the_base_of_indices_is_kept(folder, command):
    write("zero.svm", Data(sp.csr_array(np.arange(1.0, 13).reshape(6, 2)), np.arange(6) % 2), zero_based=True)
    command("split", "zero.svm", "a.svm", "b.svm", "--test", "2")
    assert read("a.svm").zero_based and read("b.svm").zero_based


@pytest.mark.parametrize(
    "arguments, status, said",
    [
        (["a.svm", "b.svm", "--test", "1000"], 1, "190 rows cannot be split"),
        (["a.svm", "b.svm", "--test", "-1"], 2, "write a share or a number"),
        (["a.svm", "b.svm", "--test", "1.5"], 2, "write a share or a number"),
        (["a.svm", "b.svm", "--seed", "-1"], 2, "--seed is -1"),
        (["a.svm", "a.svm"], 2, "is the same file as"),
        (["two.svm", "a.svm"], 2, "is the same file as"),
        (["a", "b"], 2, "which format should a have"),
    ],
)
def test_splits_that_are_refused(arguments, status, said, folder, command):
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    ended = command("split", "two.svm", *arguments)
    assert ended.status == status and ended.err.count("\n") == 1 and said in ended.err, ended.err
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
