"""The native model file: a zip archive of NumPy arrays and one JSON document; no code runs on loading.

    model.json      everything that is not an array, the version, and the SHA-256 of every array
    model.sha256    the SHA-256 of model.json
    *.npy           the arrays, not compressed: nothing can be larger than the file itself

The same model gives the same bytes. A file of a later version, with a wrong checksum, or with anything that does not
belong there is refused before memory is taken for it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from dataclasses import fields as dataclass_fields
from typing import Any, get_args

import numpy as np
import scipy.sparse as sp

from maxmargin.data import npy
from maxmargin.data.atomic import replacing
from maxmargin.data.scaling import Kind, Scaling
from maxmargin.errors import InvalidInput
from maxmargin.kernels import Custom, Kernel
from maxmargin.kernels.base import registry as kernels
from maxmargin.losses.base import Task
from maxmargin.models.model import Model, Proof, Scheme, Training, check

FORMAT = "maxmargin model"
VERSION = 1
#: The JSON document is small; a huge one is not ours.
LONGEST_DOCUMENT = 2**26
MAGIC = b"PK\x03\x04"


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model, whole or not at all."""
    arrays: dict[str, np.ndarray] = {}
    document = _document(model, arrays)
    packed = {name: npy.packed(array) for name, array in arrays.items()}
    document["arrays"] = {name: hashlib.sha256(raw).hexdigest() for name, raw in packed.items()}
    text = json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True).encode("utf-8")
    contents = {"model.json": text, "model.sha256": hashlib.sha256(text).hexdigest().encode()}
    contents |= {f"{name}.npy": raw for name, raw in packed.items()}
    with replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, raw in contents.items():
            archive.writestr(zipfile.ZipInfo(name), raw)  # the time is always 1980: the same model, the same bytes


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model; every part is checked."""
    name = os.fspath(path)
    try:
        with zipfile.ZipFile(path) as archive:
            document, arrays = _contents(archive, name, os.path.getsize(path))
        return check(_model(document, arrays))
    except InvalidInput as error:
        raise InvalidInput(f"cannot load {name}: {error}") from None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, OverflowError) as error:
        raise InvalidInput(f"cannot load {name}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        raise InvalidInput(
            f"cannot load {name}: it is damaged or not a model ({type(error).__name__}: {error})"
        ) from None


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
        "format": FORMAT,
        "version": VERSION,
        "task": model.task,
        "kernel": {"name": model.kernel.name, "parameters": _parameters(model.kernel)},
        "columns": model.columns,
        "scheme": model.scheme,
        "names": model.names,
        "target": model.target,
        "zero_based": model.zero_based,
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
    return {name: value for name, value in known.items() if isinstance(value, (int, float))}


def _training(training: Training, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    names = [field.name for field in dataclass_fields(training) if field.name != "proofs"]
    document = {name: getattr(training, name) for name in names} | {"proofs": []}
    for k, proof in enumerate(training.proofs):
        arrays[f"rows_{k}"], arrays[f"beta_{k}"] = proof.rows, proof.beta
        numbers = {name: getattr(proof, name) for name in ("primal", "dual", "relative_gap")}
        # JSON has no infinities: an infinite value is written as text.
        document["proofs"].append({"status": proof.status} | {name: repr(float(x)) for name, x in numbers.items()})
    document["C"] = repr(float(training.C))
    return document


# Reading


def _contents(archive: zipfile.ZipFile, name: str, size: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    members = {info.filename: info for info in archive.infolist()}
    if len(members) != len(archive.infolist()) or not {"model.json", "model.sha256"} <= set(members):
        raise InvalidInput("it is not a model of maxmargin")
    for info in members.values():
        if info.compress_type != zipfile.ZIP_STORED or info.file_size > size:
            raise InvalidInput(f"{info.filename} promises more than the file holds")
    if members["model.json"].file_size > LONGEST_DOCUMENT:
        raise InvalidInput("its document is too long")
    text = archive.read("model.json")
    if hashlib.sha256(text).hexdigest().encode() != archive.read("model.sha256"):
        raise InvalidInput("the checksum of its document is wrong; the file is damaged")
    document = json.loads(text)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InvalidInput("it is not a model of maxmargin")
    if document.get("version") != VERSION:
        raise InvalidInput(
            f"its version is {document.get('version')}; this maxmargin reads version {VERSION}: update it"
        )
    wanted = document["arrays"]
    if {f"{key}.npy" for key in wanted} != set(members) - {"model.json", "model.sha256"}:
        raise InvalidInput("its arrays are not those that its document names")
    arrays = {}
    for key, digest in wanted.items():
        raw = archive.read(f"{key}.npy")
        if hashlib.sha256(raw).hexdigest() != digest:
            raise InvalidInput(f"the checksum of {key} is wrong; the file is damaged")
        arrays[key] = npy.read(io.BytesIO(raw), key, len(raw))
    return document, arrays


def _model(document: dict[str, Any], arrays: dict[str, np.ndarray]) -> Model:
    if document["task"] not in get_args(Task) or document["scheme"] not in get_args(Scheme):
        raise InvalidInput("its task or scheme is unknown")
    kernel: Any = kernels[document["kernel"]["name"]]
    columns = _whole(document["columns"])
    names = document["names"]
    floats = {key: arrays[key].astype(np.float64) for key in ("b", "w", "coef", "sigmoids") if key in arrays}
    codes = arrays.get("vector_classes")
    return Model(
        task=document["task"],
        kernel=kernel(**{str(key): value for key, value in document["kernel"]["parameters"].items()}),
        b=floats["b"],
        columns=columns,
        w=floats.get("w"),
        vectors=_vectors(arrays, columns),
        coef=floats.get("coef"),
        vector_classes=None if codes is None else codes.astype(np.int64),
        classes=arrays.get("classes"),
        scheme=document["scheme"],
        scaling=_scaling(document["scaling"], arrays),
        names=None if names is None else tuple(str(name) for name in names),
        target=None if document["target"] is None else str(document["target"]),
        zero_based=None if document["zero_based"] is None else bool(document["zero_based"]),
        sigmoids=floats.get("sigmoids"),
        training=None if document["training"] is None else _read_training(document["training"], arrays),
    )


def _whole(value: Any) -> int:
    if type(value) is not int or not 0 < value < 2**31:
        raise InvalidInput(f"{value!r} is not a number of columns")
    return value


def _vectors(arrays: dict[str, np.ndarray], columns: int) -> Any:
    if "vectors_indptr" not in arrays:
        return arrays["vectors"].astype(np.float64) if "vectors" in arrays else None
    from maxmargin.data.arrays import csr

    parts = {part: arrays[f"vectors_{part}"] for part in ("data", "indices", "indptr")}
    return csr(parts | {"shape": np.array([len(parts["indptr"]) - 1, columns])}, "its vectors")


def _scaling(kind: Any, arrays: dict[str, np.ndarray]) -> Scaling | None:
    if kind is None:
        return None
    if kind not in get_args(Kind):
        raise InvalidInput(f"its scaling {kind!r} is unknown")
    shift = arrays.get("scaling_shift")
    factor = arrays["scaling_factor"].astype(np.float64)
    return Scaling(kind, None if shift is None else shift.astype(np.float64), factor)


def _read_training(document: dict[str, Any], arrays: dict[str, np.ndarray]) -> Training:
    proofs = []
    for k, proof in enumerate(document["proofs"]):
        rows, beta = arrays[f"rows_{k}"].astype(np.int64), arrays[f"beta_{k}"].astype(np.float64)
        if rows.ndim != 1 or rows.shape != beta.shape or not np.isfinite(beta).all():
            raise InvalidInput("its dual points are damaged")
        if rows.size and not 0 <= int(rows.min()) <= int(rows.max()) < int(document["n"]):
            raise InvalidInput("its dual points name rows that were not there")
        numbers = {name: float(proof[name]) for name in ("primal", "dual", "relative_gap")}
        proofs.append(Proof(str(proof["status"]), rows=rows, beta=beta, **numbers))
    weights = document["class_weight"]
    return Training(
        loss=str(document["loss"]),
        loss_parameters={str(key): float(value) for key, value in document["loss_parameters"].items()},
        bias=str(document["bias"]),
        bias_scale=float(document["bias_scale"]),
        C=float(document["C"]),
        class_weight=tuple((label, float(x)) for label, x in weights) if isinstance(weights, list) else weights,
        weighted=bool(document["weighted"]),
        solver=str(document["solver"]),
        tol=float(document["tol"]),
        n=int(document["n"]),
        proofs=tuple(proofs),
    )
