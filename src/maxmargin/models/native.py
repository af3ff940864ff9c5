"""The native model file (.mm): arrays and a document in an `archive`; every part is checked, and no code runs."""

from __future__ import annotations

import os
from dataclasses import fields as dataclass_fields
from typing import Any, get_args

import numpy as np
import scipy.sparse as sp

from maxmargin.data import npy
from maxmargin.data.arrays import csr
from maxmargin.data.scaling import Kind, Scaling
from maxmargin.errors import InvalidInput
from maxmargin.files import shown
from maxmargin.kernels import Custom, Kernel
from maxmargin.kernels.base import registry as kernels
from maxmargin.losses.base import Task
from maxmargin.losses.base import registry as losses
from maxmargin.models import archive
from maxmargin.models.model import Model, Proof, Scheme, Training, check
from maxmargin.problem import Bias
from maxmargin.regularizers.base import registry as regularizers

NAME, VERSION = "model", 1
MAGIC = archive.MAGIC
#: What a kernel may have besides its name; whatever else it knows serves training only.
PARAMETERS = ("gamma", "degree", "coef0")


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model, whole or not at all."""
    arrays: dict[str, np.ndarray] = {}
    document = _document(model, arrays)
    archive.write(path, NAME, VERSION, document, arrays)


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model; every part is checked."""
    document, arrays = archive.read(path, NAME, VERSION)
    try:
        return check(_model(document, arrays))
    except InvalidInput as error:
        raise InvalidInput(f"cannot load {os.fspath(path)}: {shown(error)}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        told = shown(f"{type(error).__name__}: {error}")
        raise InvalidInput(f"cannot load {os.fspath(path)}: it is damaged or not a model ({told})") from None


# Writing


def _document(model: Model, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    if isinstance(model.kernel, Custom):
        raise InvalidInput("a kernel that is a function of your own cannot be saved: a model file holds no code")
    arrays["b"] = model.b
    for name in ("w", "coef", "vector_classes", "sigmoids"):
        if getattr(model, name) is not None:
            arrays[name] = getattr(model, name)
    if sp.issparse(model.vectors):
        arrays |= {f"vectors_{part}": getattr(model.vectors, part) for part in ("data", "indices", "indptr")}
    elif model.vectors is not None:
        arrays["vectors"] = model.vectors
    if model.classes is not None:
        arrays["classes"] = _plain_classes(model.classes)
    document: dict[str, Any] = {
        "task": model.task,
        "kernel": {"name": model.kernel.name, "parameters": _parameters(model.kernel)},
        "columns": model.columns,
        "scheme": model.scheme,
        "names": model.names,
        "target": model.target,
        "zero_based": model.zero_based,
        "temperature": model.temperature,
        "scaling": None,
        "training": None,
    }
    if model.scaling is not None:
        document["scaling"] = model.scaling.kind
        arrays["scaling_factor"] = model.scaling.factor
        if model.scaling.shift is not None:
            arrays["scaling_shift"] = model.scaling.shift
    if model.training is not None:
        document["training"] = _training(model.training, arrays)
    return document


def _plain_classes(classes: np.ndarray) -> np.ndarray:
    if classes.dtype.kind == "O":
        classes = np.array(classes.tolist())
    if classes.dtype.kind not in npy.KINDS:
        raise InvalidInput(f"labels of type {classes.dtype} cannot be saved; use numbers or text")
    return classes


def _parameters(kernel: Kernel) -> dict[str, float]:
    known = {field.name: getattr(kernel, field.name) for field in dataclass_fields(kernel)}  # type: ignore[arg-type]
    return {name: value for name, value in known.items() if name in PARAMETERS}


def _training(training: Training, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    names = [field.name for field in dataclass_fields(training) if field.name != "proofs"]
    document = {name: getattr(training, name) for name in names} | {"proofs": []}
    for k, proof in enumerate(training.proofs):
        arrays[f"rows_{k}"], arrays[f"beta_{k}"] = proof.rows, proof.beta
        numbers = {name: getattr(proof, name) for name in ("primal", "dual", "relative_gap")}
        # JSON has no infinities: an infinite value is written as text.
        told = {"status": proof.status} | {name: repr(float(x)) for name, x in numbers.items()}
        document["proofs"].append(told if proof.tau is None else told | {"tau": repr(float(proof.tau))})
    document["C"] = repr(float(training.C))
    return document


# Reading


def _model(document: dict[str, Any], arrays: dict[str, np.ndarray]) -> Model:
    if document["task"] not in get_args(Task) or document["scheme"] not in get_args(Scheme):
        raise InvalidInput("its task or scheme is unknown")
    columns = _whole(document["columns"])
    names = document["names"]
    if not isinstance(names, list | None):
        raise InvalidInput("its names of columns are not a list")
    floats = {key: _floats(arrays[key], key) for key in ("b", "w", "coef", "sigmoids") if key in arrays}
    codes = arrays.get("vector_classes")
    return Model(
        task=document["task"],
        kernel=_kernel(document["kernel"]),
        b=floats["b"],
        columns=columns,
        w=floats.get("w"),
        vectors=_vectors(arrays, columns),
        coef=floats.get("coef"),
        vector_classes=None if codes is None else _integers(codes, "the classes of its vectors"),
        classes=arrays.get("classes"),
        scheme=document["scheme"],
        scaling=_scaling(document["scaling"], arrays),
        names=None if names is None else tuple(str(name) for name in names),
        target=None if document["target"] is None else str(document["target"]),
        zero_based=None if document["zero_based"] is None else bool(document["zero_based"]),
        temperature=_temperature(document.get("temperature")),
        sigmoids=floats.get("sigmoids"),
        training=None if document["training"] is None else _read_training(document, arrays),
    )


def _temperature(value: Any) -> float | None:
    if value is not None and (not isinstance(value, int | float) or isinstance(value, bool)):
        raise InvalidInput(f"its temperature is {value!r:.40}; it must be a number")
    return None if value is None else float(value)


def _kernel(document: dict[str, Any]) -> Kernel:
    """A kernel with its parameters: numbers, and no others than it has."""
    name, parameters = document["name"], document["parameters"]
    made: Any = kernels[name]
    if made is Custom:
        raise InvalidInput("its kernel is 'custom', a function of somebody's own, which a model file cannot hold")
    known = {field.name for field in dataclass_fields(made)} & set(PARAMETERS)
    if not isinstance(parameters, dict) or set(parameters) != known:
        raise InvalidInput(f"the parameters of its kernel {name!r} are damaged; it needs: {', '.join(known) or 'none'}")
    for key, value in parameters.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not -1e308 < value < 1e308:  # a whole number may be larger than any float
            raise InvalidInput(f"the {key} of its kernel {name!r} is {value!r:.40}; it must be a finite number")
    return made(**parameters)


def _floats(array: np.ndarray, name: str) -> np.ndarray:
    if array.dtype.kind not in "fiu":
        raise InvalidInput(f"its {name} holds {array.dtype}, not numbers")
    return array.astype(np.float64)


def _integers(array: np.ndarray, name: str) -> np.ndarray:
    if array.dtype.kind not in "iu":
        raise InvalidInput(f"{name} are {array.dtype}, not whole numbers")
    return array.astype(np.int64)


def _whole(value: Any) -> int:
    if type(value) is not int or not 0 < value < 2**31:
        raise InvalidInput(f"{value!r} is not a number of columns")
    return value


def _vectors(arrays: dict[str, np.ndarray], columns: int) -> Any:
    if "vectors_indptr" not in arrays:
        return _floats(arrays["vectors"], "vectors") if "vectors" in arrays else None
    parts = {part: arrays[f"vectors_{part}"] for part in ("data", "indices", "indptr")}
    return csr(parts | {"shape": np.array([len(parts["indptr"]) - 1, columns])}, "its vectors")


def _scaling(kind: Any, arrays: dict[str, np.ndarray]) -> Scaling | None:
    if kind is None:
        return None
    if kind not in get_args(Kind):
        raise InvalidInput(f"its scaling {kind!r} is unknown")
    shift = arrays.get("scaling_shift")
    factor = _floats(arrays["scaling_factor"], "scaling")
    return Scaling(kind, None if shift is None else _floats(shift, "scaling"), factor)


def _read_training(model: dict[str, Any], arrays: dict[str, np.ndarray]) -> Training:
    document, proofs = model["training"], []
    width = len(arrays["classes"]) if model["scheme"] == "crammer-singer" else 1
    for k, proof in enumerate(document["proofs"]):
        rows, beta = _integers(arrays[f"rows_{k}"], "its rows"), _floats(arrays[f"beta_{k}"], "dual point")
        if rows.ndim != 1 or rows.shape != beta.shape or not np.isfinite(beta).all():
            raise InvalidInput("its dual points are damaged")
        n = width * int(document["n"])
        if rows.size and not (0 <= int(rows[0]) and int(rows[-1]) < n and (np.diff(rows) > 0).all()):
            raise InvalidInput("its dual points name rows that were not there")
        numbers = {name: float(proof[name]) for name in ("primal", "dual", "relative_gap")}
        if any(np.isnan(value) for value in numbers.values()):
            raise InvalidInput("its proof holds NaN")
        tau = float(proof["tau"]) if "tau" in proof else None
        if tau is not None and not 0.0 <= tau < np.inf:
            raise InvalidInput("the margin or tube of its proof is damaged")
        proofs.append(Proof(str(proof["status"]), rows=rows, beta=beta, tau=tau, **numbers))
    weights = document["class_weight"]
    if isinstance(weights, list):
        weights = tuple((label, float(x)) for label, x in weights)
        if not all(isinstance(label, str | int | float) and 0 <= x < np.inf for label, x in weights):
            raise InvalidInput("its weights of classes are damaged")
    elif weights not in (None, "balanced"):
        raise InvalidInput("its weights of classes are damaged")
    training = Training(
        loss=str(document["loss"]),
        loss_parameters={str(key): float(value) for key, value in document["loss_parameters"].items()},
        bias=str(document["bias"]),
        bias_scale=float(document["bias_scale"]),
        C=float(document["C"]),
        class_weight=weights,
        weighted=bool(document["weighted"]),
        solver=str(document["solver"]),
        tol=float(document["tol"]),
        n=int(document["n"]),
        proofs=tuple(proofs),
        regularizer=str(document.get("regularizer", "l2")),
        nu=None if document.get("nu") is None else float(document["nu"]),
    )
    numbers_fit = training.C > 0 and training.tol >= 0 and 0 < training.bias_scale < np.inf
    if not numbers_fit or training.bias not in get_args(Bias) or not 0 < training.n < 2**48:
        raise InvalidInput("what it says of its training is damaged")
    losses[training.loss](**training.loss_parameters)  # refused here, not when it is checked
    regularizers[training.regularizer]
    return training
