"""LIBSVM's model files, both ways: what `svm-train` writes, and what `svm-predict` reads.

The file holds Σ coef_i k(x_i, x) − rho for each pair of classes i < j; a positive value speaks for the first of the
pair in the order of ``label``. With two classes our positive one is the second, so it is written first.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.data.dataset import label_text
from maxmargin.errors import InvalidInput, bytes_text
from maxmargin.files import replacing, shown
from maxmargin.kernels import RBF, Kernel, Linear, Polynomial, Precomputed, Sigmoid
from maxmargin.models.classes import pack_pairs, pairs, unpack_pairs
from maxmargin.models.model import Model, check
from maxmargin.numeric.sparse_columns import check_width

TYPES = {"classification": "c_svc", "regression": "epsilon_svr", "novelty": "one_class"}
TASKS = {"c_svc": "classification", "nu_svc": "classification", "epsilon_svr": "regression", "nu_svr": "regression"}
TASKS |= {"one_class": "novelty"}
KERNELS = {"linear": "linear", "rbf": "rbf", "polynomial": "polynomial", "sigmoid": "sigmoid"}
#: A table of coefficients may take so many bytes more than the file explains.
MOST_BYTES = 2**27
#: No index of a vector may be larger.
LARGEST_INDEX = 2**31 - 2


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model for `svm-predict`; refused where the format has no place for it."""
    model = model.unscaled()
    if model.kernel.name not in KERNELS:
        raise InvalidInput(f"LIBSVM has no kernel {model.kernel.name!r}; it has: {', '.join(KERNELS)}")
    if model.scheme not in ("binary", "ovo"):
        raise InvalidInput("LIBSVM tells several classes apart in pairs: train with --multiclass ovo")
    vectors, table, counts, rho = _table(model)
    lines = [f"svm_type {TYPES[model.task]}", f"kernel_type {KERNELS[model.kernel.name]}", *_parameters(model.kernel)]
    lines += [f"nr_class {2 if model.classes is None else len(model.classes)}", f"total_sv {vectors.shape[0]}"]
    lines.append("rho " + " ".join(_number(value) for value in rho))
    if model.classes is not None:
        order = model.classes[::-1] if model.scheme == "binary" else model.classes
        lines.append("label " + " ".join(whole_labels(order, "LIBSVM")))
        sigmoids = _sigmoids(model)
        if sigmoids is not None:
            for key, column in zip(("probA", "probB"), sigmoids.T, strict=True):
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


def _sigmoids(model: Model) -> np.ndarray | None:
    """LIBSVM's A and B for each machine; the temperature of several classes is not of that form."""
    if model.temperature is None:
        return model.sigmoids
    if model.scheme != "binary":
        raise InvalidInput(
            "LIBSVM's format has no place for the probabilities of several classes; train without --probability"
        )
    return np.array([[-1.0 / model.temperature, 0.0]])


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
    return load_text(path, "SV", _model)


def load_text(
    path: str | os.PathLike[str], end: str, parse: Callable[[dict[str, list[str]], Any, int], Model]
) -> Model:
    """The model of a text file: of its header up to the line `end`, the lines behind it, and the size of the file."""
    name = os.fspath(path)
    with open(path, encoding="utf-8", errors="replace") as file:
        header = read_header(file, name, end)
        try:
            return check(parse(header, file, os.path.getsize(path)))
        except InvalidInput as error:
            raise InvalidInput(f"cannot load {name}: {shown(error)}") from None
        except (KeyError, ValueError, IndexError, OverflowError) as error:
            raise InvalidInput(f"cannot load {name}: it is damaged or not a model ({shown(error)})") from None


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


def _model(header: dict[str, list[str]], lines: Iterable[str], size: int) -> Model:
    task: Any = TASKS[header["svm_type"][0]]
    k = int(header["nr_class"][0])
    total = int(header["total_sv"][0])
    if not 0 <= total <= size or not 2 <= k <= 100_000:
        raise InvalidInput(f"it promises {total} vectors of {k} classes, which the file cannot hold")
    classes, machines = None, 1
    if task == "classification":
        classes = np.array([int(label) for label in header["label"]])
        machines = k * (k - 1) // 2
        if len(classes) != k:
            raise InvalidInput(f"it promises {k} classes and names {len(classes)}")
    b = -np.array([finite(value) for value in header["rho"]])
    if len(b) != machines:
        raise InvalidInput(f"it should have {machines} values of rho and has {len(b)}")
    if 8.0 * machines * total > MOST_BYTES + 16.0 * size:
        raise InvalidInput(
            f"its {total} vectors would need {bytes_text(8.0 * machines * total)} in {machines} pairs of classes"
        )
    table, vectors = _vectors(lines, k - 1 if classes is not None else 1)
    if vectors.shape[0] != total:
        raise InvalidInput(f"it promises {total} vectors and holds {vectors.shape[0]}")
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
    kernel = _kernel(header)
    parts: dict[str, Any] = {"vectors": vectors, "coef": table, "vector_classes": vector_classes}
    if isinstance(kernel, Linear):
        check_width(vectors.shape[1], machines, vectors.nnz)
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


def _vectors(lines: Iterable[str], leading: int) -> tuple[np.ndarray, Any]:
    coef, data = array("d"), array("d")  # plain numbers: a list of Python's takes four times as much
    indptr, indices = array("q", [0]), array("i")
    for number, line in enumerate(lines, 1):
        words = line.split()
        if len(words) < leading:
            raise InvalidInput(f"vector {number} has {len(words)} coefficients instead of {leading}")
        coef.extend(map(finite, words[:leading]))
        for word in words[leading:]:
            index, _, value = word.partition(":")
            place = int(index) - 1
            if not 0 <= place < LARGEST_INDEX:
                raise InvalidInput("an index of a vector is out of range")
            indices.append(place)
            data.append(finite(value))
        indptr.append(len(data))
    parts = np.array(data), np.array(indices, np.int32), np.array(indptr)
    width = int(parts[1].max(initial=0)) + 1
    vectors = sp.csr_array(parts, shape=(len(indptr) - 1, width))
    with np.errstate(over="ignore"):  # `check` refuses what is not finite
        vectors.sum_duplicates()
    return np.array(coef).reshape(-1, leading).T, vectors


def finite(text: str) -> float:
    """A finite number."""
    value = float(text)
    if not np.isfinite(value):
        raise InvalidInput(f"{text!r} is not a finite number")
    return value
