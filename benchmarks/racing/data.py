"""The data sets: `load("covtype_bin:30000")` gives 30,000 rows of covtype_bin as X (float64) and y (−1, +1).

Real sets come from the folder that MAXMARGIN_DATA names: `<file>.svm.xz` (svmlight, 1-based) or `<file>.npz` (X_train,
y_train). Generated ones run anywhere. What was read or made is kept in a cache folder, ready for the next process.
"""

from __future__ import annotations

import io
import lzma
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

VARIABLE = "MAXMARGIN_DATA"
SEED = 0


class MissingData(FileNotFoundError):
    """A real data set was asked for and is not there."""


@dataclass(frozen=True)
class Recipe:
    """How a file becomes a data set of two classes."""

    file: str
    #: What makes the raw values fit for an SVM: one of SCALINGS.
    scaling: str
    #: The label that becomes +1, "largest" for the most frequent one; None where there are two: the larger one.
    positive: float | str | None = None
    dense: bool = False


RECIPES = {
    "imdb_bow": Recipe("imdb_bow", "tf-idf"),
    "news20_bigram_bin": Recipe("news20_bigram_bin", "tf-idf"),
    "news20_bow": Recipe("news20_bow", "tf-idf", positive=1),
    "a9a": Recipe("a9a", "as it is"),
    "w8a": Recipe("w8a", "as it is"),
    "covtype_bin": Recipe("covtype", "columns to [0, 1]", positive=2, dense=True),
    "ijcnn1": Recipe("ijcnn1", "as it is", dense=True),
    "cod-rna.z": Recipe("cod-rna.z", "as it is", dense=True),
    "kddcup99_10": Recipe("kddcup99_10", "columns to [0, 1]", positive="largest", dense=True),
    "mnist": Recipe("mnist", "pixels", positive=5, dense=True),
    "usps": Recipe("usps", "columns to [0, 1]", positive=5, dense=True),
    "letter.scale": Recipe("letter.scale", "as it is", positive=1, dense=True),
    # Not raced by default: nothing was chosen by looking at these.
    "higgs10k": Recipe("higgs10k", "columns to [0, 1]", dense=True),
    "ring": Recipe("ring", "columns to [0, 1]", dense=True),
    "spambase": Recipe("spambase", "columns to [0, 1]", dense=True),
    "pendigits": Recipe("pendigits", "columns to [0, 1]", positive=5, dense=True),
    "satimage": Recipe("satimage", "columns to [0, 1]", positive=1, dense=True),
    "optdigits": Recipe("optdigits", "columns to [0, 1]", positive=5, dense=True),
    "enron1_spam": Recipe("enron1_spam", "tf-idf"),
}


def load(name: str) -> tuple[Any, np.ndarray]:
    """A data set by name, or that many of its rows, drawn at random: `name:rows`."""
    kept = cached(name)
    with np.load(kept) as arrays:
        y = arrays["y"]
        if "X" in arrays:
            return arrays["X"], y
        parts = arrays["data"], arrays["indices"], arrays["indptr"]
        return sp.csr_matrix(parts, shape=tuple(arrays["shape"])), y


def read_labels(file: str) -> tuple[Any, np.ndarray]:
    """A file of the data folder as it is: rows, and labels or targets."""
    return _read(_file(file))


