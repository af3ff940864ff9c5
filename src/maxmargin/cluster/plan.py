"""What is to be fitted on shards, how the fit goes, and what it leaves behind."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from maxmargin.cluster.point import Proved
from maxmargin.cluster.shard import Look, Setting
from maxmargin.errors import InvalidInput, MaxMarginError
from maxmargin.kernels import Kernel, Linear
from maxmargin.losses import Loss
from maxmargin.losses.base import Task
from maxmargin.models.classes import Scheme
from maxmargin.models.model import Model
from maxmargin.problem import Bias
from maxmargin.problem.validation import plain
from maxmargin.result import Reason, Status
from maxmargin.training.samples import class_weights

log = logging.getLogger("maxmargin.cluster")


@dataclass(frozen=True, eq=False)
class Round:
    """One line of the history: what a round sent, and what it proved.

    Attributes
    ----------
    round : int
        Passes over the data so far.
    seconds : float
        Since the fit began.
    bytes : int
        About what was sent to and from the workers in this round.
    primal, dual : float
        The sums of the best values of all machines so far.
    relative_gap : float
        The worst of the machines.
    """

    round: int
    seconds: float
    bytes: int
    primal: float
    dual: float
    relative_gap: float


#: What a user's callback gets after each round; a true answer stops the fit.
Callback = Callable[[Round], object]


@dataclass(frozen=True, eq=False)
class Plan:
    """What is to be fitted, and how long it may take."""

    loss: Loss
    bias: Bias = "free"
    bias_scale: float = 1.0
    C: float = 1.0
    class_weight: Any = None
    tol: float = 1e-4
    max_time: float | None = None
    max_rounds: int | None = None
    seed: int = 0
    shard_bytes: int | None = None
    callbacks: Sequence[Callback] = ()


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit on shards leaves behind: a hyperplane and a proof for each machine, and the history."""

    coef: np.ndarray
    intercept: np.ndarray
    classes: np.ndarray | None
    class_weights: np.ndarray
    certificates: tuple[Proved, ...]
    status: Status
    history: tuple[Round, ...]
    rows: int
    shards: int
    #: How it was solved: on the "client" or "one worker", or by rounds: "tall", "gathered" or "wide".
    method: str

    def model(
        self,
        names: Sequence[str] | None = None,
        kernel: Kernel | None = None,
        intercept: np.ndarray | None = None,
        **parts: Any,
    ) -> Model:
        """What predicts, and is saved; it needs no cluster. `parts` are vectors and coefficients of a kernel."""
        several = self.classes is not None and len(self.certificates) > 1
        scheme: Scheme = "ovr" if several else "binary"
        task: Task = "regression" if self.classes is None else "classification"
        parts = parts or {"w": self.coef}
        columns = parts["vectors" if "vectors" in parts else "w"].shape[1]
        return Model(
            task, kernel or Linear(), self.intercept if intercept is None else intercept, columns, classes=self.classes,
            scheme=scheme, names=None if names is None else tuple(names), **parts,
        )  # fmt: skip


@dataclass(eq=False)
class Course:
    """How a fit goes: its budget and its history."""

    plan: Plan
    began: float = field(default_factory=perf_counter)
    history: list[Round] = field(default_factory=list)
    rounds: int = 0
    last: float = 0.0

    @property
    def until(self) -> float | None:
        """The moment at which the time is over."""
        return None if self.plan.max_time is None else self.began + self.plan.max_time

    def check_rows(self, seen: int, rows: int) -> None:
        """Every round must see every row."""
        if seen != rows:
            raise MaxMarginError(
                f"a round has seen {seen} rows, the first one {rows}: the data has changed under the fit"
            )

    def left(self) -> float | None:
        """The seconds that are left."""
        return None if self.until is None else max(1e-9, self.until - perf_counter())

    def stop(self) -> Reason | None:
        """Why there should be no further round, if so."""
        if self.plan.max_rounds is not None and len(self.history) >= self.plan.max_rounds:
            return Reason.MAX_ITER
        if self.until is not None and perf_counter() + 2.0 * self.last >= self.until and self.history:
            return Reason.MAX_TIME
        return None

    def add(self, began: float, sent: int, bests: Sequence[tuple[float, float, float]]) -> bool:
        """A round is done: primal, dual and relative gap of each machine; whether a callback wants to stop."""
        now = perf_counter()
        self.last = now - began
        gap = float(max(one[2] for one in bests))
        primal, dual = (float(sum(one[k] for one in bests)) for k in range(2))
        line = Round(self.rounds, now - self.began, sent, primal, dual, gap)
        self.history.append(line)
        log.info("round %d: %.2f s, %d bytes, relative gap %.3g", line.round, line.seconds, line.bytes, gap)
        return any([callback(line) for callback in self.plan.callbacks])  # every one of them hears of every round


def setting_of(looks: Sequence[Look], plan: Plan, classification: bool) -> Setting:
    """What the looks say of the whole, checked."""
    used = [look for look in looks if look.rows]
    if not used:
        raise InvalidInput("X has no rows")
    columns = max(look.columns for look in used)
    for look in used:
        if look.columns != columns:
            raise InvalidInput(f"partition {look.index} of X has {look.columns} columns, others have {columns}")
        if look.sparse != used[0].sparse:
            raise InvalidInput("some partitions of X are sparse and others dense; make them alike")
    classes, weights = None, np.ones(1)
    if classification:
        classes = np.unique(np.concatenate([look.labels for look in used]))
        sums = np.zeros(len(classes))
        for look in used:
            sums[np.searchsorted(classes, look.labels)] += look.label_weights
        classes, sums = classes[sums > 0.0], sums[sums > 0.0]
        if len(classes) < 2:
            told = "no class" if not len(classes) else f"only the class {plain(classes[0])!r}"
            raise InvalidInput(f"y holds {told}; a classifier needs two classes of positive weight")
        weights = class_weights(plan.class_weight, classes, np.arange(len(classes)), sums)
    n = sum(look.rows for look in used)
    mean = np.zeros(columns)
    if plan.bias == "free" and not used[0].sparse:
        for look in used:
            mean += look.sums if look.sums is not None else 0.0
        mean /= n
    constant = {"free": 1.0, "augmented": plan.bias_scale, "none": 0.0}[plan.bias]
    return Setting(
        plan.loss, plan.bias, constant, plan.C, classes, weights, columns, n, sum(look.entries for look in used),
        sum(look.bytes for look in used), mean,
        max(look.largest for look in used), max(look.width for look in used), used[0].sparse,
    )  # fmt: skip
