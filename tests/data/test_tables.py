"""CSV, TSV, Parquet, Arrow and NumPy files: the same rows from all of them, and mistakes with their place."""

from __future__ import annotations

import re
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from maxmargin.data import FORMATS, Data, blocks, read, write
from maxmargin.errors import InvalidInput

pytestmark = pytest.mark.compiled

SUFFIX = {"svmlight": "svm"}
numbers = st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture
def table(tmp_path):
    def make(contents, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        return path

    return make


def needs(kind):
    if kind in ("parquet", "arrow"):
        pytest.importorskip("pyarrow")


@pytest.mark.parametrize("kind", FORMATS)
@given(
    X=hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=numbers),
    classes=st.sampled_from([(0, 1), (-1.5, 2.25)]),
)
def test_what_is_written_is_read_back_bit_for_bit(kind, X, classes, tmp_path_factory):
    needs(kind)
    y = np.array(classes)[np.arange(len(X)) % 2]
    path = tmp_path_factory.mktemp("round") / f"data.{SUFFIX.get(kind, kind)}"
    write(path, Data(X, y))
    options = {"zero_based": False, "columns": X.shape[1]} if kind == "svmlight" else {}
    for parts in ([read(path, **options)], list(blocks(path, **options))):
        found = np.vstack([part.X.toarray() if sp.issparse(part.X) else part.X for part in parts])
        assert (found + 0.0).tobytes() == (X + 0.0).tobytes()  # a sparse format has no negative zero
        np.testing.assert_array_equal(np.concatenate([part.y for part in parts]), y)


@pytest.mark.parametrize("kind", FORMATS)
def test_text_labels_in_every_format(kind, tmp_path):
    needs(kind)
    path = tmp_path / f"data.{SUFFIX.get(kind, kind)}"
    write(path, Data(np.eye(3), np.array(["ham", "spam", "späm"])))
    assert read(path).y.tolist() == ["ham", "spam", "späm"]


def test_a_named_target_and_named_features(table):
    path = table("colour,a,b,what\nred,1,2.5,yes\nblue,-3,4e2,no\n")
    data = read(path, target="what", features=["b", "a"])
    assert data.X.tolist() == [[2.5, 1], [400, -3]]
    assert data.y.tolist() == ["yes", "no"]
    assert data.names == ("b", "a")
    with pytest.raises(InvalidInput, match=r":2:1: 'red' in column 'colour' is not a number; code text as numbers"):
        read(path, target="what")


def test_the_usual_targets_are_found(table):
    assert read(table("a,Label\n1,0\n2,1\n")).y.tolist() == [0, 1]
    assert read(table("y\ta\n0.5\t3\n", "data.tsv")).y.tolist() == [0.5]
    with pytest.raises(InvalidInput, match=r"which column of .* is the target\? Name one of: a, b"):
        read(table("a,b\n1,2\n"))
    assert read(table("a,b\n1,2\n"), needed=False).y is None


def test_a_table_without_header_counts_its_columns(table):
    assert read(table("1,2,7\n3,4,8\n"), target="3").X.tolist() == [[1, 2], [3, 4]]


def test_quotes_blanks_and_line_ends(table):
    path = table('\ufeffa , "b;c", target\r\n "1" , 2 ,"x, ""y"""\r\n\r\n3,"4" , z')
    data = read(path)
    assert data.X.tolist() == [[1, 2], [3, 4]]
    assert data.y.tolist() == ['x, "y"', "z"]


@pytest.mark.parametrize(
    "contents, place, words",
    [
        ("a,b,y\n1,2,0\n1,,1\n", "3:3", "the value of column 'b' is missing"),
        ("a,b,y\n1,nan,0\n", "2:3", "'nan' in column 'b' is not a number"),
        ("a,b,y\n1,1e999,0\n", "2:3", "the value 1e999 of column 'b' is not finite"),
        ("a,b,y\n1,2\n", "2:3", "the line ends after 2 fields; the first line has 3"),
        ("a,b,y\n1,2,3,4\n", "2:7", "the line has more than 3 fields"),
        ('a,b,y\n1,"2,3\n', "2:3", "the quote that opens here is not closed"),
        (b"a,b,y\n1,2,\xff\n", "2:5", "is not UTF-8"),
    ],
)
def test_every_mistake_has_its_place(contents, place, words, table):
    path = table(contents)
    with pytest.raises(InvalidInput, match=rf"^{re.escape(str(path))}:{place}: .*{re.escape(words)}"):
        read(path)


def test_two_columns_of_one_name(table):
    with pytest.raises(InvalidInput, match="two columns called 'a'"):
        read(table("a,a,y\n1,2,3\n"))


@pytest.mark.parametrize("contents", ["", "\n", "a,y\n"])
def test_a_table_without_rows(contents, table):
    with pytest.raises(InvalidInput, match="has no rows"):
        read(table(contents))


