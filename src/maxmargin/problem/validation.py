"""The border: data, targets and weights are checked here, once; the rest of the package trusts them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInput
from maxmargin.kernels import Custom, Kernel
from maxmargin.losses import Loss
from maxmargin.losses.base import Task
from maxmargin.numeric.parallel import over_blocks
from maxmargin.numeric.row_blocks import RowBlocks
from maxmargin.numeric.rows import Matrix
from maxmargin.regularizers import Regularizer

Bias = Literal["none", "augmented", "free"]

#: Beyond this a squared norm overflows float64.
LARGEST = 1e150
#: Where the largest value is beyond these, squares of float32 values overflow or underflow: float64 is used instead.
FLOAT32 = (1e-15, 1e15)
#: Beyond this a kernel value overflows float32.
LARGEST_FLOAT32 = 1e37
#: Below this the largest squared norm, what is left of the others is rounding.
SMALLEST = 1e-305
#: Beyond this C·k(x,x), steps on β vanish beside C.
HARDEST = 1e30


def check_rows(X: Any, name: str = "X") -> Matrix:
    """X as a C-ordered float array or canonical CSR, not copied where it is that already.

    float32 stays float32, unless its squares would overflow. Rows in blocks have been checked when they were made.
    """
    if isinstance(X, RowBlocks):
        return X
    if sp.issparse(X):
        X = _check_sparse(X, name)
    else:
        X = _check_dense(X, name)
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise InvalidInput(f"{name} has shape {X.shape}; at least one row and one column are needed")
    largest = _check_values(X, name)
    if X.dtype == np.float32 and largest > 0.0 and not FLOAT32[0] <= largest <= FLOAT32[1]:
        X = X.astype(np.float64)
    return X


def _check_dense(X: Any, name: str) -> np.ndarray:
    try:
        X = np.asarray(X)
        if X.dtype not in (np.float32, np.float64):
            if X.dtype.kind == "c":
                raise InvalidInput(f"{name} is complex; only real features can be used")
            X = X.astype(np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(_not_a_number(X, name, error)) from None
    if X.ndim != 2:
        raise InvalidInput(f"{name} has {X.ndim} dimension(s); it must be a table of rows and columns")
    return np.ascontiguousarray(X)


def _not_a_number(X: Any, name: str, error: Exception) -> str:
    if isinstance(X, np.ndarray) and X.ndim == 2:
        for (row, column), value in np.ndenumerate(X):
            try:
                float(value)
            except (TypeError, ValueError):
                return f"{name}[{row}, {column}] is {value!r}, not a number; encode or drop that column"
    if "inhomogeneous" in str(error):
        return f"the rows of {name} differ in length; every row needs one value per column"
    return f"{name} cannot be read as a table of numbers; encode or drop what is not a number"


def _check_sparse(X: Any, name: str) -> Matrix:
    if X.ndim != 2:
        raise InvalidInput(f"{name} has {X.ndim} dimension(s); it must be a table of rows and columns")
    X = X.tocsr()
    if X.dtype not in (np.float32, np.float64):
        if X.dtype.kind == "c":
            raise InvalidInput(f"{name} is complex; only real features can be used")
        X = X.astype(np.float64)
    if not X.has_canonical_format:
        X = X.copy()  # the caller's matrix stays as it is
        X.sum_duplicates()
    return X


def _check_values(X: Matrix, name: str) -> float:
    """Refuse NaN, infinities and values whose squares overflow, naming row and column; returns the largest |value|."""
    values = X.data if sp.issparse(X) else X
    size = max(1, 2**18 // max(1, values.shape[1] if values.ndim == 2 else 1))
    refused, sizes = [], [0.0]

    def check(start: int, stop: int) -> None:
        part = values[start:stop]
        low, high = float(part.min(initial=0.0)), float(part.max(initial=0.0))
        sizes.append(max(-low, high))
        if not (np.isfinite(low) and np.isfinite(high) and max(-low, high) <= LARGEST):
            refused.append((start, stop))

    over_blocks(check, len(values), size)
    if not refused:
        return max(sizes)
    start, stop = min(refused)
    bad = np.argwhere(~(np.abs(values[start:stop], dtype=np.float64) <= LARGEST))[0]
    if sp.issparse(X):
        place = start + int(bad[0])
        row, column = int(np.searchsorted(X.indptr, place, side="right")) - 1, int(X.indices[place])
    else:
        row, column = start + int(bad[0]), int(bad[1])
    value = X[row, column]
    if np.isfinite(value):
        raise InvalidInput(
            f"{name}[{row}, {column}] is {value:g}; its square overflows: rescale the features below {LARGEST:g}"
        )
    raise InvalidInput(f"{name}[{row}, {column}] is {value}; fill in or drop that row, or scale the column first")


def check_scale(kernel: Kernel, X: Matrix, weights: np.ndarray) -> None:
    """Refuse a kernel that overflows, and a C so large for it that float64 cannot tell the duals apart."""
    if isinstance(kernel, Custom):
        return  # its diagonal would cost a call per row
    largest = float(kernel.diag(X).max())
    if not np.isfinite(largest):
        raise InvalidInput(f"the kernel {kernel.name!r} overflows on this data: scale the features down")
    if not kernel.linear and X.dtype == np.float32 and largest > LARGEST_FLOAT32:
        raise InvalidInput(f"the kernel {kernel.name!r} overflows float32 on this data: scale the features down")
    if kernel.linear and largest < SMALLEST and _any(X):
        raise InvalidInput(
            f"the values of X are so small that their squares underflow (the largest ‖x‖² is {largest:.0e}):"
            f" multiply the features by a constant"
        )
    C = float(weights[np.isfinite(weights)].max(initial=0.0))
    if C * largest > HARDEST:
        raise InvalidInput(
            f"C·k(x,x) reaches {C * largest:.0e}, beyond what float64 resolves: scale the features down or lower C"
        )


def transformed(X: Matrix, transform: Callable | None, kernel: Kernel) -> Matrix:
    """Checked rows after a transform, which is an alternative to a kernel."""
    if transform is not None and not kernel.linear:
        raise InvalidInput(f"a transform is an alternative to a kernel; drop transform= or kernel={kernel.name!r}")
    if isinstance(X, RowBlocks) and (transform is not None or not kernel.linear):
        raise InvalidInput("rows in blocks are for the linear kernel: any other, or a transform, needs all at once")
    return X if transform is None else check_rows(transform(X), "transform(X)")


def _any(X: Matrix) -> bool:
    """Whether any value is not 0."""
    if isinstance(X, RowBlocks):
        return bool(X.largest.any())
    return bool(X.nnz) if sp.issparse(X) else bool(X.any())


def check_vector(v: Any, n: int, name: str) -> np.ndarray:
    """A float64 vector of length n without NaN or infinities."""
    try:
        v = np.asarray(v, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be numbers") from None
    if v.shape != (n,):
        raise InvalidInput(f"{name} has shape {v.shape} but there are {n} rows; one value per row is needed")
    if not np.isfinite(v).all():
        row = int(np.flatnonzero(~np.isfinite(v))[0])
        raise InvalidInput(f"{name}[{row}] is {v[row]}; fill in or drop that row")
    return v


def check_targets(y: Any, n: int) -> np.ndarray:
    """Real targets, one per row, whose squares do not overflow."""
    t = check_vector(y, n, "y")
    if np.abs(t).max() > LARGEST:
        row = int(np.argmax(np.abs(t)))
        raise InvalidInput(f"y[{row}] is {t[row]:g}; its square overflows: rescale the targets below {LARGEST:g}")
    return t


def is_number(value: Any) -> bool:
    """Whether a parameter is one real number (True and False are not)."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def plain(label: Any) -> Any:
    """A label as Python shows it."""
    return label.item() if isinstance(label, np.generic) else label


