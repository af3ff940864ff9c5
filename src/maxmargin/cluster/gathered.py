"""Wide data: the rows near their kinks are brought together on one worker, which finds their β; the others are a sum.

Problem:  as in `wide.py`; at the optimum few rows are neither far outside nor far inside the margin

    1. Each shard draws rows, as many as one worker takes; that worker solves them: θ.
    2. A pass at θ gives P(θ), and for each row how far it is from its kink. At first the β of every row is at the bound
       that its score says; or 0, where that would come to far more than in the sample.
    3. As many rows as one worker takes go to it: those whose β is wrong, the worst first, then those nearest to
       their kinks. The others keep their β; v = Σ β x over them. That worker finds
           max_β  (target − X̃v)ᵀβ − Σ tube|β_i| − ½‖X̃ᵀβ‖² − ½ βᵀ ridge β   over its rows, and  θ = v + X̃ᵀβ.
    4. The next pass proves θ, or finds rows whose β has become wrong. The dual never falls.

One pass serves all machines (classes); the rows that go to the worker are shared.
Where this takes too long, because far too many rows are near, there are steps on the shards' own duals (`wide.py`).

Osuna, Freund & Girosi, IEEE NNSP 1997 (working sets); Graf et al., NIPS 2004 (support vectors of parts, together).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from maxmargin.cluster.engine import Engine, bytes_of
from maxmargin.cluster.near_rows import (
    GRID,
    Ask,
    Facts,
    Found,
    betas_of,
    facts_of,
    gather,
    part,
    sampled,
    score,
    solve_near,
    solve_sample,
    together,
)
from maxmargin.cluster.point import DualPoint, Pair, regulariser
from maxmargin.cluster.settings import WideSettings
from maxmargin.cluster.shard import Setting
from maxmargin.result import Reason
from maxmargin.solvers.clock import TimeUp

settings = WideSettings()


@dataclass(eq=False)
class Standing:
    """Where one machine is."""

    theta: np.ndarray
    best_theta: np.ndarray
    dual: DualPoint
    primal: float = np.inf
    #: β of all rows so far, and Σ|β| of the sample.
    beta: np.ndarray | None = None
    mass: float = 0.0

    @property
    def gap(self) -> float:
        """The relative gap of the best points."""
        scale = max(abs(self.primal), abs(self.dual.value))
        if scale == np.inf:
            return np.inf
        return max(0.0, self.primal - self.dual.value) / scale if scale > 0.0 else 0.0


def gathered_rounds(
    engine: Engine, setting: Setting, course: Any, rows: Sequence[int]
) -> tuple[list[Standing], Reason | None, bool]:
    """Passes until all machines are proved, or somebody stops them; and whether one worker could hold the near rows."""
    run = _Gathering(engine, setting, course, rows)
    stopped, fits = run.run()
    return run.standings, stopped, fits


def pair_of(machine: int, standing: Standing) -> Pair:
    """The best points of a machine, to be proved."""
    return Pair(machine, standing.best_theta, standing.dual)


class _Gathering:
    """The rounds as the client sees them."""

    def __init__(self, engine: Engine, setting: Setting, course: Any, rows: Sequence[int]) -> None:
        self.engine, self.setting, self.course, self.ends = engine, setting, course, np.cumsum(rows)
        self.standings: list[Standing] = []

    def run(self) -> tuple[Reason | None, bool]:
        plan = self.course.plan
        unit = self._begin()
        for k in range(settings.most_gatherings):
            stopped: Reason | None = None
            try:
                stopped = self._round(unit, first=k == 0)
            except KeyboardInterrupt:
                if not k:
                    raise
                stopped = Reason.INTERRUPTED
            except TimeUp:
                stopped = Reason.MAX_TIME
            if all(one.gap <= 0.9 * plan.tol for one in self.standings):
                return None, True
            if stopped := stopped or self.course.stop():
                return stopped, True
        return None, False

    def _begin(self) -> float:
        """The sample's answer (1.), and the unit of the keys."""
        setting, plan, engine = self.setting, self.course.plan, self.engine
        share = min(1.0, settings.one_worker_bytes / setting.bytes)
        alone, seconds = [[k] for k in range(engine.shards)], self.course.left()
        common = (
            1.0 / share,
            max(plan.tol, settings.sample_gap),
            None if seconds is None else 0.25 * seconds,
            plan.seed,
        )
        with (
            engine.grouped(sampled, alone, (share, plan.seed), list(range(engine.shards))) as few,
            few.grouped(together, [range(engine.shards)], setting) as whole,
        ):
            ((thetas, masses, unit),) = whole.map(solve_sample, common)
        self.course.rounds += 1
        nothing = np.zeros(setting.rows)
        for theta, mass in zip(thetas, masses, strict=True):
            none = DualPoint(theta, 0.0, 0.0, near=np.inf, beta=nothing)
            self.standings.append(Standing(theta, theta, none, mass=float(mass)))
        return unit

    def _round(self, unit: float, first: bool) -> Reason | None:
        """A pass, and what its near rows give (2. to 4.)."""
        engine, course, tol = self.engine, self.course, self.course.plan.tol
        began, until = perf_counter(), None if first else course.until
        machines = tuple(m for m, one in enumerate(self.standings) if one.gap > 0.9 * tol)
        standings = [self.standings[m] for m in machines]
        ask = Ask(machines, tuple(one.theta for one in standings), unit)
        alone, sent = [[k] for k in range(engine.shards)], 2 * engine.shards * bytes_of(ask.thetas)
        with engine.grouped(score, alone, ask, self._own(standings)) as scored:
            facts: Facts = scored.map_sum(facts_of, until=until)
            course.rounds += 1
            course.check_rows(facts.rows, self.setting.rows)
            for one, loss in zip(standings, facts.losses, strict=True):
                primal = regulariser(one.theta, self.setting) + float(loss)
                if primal < one.primal:
                    one.best_theta, one.primal = one.theta, primal
            much = facts.masses > settings.much * np.array([one.mass for one in standings])
            if first and much.any():
                # A sample fits its own rows better than the others: too many of these would begin at a bound.
                for one in standings:
                    one.beta = one.dual.beta
            elif any(one.gap > 0.9 * tol for one in standings):
                fit = np.flatnonzero(facts.sizes <= settings.one_worker_bytes)
                chosen = fit[-1] if len(fit) else 0
                sent += int(facts.sizes[chosen]) + 3 * 8 * facts.rows * len(machines)
                self._gather(scored, standings, machines, unit * GRID[chosen])
        told = course.add(began, sent, [(one.primal, one.dual.value, one.gap) for one in self.standings])
        return Reason.CALLBACK if told else None

    def _gather(self, scored: Engine, standings: list[Standing], machines: tuple[int, ...], most: float) -> None:
        """The rows up to a key to one worker, and its answer (3.)."""
        engine, plan = self.engine, self.course.plan
        enough = tuple(settings.near_gap * max(plan.tol, 0.1 * min(1.0, one.gap)) * one.primal for one in standings)
        with scored.grouped(part, [[k] for k in range(engine.shards)], (machines, most)) as parted:
            with parted.grouped(gather, [range(engine.shards)], self.setting) as whole:
                (found,) = whole.map(solve_near, (machines, enough, self.course.left(), plan.seed))
            told = parted.map(betas_of)
        self.course.rounds += 1  # the sums of the others are a pass of their own
        betas = np.concatenate([beta for beta, _ in told], axis=1)
        near = np.concatenate([mask for _, mask in told])
        for one, beta, answer in zip(standings, betas, found, strict=True):
            self._take(one, beta, near, answer)

    def _own(self, standings: list[Standing]) -> list[np.ndarray] | None:
        if any(one.beta is None for one in standings):
            return None
        betas = np.stack([one.beta for one in standings if one.beta is not None])
        return np.split(betas, self.ends[:-1], axis=1)

    def _take(self, one: Standing, beta: np.ndarray, near: np.ndarray, answer: Found) -> None:
        """The β of the near rows among those of all; θ to be looked at next."""
        whole = beta.copy()
        whole[near] = answer.beta
        one.beta, one.theta = whole, answer.theta
        if answer.value > one.dual.value:
            one.dual = DualPoint(answer.theta, 0.0, answer.value, answer.up, answer.down, near=np.inf, beta=whole)