def test_cuts_do_not_matter(table, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 3)), rng.integers(0, 3, 500)
    path = table("")
    write(path, Data(X, y))
    monkeypatch.setattr("maxmargin.data.line_blocks.BLOCK", 700)
    monkeypatch.setattr("maxmargin.data.source.PIECE", 3000)
    np.testing.assert_array_equal(read(path).X, X)
    parts = list(blocks(path))
    assert len(parts) > 10
    np.testing.assert_array_equal(np.concatenate([part.y for part in parts]), y)


def test_parquet_mistakes(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "data.parquet"
    parquet.write_table(pa.table({"a": [1.0, None], "y": ["p", "q"]}), path)
    with pytest.raises(InvalidInput, match=r"column 'a', row 2 is missing"):
        read(path)
    parquet.write_table(pa.table({"a": [1.0, np.inf], "y": [0, 1]}), path)
    with pytest.raises(InvalidInput, match=r"column 'a', row 2 is inf"):
        read(path)
    parquet.write_table(pa.table({"a": ["u", "v"], "y": [0, 1]}), path)
    with pytest.raises(InvalidInput, match=r"column 'a' holds string; code it as numbers"):
        read(path)
    parquet.write_table(pa.table({"a": [True, False], "y": pa.array(["p", "q"]).dictionary_encode()}), path)
    data = read(path)
    assert data.X.tolist() == [[1], [0]] and data.y.tolist() == ["p", "q"]
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InvalidInput, match=r"cannot read .*data\.parquet"):
        read(path)


def test_a_header_that_promises_too_much_is_refused(tmp_path):
    """10^12 rows in a file of a few bytes: refused before anything is allocated."""
    path = tmp_path / "data.npy"
    np.save(path, np.zeros((4, 2)))
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b"(4, 2), }        ", b"(1000000000000, 2), }"[:17].ljust(17)))
    shape = b"'shape': (1000000000000, 2), }"
    start = raw.index(b"'shape'")
    end = raw.index(b"\n", start)
    path.write_bytes(raw[:start] + shape.ljust(end - start) + raw[end:])
    with pytest.raises(InvalidInput, match=r"promises 16\.0 TB but holds"):
        read(path, target="1")
    with zipfile.ZipFile(tmp_path / "data.npz", "w") as archive:
        archive.writestr("X.npy", path.read_bytes())
    with pytest.raises(InvalidInput, match=r"promises 16\.0 TB but holds"):
        read(tmp_path / "data.npz")


@pytest.mark.parametrize("kind", [b"'08'", b"'f8,f8'", b"'2f8'", b"[('a', '<f8')]", b"'<c16'", b"'nonsense'", b"'V8'"])
def test_only_simple_types_are_read(kind, tmp_path):
    path = tmp_path / "data.npy"
    np.save(path, np.zeros((4, 2)))
    raw = path.read_bytes()
    # The header keeps its length: what the type takes more comes off the blanks at its end.
    line = raw[10 : raw.index(b"\n") + 1]
    changed = line.replace(b"'<f8'", kind).rstrip().ljust(len(line) - 1) + b"\n"
    path.write_bytes(raw[:10] + changed + raw[10 + len(line) :])
    with pytest.raises(InvalidInput):
        read(path, target="1")


def test_no_pickles(tmp_path):
    np.savez(tmp_path / "data.npz", X=np.array([[{}]], dtype=object), y=[1])
    with pytest.raises(InvalidInput, match="holds values of type object"):
        read(tmp_path / "data.npz")
    np.save(tmp_path / "data.npy", np.array([[{}]], dtype=object))
    with pytest.raises(InvalidInput, match="holds values of type object"):
        read(tmp_path / "data.npy", target="1")


def test_sparse_archives(tmp_path):
    X = sp.csr_array(np.array([[0.0, 2.0], [3.0, 0.0]]))
    np.savez_compressed(tmp_path / "a.npz", data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=[1, 2])
    assert read(tmp_path / "a.npz").X.toarray().tolist() == [[0, 2], [3, 0]]
    sp.save_npz(tmp_path / "b.npz", X)
    with pytest.raises(InvalidInput, match=r"holds .*|is not an array"):
        read(tmp_path / "b.npz")
    np.savez(tmp_path / "c.npz", data=X.data, indices=X.indices + 5, indptr=X.indptr, shape=X.shape, y=[1, 2])
    with pytest.raises(InvalidInput, match="contradict each other"):
        read(tmp_path / "c.npz")


def test_nan_in_arrays(tmp_path):
    np.savez(tmp_path / "data.npz", X=[[1.0, np.nan]], y=[1])
    with pytest.raises(InvalidInput, match="row 1, column 2 is nan"):
        read(tmp_path / "data.npz")


