"""Tall data: a sample's answer, Newton's steps on sums over the shards, and at last the rows near their kinks.

Problem:  min_θ  P(θ) = ½‖w‖² + Σ_i C_i ℓ_i(z_i),  z = Xw + constant·c,  with few features and rows on many machines

    1. A sample of the rows is solved on the client. Its answer is off by about √(d/m), whatever n is.
    2. Each round sums, at θ: P, a dual point and its value, the gradient and the matrix of Newton's equations
       (`evaluation.py`). A loss with kinks is smoothed to a width that the sample tells, and that shrinks: what
       smoothing costs shrinks with its square.
    3. θ ← θ + Newton's step; where P has not fallen, a shorter one.
    4. A kinked loss is decided by the rows near their kinks. As soon as these fit the client, and the sample says that
       the step takes no other row across its kink, they are fetched with the next round; the others stand as a sum
       v = Σ β_i x_i at their bounds. What is left is a small problem, which is solved to the end:
           max_β  (target − X̃v)ᵀβ − Σ tube|β_i| − ½‖X̃ᵀβ‖²   over the near rows, its answer w = v + X̃ᵀβ.
       The next round proves it, or says (by its gap) that some row has crossed, and fetches again.

A round's certificate costs nothing: both objectives are among its sums.

Rockafellar, Math. of Operations Research 1, 1976; Yan & Li, Asia-Pacific J. of Operational Research 37, 2020 (Newton's
method for support vector machines).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.cluster.evaluation import Answer, Ask, Side, near_kinks, pulled, scores, side_of
from maxmargin.cluster.point import DualPoint, dual_of_sides, primal_of
from maxmargin.cluster.sample import Sample
from maxmargin.cluster.settings import TallSettings
from maxmargin.cluster.shard import Setting
from maxmargin.losses import DualForm
from maxmargin.problem.projection import project
from maxmargin.problem.space import LinearSpace
from maxmargin.solvers.linear.growing_sample import smoothed
from maxmargin.solvers.linear.newton import AugmentedLagrangian
from maxmargin.solvers.linear.newton_step import solve_positive

settings = TallSettings()

#: Half-widths that are tried for the rows near their kinks, in units of the first width of the smoothing.
LADDER = 2.0 ** np.arange(3.0, -17.0, -1.0)


@dataclass(frozen=True, eq=False)
class Best:
    """The best primal and the best dual point of one machine so far, from whichever rounds they are."""

    theta: np.ndarray
    primal: float
    dual: DualPoint

    @property
    def relative_gap(self) -> float:
        """(P − D)/max(|P|, |D|), as the rounds have seen it."""
        scale = max(abs(self.primal), abs(self.dual.value))
        return max(0.0, self.primal - self.dual.value) / scale if scale > 0.0 else 0.0


#: A machine asks, gets the answer of all shards, and leaves its best points behind after each.
Rounds = Generator[tuple[Ask, Best | None], Answer, None]


def client_rows(setting: Setting) -> int:
    """How many rows the client takes."""
    rows = int(settings.client_numbers * setting.rows / max(1, setting.entries + setting.rows))
    if setting.columns > settings.most_features:
        return rows
    return max(rows, settings.rows_per_feature * (setting.columns + 1))


def rounds_of(machine: int, setting: Setting, sample: Sample, start: np.ndarray, tol: float) -> Rounds:
    """The rounds of one machine, from the sample's answer on."""
    return _Tall(machine, setting, sample, start, tol).rounds()


