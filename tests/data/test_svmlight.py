"""The svmlight reader: the same as scikit-learn's on what both take, exact, and every mistake with its place."""

from __future__ import annotations

import gzip
import io
import lzma
import re
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from maxmargin.data import Data, blocks, formats, read, svmlight, write
from maxmargin.errors import InvalidInput

pytestmark = pytest.mark.compiled


@pytest.fixture
def data_file(tmp_path):
    def make(contents, name="data.svm"):
        path = tmp_path / name
        path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return path

    return make


def random_data(n=300, d=40, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array(
        (n, d), density=0.2, random_state=rng, format="csr", data_sampler=lambda size: rng.normal(size=size)
    )
    # The oldest scikit-learn that is allowed writes indices of 32 bits only.
    X = sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    return X, rng.choice([-1, 1], n)


def assert_same(data, X, y):
    assert data.X.shape == X.shape
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(data.X, part), getattr(X, part))
    np.testing.assert_array_equal(data.y, y)


def test_the_same_as_scikit_learn(tmp_path, monkeypatch):
    monkeypatch.setattr("maxmargin.data.line_blocks.BLOCK", 1000)  # many blocks
    monkeypatch.setattr("maxmargin.data.source.PIECE", 5000)
    X, y = random_data()
    dump_svmlight_file(X, y, str(tmp_path / "data.svm"), zero_based=False)
    theirs, labels = load_svmlight_file(str(tmp_path / "data.svm"), n_features=40)
    assert_same(svmlight.read(tmp_path / "data.svm", columns=40), theirs, labels)


