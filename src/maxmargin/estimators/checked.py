"""Data at the border of the estimators: as scikit-learn checks it, at once where there is nothing to convert.

scikit-learn's checks take a tenth of a millisecond, as long as many a small fit. An array that is as it should be, with
labels or targets that are, needs none of what they can do; everything else goes through them, with their messages.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

#: How rows come in: dense or CSR, float32 or float64, nothing copied that is right already.
ROWS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "order": "C"}


def checked_training(estimator: Any, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
    """X and y as scikit-learn checks them; the estimator learns how many features there are."""
    supervised = not isinstance(y, str)  # "no_validation": a machine without targets
    if _ready(X) and (not supervised or _ready_target(y, len(X))):
        estimator.__dict__.pop("feature_names_in_", None)
        estimator.n_features_in_ = X.shape[1]
        return X, y
    checked = validate_data(estimator, X, y, **ROWS, **options)
    return checked if supervised else (checked, y)


def checked_new(estimator: Any, X: Any) -> Any:
    """New rows, with the features of the training rows."""
    known = vars(estimator)
    if _ready(X) and X.shape[1] == known.get("n_features_in_") and "feature_names_in_" not in known:
        return X
    return validate_data(estimator, X, reset=False, **ROWS)


def _ready(X: Any) -> bool:
    """Whether X is an array that needs no conversion, and has no NaN or infinity."""
    return (
        type(X) is np.ndarray
        and X.dtype in (np.float64, np.float32)
        and X.ndim == 2
        and X.size > 0
        and X.flags.c_contiguous
        and _finite(X)
    )


def _ready_target(y: Any, n: int) -> bool:
    """Whether y is a column of labels or numbers for so many rows."""
    if type(y) is not np.ndarray or y.shape != (n,):
        return False
    return y.dtype.kind in "biu" or (y.dtype in (np.float64, np.float32) and _finite(y))


def _finite(values: np.ndarray) -> bool:
    """Whether all values are finite: their sum is, or (it may overflow) each of them is."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum())) or bool(np.isfinite(values).all())
