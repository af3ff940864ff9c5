"""The support vectors of all binary problems of a fit together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.certificate import KINDS
from maxmargin.models.build import spread, support_of
from maxmargin.training.samples import Samples
from maxmargin.training.train import Solution


@dataclass(frozen=True, eq=False)
class Support:
    """The support vectors of all problems together, in order of their classes."""

    #: Their places among the rows that were given.
    rows: np.ndarray
    #: What kind each is in each problem: its place in `KINDS`, the last place where it takes no part.
    codes: np.ndarray
    #: How many there are of each class.
    counts: np.ndarray
    #: The storage that the rows came in.
    storage: type
    dtype: Any
    #: The coefficients, one row a problem, and the vectors themselves; None where the model has them.
    coef: np.ndarray | None = None
    vectors: Any = None

    def kinds(self) -> np.ndarray:
        """The names of the kinds; empty where a vector takes no part."""
        return np.array((*KINDS, ""), dtype="U9")[self.codes]


def gather(
    data: Samples, planes: Sequence[tuple[np.ndarray, Solution]], crisp: bool, coef: bool, vectors: bool
) -> Support:
    """Collect the support vectors: all samples with a coefficient, or (crisp) those that the certificate calls so.

    `planes` are the solutions, each with its rows. A kernel machine predicts by its coefficients, so none may be lost;
    a linear one predicts by w. `coef` and `vectors` say whether to keep those here, too.
    """
    rows, solutions = [places for places, _ in planes], [one for _, one in planes]
    matters = [one.certificate.kinds.support if crisp else one.coef != 0.0 for one in solutions]
    places = support_of(matters, rows, data.codes)
    kinds = spread([one.certificate.kinds.codes for one in solutions], rows, places, data.n, len(KINDS))
    return Support(
        rows=data.used[places].astype(np.int32),
        codes=kinds,
        counts=np.bincount(data.codes[places], minlength=data.classes).astype(np.int32),
        storage=type(data.X),
        dtype=data.X.dtype,
        coef=spread([one.coef for one in solutions], rows, places, data.n) if coef else None,
        vectors=data.X[places] if vectors else None,
    )