@pytest.mark.parametrize("piece", [7, 64, 1000, 2**24])
def test_the_cuts_do_not_matter(piece, data_file, monkeypatch):
    monkeypatch.setattr("maxmargin.data.line_blocks.BLOCK", max(1, piece // 3))
    monkeypatch.setattr("maxmargin.data.source.PIECE", piece)
    path = data_file("# head\n\n1 1:0.5 3:2 # x\n-1\n\n+1 2:1e3 \t3:-4\r\n-1 1:7")
    data = svmlight.read(path)
    np.testing.assert_array_equal(data.X.toarray(), [[0.5, 0, 2], [0, 0, 0], [0, 1000, -4], [7, 0, 0]])
    np.testing.assert_array_equal(data.y, [1, -1, 1, -1])
    assert data.y.dtype == np.int64
    parts = list(svmlight.blocks(path, zero_based=False, columns=3))
    np.testing.assert_array_equal(np.vstack([part.X.toarray() for part in parts]), data.X.toarray())


entries = st.dictionaries(st.integers(0, 50), st.floats(allow_nan=False, allow_infinity=False, width=64), max_size=8)
rows = st.lists(st.tuples(st.floats(-1e6, 1e6), entries), min_size=1, max_size=12)


@given(rows)
def test_what_is_written_is_read_back_bit_for_bit(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("round") / "data.svm"
    X = sp.lil_array((len(rows), 51))
    for i, (_, entries) in enumerate(rows):
        for j, value in entries.items():
            X[i, j] = value
    X, y = sp.csr_array(X), np.array([label for label, _ in rows])
    write(path, Data(X, y))
    back = svmlight.read(path, zero_based=False, columns=51)
    assert back.X.toarray().tobytes() == X.toarray().tobytes()
    np.testing.assert_array_equal(back.y, y)


def test_zero_based_indices_are_seen(data_file):
    assert svmlight.read(data_file("1 0:5 2:7\n")).X.toarray().tolist() == [[5, 0, 7]]
    assert svmlight.read(data_file("1 1:5 2:7\n")).X.toarray().tolist() == [[5, 7]]
    assert svmlight.read(data_file("1 1:5 2:7\n"), zero_based=True).X.toarray().tolist() == [[0, 5, 7]]
    with pytest.raises(InvalidInput, match="index 0, but indices should begin at 1"):
        svmlight.read(data_file("1 0:5\n"), zero_based=False)


def test_indices_out_of_order_are_sorted(data_file):
    X = svmlight.read(data_file("1 3:1 1:2\n1 1:1 2:2\n")).X
    assert X.has_sorted_indices
    assert X.toarray().tolist() == [[2, 0, 1], [1, 2, 0]]


def test_text_labels(data_file):
    data = svmlight.read(data_file("spam 1:1\nham 2:1\n1 1:3 # one\nspäm\n"))
    assert data.y.tolist() == ["spam", "ham", "1", "späm"]


def test_more_digits_than_a_double_has(data_file):
    text = ["0." + "1" * 40, "9007199254740993", "9007199254740993.0000000000000000000001", "1" + "0" * 400 + "e-400"]
    text *= 100  # more numbers close to a tie than there is room for at first
    data = svmlight.read(data_file("\n".join(f"{value} 1:{value}" for value in text)))
    expected = [float(value) for value in text]
    assert data.X.data.tolist() == expected
    assert data.y.tolist() == expected


@pytest.mark.parametrize(
    "contents, place, words",
    [
        ("1 1:1\n1 1:x\n", "2:5", "the value of '1:x' is not a number"),
        ("1 1:1\n1 1:\n", "2:5", "the value of '1:' is not a number"),
        ("1 1:1 2:nan\n", "1:9", "'2:nan' is not a number"),
        ("1 1:1 2:1e999\n", "1:9", "'2:1e999' is not finite"),
        ("1 1:1 2:1" + "0" * 400 + "1\n", "1:9", "is not finite"),
        ("1 1:1\nnan 1:1\n", "2:1", "the label 'nan' is not a finite number"),
        ("1 1:1\nspam 1:1\n", "2:1", "the label 'spam' is not a finite number"),
        ("1:1 2:1\n", "1:1", "'1:1' stands where the label should be"),
        ("1 1:1\n1:1 2:1\n", "2:1", "'1:1' stands where the label should be"),
        ("1 qid:3 1:1\n", "1:3", "'qid:3' marks a ranking query"),
        ("1 -1:1\n", "1:3", "'-1:1' is not an entry"),
        ("1 5\n", "1:3", "'5' is not an entry"),
        ("1 1:1 99999999999:1\n", "1:7", "too large"),
        ("\n# c\n1 3:1 2:1 3:4 # d\n", "3:11", "the index 3 comes twice"),
        ("1 1:1 1:1\n", "1:7", "the index 1 comes twice"),
        ("1 1:1\r2:1\n1 1:1 \r 12:1 2:1\t2:1\n", "2:18", "the index 2 comes twice"),
        (b"\xff\xfe 1:1\n", "1:1", "is not UTF-8"),
        ("1 1:1\0 2:1\n", "1:5", "is not a number"),
        ("1 1:1_0\n", "1:5", "is not a number"),
        ("1 1:0x10\n", "1:5", "is not a number"),
    ],
)
def test_every_mistake_has_its_place(contents, place, words, data_file):
    path = data_file(contents)
    with pytest.raises(InvalidInput, match=rf"^{re.escape(str(path))}:{place}: .*{re.escape(words)}"):
        svmlight.read(path)


@pytest.mark.parametrize(
    "contents, place, index", [("1:1 1:1 3:2\n1", "1:5", 1), ("1:1\n 2:1 3:4 3:1", "2:10", 3), ("-1 1:1 1:1", "1:8", 1)]
)
def test_an_index_that_comes_twice_where_labels_may_be_missing(contents, place, index, data_file):
    with pytest.raises(InvalidInput, match=rf":{place}: the index {index} comes twice"):
        svmlight.read(data_file(contents), needed=False)


def test_a_mistake_deep_in_the_file_and_the_first_of_many(data_file, monkeypatch):
    monkeypatch.setattr("maxmargin.data.line_blocks.BLOCK", 100)
    monkeypatch.setattr("maxmargin.data.source.PIECE", 1000)
    lines = ["1 1:1 2:2"] * 2000
    lines[1234] = "1 1:1 2:oops"
    lines[1300] = "1 worse"
    with pytest.raises(InvalidInput, match=r":1235:9: .*'2:oops'"):
        svmlight.read(data_file("\n".join(lines)))


@pytest.mark.parametrize("contents", ["", "\n\n", "# nothing\n", "   \t\r\n"])
def test_a_file_without_rows(contents, data_file):
    with pytest.raises(InvalidInput, match="has no rows"):
        svmlight.read(data_file(contents))


@pytest.mark.parametrize("suffix", ["gz", "xz", "zst"])
def test_compressed_files(suffix, tmp_path):
    if suffix == "zst":
        pytest.importorskip("zstandard")
    X, y = random_data()
    write(tmp_path / f"data.svm.{suffix}", Data(X, y))
    raw = (tmp_path / f"data.svm.{suffix}").read_bytes()
    assert not raw.startswith(b"1") and not raw.startswith(b"-1")
    assert_same(read(tmp_path / f"data.svm.{suffix}", columns=40), X, y)
    (tmp_path / "damaged.svm").write_bytes(raw[: len(raw) // 2])
    with pytest.raises(InvalidInput, match=r"damaged\.svm"):
        read(tmp_path / "damaged.svm")


def test_other_programs_compress_the_same_way(data_file):
    for pack in (gzip.compress, lzma.compress):
        assert read(data_file(pack(b"1 1:2\n") + pack(b"-1 1:3\n"))).X.toarray().tolist() == [[2], [3]]


def test_standard_input(monkeypatch):
    class Stream:
        buffer = io.BytesIO(b"1 1:2\n-1 2:3\n")

    monkeypatch.setattr(sys, "stdin", Stream())
    assert read("-").X.toarray().tolist() == [[2, 0], [0, 3]]


def test_progress_reaches_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr("maxmargin.data.source.PIECE", 1000)
    X, y = random_data()
    write(tmp_path / "data.svm", Data(X, y))
    seen = []
    svmlight.read(tmp_path / "data.svm", progress=lambda done, size: seen.append((done, size)))
    size = (tmp_path / "data.svm").stat().st_size
    assert seen[-1] == (size, size) and len(seen) > 5
    assert sorted(seen) == seen


def test_a_very_long_line_is_refused(data_file, monkeypatch):
    monkeypatch.setattr("maxmargin.data.source.PIECE", 1000)
    monkeypatch.setattr("maxmargin.data.source.LONGEST_LINE", 5000)
    with pytest.raises(InvalidInput, match=r":2: a line longer than 5.0 kB"):
        svmlight.read(data_file("1 1:1\n1 " + " " * 10000 + "1:1"))


def test_what_cannot_be_written(tmp_path):
    for label in ("two words", "a:b", "", "#1"):
        with pytest.raises(InvalidInput, match="cannot be written to an svmlight file"):
            write(tmp_path / "out.svm", Data(sp.csr_array(np.eye(1)), np.array([label])))
    assert list(tmp_path.iterdir()) == []


def test_names_that_say_nothing_are_told_from_the_contents(data_file):
    assert formats.format_of(data_file("1 2:3\n", "a9a")) == "svmlight"
    assert formats.format_of(data_file("# x\n-1\n", "b")) == "csv"
    assert formats.format_of(data_file("a,b\n1,2\n", "c")) == "csv"
    assert [len(part.y) for part in blocks(data_file("1 2:3\n", "a9a"))] == [1]
