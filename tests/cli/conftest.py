"""A way to run commands as a shell does, and small data files."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.preprocessing import StandardScaler

from maxmargin import cli
from maxmargin.data import Data, write


@dataclass
class Ended:
    status: int
    out: str
    err: str

    @property
    def facts(self):
        return json.loads(self.out)


@pytest.fixture
def command(monkeypatch, capfd):
    """Run a command in this process; a traceback fails the test."""

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["maxmargin", *map(str, arguments)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capfd.readouterr()
        return Ended(ended.value.code or 0, out, err)

    return run


def rows(load, step=3):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X)[::step], y[::step]


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """two.svm, two.t.svm, three.csv (text labels), values.csv, sparse.svm."""
    folder = tmp_path_factory.mktemp("files")
    X, y = rows(load_breast_cancer)
    write(folder / "two.svm", Data(X, y))
    write(folder / "sparse.svm", Data(sp.csr_array(X * (X > 0.8)), y))
    other = StandardScaler().fit_transform(load_breast_cancer().data)[1::3], load_breast_cancer().target[1::3]
    write(folder / "two.t.svm", Data(*other))
    X, y = rows(load_wine, 2)
    names = tuple(f"{name} {k}" for k, name in enumerate(["wine"] * X.shape[1]))
    write(folder / "three.csv", Data(3.0 + 10.0 * X, np.array(["red", "rosé", "white"])[y], names))
    X, y = rows(load_diabetes)
    write(folder / "values.csv", Data(X, y / 100.0))
    return folder
