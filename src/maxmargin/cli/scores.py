"""How answers compare with the labels of a file, in a memory that does not grow with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.data.dataset import label_texts
from maxmargin.files import shown

if TYPE_CHECKING:
    from maxmargin.models.model import Model

#: A confusion table of more classes than this is not readable.
LARGEST_TABLE = 20


class Moments:
    """Means, variances and the covariance of targets and answers; blocks are merged by the formulas of Chan et al."""

    def __init__(self) -> None:
        self.n = 0
        self.squares = 0.0
        self.mean = np.zeros(2)
        self.spread = np.zeros((2, 2))

    def add(self, targets: np.ndarray, answers: np.ndarray) -> None:
        """Add a block of rows."""
        both = np.stack([targets, answers]).astype(np.float64)
        n, mean = both.shape[1], both.mean(axis=1)
        centred = both - mean[:, None]
        step = mean - self.mean
        self.squares += float(((both[0] - both[1]) ** 2).sum())
        self.spread += centred @ centred.T + np.outer(step, step) * (self.n * n / (self.n + n))
        self.mean += step * (n / (self.n + n))
        self.n += n

    @property
    def squared_correlation(self) -> float:
        """The square of Pearson's correlation of targets and answers; NaN where one of them is constant."""
        both = float(self.spread[0, 0] * self.spread[1, 1])
        return float(self.spread[0, 1]) ** 2 / both if both > 0 else float("nan")


class Tally:
    """Answers of a model beside the labels of a file: accuracy and who is taken for whom, or errors."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.rows = self.known = self.right = 0
        self.moments = Moments()
        self.counts: dict[tuple[str, str], int] = {}
        #: Whether the labels can be compared with answers: those of a one-class model are +1 and −1.
        self.comparable = True

    def add(self, answers: np.ndarray, y: np.ndarray | None) -> None:
        """Add the answers for a block of rows, and their labels, where there are some."""
        self.rows += len(answers)
        if y is None or not self.comparable:
            return
        if self.model.task == "regression":
            if y.dtype.kind != "U":
                self.known += len(y)
                self.moments.add(y, answers)
            return
        if self.model.task == "novelty" and (y.dtype.kind == "U" or not np.isin(y, (-1, 1)).all()):
            self.comparable, self.known = False, 0
            return
        self.known += len(y)
        given, found = label_texts(y).astype(str), label_texts(answers).astype(str)
        self.right += int((given == found).sum())
        pairs, counts = np.unique(np.stack([given, found]), axis=1, return_counts=True)
        for label, answer, times in zip(*pairs.tolist(), counts.tolist(), strict=True):
            key = (label, answer)
            if key in self.counts or len(self.counts) < LARGEST_TABLE**2:
                self.counts[key] = self.counts.get(key, 0) + times

    def scores(self) -> dict[str, float]:
        """Accuracy, or the mean squared error and the squared correlation; nothing where no label is known."""
        if not self.known:
            return {}
        if self.model.task == "regression":
            error = self.moments.squares / self.known
            return {"mean_squared_error": error, "squared_correlation": self.moments.squared_correlation}
        return {"accuracy": self.right / self.known}

    def facts(self) -> dict[str, Any]:
        """All that is known, for JSON."""
        found: dict[str, Any] = {"rows": self.rows}
        if self.known and self.model.task != "regression":
            found["right"] = self.right
        found |= self.scores()
        if "right" in found:
            found["confusion"] = [{"label": a, "answer": b, "rows": n} for (a, b), n in sorted(self.counts.items())]
        return found

    def __str__(self) -> str:
        if not self.known:
            more = "" if self.comparable else "; no accuracy: a one-class model answers 1 and -1, the labels are others"
            return f"{self.rows} rows{more}"
        if self.model.task == "regression":
            found = self.scores()
            return (
                f"{self.rows} rows: mean squared error {found['mean_squared_error']:.6g},"
                f" squared correlation {found['squared_correlation']:.6g}"
            )
        text = f"{self.rows} rows: accuracy {self.right / self.known:.4%} ({self.right} of {self.known})"
        return "\n".join([text, *self._table()])

    def _table(self) -> list[str]:
        """The confusion table; nothing where it would be too large to read."""
        labels = sorted({label for pair in self.counts for label in pair})
        if len(labels) > LARGEST_TABLE:
            return []
        told = {label: shown(label) for label in labels}
        wide = max(len("label"), *map(len, told.values()), *(len(str(n)) for n in self.counts.values())) + 2
        lines = ["label".ljust(wide) + "".join(told[label].rjust(wide) for label in labels) + "  (answers)"]
        for label in labels:
            row = [str(self.counts.get((label, answer), 0)).rjust(wide) for answer in labels]
            lines.append(told[label].ljust(wide) + "".join(row))
        return lines