class _Tall:
    """Where one machine stands."""

    def __init__(self, machine: int, setting: Setting, sample: Sample, start: np.ndarray, tol: float) -> None:
        self.machine, self.setting, self.sample, self.tol = machine, setting, sample, tol
        self.target = sample.block.target(machine, setting)
        self.form = setting.loss.dual_form(self.target, sample.block.C)
        self.kinked = self.form is not None and not setting.loss.smooth
        self.start = start
        self.width = self.first_width = self._first_width() if self.kinked else 0.0
        self.best: Best | None = None
        #: The last points at which rows were fetched.
        self.visited: list[np.ndarray] = []

    def rounds(self) -> Rounds:
        """Ask, judge the answer, step (2. to 4.)."""
        half = self._first_half_width()
        ask = self._ask(self.start, half)
        base, step, share, decrement = self.start, np.zeros(len(self.start)), 1.0, np.inf
        given: DualPoint | None = None  # the dual point that the client has made itself
        while True:
            answer = yield ask, self.best
            before = self.best
            gained = self._judge(ask, answer, given)
            given = None
            assert self.best is not None
            gap = max(0.0, self.best.primal - self.best.dual.value)
            near = gained or primal_of(answer, ask.theta, self.setting) <= self.best.primal + gap
            finished = self._finish(ask, answer) if answer.far is not None and near else None
            if finished is not None:  # 4.
                theta, given = finished
                half = self._half_width(answer, ask.thresholds)
                base, share, decrement = ask.theta, 1.0, np.inf
                step = theta - base
                ask = self._ask(theta, half)
                continue
            gradient, direction = self._newton(ask.theta, answer)
            now = 0.5 * abs(float(gradient @ direction))
            if not gained and before is not None and share > 1e-3 and now > 0.25 * min(decrement, gap):  # 3.
                share *= settings.shorter
                ask = self._ask(base + share * step, half)
                continue
            if self.kinked and now <= 0.25 * gap:
                least = settings.inside_per_feature * len(direction) / max(1, answer.inside)
                self.width *= max(settings.narrower, min(1.0, least))
            base, step, share, decrement = ask.theta, direction, 1.0, now
            half = self._half_width(answer, ask.thresholds)
            ask = self._ask(base + step, half)

    # What is asked

    def _ask(self, theta: np.ndarray, near: float | None) -> Ask:
        thresholds = self.first_width * LADDER if self.kinked else np.empty(0)
        others = () if near is None else tuple(self.visited)
        if near is not None:
            self.visited = [*self.visited, theta][-settings.visited :]
        return Ask(self.machine, theta, self.width, True, thresholds, near, others)

    def _first_width(self) -> float:
        """The width that has a share of the sample inside."""
        assert self.form is not None
        off = self._off_kink(self.start)
        share = max(settings.inside, 3.0 * len(self.start) / len(off))
        return 2.0 * max(
            float(np.quantile(off, min(1.0, share))), 1e-12 * float(np.abs(self.form.target).max()), 1e-300
        )

    def _off_kink(self, theta: np.ndarray) -> np.ndarray:
        assert self.form is not None
        z = scores(self.sample.block.X, theta, self.setting.constant)
        return np.abs(np.abs(self.form.target - z) - self.form.tube)

    def _first_half_width(self) -> float | None:
        """The half-width of the rows to fetch in the first round, as the sample counts them."""
        if not self.kinked:
            return None
        counts = np.searchsorted(np.sort(self._off_kink(self.start)), self.first_width * LADDER, side="right")
        fit = np.flatnonzero(counts * self.sample.factor <= 0.8 * client_rows(self.setting))
        return float(self.first_width * LADDER[fit[0]]) if len(fit) else None

    def _half_width(self, answer: Answer, thresholds: np.ndarray) -> float | None:
        """The half-width of the rows to fetch: as many as the client takes."""
        fit = np.flatnonzero(answer.counts <= client_rows(self.setting))
        return float(thresholds[fit[0]]) if self.kinked and len(fit) else None

    # What is made of the answer

    def _judge(self, ask: Ask, answer: Answer, given: DualPoint | None) -> bool:
        """Keep the best of both sides; whether P has fallen."""
        primal = primal_of(answer, ask.theta, self.setting)
        value, up, down = dual_of_sides(answer.up, answer.down, self.setting)
        dual = DualPoint(ask.theta, ask.width, value, up, down)
        if given is not None and given.value > dual.value:
            dual = given
        if self.best is None:
            self.best = Best(ask.theta, primal, dual)
            return True
        gained = primal < self.best.primal
        self.best = Best(
            ask.theta if gained else self.best.theta,
            min(primal, self.best.primal),
            dual if dual.value > self.best.dual.value else self.best.dual,
        )
        return gained

    def _newton(self, theta: np.ndarray, answer: Answer) -> tuple[np.ndarray, np.ndarray]:
        """The gradient and Newton's direction, about the mean row (2.)."""
        setting = self.setting
        total = answer.up.total + answer.down.total
        combined = answer.up.combined + answer.down.combined
        gradient = np.append(theta[:-1] - combined + setting.mean * total, -setting.constant * total)
        assert answer.matrix is not None
        matrix = answer.matrix + np.eye(len(theta))
        if setting.free:
            matrix[-1, -1] += 1e-12 * answer.weight - 1.0 if answer.weight else 0.0
        else:
            gradient[-1] += theta[-1]
        direction = -solve_positive(matrix, gradient)
        moved = direction.copy()
        if setting.free:  # from the mean row back to 0
            moved[-1] -= float(setting.mean @ direction[:-1])
        return self._unshifted(gradient, total), moved

    def _unshifted(self, gradient: np.ndarray, total: float) -> np.ndarray:
        gradient = gradient.copy()
        gradient[:-1] -= self.setting.mean * total
        return gradient

    def _finish(self, ask: Ask, answer: Answer) -> tuple[np.ndarray, DualPoint] | None:
        """The answer of the near rows, the others as a sum (4.): θ and the dual point.

        The sample's far rows are kept as well, and taken off the sum: they stand for all far rows that would cross.
        None where these rows cannot make up for what a free bias asks of the sum.
        """
        setting, far = self.setting, answer.far
        assert far is not None and ask.near is not None and self.best is not None
        X, target, C = joined(answer.near)
        near = len(target)
        X, target, C, taken = self._with_sample(X, target, C, ask)
        form = setting.loss.dual_form(target, C)
        assert form is not None
        constant = 0.0 if setting.free else setting.constant
        rest = far[0].total + far[1].total - taken[-1]
        v = np.append(far[0].combined + far[1].combined - taken[:-1], constant * rest)
        total = -rest if setting.free else None
        if total is not None and not float(form.lower.sum()) < total < float(form.upper.sum()):
            return None
        reduced = replace(form, target=form.target - scores(X, v, constant), total=total)
        start, bias = ask.theta.copy(), 0.0
        if setting.free:
            start[-1], bias = 0.0, float(ask.theta[-1])
        enough = 0.05 * self.tol * max(abs(self.best.primal), abs(self.best.dual.value))
        lagrangian = solved(LinearSpace(X, constant), reduced, start - v, bias, enough)
        theta = lagrangian.w + v
        theta[-1] = lagrangian.b if setting.free else theta[-1]
        beta = lagrangian.u[:near].copy()
        if setting.free:
            few = form.of(np.arange(near))
            goal = -(far[0].total + far[1].total)
            if float(few.lower.sum()) <= goal <= float(few.upper.sum()):
                beta = project(beta, few.lower, few.upper, goal)
        sides = [
            self._side(np.clip(sign * beta, 0.0, None) * sign, X[:near], target[:near], C[:near], far[k])
            for k, sign in enumerate((1.0, -1.0))
        ]
        value, up, down = dual_of_sides(sides[0], sides[1], setting)
        dual = DualPoint(ask.theta, 0.0, value, up, down, ask.near, ask.others, beta, tuple(answer.lengths))
        return theta, dual

    def _with_sample(
        self, X: Any, target: np.ndarray, C: np.ndarray, ask: Ask
    ) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
        """The near rows and the sample's far rows; what these contribute to the sum of the far, and their Σβ behind."""
        block, constant = self.sample.block, self.setting.constant
        assert ask.near is not None
        z = scores(block.X, ask.theta, constant)
        near = near_kinks(self.setting, block.X, z, self.target, block.C, ask.near, ask.others)
        places = np.flatnonzero(~near)
        rows, own, costs = block.X[places], self.target[places], block.C[places] * self.sample.factor
        form = self.setting.loss.dual_form(own, costs)
        assert form is not None
        beta = pulled(scores(rows, ask.theta, constant), form.arrays)
        taken = LinearSpace(rows, 1.0).combine(beta)
        stacked = sp.csr_array(sp.vstack([X, rows], format="csr")) if sp.issparse(X) else np.concatenate([X, rows])
        return stacked, np.append(target, own), np.append(C, costs), taken

    def _side(self, beta: np.ndarray, X: Any, target: np.ndarray, C: np.ndarray, far: Side) -> Side:
        part = far.combined.copy()
        near = side_of(self.setting, X, beta, target, C, part)
        return Side(near.linear + far.linear, 0.0, near.total + far.total, part)


def joined(near: list[tuple[Any, np.ndarray, np.ndarray]]) -> tuple[Any, np.ndarray, np.ndarray]:
    """Rows that have come from several blocks, one behind the other."""
    rows = [X for X, _, _ in near]
    X = sp.vstack(rows, format="csr") if sp.issparse(rows[0]) else np.concatenate(rows)
    return X, np.concatenate([target for _, target, _ in near]), np.concatenate([C for _, _, C in near])


def solved(space: LinearSpace, form: DualForm, w: np.ndarray, b: float, enough: float) -> AugmentedLagrangian:
    """A small problem by Newton's method on its augmented Lagrangian, until its gap is small enough."""
    lagrangian = smoothed(space, form, w, b, settings.inside_near)
    for _ in range(settings.most_steps):
        lagrangian.step()
        if lagrangian.settled():
            if lagrangian.gap()[0] <= enough:
                break
            lagrangian.multiply()
    return lagrangian
