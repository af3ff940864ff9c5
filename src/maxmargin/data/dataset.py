"""Data: what a reader hands over, and labels as people write them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInput

#: Labels may take so many bytes more than their own lengths explain.
MOST_TEXT = 10**8


@dataclass(frozen=True, eq=False)
class Data:
    """Rows with their labels or targets, as they were read from a file.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.data import Data
    >>> data = Data(np.eye(2), np.array([-1, 1]), names=("height", "weight"))
    >>> data.n, data.names
    (2, ('height', 'weight'))
    """

    #: A dense array or a CSR array, float64.
    X: Any
    #: Labels (int64 where all are whole numbers, else float64, or text), or None where the file has none.
    y: np.ndarray | None
    #: The names of the columns, where the file has names.
    names: tuple[str, ...] | None = None
    #: Where it comes from, for messages.
    source: str = ""
    #: Whether the indices of an svmlight file begin at 0 (they are moved to 0 here in any case).
    zero_based: bool | None = None
    #: The name of the target's column, where the file has names.
    target: str | None = None

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.X.shape[0]


def whole_numbers(y: np.ndarray) -> np.ndarray:
    """Labels that are whole numbers as int64; anything else as it is."""
    if y.dtype.kind == "f" and y.size and np.all(np.abs(y) < 2.0**53) and np.all(y == np.floor(y)):
        return y.astype(np.int64)
    return y


def texts_of(labels: np.ndarray, name: str) -> np.ndarray:
    """Labels as an array of text, where every one takes as much memory as the longest."""
    longest = max(map(len, labels), default=0)
    total = sum(map(len, labels))
    if 4 * longest * len(labels) > MOST_TEXT + 60 * total:
        raise InvalidInput(f"{name}: a label has {longest} characters; shorten it, or choose another target")
    return labels.astype(str)


def label_texts(labels: np.ndarray) -> np.ndarray:
    """Many labels as they are written to a file."""
    known, places = np.unique(labels, return_inverse=True)
    return np.array([label_text(label) for label in known.tolist()], dtype=object)[places]


def label_text(label: Any) -> str:
    """A label as it is written to a file: 1, 2.5 or spam."""
    if isinstance(label, (float, np.floating)):
        value = float(label)
        return repr(int(value)) if value == int(value) and abs(value) < 2.0**53 else repr(value)
    return str(label)
