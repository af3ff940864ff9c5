"""A fit on shards: look, draw a sample, do rounds, and prove the model from the data.

    1. Look at every part; glue consecutive parts to shards. The parts alone decide how.
    2. Draw a sample. Where it is all there is, it is solved on the client: there is nothing to distribute.
    3. Rounds: one task for each shard serves all machines (classes) that are not done. Every round is checked to have
       seen every row, and leaves a line of the history with its certificate.
    4. Recompute both objectives of the best points in float64 from the data, with a bound on their rounding.

Time, Ctrl-C and callbacks act between two rounds: the best points so far are proved and handed back. The look, the
sample and one round are always made, however little time is given: without them there is no model.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from maxmargin.cluster.engine import Engine, bytes_of
from maxmargin.cluster.evaluation import evaluate
from maxmargin.cluster.gathered import gathered_rounds, pair_of
from maxmargin.cluster.plan import Course, Fitted, Plan, setting_of
from maxmargin.cluster.point import DualPoint, Pair, Proved, beta_of_shards, prove, proved
from maxmargin.cluster.sample import Sample, drawn, joined_blocks, theta_of
from maxmargin.cluster.settings import TallSettings, WideSettings
from maxmargin.cluster.shard import Block, Setting, Shard, groups_of, look_at, shard_of
from maxmargin.cluster.tall import Best, Rounds, client_rows, rounds_of
from maxmargin.cluster.wide import wide_rounds
from maxmargin.errors import InvalidInput, Refused
from maxmargin.numeric.interrupts import interruptible
from maxmargin.result import Reason, Status
from maxmargin.solvers.clock import TimeUp

settings, wide_settings = TallSettings(), WideSettings()
log = logging.getLogger("maxmargin.cluster")


def fit_parts(engine: Engine, plan: Plan, classification: bool) -> Fitted:
    """Fit a linear model to the parts of an engine."""
    course = Course(plan)
    with interruptible():
        looks = [look for found in engine.map(look_at, classification) for look in found]
        course.rounds += 1
        setting = setting_of(looks, plan, classification)
        groups = groups_of(looks, plan.shard_bytes)
        with engine.grouped(shard_of, groups, setting) as shards:
            engine.close()  # the shards have the rows; holding the parts as well would be a second copy on disk
            rows = [sum(looks[place].rows for place in group) for group in groups]
            return _Fit(shards, setting, plan, course, rows).run()


def merged(shards: Sequence[Shard], common: None, own: None) -> Shard:
    """Several shards as one."""
    return Shard(tuple(block for shard in shards for block in shard.blocks), shards[0].setting)


def solved_whole(
    shard: Shard, common: tuple[int, float, float | None, int], own: None
) -> list[tuple[np.ndarray, float, np.ndarray, Reason]]:
    """θ, the dual value, β and the reason of each machine, from all rows."""
    machines, tol, seconds, seed = common
    whole = Sample(joined_blocks([(block.X, block.y, block.C) for block in shard.blocks]), 1.0)
    found = []
    for machine in range(machines):
        share = None if seconds is None else seconds / machines
        result = whole.solved(machine, shard.setting, tol, share, seed)
        theta = theta_of(result, shard.setting)
        found.append((theta, result.certificate.dual, result.beta, result.status.reason))
    return found


class _Fit:
    """A fit whose shards are there."""

    def __init__(self, engine: Engine, setting: Setting, plan: Plan, course: Course, rows: list[int]) -> None:
        self.engine, self.setting, self.plan, self.course, self.rows = engine, setting, plan, course, rows
        self.names = setting.classes if setting.machines > 1 else [None]

    def run(self) -> Fitted:
        setting = self.setting
        refuse(self.plan)
        share = min(1.0, client_rows(setting) / setting.rows)
        if share < 1.0 and setting.columns > settings.most_features:
            return self._wide()
        sample = self._sample(share)
        if share >= 1.0:
            log.info("all %d rows fit the client, and are solved there", setting.rows)
            return self._on_the_client(sample)
        return self._tall(sample)

    def _sample(self, share: float) -> Sample:
        """Rows for the client (2.)."""
        began = perf_counter()
        found = self.engine.map_sum(drawn, (share, self.plan.seed), list(range(self.engine.shards)))
        self.course.rounds += 1
        self.course.last = perf_counter() - began
        block = joined_blocks(found)
        X, y, C = block.X, block.y, block.C
        used = np.flatnonzero(C > 0.0) if share < 1.0 else np.arange(len(C))
        factor = self.setting.rows / max(1, len(C))
        return Sample(Block(X[used], y[used], C[used]), factor if share < 1.0 else 1.0)

    def _on_the_client(self, sample: Sample) -> Fitted:
        """All rows are there: solve, and prove over the shards."""
        pairs, stopped = [], None
        for machine in range(self.setting.machines):
            left = self.course.left()
            left = None if left is None else left / (self.setting.machines - machine)
            result = sample.solved(machine, self.setting, self.plan.tol, left, self.plan.seed)
            if result.status.reason is Reason.INTERRUPTED:
                stopped = Reason.INTERRUPTED
            elif not result.converged:
                stopped = stopped or result.status.reason
            theta = theta_of(result, self.setting)
            dual = DualPoint(theta, 0.0, result.certificate.dual, near=np.inf, beta=result.beta)
            pairs.append(Pair(machine, theta, dual))
        return self._proved(pairs, stopped, "client")

    def _tall(self, sample: Sample) -> Fitted:
        """Rounds of Newton's method (3.)."""
        setting, plan, course = self.setting, self.plan, self.course
        rounds: dict[int, Rounds] = {}
        bests: dict[int, Best] = {}
        asks: dict[int, Any] = {}
        for machine in range(setting.machines):
            start = np.zeros(setting.columns + 1)
            if (np.unique(sample.block.target(machine, setting)).size > 1) or setting.classes is None:
                left = course.left()
                left = None if left is None else 0.25 * left / setting.machines
                result = sample.solved(machine, setting, max(plan.tol, settings.sample_gap), left, plan.seed)
                start = theta_of(result, setting)
            rounds[machine] = rounds_of(machine, setting, sample, start, plan.tol)
            asks[machine], _ = next(rounds[machine])
        stopped: Reason | None = None
        while asks and stopped is None:
            began = perf_counter()
            try:
                answers = self.engine.map_sum(evaluate, tuple(asks.values()), until=course.until if bests else None)
                course.check_rows(answers[0].rows, setting.rows)
                course.rounds += 1
                sent = self.engine.shards * bytes_of(tuple(asks.values())) + bytes_of([a.near for a in answers])
                sent += self.engine.shards * bytes_of([replace_near(answer) for answer in answers])
                for machine, answer in zip(list(asks), answers, strict=True):
                    asks[machine], best = rounds[machine].send(answer)
                    assert best is not None
                    bests[machine] = best
                    # What the rounds have seen is without its rounding: be a little better than asked for.
                    if best.relative_gap <= 0.9 * plan.tol:
                        del asks[machine]
                told = [(b.primal, b.dual.value, b.relative_gap) for b in bests.values()]
                if course.add(began, sent, told):
                    stopped = Reason.CALLBACK
            except KeyboardInterrupt:
                if not bests:
                    raise
                stopped = Reason.INTERRUPTED
            except TimeUp:
                stopped = Reason.MAX_TIME
            if asks and stopped is None:
                stopped = course.stop() or (Reason.STALLED if len(course.history) >= settings.most_rounds else None)
        pairs = [Pair(machine, best.theta, best.dual) for machine, best in sorted(bests.items())]
        return self._proved(pairs, stopped, "tall")

    def _on_one_worker(self) -> Fitted:
        """All shards to one worker, which solves them as one machine would, and keeps nothing."""
        machines = self.setting.machines
        with self.engine.grouped(merged, [range(self.engine.shards)], None) as whole:
            common = (machines, self.plan.tol, self.course.left(), self.plan.seed)
            (found,) = whole.map(solved_whole, common)
        self.course.rounds += 1
        pairs = [
            Pair(machine, theta, DualPoint(theta, 0.0, dual, near=np.inf, beta=beta))
            for machine, (theta, dual, beta, _) in enumerate(found)
        ]
        stopped = next((reason for *_, reason in found if reason is not Reason.CONVERGED), None)
        return self._proved(pairs, stopped, "one worker")

    def _wide(self) -> Fitted:
        """Steps on the duals of the shards (3.)."""
        if self.setting.loss.dual_form(np.ones(1), np.ones(1)) is None:
            raise Refused(
                f"with more than {settings.most_features} features a fit on a cluster refuses"
                f" loss={self.setting.loss.name!r}, whose dual is not quadratic; use loss='squared-hinge'"
            )
        if self.setting.bytes <= wide_settings.one_worker_bytes:
            log.info("all %d rows fit one worker, and are solved there", self.setting.rows)
            return self._on_one_worker()
        standings, stopped, fits = gathered_rounds(self.engine, self.setting, self.course, self.rows)
        if fits:
            return self._proved([pair_of(m, one) for m, one in enumerate(standings)], stopped, "gathered")
        log.info("the rows near their kinks do not fit one worker: steps on the shards' own duals")
        pairs: list[Pair] = []
        others: list[tuple[float, float, float]] = []
        for machine, start in enumerate(standings):
            pair, reason, told = wide_rounds(self.engine, self.setting, self.course, self.rows, machine, others, start)
            pairs.append(pair)
            others.append(told)
            stopped = stopped or reason
        return self._proved(pairs, stopped, "wide")

    def _proved(self, pairs: list[Pair], stopped: Reason | None, method: str) -> Fitted:
        """The final certificates, from the data (4.)."""
        began = perf_counter()
        own = list(zip(*(beta_of_shards(pair.dual, self._given(pair)) for pair in pairs), strict=True))
        proofs = self.engine.map_sum(prove, tuple(pairs), own)
        self.course.check_rows(proofs[0].rows, self.setting.rows)
        self.course.rounds += 1
        found = [proved(proof, pair, self.setting) for proof, pair in zip(proofs, pairs, strict=True)]
        sent = self.engine.shards * (bytes_of(pairs) + bytes_of(list(proofs)))
        self.course.add(began, sent, [(one.primal, one.dual, one.relative_gap) for one in found])
        theta = np.stack([pair.theta for pair in pairs])
        return Fitted(
            theta[:, :-1],
            self.setting.constant * theta[:, -1],
            self.setting.classes,
            self.setting.class_weights,
            tuple(found),
            status_of(found, self.plan.tol, stopped),
            tuple(self.course.history),
            self.setting.rows,
            self.engine.shards,
            method,
        )

    def _given(self, pair: Pair) -> list[int]:
        """How many β are given for each shard."""
        if pair.dual.beta is None or pair.dual.near == np.inf:
            return self.rows
        return list(pair.dual.lengths)


def replace_near(answer: Any) -> Any:
    """The answer without its near rows, which are counted once."""
    return answer._replace(near=[])


def status_of(found: Sequence[Proved], tol: float, stopped: Reason | None) -> Status:
    """Why the fit ended, by what is proved."""
    worst = max(one.relative_gap for one in found)
    if worst <= tol and stopped is not Reason.INTERRUPTED:
        return Status(Reason.CONVERGED, f"relative gap {worst:.2g} ≤ {tol:g}, proved from the data")
    reason = stopped or Reason.STALLED
    advice = {
        Reason.MAX_TIME: "; give more time",
        Reason.MAX_ITER: "; allow more rounds",
        Reason.STALLED: "; rounding or bad scaling may be the reason: scale the features",
    }.get(reason, "")
    return Status(reason, f"relative gap {worst:.2g} at the best point so far{advice}")


def refuse(plan: Plan) -> None:
    """Refuse what cannot be fitted on shards."""
    if plan.loss.task == "novelty":
        raise Refused(f"a fit on a cluster refuses loss={plan.loss.name!r}: draw a sample of the rows for it")
    if np.isinf(plan.C):
        raise InvalidInput("a fit on a cluster does not do a hard margin; give a finite C")
