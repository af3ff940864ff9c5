"""What one shard computes in a round for tall data: its part of both objectives, of Newton's equations, and more.

At θ = (w, c), with scores z = Xw + constant·c, every loss is smoothed to a width in z around its kinks (width 0: as it
is). The maximisers u_i(z_i) of the smoothed dual are feasible, so that one pass gives

    Σ C_i ℓ_i(z_i)                     for the primal at θ,
    Σ over u_i > 0 and over u_i < 0    of the terms of the dual, of u_i and of u_i x_i: the two apart, as a free bias
                                       needs the heavier of them scaled down,
    Σ h_i x_i x_iᵀ                     for Newton's step, over the rows whose u_i is inside its bounds,

and, where it is asked for, the rows near their kinks themselves (the others are then summed up at
their bounds, either side apart).
All sums are float64, from the data. One pass serves all machines (classes) that ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.cluster.shard import Block, Setting, Shard
from maxmargin.losses import DualArrays
from maxmargin.numeric.compiled import compiled
from maxmargin.numeric.parallel import blocks
from maxmargin.numeric.rows import combine_rows, rows_of, scores_of_rows
from maxmargin.solvers.textbook.coordinate_ascent import maximiser, shortfall

#: Rows at a time: with all that belongs to them they stay in the processor's cache.
ROWS = 4096


@dataclass(frozen=True, eq=False)
class Ask:
    """What a machine asks of every shard."""

    machine: int
    theta: np.ndarray
    width: float = 0.0
    matrix: bool = True
    #: Half-widths around the kinks whose rows are to be counted.
    thresholds: np.ndarray = field(default_factory=lambda: np.empty(0))
    #: The half-width within which the rows themselves are asked for; None for none.
    near: float | None = None
    #: Other points: rows whose β at a bound is another one there are asked for, too.
    others: tuple[np.ndarray, ...] = ()


class Side(NamedTuple):
    """Sums over the samples with u > 0, or over those with u < 0."""

    #: Σ target u − tube|u| (of a dual that is not quadratic: all its terms), ½ Σ ridge u², Σ u, and Σ u x.
    linear: float
    quadratic: float
    total: float
    combined: np.ndarray


class Answer(NamedTuple):
    """The sums of one machine over the rows of a shard."""

    rows: int
    loss: float
    #: The smoothed loss.
    smoothed: float
    up: Side
    down: Side
    #: How many are inside their bounds, Σ h, and Σ h x̃x̃ᵀ with x̃ = (x − mean, constant).
    inside: int
    weight: float
    matrix: np.ndarray | None
    counts: np.ndarray
    #: What is near, shard after shard: rows, targets, C; and the far ones summed up, both sides.
    near: list[tuple[Any, np.ndarray, np.ndarray]]
    lengths: list[int]
    far: tuple[Side, Side] | None


def evaluate(shard: Shard, asks: Sequence[Ask], own: None) -> tuple[Answer, ...]:
    """The answers of a shard, one for each machine that asks."""
    sums = [_Sums(ask, shard.setting) for ask in asks]
    for block in shard.blocks:
        for one in sums:
            one.targets(block)
        for start, stop in blocks(len(block.y), ROWS):
            X = block.X[start:stop]
            for one in sums:
                one.add(X, slice(start, stop))
        for one in sums:
            one.add_near(block)
    return tuple(one.answer() for one in sums)


def scores(X: Any, theta: np.ndarray, constant: float) -> np.ndarray:
    """Z = Xw + constant·c."""
    z = np.empty(X.shape[0])
    scores_of_rows(rows_of(X), theta[:-1], 0, len(z), z)
    z += constant * theta[-1]
    return z


class Responses(NamedTuple):
    """U and h of some rows, and the sums of their losses, as they are and smoothed."""

    u: np.ndarray
    h: np.ndarray
    loss: float
    smoothed: float


def responses(setting: Setting, z: np.ndarray, target: np.ndarray, C: np.ndarray, width: float) -> Responses:
    """The maximisers of the smoothed dual at these scores, and the second derivatives of the smoothed loss."""
    form = setting.loss.dual_form(target, C)
    if form is None:
        loss = float(C @ setting.loss.value(z, target))
        u = -C * setting.loss.slope(z, target)
        return Responses(u, C * setting.loss.second_derivative(z, target), loss, loss)
    u, h = np.empty(len(z)), np.empty(len(z))
    respond(z, form.arrays, width, u, h)
    loss, smoothed = losses(z, form.arrays, width, u)
    return Responses(u, h, loss, smoothed)


def side_of(setting: Setting, X: Any, u: np.ndarray, target: np.ndarray, C: np.ndarray, part: np.ndarray) -> Side:
    """The sums over samples of one sign; Σ u x is added to `part`."""
    combine_rows(rows_of(X), u, 0, len(u), part)
    some = np.flatnonzero(u)
    u, target, C = u[some], target[some], C[some]
    form = setting.loss.dual_form(target, C)
    if form is None:
        terms = -C * setting.loss.conjugate(-u / C, target)
        return Side(float(terms.sum()), 0.0, float(u.sum()), part)
    linear = float(form.target @ u - form.tube @ np.abs(u))
    return Side(linear, 0.5 * float((form.ridge * u) @ u), float(u.sum()), part)


class _Sums:
    """The sums of one ask, as they grow."""

    def __init__(self, ask: Ask, setting: Setting) -> None:
        self.ask, self.setting = ask, setting
        d = setting.columns
        self.rows, self.inside = 0, 0
        self.loss = self.smoothed = self.weight = 0.0
        self.combined = [np.zeros(d), np.zeros(d)]
        self.scalars = np.zeros((2, 3))
        self.matrix = np.zeros((d + 1, d + 1)) if ask.matrix else None
        self.counts = np.zeros(len(ask.thresholds), np.int64)
        self.far = [np.zeros(d), np.zeros(d)] if ask.near is not None else None
        self.far_scalars = np.zeros((2, 3))
        self.places: list[np.ndarray] = []
        self.near: list[tuple[Any, np.ndarray, np.ndarray]] = []

    def targets(self, block: Block) -> None:
        """A new block begins."""
        self.target, self.C = block.target(self.ask.machine, self.setting), block.C
        self.places = []

    def add(self, X: Any, part: slice) -> None:
        """Some rows of the block."""
        ask, setting = self.ask, self.setting
        target, C = self.target[part], self.C[part]
        z = scores(X, ask.theta, setting.constant)
        found = responses(setting, z, target, C, ask.width)
        self.rows += len(z)
        self.loss += found.loss
        self.smoothed += found.smoothed
        for k, sign in enumerate((1.0, -1.0)):
            u = np.maximum(found.u, 0.0) if sign > 0 else np.minimum(found.u, 0.0)
            side = side_of(setting, X, u, target, C, self.combined[k])
            self.scalars[k] += side[:3]
        inside = np.flatnonzero(found.h)
        self.inside += len(inside)
        self.weight += float(found.h.sum())
        if self.matrix is not None and len(inside):
            self._add_products(X, inside, found.h[inside])
        if len(ask.thresholds) or ask.near is not None:
            self._look_at_kinks(X, z, target, C, part.start)

    def _add_products(self, X: Any, inside: np.ndarray, h: np.ndarray) -> None:
        assert self.matrix is not None
        rows = X[inside]
        dense = np.empty((len(inside), self.setting.columns + 1))
        np.subtract(rows.toarray() if sp.issparse(rows) else rows, self.setting.mean, out=dense[:, :-1])
        dense[:, -1] = self.setting.constant
        dense *= np.sqrt(h)[:, None]
        self.matrix += dense.T @ dense

    def _look_at_kinks(self, X: Any, z: np.ndarray, target: np.ndarray, C: np.ndarray, start: int) -> None:
        form = self.setting.loss.dual_form(target, C)
        assert form is not None, "only a loss with kinks is asked about them"
        if len(self.ask.thresholds):
            off = np.abs(np.abs(form.target - z) - form.tube)[form.upper > form.lower]
            self.counts += np.searchsorted(np.sort(off), self.ask.thresholds, side="right")
        if self.far is not None:
            assert self.ask.near is not None
            near = near_kinks(self.setting, X, z, target, C, self.ask.near, self.ask.others)
            self.places.append(start + np.flatnonzero(near))
            u = np.where(near, 0.0, pulled(z, form.arrays))
            for k, part in enumerate((np.maximum(u, 0.0), np.minimum(u, 0.0))):
                self.far_scalars[k] += side_of(self.setting, X, part, target, C, self.far[k])[:3]

    def add_near(self, block: Block) -> None:
        """The block is done: what of it is near."""
        if self.far is not None:
            places = np.concatenate(self.places)
            self.near.append((block.X[places], self.target[places], self.C[places]))

    def answer(self) -> Answer:
        """The sums."""
        up, down = sides_of(self.scalars, self.combined)
        far = None if self.far is None else sides_of(self.far_scalars, self.far)
        lengths = [] if self.far is None else [sum(len(C) for _, _, C in self.near)]
        return Answer(
            self.rows, self.loss, self.smoothed, up, down, self.inside, self.weight, self.matrix, self.counts,
            self.near, lengths, far,
        )  # fmt: skip


def near_kinks(
    setting: Setting,
    X: Any,
    z: np.ndarray,
    target: np.ndarray,
    C: np.ndarray,
    half: float,
    others: Sequence[np.ndarray],
) -> np.ndarray:
    """Which rows are near their kinks at these scores, or on another side of them at one of the other points."""
    form = setting.loss.dual_form(target, C)
    assert form is not None
    near = np.abs(np.abs(form.target - z) - form.tube) <= half
    if others:
        here = pulled(z, form.arrays)
        for theta in others:
            near |= pulled(scores(X, theta, setting.constant), form.arrays) != here
    near &= form.upper > form.lower
    return near


def sides_of(scalars: np.ndarray, combined: list[np.ndarray]) -> tuple[Side, Side]:
    """Both sides, from their scalars in two rows and their Σ u x."""
    up, down = scalars.tolist()
    return Side(up[0], up[1], up[2], combined[0]), Side(down[0], down[1], down[2], combined[1])


def pulled(z: np.ndarray, dual: DualArrays) -> np.ndarray:
    """The β at a bound (or at 0 inside a tube) that belongs to each score of a piecewise linear loss."""
    residual = dual.target - z
    return np.where(residual > dual.tube, dual.upper, np.where(residual < -dual.tube, dual.lower, 0.0))


@compiled
def respond(z, dual, width, u, h):
    """u_i(z_i), the maximiser of the dual smoothed to this width, and h_i, 0 where it is at a bound."""
    target, ridge, tube, lower, upper = dual
    for i in range(len(z)):
        residual, reach, middle, q = target[i] - z[i], upper[i] - lower[i], 0.0, ridge[i]
        if reach < np.inf:
            middle = 0.5 * (lower[i] + upper[i])
            q += width / reach if reach > 0.0 else 0.0
        v = maximiser(residual - ridge[i] * middle, q, middle, tube[i], lower[i], upper[i])
        u[i] = v
        inside = v > lower[i] and v < upper[i] and (v != 0.0 or tube[i] == 0.0) and q > 0.0
        h[i] = 1.0 / q if inside else 0.0


@compiled
def losses(z, dual, width, u):
    """Σ C_i ℓ_i(z_i), and the same of the smoothed loss, whose dual is u."""
    target, ridge, tube, lower, upper = dual
    total, smoothed = 0.0, 0.0
    for i in range(len(z)):
        residual, reach, v = target[i] - z[i], upper[i] - lower[i], u[i]
        total += shortfall(residual, ridge[i], tube[i], 0.0, lower[i], upper[i])[1]
        value = residual * v - tube[i] * abs(v) - 0.5 * ridge[i] * v * v
        if reach < np.inf and reach > 0.0:
            off = v - 0.5 * (lower[i] + upper[i])
            value -= 0.5 * width / reach * off * off
        smoothed += value
    return total, smoothed
