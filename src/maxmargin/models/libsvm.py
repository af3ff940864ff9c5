"""LIBSVM's model files, both ways: what `svm-train` writes, and what `svm-predict` reads.

The file holds Σ coef_i k(x_i, x) − rho for each pair of classes i < j; a positive value speaks for the first of the
pair in the order of ``label``. With two classes our positive one is the second, so it is written first.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.data.atomic import replacing
from maxmargin.data.dataset import label_text
from maxmargin.errors import InvalidInput
from maxmargin.estimators.layout import pack_pairs, pairs, unpack_pairs
from maxmargin.kernels import RBF, Kernel, Linear, Polynomial, Precomputed, Sigmoid
from maxmargin.models.model import Model, check

TYPES = {"classification": "c_svc", "regression": "epsilon_svr", "novelty": "one_class"}
TASKS = {"c_svc": "classification", "nu_svc": "classification", "epsilon_svr": "regression", "nu_svr": "regression"}
TASKS |= {"one_class": "novelty"}
KERNELS = {"linear": "linear", "rbf": "rbf", "polynomial": "polynomial", "sigmoid": "sigmoid"}
#: A normal may have this many weights for nothing: an index of a billion in a small file is a mistake.
MOST_WEIGHTS = 2**24
#: No index of a vector may be larger.
LARGEST_INDEX = 2**31 - 2


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model for `svm-predict`; refused where the format has no place for it."""
    model = model.unscaled()
    if model.kernel.name not in KERNELS:
        raise InvalidInput(f"LIBSVM has no kernel {model.kernel.name!r}; it has: {', '.join(KERNELS)}")
    if model.scheme == "ovr":
        raise InvalidInput("LIBSVM tells several classes apart in pairs: train with --multiclass ovo")
    vectors, table, counts, rho = _table(model)
    lines = [f"svm_type {TYPES[model.task]}", f"kernel_type {KERNELS[model.kernel.name]}", *_parameters(model.kernel)]
    lines += [f"nr_class {2 if model.classes is None else len(model.classes)}", f"total_sv {vectors.shape[0]}"]
    lines.append("rho " + " ".join(_number(value) for value in rho))
    if model.classes is not None:
        order = model.classes[::-1] if model.scheme == "binary" else model.classes
        lines.append("label " + " ".join(whole_labels(order, "LIBSVM")))
        if model.sigmoids is not None:
            for key, column in zip(("probA", "probB"), model.sigmoids.T, strict=True):
                lines.append(f"{key} " + " ".join(map(_number, column)))
        lines.append("nr_sv " + " ".join(map(str, counts)))
    lines.append("SV")
    with replacing(path) as file:
        file.write(("\n".join(lines) + "\n").encode("ascii"))
        ends = vectors.indptr
        for i in range(vectors.shape[0]):
            entries = zip(vectors.indices[ends[i] : ends[i + 1]], vectors.data[ends[i] : ends[i + 1]], strict=True)
            words = [*map(_number, table[:, i]), *(f"{j + 1}:{_number(value)}" for j, value in entries)]
            file.write((" ".join(words) + " \n").encode("ascii"))


def _table(model: Model) -> tuple[Any, np.ndarray, list[int], np.ndarray]:
    """The vectors, LIBSVM's table of coefficients, how many vectors each class has, and rho."""
    k = 2 if model.classes is None else len(model.classes)
    if model.w is not None:  # a normal is a vector with coefficient 1, of the first class of its pair
        vectors, coef = sp.csr_array(model.w), np.eye(model.machines)
        owners = np.array([i for i, _ in pairs(k)])
    else:
        assert model.coef is not None
        vectors, coef = sp.csr_array(model.vectors), model.coef
        owners = model.vector_classes if model.vector_classes is not None else np.zeros(vectors.shape[0], int)
    if model.scheme == "binary":
        counts = [vectors.shape[0], 0] if model.classes is not None else []
        return vectors, coef, counts, -model.b
    order = np.argsort(owners, kind="stable")
    counts = np.bincount(owners, minlength=k).tolist()
    return vectors[order], pack_pairs(coef[:, order], np.array(counts)), counts, -model.b


def _parameters(kernel: Kernel) -> list[str]:
    names = [name for name in ("degree", "gamma", "coef0") if hasattr(kernel, name)]
    return [f"{name} {_number(getattr(kernel, name))}" for name in names]


def _number(value: float) -> str:
    return f"{value:.17g}"


def whole_labels(labels: np.ndarray, program: str) -> list[str]:
    """Labels as the whole numbers that these formats have."""
    words = [label_text(label) for label in labels.tolist()]
    numbers = labels.dtype.kind in "fiu" and all(word.lstrip("-").isdigit() for word in words)
    if not numbers or any(abs(int(word)) >= 2**31 for word in words):
        raise InvalidInput(f"{program} knows only whole numbers as labels, not {words[0]!r}: recode them first")
    return words


