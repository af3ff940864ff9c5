"""`train --cluster`: folders of files on a cluster of processes; files that do not belong together are named."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import InvalidInput, Problem, load, solve
from maxmargin.cluster.folder import engine_of_folder
from maxmargin.data import Data, write

from .test_tall import data

distributed = pytest.importorskip("distributed")
pytest.importorskip("pyarrow")
testing = pytest.importorskip("typer.testing")

pytestmark = pytest.mark.compiled

NAMES = tuple("abcdef")


def folder_of(path, X, y, suffix, files=3):
    path.mkdir()
    for k, places in enumerate(np.array_split(np.arange(len(y)), files)):
        names = NAMES if suffix == "parquet" else None
        write(path / f"part-{k}.{suffix}", Data(X[places], y[places], names))
    (path / "_SUCCESS").touch()
    return path


def train(*arguments):
    from maxmargin.cli.app import app

    ended = testing.CliRunner().invoke(app, ["train", *map(str, arguments)])
    return ended.exit_code, ended.output


@pytest.mark.parametrize("suffix", ["parquet", "svm"])
def test_a_folder_is_fitted_as_one_file(suffix, client, tmp_path):
    X, y, _ = data(900)
    if suffix == "svm":  # the last columns are in the first file alone
        X[300:, 4:] = 0.0
        X = sp.csr_array(X)
    folder = folder_of(tmp_path / "rows", X, y, suffix)
    place = tmp_path / "model.mm"
    code, told = train(folder, "--cluster", client.scheduler.address, "--tol", "1e-6", "--json", "-o", place)
    assert code == 0, told
    found = json.loads(told)
    one = solve(Problem(X, y), tol=1e-8).certificate
    (machine,) = found["machines"]
    assert found["rows"] == 900 and found["columns"] == 6 and found["relative_gap"] <= 1e-6
    assert machine["dual"] <= one.primal + 1e-9 * one.primal and one.dual <= machine["primal"] * (1 + 1e-9)
    model = load(place)
    assert model.names == (NAMES if suffix == "parquet" else None)
    assert (model.predict(X) == y).mean() > 0.7


def test_files_that_do_not_belong_together_are_named(client, tmp_path):
    X, y, _ = data(300)
    folder = folder_of(tmp_path / "rows", X, y, "parquet")
    write(folder / "part-1.parquet", Data(X, y, tuple("ghijkl")))
    with pytest.raises(InvalidInput, match=r"part-1\.parquet names its columns otherwise than .*part-0\.parquet"):
        engine_of_folder(client, folder, {})
    (folder / "part-1.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InvalidInput, match=r"part-1\.parquet"):
        engine_of_folder(client, folder, {})
    base = folder_of(tmp_path / "indices", sp.csr_array(X), y, "svm")
    (base / "part-2.svm").write_text("1 0:1 3:2\n-1 1:1\n")
    with pytest.raises(InvalidInput, match="give --zero-based"):
        engine_of_folder(client, base, {})


def test_what_a_cluster_does_not_do_is_refused(tmp_path):
    folder = folder_of(tmp_path / "rows", *data(60)[:2], "parquet")
    for option in (["--kernel", "rbf"], ["--cv", "3"], ["--solver", "smo"], ["--scale", "standard"]):
        code, told = train(folder, "--cluster", "local", *option)
        assert code == 2 and "--cluster" in told
    code, told = train(folder / "part-0.parquet", "--cluster", "local")
    assert code == 2 and "folder" in told