def cached(name: str) -> Path:
    """The file of the cache folder that holds this data set, made if it is not there."""
    path = cache_folder() / f"{name.replace(':', '-')}.npz"
    if not path.exists():
        X, y = _make(name)
        unfinished = path.with_name(f"{os.getpid()}-{path.name}")
        if sp.issparse(X):
            np.savez(unfinished, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
        else:
            np.savez(unfinished, X=X, y=y)
        unfinished.replace(path)  # at once, so that nobody reads half a file
    return path


def cache_folder() -> Path:
    """Where data sets and reference values are kept between processes."""
    folder = Path(tempfile.gettempdir()) / "maxmargin-benchmarks"
    folder.mkdir(exist_ok=True)
    return folder


def missing(name: str) -> str | None:
    """Why a data set cannot be had, in one sentence; None if it can."""
    base, colon, rows = name.partition(":")
    if colon and not (rows.isdecimal() and int(rows) > 0):
        return f"{name!r} asks for {rows!r} rows of {base}; it must be a whole number"
    if base in GENERATED:
        return None
    if base not in RECIPES:
        return f"there is no data set {base!r}; there are: {', '.join([*RECIPES, *GENERATED])}"
    try:
        _file(RECIPES[base].file)
    except MissingData as error:
        return str(error)
    return None


# Real sets


def _make(name: str) -> tuple[Any, np.ndarray]:
    reason = missing(name)
    if reason is not None:
        raise MissingData(reason)
    base, _, rows = name.partition(":")
    if base in GENERATED:
        return GENERATED[base](int(rows)) if rows else GENERATED[base]()
    recipe = RECIPES[base]
    X, labels = _read(_file(recipe.file))
    X = SCALINGS[recipe.scaling](X)
    y = np.where(labels == _positive(labels, recipe.positive), 1.0, -1.0)
    if rows and int(rows) < len(y):
        drawn = np.random.default_rng(SEED).permutation(len(y))[: int(rows)]
        X, y = X[drawn], y[drawn]
    if recipe.dense:
        return (X.toarray() if sp.issparse(X) else X), y
    return sp.csr_matrix(X), y


def _file(name: str) -> Path:
    folder = os.environ.get(VARIABLE)
    if not folder:
        raise MissingData(
            f"the data set {name!r} is not generated: set {VARIABLE} to the folder that holds {name}.svm.xz"
        )
    for suffix in (".svm.xz", ".npz"):
        path = Path(folder) / f"{name}{suffix}"
        if path.exists():
            return path
    raise MissingData(f"{VARIABLE} is {folder}, and there is no {name}.svm.xz or {name}.npz in it")


def _read(path: Path) -> tuple[Any, np.ndarray]:
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            return arrays["X_train"].reshape(len(arrays["y_train"]), -1), arrays["y_train"].astype(np.float64)
    from sklearn.datasets import load_svmlight_file

    with lzma.open(path) as file:
        return load_svmlight_file(io.BytesIO(file.read()), zero_based=False)


def _positive(labels: np.ndarray, wanted: float | str | None) -> float:
    values, counts = np.unique(labels, return_counts=True)
    if wanted == "largest":
        return float(values[counts.argmax()])
    return float(values[-1] if wanted is None else wanted)


def _tf_idf(X: sp.csr_matrix) -> sp.csr_matrix:
    """Counts times the smoothed inverse document frequency; rows of norm 1."""
    documents = np.bincount(X.indices, minlength=X.shape[1])
    weighted = X @ sp.diags(np.log((1 + X.shape[0]) / (1 + documents)) + 1)
    norms = np.sqrt(weighted.multiply(weighted).sum(axis=1)).A1
    return sp.csr_matrix(sp.diags(1 / np.where(norms > 0, norms, 1)) @ weighted)


def _unit_columns(X: Any) -> np.ndarray:
    X = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1)


SCALINGS: dict[str, Callable] = {
    "as it is": lambda X: X,
    "tf-idf": _tf_idf,
    "columns to [0, 1]": _unit_columns,
    "pixels": lambda X: X / 255.0,
}


# Generated sets


def tall(rows: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    """Many rows, 30 columns of different variance, overlapping classes: n ≫ d, dense."""
    rng = np.random.default_rng(SEED)
    y = np.where(rng.random(rows) < 0.4, 1.0, -1.0)
    X = rng.normal(size=(rows, 30)) * np.geomspace(2, 0.1, 30)
    return X + 0.15 * y[:, None] * rng.normal(size=30), y


def text(rows: int = 5_000) -> tuple[sp.csr_matrix, np.ndarray]:
    """Documents of some 80 words from a Zipf-like vocabulary of 20,000, one word in fifteen a hint: sparse, wide."""
    rng = np.random.default_rng(SEED)
    words = 20_000
    y = np.where(rng.random(rows) < 0.5, 1.0, -1.0)
    lengths = rng.poisson(80, size=rows) + 1
    document = np.repeat(np.arange(rows), lengths)
    word = np.minimum(rng.zipf(1.3, size=len(document)) - 1, words - 1)
    hints = rng.random(len(word)) < 1 / 15
    word[hints] = words // 2 + rng.integers(0, 500, hints.sum()) + np.where(y[document[hints]] > 0, 0, 400)
    counts = sp.csr_matrix((np.ones(len(word)), (document, word)), shape=(rows, words))
    return _tf_idf(counts), y


def rings(rows: int = 4_000) -> tuple[np.ndarray, np.ndarray]:
    """Four rings in ten dimensions, every second one positive, a tenth of the labels wrong: for kernels, dense."""
    rng = np.random.default_rng(SEED)
    direction = rng.normal(size=(rows, 10))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    ring = rng.integers(1, 5, rows)
    y = np.where((ring % 2 == 0) ^ (rng.random(rows) < 0.1), 1.0, -1.0)
    return direction * (ring + 0.15 * rng.normal(size=rows))[:, None], y


GENERATED: dict[str, Callable[..., tuple[Any, np.ndarray]]] = {"tall": tall, "text": text, "rings": rings}