# Reading


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model that LIBSVM has written."""
    name = os.fspath(path)
    with open(path, encoding="utf-8", errors="replace") as file:
        header = read_header(file, name, "SV")
        try:
            return check(_model(header, list(file)))
        except InvalidInput as error:
            raise InvalidInput(f"cannot load {name}: {error}") from None
        except (KeyError, ValueError, IndexError, OverflowError) as error:
            raise InvalidInput(f"cannot load {name}: it is damaged or not a model ({error})") from None


def read_header(file: Any, name: str, end: str) -> dict[str, list[str]]:
    """The lines ``key value ...`` up to the line `end`."""
    header: dict[str, list[str]] = {}
    for number, line in enumerate(file, 1):
        words = line.split()
        if words == [end]:
            return header
        if not words or number > 100:
            break
        header[words[0]] = words[1:]
    raise InvalidInput(f"{name} is not a model: the line {end!r} is missing")


def _model(header: dict[str, list[str]], lines: list[str]) -> Model:
    task: Any = TASKS[header["svm_type"][0]]
    k = int(header["nr_class"][0])
    total = int(header["total_sv"][0])
    if total != len(lines) or not 2 <= k <= 100_000:
        raise InvalidInput(f"it promises {total} vectors of {k} classes and holds {len(lines)} vectors")
    classes, machines = None, 1
    if task == "classification":
        classes = np.array([int(label) for label in header["label"]])
        machines = k * (k - 1) // 2
        if len(classes) != k:
            raise InvalidInput(f"it promises {k} classes and names {len(classes)}")
    b = -np.array([finite(value) for value in header["rho"]])
    table, vectors = _vectors(lines, k - 1 if classes is not None else 1)
    vector_classes = None
    scheme: Any = "binary"
    if k > 2 and classes is not None:
        scheme = "ovo"
        counts = np.array([int(count) for count in header["nr_sv"]])
        if len(counts) != k or (counts < 0).any() or counts.sum() != total:
            raise InvalidInput("its numbers of vectors do not add up")
        vector_classes = np.repeat(np.arange(k), counts)
        table = unpack_pairs(table, counts)
    elif classes is not None:
        classes = classes[::-1].copy()
    sigmoids = None
    if task == "classification" and "probA" in header:
        sigmoids = np.array([[finite(value) for value in header[key]] for key in ("probA", "probB")]).T
    if len(b) != machines:
        raise InvalidInput(f"it should have {machines} values of rho and has {len(b)}")
    kernel = _kernel(header)
    parts: dict[str, Any] = {"vectors": vectors, "coef": table, "vector_classes": vector_classes}
    if isinstance(kernel, Linear):
        if machines * vectors.shape[1] > MOST_WEIGHTS + 1000 * vectors.nnz:
            raise InvalidInput(f"its few entries would become {machines * vectors.shape[1]} weights")
        parts = {"w": np.asarray((sp.csr_array(table) @ vectors).toarray())}
    return Model(
        task=task,
        kernel=kernel,
        b=b,
        columns=vectors.shape[1],
        classes=classes,
        scheme=scheme,
        sigmoids=sigmoids,
        zero_based=False,
        **parts,
    )


def _kernel(header: dict[str, list[str]]) -> Kernel:
    kind = header["kernel_type"][0]
    given = {key: finite(header[key][0]) for key in ("gamma", "coef0") if key in header}
    if kind == "linear":
        return Linear()
    if kind == "rbf":
        return RBF(gamma=given["gamma"])
    if kind == "polynomial":
        return Polynomial(degree=int(header["degree"][0]), **given)
    if kind == "sigmoid":
        return Sigmoid(**given)
    if kind == "precomputed":
        raise InvalidInput(f"a {Precomputed.name} kernel of LIBSVM names rows of a matrix that is not in the file")
    raise InvalidInput(f"its kernel {kind!r} is unknown")


def _vectors(lines: list[str], leading: int) -> tuple[np.ndarray, Any]:
    coef: list[list[float]] = []
    indptr, indices, data = [0], [], []
    for line in lines:
        words = line.split()
        coef.append([finite(word) for word in words[:leading]])
        if len(coef[-1]) != leading:
            raise InvalidInput(f"vector {len(coef)} has {len(coef[-1])} coefficients instead of {leading}")
        for word in words[leading:]:
            index, _, value = word.partition(":")
            indices.append(int(index) - 1)
            data.append(finite(value))
        indptr.append(len(data))
    if indices and not 0 <= min(indices) <= max(indices) < LARGEST_INDEX:
        raise InvalidInput("an index of a vector is out of range")
    width = max(indices, default=0) + 1
    vectors = sp.csr_array((np.array(data, float), np.array(indices, np.int32), indptr), shape=(len(lines), width))
    vectors.sum_duplicates()
    return np.array(coef, float).reshape(-1, leading).T, vectors


def finite(text: str) -> float:
    """A finite number."""
    value = float(text)
    if not np.isfinite(value):
        raise InvalidInput(f"{text!r} is not a finite number")
    return value