def test_options_are_used_or_refused(table, tmp_path):
    with pytest.raises(InvalidInput, match="only svmlight files have indices"):
        read(table("a,y\n1,2\n"), zero_based=True)
    with pytest.raises(InvalidInput, match="has its target first in the line"):
        read(table("1 1:1\n", "data.svm"), target="y")
    with pytest.raises(InvalidInput, match="no data format 'xls'"):
        read(table("a"), "xls")
    with pytest.raises(InvalidInput, match=r"which format should .* have"):
        write(tmp_path / "data.xyz", Data(np.eye(2), None))
    with pytest.raises(InvalidInput, match=r"cannot read .*nowhere"):
        read(tmp_path / "nowhere.csv")
    with pytest.raises(InvalidInput, match="is a folder"):
        read(tmp_path)


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("mine")

    def broken():
        yield Data(np.eye(2), np.array([0, 1]))
        raise InvalidInput("half way")

    with pytest.raises(InvalidInput, match="half way"):
        write(path, broken())
    assert path.read_text() == "mine"
    assert [file.name for file in tmp_path.iterdir()] == ["data.csv"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_header_of_many_thousand_names(delimiter, table):
    names = [f"ENSG{k:011d}" for k in range(16_000)]
    row = delimiter.join(["0.5"] * len(names))
    header = delimiter.join([*names, "target"])
    path = table(f"{header}\n{row}{delimiter}a\n{row}{delimiter}b\n")
    assert len(header) > 131_072
    data = read(path)
    assert data.X.shape == (2, 16_000) and data.names == tuple(names) and data.y.tolist() == ["a", "b"]
    again = read(path, features=data.names, target="target")  # as a model asks for them
    np.testing.assert_array_equal(again.X, data.X)


@pytest.mark.parametrize(
    "header, words",
    [
        ("x" * 200_000, "cannot be split into names"),
        ('"' + "x" * 200_000 + '",y', "cannot be split into names|which column"),
        (",".join(["x"] * 60_000), "two columns called 'x'"),
    ],
)
def test_a_header_that_cannot_be_used(header, words, table):
    with pytest.raises(InvalidInput, match=words):
        read(table(f"{header}\n1\n"))


def test_blank_lines_below_many_columns_need_no_memory(table):
    names = ",".join(f"x{k}" for k in range(20_000))
    path = table(f"{names},y\n" + "\n" * 2**20 + ",".join(["1"] * 20_001) + "\n")
    assert read(path).X.shape == (1, 20_000)


def test_one_long_label_does_not_make_all_labels_long(table):
    path = table("x,y\n" + "1,a\n" * 5000 + "2," + "b" * 10**6 + "\n")
    with pytest.raises(InvalidInput, match="a label has 1000000 characters"):
        read(path)


def test_a_column_that_is_asked_for_twice(table):
    with pytest.raises(InvalidInput, match="'x' is asked for twice"):
        read(table("x,y\n1,2\n"), features=["x", "x"])


def test_a_damaged_compressed_archive(tmp_path):
    path = tmp_path / "data.npz"
    np.savez_compressed(path, X=np.arange(600.0).reshape(200, 3), y=np.arange(200))
    raw = path.read_bytes()
    refused = 0
    for at in range(60, 160):
        path.write_bytes(raw[:at] + bytes([raw[at] ^ 0x40]) + raw[at + 1 :])
        try:
            read(path)
        except InvalidInput as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused > 50


def test_names_inside_an_archive_are_escaped(tmp_path):
    with zipfile.ZipFile(tmp_path / "data.npz", "w") as archive:
        archive.writestr("X\n\x1b[1m.npy", b"")
    with pytest.raises(InvalidInput, match=r"X\\n\\x1b\[1m"):
        read(tmp_path / "data.npz")


def test_offsets_of_an_arrow_file_are_validated(tmp_path):
    """An offset that leads outside its buffer is refused, not followed."""
    pa = pytest.importorskip("pyarrow")
    offsets = np.array([0, 1, 2**30, 3], np.int32)
    text = pa.StringArray.from_buffers(3, pa.py_buffer(offsets), pa.py_buffer(b"abc"))
    table = pa.table({"x": [1.0, 2.0, 3.0], "target": text})
    with pa.OSFile(str(tmp_path / "data.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as out:
        out.write_table(table)
    with pytest.raises(InvalidInput, match="cannot read"):
        read(tmp_path / "data.arrow")


@pytest.mark.parametrize("value", ["abc", "0", "-1", "1.5", " "])
def test_a_number_of_threads_that_is_none(value, monkeypatch):
    from maxmargin.numeric.parallel import threads

    monkeypatch.setenv("MAXMARGIN_THREADS", value)
    with pytest.raises(InvalidInput, match=r"MAXMARGIN_THREADS is .*; set it to a whole number ≥ 1"):
        threads()
