"""Trace and Snapshot: what the loop saw of a run, look by look."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.errors import MissingExtra
from maxmargin.result.iterate import Event
from maxmargin.shown import Shown

if TYPE_CHECKING:
    from maxmargin.certificate import Certificate


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One moment of a run, for figures and animations: the hyperplane and the duals."""

    iteration: int
    seconds: float
    w: np.ndarray
    b: float
    beta: np.ndarray
    #: The solver's own β before it was made feasible; equal to `beta` where there was nothing to do.
    raw_beta: np.ndarray
    #: The single update that led here, where the solver makes them visible.
    event: Event | None = None


COLUMNS = (
    "iteration",
    "seconds",
    "primal",
    "dual",
    "gap",
    "relative_gap",
    "kkt_violation",
    "accuracy",
    "support",
    "free",
    "bound",
    "beta_sum",
)

#: The columns that count something.
WHOLE = ("iteration", "support", "free", "bound")


@dataclass(eq=False)
class Trace(Shown):
    """What the loop saw, one row per look; ``trace["gap"]`` is a column. The clock stood still while it looked.

    The columns are ``iteration``, ``seconds``, ``primal``, ``dual``, ``gap``, ``relative_gap``, ``kkt_violation``,
    ``accuracy``, ``support``, ``free``, ``bound`` and ``beta_sum``, which is Σβ of the solver's own β before it is made
    feasible.

    Attributes
    ----------
    rows : list of tuple, default empty
        The looks, with the columns in this order.
    snapshots : list of Snapshot, default empty
        The hyperplane and the duals of each look, where ``solve(snapshots=True)`` asked for them.
    solver_seconds : float, default 0.0
        Seconds that the solver ran.
    look_seconds : float, default 0.0
        Seconds that the loop spent on looking and certifying.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> trace = solve(Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]), "smo", every=1).trace
    >>> len(trace["gap"]) == len(trace), float(trace["accuracy"][-1])
    (True, 1.0)
    """

    rows: list[tuple[float, ...]] = field(default_factory=list)
    snapshots: list[Snapshot] = field(default_factory=list)
    solver_seconds: float = 0.0
    look_seconds: float = 0.0

    def add(
        self,
        iteration: int,
        seconds: float,
        certificate: Certificate,
        accuracy: float = np.nan,
        beta_sum: float = np.nan,
    ) -> None:
        """One more row: a look at an iteration, and what was proved there."""
        counts = certificate.kinds.counts
        proved = (certificate.primal, certificate.dual, certificate.gap, certificate.relative_gap)
        support = (counts["free"] + counts["bound"], counts["free"], counts["bound"])
        self.rows.append((iteration, seconds, *proved, certificate.kkt_violation, accuracy, *support, beta_sum))

    def __getitem__(self, column: str) -> np.ndarray:
        return np.array([row[COLUMNS.index(column)] for row in self.rows], dtype=np.float64)

    def to_frame(self) -> Any:
        """The looks as a pandas DataFrame, one row per look."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra("a trace as a table needs pandas; run: pip install pandas") from None
        return pandas.DataFrame(self.rows, columns=list(COLUMNS)).astype({name: "int64" for name in WHOLE})

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, float]]:
        return (dict(zip(COLUMNS, row, strict=True)) for row in self.rows)
