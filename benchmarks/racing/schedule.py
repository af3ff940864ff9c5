"""The race on one data set: every solver climbs its ladder, then what counts is repeated, solver by solver in turn.

    1. Rung by rung, each solver in turn fits once at its next setting, until it has reached the tightest gap, was
       killed or failed.
    2. The settings that count, for each gap the quickest that reached it and else the best, are fitted again and
       again, all solvers in turn, so that a slow minute of the machine hits all alike.
    3. If asked for, each solver fits once more at its tightest setting that counts, in a new process, for its memory.

Every fit is one row of the record; the judge looks at each new solution once.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from racing.data import load
from racing.judge import Task, Values, judge, scale_gamma
from racing.limit import limit_seconds
from racing.reference import reference
from racing.worker import CAP, Failure, Fit, Racer, Worker


@dataclass(frozen=True)
class Instance:
    """One problem of the race; gamma_scale counts in multiples of "scale" and is None for the linear kernel."""

    data: str
    C: float
    bias: str
    gamma_scale: float | None = None

    def __str__(self) -> str:
        gamma = "" if self.gamma_scale is None else f" γ={self.gamma_scale:g}·scale"
        return f"{self.data} C={self.C:g}{gamma} {self.bias}"


@dataclass
class Row:
    """One fit, as the record keeps it."""

    data: str
    n: int
    d: int
    C: float
    gamma_scale: float | None
    gamma: float | None
    bias: str
    solver: str
    setting: float
    repeat: int
    seconds: float
    primal: float
    dual: float
    #: Of the solver's own pair if it returned a dual point (then it is certified), else to the best dual value known.
    relative_gap: float
    certified: bool
    #: "" or why there is no result: CAP where the fit was killed.
    failure: str


@dataclass
class Record:
    """All fits, and what was measured beside them: the limits of a kernel problem, the gap of a reference."""

    rows: list[Row] = field(default_factory=list)
    limits: dict[Instance, dict[str, float]] = field(default_factory=dict)
    reference_gaps: dict[Instance, float] = field(default_factory=dict)
    refusals: dict[tuple[Instance, str], str] = field(default_factory=dict)
    #: The peak of memory above the data, in megabytes.
    memory: dict[tuple[Instance, str], float] = field(default_factory=dict)

    def of(self, instance: Instance, solver: str) -> list[Row]:
        """The rows of one solver on one problem."""
        return [row for row in self.rows if row.solver == solver and instance_of(row) == instance]


def instance_of(row: Row) -> Instance:
    """The problem that a row belongs to."""
    return Instance(row.data, row.C, row.bias, row.gamma_scale)


@dataclass(frozen=True)
class Rules:
    """What the race goes by."""

    gaps: tuple[float, ...] = (1e-2, 1e-3, 1e-4, 1e-6)
    repeats: int = 3
    cap: float = 60.0
    reference_cap: float = 120.0
    memory: bool = False


def race(instances: Sequence[Instance], racers: Sequence[Racer], rules: Rules, record: Record) -> None:
    """Race on all problems of one data set, and add the fits to the record."""
    data = instances[0].data
    X, y = load(data)
    workers = {racer: Worker(racer, data) for racer in racers}
    try:
        for instance in instances:
            gamma = None if instance.gamma_scale is None else instance.gamma_scale * scale_gamma(X)
            _Heat(instance, Task(X, y, instance.C, instance.bias, gamma), workers, rules, record).run()
    finally:
        for worker in workers.values():
            worker.stop()


class _Heat:
    """One problem: who is still climbing, and what the judge has seen."""

    def __init__(
        self, instance: Instance, task: Task, workers: dict[Racer, Worker], rules: Rules, record: Record
    ) -> None:
        self.instance, self.task, self.workers, self.rules, self.record = instance, task, workers, rules, record
        self.best_dual: float | None = None
        self.seen: dict[bytes, Values] = {}
        #: The smallest relative gap of a pair, and its number of support vectors.
        self.final = (np.inf, 0)

    def run(self) -> None:
        if self.task.gamma is None:
            known = reference(self.task, self.rules.reference_cap)
            self.best_dual = known["dual"]
            self.record.reference_gaps[self.instance] = known["relative_gap"]
        ladders = {racer: self._begin(racer) for racer in self.workers}
        climbing = {racer: list(ladder) for racer, ladder in ladders.items() if ladder}
        started = list(climbing)
        while climbing:
            for racer in list(climbing):
                if not self._climb(racer, climbing[racer].pop(0)) or not climbing[racer]:
                    del climbing[racer]
        for repeat in range(1, self.rules.repeats):
            for racer in started:
                for setting in self._counting(racer):
                    self._fit(racer, setting, repeat)
        self._measure_limits()
        if self.rules.memory:
            for racer in started:
                self._measure_memory(racer)

    def _begin(self, racer: Racer) -> tuple[float, ...]:
        task = self.task
        answer = self.workers[racer].begin(task.C, task.bias, task.gamma, self.rules.gaps)
        if isinstance(answer, Failure):
            self.record.refusals[self.instance, racer.name] = answer.reason
            _say(f"{self.instance}: {racer.name} sits out: {answer.reason}")
            return ()
        return answer

    def _climb(self, racer: Racer, setting: float) -> bool:
        """Fit once at a rung; whether there is reason to go on."""
        row = self._fit(racer, setting, 0)
        return not row.failure and not within(row.relative_gap, min(self.rules.gaps))

    def _counting(self, racer: Racer) -> list[float]:
        rows = [row for row in self.record.of(self.instance, racer.name) if row.repeat == 0]
        chosen = [counting_row(rows, gap) for gap in self.rules.gaps]
        return list(dict.fromkeys(row.setting for row in chosen if row is not None and not row.failure))

    def _fit(self, racer: Racer, setting: float, repeat: int) -> Row:
        outcome = self.workers[racer].run(setting, self.rules.cap)
        row = self._row(racer, setting, repeat, outcome)
        self.record.rows.append(row)
        what = row.failure or f"relative gap {row.relative_gap:.1e}"
        _say(f"{self.instance}: {racer.name} at {setting:g}: {row.seconds:.3g} s, {what}")
        return row

    def _row(self, racer: Racer, setting: float, repeat: int, outcome: Fit | Failure) -> Row:
        values, seconds, failure = Values(np.inf, None), self.rules.cap, ""
        if isinstance(outcome, Failure):
            failure = outcome.reason
        else:
            seconds, values = outcome.seconds, self._judge(outcome)
        asked = asdict(self.instance)
        return Row(
            **asked,
            n=self.task.X.shape[0],
            d=self.task.X.shape[1],
            gamma=self.task.gamma,
            solver=racer.name,
            setting=setting,
            repeat=repeat,
            seconds=seconds,
            primal=values.primal,
            dual=np.nan if values.dual is None else values.dual,
            relative_gap=values.relative_gap(self.best_dual),
            certified=values.dual is not None,
            failure=failure,
        )

    def _judge(self, fit: Fit) -> Values:
        digest = hashlib.blake2b()
        for part in fit.solution.values():
            digest.update(np.asarray(part).tobytes())
        key = digest.digest()
        if key not in self.seen:
            values = self.seen[key] = judge(self.task, **fit.solution)
            if values.dual is not None:
                self.final = min(self.final, (values.relative_gap(), np.count_nonzero(fit.solution["beta"])))
        return self.seen[key]

    def _measure_limits(self) -> None:
        support = self.final[1]
        if self.task.gamma is not None and support:
            self.record.limits[self.instance] = limit_seconds(self.task, support)

    def _measure_memory(self, racer: Racer) -> None:
        settings = self._counting(racer)
        if settings:
            worker = Worker(racer, self.instance.data)
            peak = worker.memory(self.task.C, self.task.bias, self.task.gamma, min(settings), self.rules.cap)
            worker.stop()
            if not isinstance(peak, Failure):
                self.record.memory[self.instance, racer.name] = peak / 1e6


def within(relative_gap: float, gap: float) -> bool:
    """Whether a relative gap is within the one asked for, up to the rounding of its last digits."""
    return relative_gap <= gap * (1 + 1e-6)


def counting_row(rows: Sequence[Row], gap: float) -> Row | None:
    """The row that stands for a solver at a gap: the quickest that reached it, else the nearest to it.

    A fit that was killed stands with the time that it had, and an infinite gap; None: there is nothing else either.
    """
    rows = [row for row in rows if row.failure in ("", CAP)]
    arrived = [row for row in rows if within(row.relative_gap, gap)]
    if arrived:
        return min(arrived, key=lambda row: row.seconds)
    return min(rows, key=lambda row: row.relative_gap, default=None)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
