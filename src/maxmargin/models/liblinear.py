"""LIBLINEAR's model files, both ways: what `train` writes, and what `predict` reads.

One column of w a class (one against the rest), or one in all for two classes, where a positive value speaks for the
first label; the bias is the weight of a last feature that is always ``bias``.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.files import replacing
from maxmargin.kernels import Linear
from maxmargin.models.libsvm import finite, load_text, whole_labels
from maxmargin.models.model import Model

#: The solver type that stands for a loss.
TYPES = {
    "hinge": "L2R_L1LOSS_SVC_DUAL",
    "squared-hinge": "L2R_L2LOSS_SVC_DUAL",
    "logistic": "L2R_LR",
    "epsilon-insensitive": "L2R_L1LOSS_SVR_DUAL",
    "squared-epsilon-insensitive": "L2R_L2LOSS_SVR_DUAL",
}
#: The same for the penalty l1.
SPARSE_TYPES = {"squared-hinge": "L1R_L2LOSS_SVC", "logistic": "L1R_LR"}
#: All classes in one problem.
TOGETHER = "MCSVM_CS"
USUAL = {"classification": "hinge", "regression": "epsilon-insensitive"}
#: More weights than this are not a model but a mistake.
MOST_WEIGHTS = 2**33


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model for LIBLINEAR's `predict`; refused where the format has no place for it."""
    model = model.unscaled()
    if not model.linear or model.w is None:
        raise InvalidInput(f"LIBLINEAR is for linear models; the kernel {model.kernel.name!r} goes into a LIBSVM file")
    if model.scheme == "ovo":
        raise InvalidInput("LIBLINEAR tells several classes apart one against the rest: train with --multiclass ovr")
    together = model.scheme == "crammer-singer"
    loss = USUAL.get(model.task, "") if model.training is None else model.training.loss
    types = SPARSE_TYPES if model.training is not None and model.training.regularizer == "l1" else TYPES
    if loss not in types:
        raise InvalidInput(f"LIBLINEAR has no model for {model.task} by the loss {loss!r}; it has: {', '.join(types)}")
    lines = [
        f"solver_type {TOGETHER if together else types[loss]}",
        f"nr_class {2 if model.classes is None else len(model.classes)}",
    ]
    if model.classes is not None:
        order = model.classes[::-1] if model.scheme == "binary" else model.classes
        lines.append("label " + " ".join(whole_labels(order, "LIBLINEAR")))
    lines += [f"nr_feature {model.columns}", "bias 1", "w"]
    weights = np.column_stack([model.w, model.b]).T
    with replacing(path) as file:
        file.write(("\n".join(lines) + "\n").encode("ascii"))
        for row in weights.tolist():
            file.write((" ".join(f"{value:.17g}" for value in row) + " \n").encode("ascii"))


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model that LIBLINEAR has written."""
    return load_text(path, "w", _model)


def _model(header: dict[str, list[str]], file: Any, size: int) -> Model:
    kind = header["solver_type"][0]
    k, d, bias = int(header["nr_class"][0]), int(header["nr_feature"][0]), finite(header["bias"][0])
    task: Any = "regression" if "SVR" in kind else "novelty" if kind == "ONECLASS_SVM" else "classification"
    machines = k if task == "classification" and (k > 2 or kind == TOGETHER) else 1
    rows = d + (bias >= 0)
    if not (0 < d < 2**31 and 2 <= k < 2**31) or 2 * rows * machines > min(size, MOST_WEIGHTS):
        raise InvalidInput(f"it promises {d} features and {k} classes, which the file cannot hold")
    values = np.empty((rows, machines))
    read = 0
    for line in file:
        words = line.split()
        if read == rows or len(words) != machines:
            read = -1
            break
        values[read] = [finite(word) for word in words]
        read += 1
    if read != rows:
        raise InvalidInput(f"it should have {rows} lines of {machines} weights")
    with np.errstate(over="ignore"):  # `check` refuses what is not finite
        b = bias * values[-1] if bias >= 0 else np.zeros(machines)
    w = values[:d].T.copy()
    classes = None
    if task == "classification":
        classes = np.array([int(label) for label in header["label"]])
        if k == 2 and machines == 1:
            classes = classes[::-1].copy()
        elif k == 2:  # two columns, of which the larger value wins
            w, b, classes = (w[:1] - w[1:]), b[:1] - b[1:], classes[::-1].copy()
    elif task == "novelty":
        b = b - finite(header["rho"][0])
    return Model(
        task=task,
        kernel=Linear(),
        b=b,
        columns=d,
        w=w,
        classes=classes,
        scheme="binary" if classes is None or k == 2 else "crammer-singer" if kind == TOGETHER else "ovr",
        zero_based=False,
        sigmoids=np.tile([-1.0, 0.0], (len(b), 1)) if kind.endswith("LR") or "LR_" in kind else None,
    )
