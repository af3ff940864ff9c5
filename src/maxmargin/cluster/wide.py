"""Wide sparse data: every shard ascends its own part of the dual, one exact step takes all of them together.

Problem:  max_β  targetᵀβ − Σ tube|β_i| − ½‖Σ β_i x_i‖² − ½ βᵀ ridge β   s.t.  lower ≤ β ≤ upper  (and Σβ = total)

    1. The client keeps β and w = Σ β_i x̃_i (with the constant feature); a task gets w and the β of its shard.
    2. A task ascends the dual of its shard by sweeps of coordinate ascent with shrinking (`solvers/linear/sweeps.py`),
       as if the others stood still, but with what it adds to w counted σ times: Δ_k, and v_k = Σ Δ_i x̃_i.
    3. Along Δ = (Δ_1, .., Δ_K) the dual is bounded from below by a parabola: θ is where that is largest, at most 1, so
       that β + θΔ stays in its box. Its numbers are sums over the shards.
    4. σ ← ‖Σ v_k‖²/Σ‖v_k‖², which is 1 where the shards have nothing in common and K where they are all alike.
    5. A free bias is the limit of augmented ones: the constant feature has its bias centred at b, which moves by
       s²(Σβ − total) after every round.

A task keeps nothing, so that a lost worker costs its tasks, and the bits do not depend on the workers. P at w comes
with the next round's tasks, which need the scores of w anyway.

Lee & Roth, ICML 2015; Lee & Chang, ACM TIST 10, 2019 (block-diagonal steps, exact line search); Dünner et al., ICML
2018 (σ that follows what is seen).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from maxmargin.cluster.engine import Engine, bytes_of
from maxmargin.cluster.evaluation import Side, scores, side_of
from maxmargin.cluster.gathered import Standing
from maxmargin.cluster.point import DualPoint, Pair, dual_of_sides, regulariser
from maxmargin.cluster.settings import WideSettings
from maxmargin.cluster.shard import Setting, Shard
from maxmargin.losses import DualArrays
from maxmargin.numeric.rows import rows_of, sqnorms_of_rows
from maxmargin.result import Reason
from maxmargin.solvers.clock import TimeUp
from maxmargin.solvers.linear.sweeps import Limits, Point, survey, sweep

settings = WideSettings()


@dataclass(frozen=True, eq=False)
class Ascent:
    """What a round sends: w and c of the constant feature, the centre b of a free bias, and σ."""

    machine: int
    theta: np.ndarray
    b: float
    constant: float
    sigma: float
    epochs: float
    seed: int
    #: Another θ whose primal is asked for, with its bias in it: the mean of the last ones.
    mean: np.ndarray


class Step(NamedTuple):
    """What a shard answers."""

    rows: int
    #: Σ C ℓ at w, and the sides of β: for both objectives before the step.
    loss: float
    #: Σ C ℓ at the mean θ.
    mean_loss: float
    up: Side
    down: Side
    #: The change of each β, in a list; Σ Δ x, Σ Δ, and ‖v_k‖².
    changes: list[np.ndarray]
    combined: np.ndarray
    total: float
    square: float
    #: Σ target Δ − tube(|β + Δ| − |β|) − ridge β Δ, and Σ ridge Δ².
    linear: float
    quadratic: float


def ascend(shard: Shard, ascent: Ascent, beta: np.ndarray) -> Step:
    """Sweeps over the shard (2.), a block after the other."""
    setting, sums = shard.setting, None
    first, changes = 0, []
    w = ascent.theta.copy()
    for k, block in enumerate(shard.blocks):
        n = len(block.y)
        target = block.target(ascent.machine, setting)
        old = beta[first : first + n]
        first += n
        now = _facts(setting, block.X, ascent, old, target, block.C)
        sums = now if sums is None else tuple(map(_plus, sums, now))
        new = _swept(setting, block, ascent, target, old.copy(), w, k)
        changes.append(new - old)
    assert sums is not None
    combined = (w[:-1] - ascent.theta[:-1]) / ascent.sigma
    change = np.concatenate(changes)
    linear, quadratic = 0.0, 0.0
    for block, old, moved in zip(shard.blocks, _cut(beta, shard), changes, strict=True):
        form = setting.loss.dual_form(block.target(ascent.machine, setting), block.C)
        assert form is not None
        linear += float(form.target @ moved - form.tube @ (np.abs(old + moved) - np.abs(old)))
        linear -= float((form.ridge * old) @ moved)
        quadratic += float((form.ridge * moved) @ moved)
    total = float(change.sum())
    square = float(combined @ combined) + (ascent.constant * total) ** 2
    return Step(shard.rows, *sums, [change], combined, total, square, linear, quadratic)


def _plus(a: Any, b: Any) -> Any:
    return Side(*(x + y for x, y in zip(a, b, strict=True))) if isinstance(a, Side) else a + b


def _cut(beta: np.ndarray, shard: Shard) -> list[np.ndarray]:
    ends = np.cumsum([len(block.y) for block in shard.blocks])
    return np.split(beta, ends[:-1])


def _facts(
    setting: Setting, X: Any, ascent: Ascent, beta: np.ndarray, target: np.ndarray, C: np.ndarray
) -> tuple[float, float, Side, Side]:
    """Σ C ℓ at the bias that is meant, and the sides of β."""
    z = _scores(X, ascent)
    sides = [
        side_of(setting, X, part, target, C, np.zeros(setting.columns))
        for part in (np.maximum(beta, 0.0), np.minimum(beta, 0.0))
    ]
    mean = float(C @ setting.loss.value(scores(X, ascent.mean, setting.constant), target))
    return float(C @ setting.loss.value(z, target)), mean, sides[0], sides[1]


def _scores(X: Any, ascent: Ascent) -> np.ndarray:
    return scores(X, ascent.theta, ascent.constant) + ascent.b


def _swept(
    setting: Setting, block: Any, ascent: Ascent, target: np.ndarray, beta: np.ndarray, w: np.ndarray, number: int
) -> np.ndarray:
    """β after sweeps over one block; w moves along, σ times."""
    form = setting.loss.dual_form(target, block.C)
    assert form is not None
    n, s, rows = len(beta), ascent.constant, rows_of(block.X)
    q = np.empty(n)
    sqnorms_of_rows(rows, 0, n, q)
    # With u = σβ the steps are those of a plain problem: K stays, everything else is divided by σ.
    sigma = ascent.sigma
    ridge = form.ridge / sigma
    arrays = DualArrays(form.target - ascent.b, ridge, form.tube, sigma * form.lower, sigma * form.upper)
    u = sigma * beta
    z = scores(block.X, w, s)
    order, state = np.arange(n, dtype=np.uint32), np.array([ascent.seed + 7919 * number + 1], np.uint64)
    active, before, low, high, _ = survey(z, order, arrays, u, 0.0)
    goal, spent = settings.local_gap * max(before, 0.0), 0.0
    point = Point(u, w, s, 0.0)
    while spent < ascent.epochs * n and active:
        active, visited, gap, low, high, _ = sweep(
            rows, arrays, q + s * s + ridge, point, order, state, active, Limits(low, high), n, goal
        )
        spent += visited
        if gap <= goal:
            break
    return np.clip(u / sigma, form.lower, form.upper)


def wide_rounds(
    engine: Engine,
    setting: Setting,
    course: Any,
    lengths: Sequence[int],
    machine: int,
    others: Sequence[Any],
    start: Standing | None = None,
) -> tuple[Pair, Reason | None, tuple[float, float, float]]:
    """The rounds of one machine; `others` are the primal, dual and gap of machines that are done."""
    run = BlockSteps(engine, setting, course, lengths, machine, others)
    if start is not None and start.beta is not None:
        run.begin(start)
    return *run.run(), (run.best_primal, run.best_dual.value, run.gap)


class BlockSteps:
    """β, w, c and b on the client (1.)."""

    def __init__(
        self, engine: Engine, setting: Setting, course: Any, lengths: Sequence[int], machine: int, others: Sequence[Any]
    ) -> None:
        self.engine, self.setting, self.course, self.lengths = engine, setting, course, lengths
        self.machine, self.others = machine, list(others)
        own = settings.constant * float(np.sqrt(setting.largest)) or 1.0
        self.constant = own if setting.free else setting.constant
        self.beta = np.zeros(sum(lengths))
        self.theta, self.b = np.zeros(setting.columns + 1), 0.0
        self.mean = np.zeros(setting.columns + 1)
        # Begun as if all shards were alike: no step is too long then.
        self.sigma = float(engine.shards)
        self.best_theta, self.best_primal = self.theta, np.inf
        self.best_dual = DualPoint(self.theta, 0.0, -np.inf, near=np.inf, beta=self.beta)

    def begin(self, start: Standing) -> None:
        """From where gathered rows have come to, instead of 0."""
        assert start.beta is not None
        self.beta, self.theta = start.beta, start.theta.copy()
        if self.setting.free:
            self.b, self.theta[-1] = float(start.theta[-1]), self.constant * float(start.beta.sum())
        self.mean = self._whole()
        self.best_theta, self.best_primal, self.best_dual = start.best_theta, start.primal, start.dual

    def run(self) -> tuple[Pair, Reason | None]:
        """Rounds until the gap is small enough, or somebody stops them."""
        stopped: Reason | None = None
        plan = self.course.plan
        for k in range(settings.most_rounds):
            began = perf_counter()
            ascent = self._ascent(k)
            ends = np.cumsum(self.lengths)
            own = [self.beta[end - n : end] for end, n in zip(ends, self.lengths, strict=True)]
            try:
                step = self.engine.map_sum(ascend, ascent, own, until=self.course.until if k else None)
                self.course.rounds += 1
                gap = self._judge(ascent, step)
                sent = self.engine.shards * (bytes_of(ascent) + bytes_of(step.combined)) + 2 * bytes_of(self.beta)
                told = [*self.others, (self.best_primal, self.best_dual.value, gap)]
                if self.course.add(began, sent, told):
                    stopped = Reason.CALLBACK
                if gap <= 0.9 * plan.tol:
                    break
                stopped = stopped or self.course.stop()
            except KeyboardInterrupt:
                if not k:
                    raise
                stopped = Reason.INTERRUPTED
            except TimeUp:
                stopped = Reason.MAX_TIME
            if stopped is not None:
                break
            self._move(step)
        else:
            stopped = Reason.STALLED
        return Pair(self.machine, self.best_theta, self.best_dual), stopped

    @property
    def gap(self) -> float:
        """The relative gap of the best points."""
        scale = max(abs(self.best_primal), abs(self.best_dual.value))
        return max(0.0, self.best_primal - self.best_dual.value) / scale if scale > 0.0 else 0.0

    def _ascent(self, k: int) -> Ascent:
        seed = 1 + 104729 * (k + 1) + self.course.plan.seed
        return Ascent(
            self.machine, self.theta, self.b, self.constant, self.sigma, settings.most_epochs, seed, self.mean
        )

    def _judge(self, ascent: Ascent, step: Step) -> float:
        """Keep the best of both sides; the relative gap."""
        setting = self.setting
        theta = self._whole()
        for point, loss in ((theta, step.loss), (self.mean, step.mean_loss)):
            primal = regulariser(point, setting) + loss
            if primal < self.best_primal:
                self.best_theta, self.best_primal = point, primal
        value, up, down = dual_of_sides(step.up, step.down, setting)
        if value > self.best_dual.value:
            self.best_dual = DualPoint(theta, 0.0, value, up, down, near=np.inf, beta=self.beta)
        return self.gap

    def _move(self, step: Step) -> None:
        """The exact step along Δ, and the next σ (3. to 5.)."""
        total = self.constant * step.total
        joint = float(step.combined @ step.combined) + total * total
        slope = (
            step.linear - float(self.theta[:-1] @ step.combined) - float(self.theta[-1]) * total - self.b * step.total
        )
        curvature = joint + step.quadratic
        share = min(1.0, max(0.0, slope / curvature)) if curvature > 0.0 else 1.0
        self.beta = self.beta + share * np.concatenate(step.changes)
        self.theta = self.theta + share * np.append(step.combined, total)
        self.sigma = min(max(1.0, joint / step.square), float(self.engine.shards)) if step.square > 0.0 else 1.0
        # 5.
        if self.setting.free:
            self.b += self.constant * float(self.theta[-1])
        self.mean = self.mean + settings.newest * (self._whole() - self.mean)

    def _whole(self) -> np.ndarray:
        """θ as the primal means it, with the whole bias."""
        theta = self.theta.copy()
        if self.setting.free:
            theta[-1] = self.b + self.constant * theta[-1]
        return theta