def check_labels(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two labels of any kind as −1/+1 (the smaller is −1), and the labels themselves."""
    y, classes = _labels_of(y, n)
    if len(classes) > 2:
        shown = ", ".join(repr(plain(label)) for label in classes[:4]) + (", ..." if len(classes) > 4 else "")
        raise InvalidInput(
            f"y holds {len(classes)} classes ({shown}); a Problem has two: select two or code one against the rest"
        )
    return np.where(y == classes[1], 1.0, -1.0), classes


def check_classes(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two or more labels of any kind as numbers from 0, and the labels themselves."""
    y, classes = _labels_of(y, n)
    return np.searchsorted(classes, y), classes


def _labels_of(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The label of each row, and all labels in order."""
    y = np.asarray(y)
    if y.shape != (n,):
        raise InvalidInput(f"y has shape {y.shape} but X has {n} rows; one label a row is needed")
    if y.dtype.kind == "f":
        check_vector(y, n, "y")
    if y.dtype.kind == "O":
        odd = [row for row, label in enumerate(y) if label is None or label != label or label in (np.inf, -np.inf)]
        if odd:
            raise InvalidInput(f"y[{odd[0]}] is {y[odd[0]]}; fill in or drop that row")
    try:
        classes = np.unique(y) if y.dtype.kind in "OUS" else _few_labels(y)
    except TypeError:
        raise InvalidInput("y mixes labels of different types; make them all text or all numbers") from None
    if len(classes) == 1:
        raise InvalidInput(f"y holds only the class {plain(classes[0])!r}; a classifier needs two classes")
    return y, classes


def _few_labels(y: np.ndarray) -> np.ndarray:
    """The labels in order; two of them are found without sorting all."""
    ends = np.array([y.min(), y.max()])
    return np.unique(ends) if ((y == ends[0]) | (y == ends[1])).all() else np.unique(y)


def check_sample_weight(sample_weight: Any, n: int) -> np.ndarray | None:
    """The weights of the rows, each ≥ 0 and not all of them 0; None where there are none."""
    if sample_weight is None:
        return None
    weights = check_vector(sample_weight, n, "sample_weight")
    if (weights < 0).any():
        row = int(np.flatnonzero(weights < 0)[0])
        raise InvalidInput(f"sample_weight[{row}] is {weights[row]}; weights must be ≥ 0")
    if not weights.any():
        raise InvalidInput("sample_weight is 0 for every row; nothing is left to train on")
    return weights


def check_weights(
    C: float, given: np.ndarray | None, class_weight: Any, codes: np.ndarray, classes: np.ndarray | None
) -> np.ndarray:
    """C_i = C · sample_weight_i · class_weight_i, float64; a weight of 0 leaves the row out."""
    weights = np.ones(len(codes)) if given is None else given.copy()
    if class_weight is not None:
        if classes is None:
            raise InvalidInput("class_weight is for classification; this loss has no classes")
        weights *= _class_weights(class_weight, weights, codes, classes)
    if classes is not None:
        for code, label in enumerate(classes):
            if not weights[codes == code].any():
                raise InvalidInput(f"every row of the class {plain(label)!r} has weight 0; a classifier needs two")
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        product = np.where(weights > 0, C * weights, 0.0)
    lost = (weights > 0) & ((product == 0) | (np.isinf(product) & np.isfinite(C)))
    if lost.any():
        row = int(np.flatnonzero(lost)[0])
        raise InvalidInput(
            f"C times sample_weight and class_weight of row {row} is {product[row]}, beyond float64: rescale them"
        )
    return product


def _class_weights(class_weight: Any, weights: np.ndarray, codes: np.ndarray, classes: np.ndarray) -> np.ndarray:
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise InvalidInput(f"class_weight is {class_weight!r}; it must be 'balanced' or a dict of label: weight")
        # The same weight for each class; counted by weight, so that a weight of 2 is the row written twice.
        k = len(classes)
        by_class = [float(weights.sum() / (k * max(weights[codes == code].sum(), 1e-300))) for code in range(k)]
    elif isinstance(class_weight, Mapping):
        unknown = [label for label in class_weight if label not in classes]
        if unknown:
            raise InvalidInput(f"class_weight names {unknown[0]!r}, which is not among the labels in y")
        given = [class_weight.get(plain(label), 1.0) for label in classes]
        if not all(is_number(weight) and 0 <= weight < np.inf for weight in given):
            raise InvalidInput(f"class_weight is {class_weight}; weights must be finite numbers ≥ 0")
        by_class = [float(weight) for weight in given]
    else:
        raise InvalidInput(f"class_weight is {class_weight!r}; it must be 'balanced' or a dict of label: weight")
    return np.array(by_class)[codes]


def check_bias(bias: Any, bias_scale: Any, task: Task) -> None:
    """Refuse a mode of the bias that there is not, and a scale that is no number or goes with another mode."""
    if bias not in get_args(Bias):
        raise InvalidInput(f"bias is {bias!r}; it must be one of: {', '.join(get_args(Bias))}")
    if not is_number(bias_scale) or not 0.0 < bias_scale < np.inf:
        raise InvalidInput(f"bias_scale is {bias_scale!r}; it must be a finite number > 0")
    if bias_scale != 1.0 and bias != "augmented":
        raise InvalidInput(f"bias_scale is for bias='augmented'; it means nothing with bias={bias!r}")
    if task == "novelty" and bias != "free":
        raise InvalidInput("the one-class loss needs bias='free': its bias is the threshold ρ")


def check_task(loss: Loss, task: Task | None) -> Task:
    """The task of a problem; a refusal of one that the loss is not for."""
    if task is None:
        return loss.task
    if task not in loss.tasks:
        raise InvalidInput(f"loss={loss.name!r} is for {loss.task}, not for {task!r}")
    return task


def targets_of(y: Any, n: int, task: Task) -> tuple[np.ndarray, np.ndarray | None]:
    """The targets as numbers, and the two labels where there are classes."""
    if task == "novelty":
        return np.ones(n), None
    if y is None:
        raise InvalidInput("y is missing; only the one-class loss goes without")
    if task == "classification":
        return check_labels(y, n)
    return check_targets(y, n), None


def check_cost(C: float | None, lam: float | None, loss: Loss) -> float:
    """The weight C of the loss, given as such or as λ = 1/C; the hard margin is for the hinge."""
    cost = _cost(C, lam)
    if np.isinf(cost) and not loss.hard_margin:
        raise InvalidInput(f"C=inf is the hard margin of the hinge; loss={loss.name!r} needs a finite C")
    return cost


def _cost(C: float | None, lam: float | None) -> float:
    if C is not None and lam is not None:
        raise InvalidInput("give C or lam, not both: lam = 1/C")
    if lam is None:
        C = 1.0 if C is None else C
        if not is_number(C) or not C > 0:
            raise InvalidInput(f"C is {C!r}; it must be a number > 0 (C=inf for a hard margin)")
        return float(C)
    if not is_number(lam) or not 0.0 <= lam < np.inf or (0.0 < lam < 1e-300):
        raise InvalidInput(f"lam is {lam!r}; it must be 0 (a hard margin) or a finite number ≥ 1e-300")
    return 1.0 / float(lam) if lam > 0 else np.inf


def check_regularizer(regularizer: Regularizer, kernel: Kernel, task: Task, hard: bool) -> None:
    """A regulariser of single weights needs weights with coordinates, a finite C, and a dual that may be scaled."""
    if regularizer.quadratic:
        return
    name = regularizer.name
    if task == "novelty":
        raise InvalidInput(f"the one-class loss is for regularizer='l2'; regularizer={name!r} needs classes or targets")
    if not kernel.linear:
        raise InvalidInput(
            f"regularizer={name!r} is about the weights of single features, which kernel={kernel.name!r} does not have;"
            f" use kernel='linear' or regularizer='l2'"
        )
    if hard:
        raise InvalidInput(f"C=inf is the hard margin of regularizer='l2'; regularizer={name!r} needs a finite C")
