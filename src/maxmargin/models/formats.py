"""One door to all model formats: native (.mm), LIBSVM (.libsvm-model), LIBLINEAR (.liblinear-model), ONNX (.onnx)."""

from __future__ import annotations

import os
from pathlib import Path

from maxmargin.errors import InvalidInput
from maxmargin.models import liblinear, libsvm, native, onnx
from maxmargin.models.model import Model

SUFFIXES = {".mm": "native", ".libsvm-model": "libsvm", ".liblinear-model": "liblinear", ".onnx": "onnx"}
FORMATS = tuple(SUFFIXES.values())
_SAVE = {"native": native.save, "libsvm": libsvm.save, "liblinear": liblinear.save, "onnx": onnx.save}
_LOAD = {"native": native.load, "libsvm": libsvm.load, "liblinear": liblinear.load}


def save(model: Model, path: str | os.PathLike[str], format: str | None = None) -> None:
    """Write a model to a file, whole or not at all.

    Parameters
    ----------
    model : Model
        See `model_of`; a fitted estimator has it as ``model_``.
    path : str or path
        The file.
    format : "native", "libsvm", "liblinear" or "onnx", default None
        By default told from the end of the file's name: .mm, .libsvm-model, .liblinear-model or .onnx; else native.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from maxmargin import Problem, load, model_of, save, solve
    >>> result = solve(Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model_of(result), f"{folder}/fit.mm")
    ...     load(f"{folder}/fit.mm").predict(np.array([[0.5], [2.5]]))
    array([-1,  1])
    """
    kind = format or SUFFIXES.get(Path(path).suffix, "native")
    if kind not in _SAVE:
        raise InvalidInput(f"there is no model format {kind!r}; there are: {', '.join(_SAVE)}")
    _SAVE[kind](model, path)


def load(path: str | os.PathLike[str], format: str | None = None) -> Model:
    """Read a model from a file.

    Parameters
    ----------
    path : str or path
        The file.
    format : "native", "libsvm" or "liblinear", default None
        By default told from the contents.

    Returns
    -------
    Model
        The model, checked; nothing in a file is executed.

    Examples
    --------
    >>> import tempfile
    >>> from maxmargin import Problem, load, model_of, save, solve
    >>> result = solve(Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model_of(result), f"{folder}/fit.libsvm-model")
    ...     load(f"{folder}/fit.libsvm-model").task
    'classification'
    """
    kind = format or format_of(path)
    if kind is None:
        raise InvalidInput(f"{os.fspath(path)} is not a model: neither of maxmargin nor of LIBSVM or LIBLINEAR")
    if kind not in _LOAD:
        raise InvalidInput(f"models of the format {kind!r} cannot be read; those that can: {', '.join(_LOAD)}")
    return _LOAD[kind](path)


def format_of(path: str | os.PathLike[str]) -> str | None:
    """Which model format a file has; None where it has none of them."""
    file = Path(path)
    if file.is_dir():
        raise InvalidInput(f"{file} is a folder; name a model file")
    try:
        with open(file, "rb") as opened:
            start = opened.read(64)
            if start.startswith(native.MAGIC):
                opened.seek(0)
                return "native" if b"model.json" in opened.read(2**12) else None
    except OSError as error:
        raise InvalidInput(f"cannot read {file}: {error.strerror}") from None
    if start.startswith(b"svm_type"):
        return "libsvm"
    return "liblinear" if start.startswith(b"solver_type") else None
