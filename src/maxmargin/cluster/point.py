"""The primal and dual points of a fit on shards, and the proof of a pair of them.

A dual point has a number for each row, which nobody keeps: it is told by what it follows from, a θ and a width (and
the β of the rows near their kinks, where these were found one by one), and computed where the rows are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from maxmargin.cluster.evaluation import (
    ROWS,
    Answer,
    Responses,
    Side,
    near_kinks,
    pulled,
    responses,
    scores,
    side_of,
    sides_of,
)
from maxmargin.cluster.shard import Setting, Shard
from maxmargin.losses.base import Task
from maxmargin.numeric.parallel import blocks

#: The spacing of numbers at 1.
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class DualPoint:
    """β = u(θ; width), or the β of each shard as it is, times a factor for either sign."""

    theta: np.ndarray
    width: float
    value: float
    up: float = 1.0
    down: float = 1.0
    #: The half-width within which β is given row by row; None where it is nowhere.
    near: float | None = None
    others: tuple[np.ndarray, ...] = ()
    #: β of the rows near their kinks (or, for near = inf, of all rows), shard after shard.
    beta: np.ndarray | None = None
    #: How many of these each shard has.
    lengths: tuple[int, ...] = ()


def dual_of_sides(up: Side, down: Side, setting: Setting) -> tuple[float, float, float]:
    """The best dual value of the two sides, each times a factor in [0, 1], and these factors.

    A free bias needs Σβ = 0: the heavier side is scaled down. Then both by the best multiple.
    """
    scale = np.ones(2)
    if setting.free:
        heavy, light = (0, 1) if up.total > -down.total else (1, 0)
        weights = (up.total, -down.total)
        if weights[light] <= 0.0:
            return 0.0, 0.0, 0.0
        scale[heavy] = weights[light] / weights[heavy]
    combined = scale[0] * up.combined + scale[1] * down.combined
    total = 0.0 if setting.free else setting.constant * (scale[0] * up.total + scale[1] * down.total)
    linear = scale[0] * up.linear + scale[1] * down.linear
    square = scale[0] ** 2 * up.quadratic + scale[1] ** 2 * down.quadratic
    square += 0.5 * (float(combined @ combined) + total * total)
    multiple = min(1.0, max(0.0, linear / (2.0 * square))) if square > 0.0 else 1.0
    scale *= multiple
    return multiple * linear - multiple**2 * square, float(scale[0]), float(scale[1])


def regulariser(theta: np.ndarray, setting: Setting) -> float:
    """½‖w‖², with the constant's weight where it is penalised."""
    w = theta[:-1] if setting.free else theta
    return 0.5 * float(w @ w)


def primal_of(answer: Answer, theta: np.ndarray, setting: Setting) -> float:
    """P(θ)."""
    return regulariser(theta, setting) + answer.loss


@dataclass(frozen=True, eq=False)
class Proved:
    """What is proved of a model whose rows are in shards: both objectives, recomputed in float64 from the data.

    Attributes
    ----------
    primal, dual : float
        P(w, b) and D(β): the optimum lies between them.
    rounding : float
        How much rounding may have changed P − D, at most.
    infeasibility : float
        |Σβ|, where the bias is free.
    rows : int
        The rows that were summed over.
    counts : dict
        How many dual variables are 0, inside their bounds ("free") and at a bound.
    precision : str
        What was recomputed, and how.
    """

    primal: float
    dual: float
    rounding: float
    infeasibility: float
    rows: int
    counts: dict[str, int]
    precision: str
    task: Task = "classification"

    @property
    def gap(self) -> float:
        """P − D, at least 0, and what rounding may have hidden of it."""
        return max(0.0, self.primal - self.dual) + self.rounding

    @property
    def relative_gap(self) -> float:
        """Gap / max(|P|, |D|)."""
        scale = max(abs(self.primal), abs(self.dual))
        return self.gap / scale if scale > 0.0 else 0.0 if self.gap == 0.0 else np.inf

    def holds(self, tol: float) -> bool:
        """Whether this proves the point optimal to the relative gap `tol`."""
        return self.relative_gap <= tol

    def __str__(self) -> str:
        rows = (
            ("primal", f"{self.primal:.10g}"),
            ("dual", f"{self.dual:.10g}"),
            ("gap", f"{self.gap:.3g}  (relative {self.relative_gap:.3g})"),
            ("rounding", f"{self.rounding:.3g} of the gap, at most"),
            ("infeasibility", f"{self.infeasibility:.3g}"),
            ("vectors", ", ".join(f"{count} {kind}" for kind, count in self.counts.items())),
            ("precision", self.precision),
        )
        return "\n".join(f"{name:<13}  {value}" for name, value in rows)


@dataclass(frozen=True, eq=False)
class Pair:
    """A primal and a dual point of one machine, to be proved."""

    machine: int
    theta: np.ndarray
    dual: DualPoint


class Proof(NamedTuple):
    """The sums of one pair over the rows of a shard."""

    rows: int
    loss: float
    #: Σ C times the steepest slope that the rounding of a score can meet, and Σ C|ℓ|.
    slopes: float
    up: Side
    down: Side
    #: How many β are not 0, Σ|β|, and the sizes of all terms of the dual.
    support: int
    size: float
    terms: float
    #: The steepest slope that the dual can have in one β but for the scores, shard by shard.
    steepest: list[float]
    #: How many are 0, inside their bounds, at a bound.
    counts: np.ndarray


def prove(shard: Shard, pairs: Sequence[Pair], own: Sequence[np.ndarray | None]) -> tuple[Proof, ...]:
    """The sums of a proof, anew from the rows; `own` has the β of this shard that are given, for each pair."""
    return tuple(_proof(shard, pair, given) for pair, given in zip(pairs, own, strict=True))


def _proof(shard: Shard, pair: Pair, given: np.ndarray | None) -> Proof:
    setting = shard.setting
    error = score_error(setting, pair.theta)
    rows, loss, slopes, taken = 0, 0.0, 0.0, 0
    combined, scalars, sizes = [np.zeros(setting.columns), np.zeros(setting.columns)], np.zeros((2, 3)), np.zeros(3)
    counts, steepest = np.zeros(3, np.int64), 0.0
    for block in shard.blocks:
        targets = block.target(pair.machine, setting)
        for start, stop in blocks(len(block.y), ROWS):
            X, target, C = block.X[start:stop], targets[start:stop], block.C[start:stop]
            z = scores(X, pair.theta, setting.constant)
            loss += float(C @ setting.loss.value(z, target))
            e = error + EPS * (1.0 + np.abs(z))
            steep = np.maximum(np.abs(setting.loss.slope(z - e, target)), np.abs(setting.loss.slope(z + e, target)))
            slopes += float((C * e) @ steep)
            beta, used = _beta(setting, X, target, C, pair.dual, None if given is None else given[taken:])
            taken += used
            for k, part in enumerate((np.maximum(beta, 0.0), np.minimum(beta, 0.0))):
                scalars[k] += side_of(setting, X, part, target, C, combined[k])[:3]
            sizes += _sizes(setting, beta, target, C)
            steepest = max(steepest, _steepest(setting, beta, target, C))
            lower, upper = setting.loss.bounds(target, C)
            inside = (beta != 0.0) & (beta > lower) & (beta < upper)
            support, free = np.count_nonzero(beta), np.count_nonzero(inside)
            counts += np.array([len(beta) - support, free, support - free])
            rows += len(z)
    up, down = sides_of(scalars, combined)
    return Proof(rows, loss, slopes, up, down, int(sizes[0]), float(sizes[1]), float(sizes[2]), [steepest], counts)


def betas_of(shard: Shard, pairs: Sequence[Pair], own: Sequence[np.ndarray | None]) -> np.ndarray:
    """The β of the rows of a shard, a row for each pair; `own` as for `prove`."""
    setting, out = shard.setting, np.zeros((len(pairs), shard.rows))
    for k, (pair, given) in enumerate(zip(pairs, own, strict=True)):
        first = taken = 0
        for block in shard.blocks:
            targets = block.target(pair.machine, setting)
            for start, stop in blocks(len(block.y), ROWS):
                part, rest = slice(start, stop), None if given is None else given[taken:]
                beta, used = _beta(setting, block.X[part], targets[part], block.C[part], pair.dual, rest)
                out[k, first + start : first + stop] = beta
                taken += used
            first += len(block.y)
    return out


def _sizes(setting: Setting, beta: np.ndarray, target: np.ndarray, C: np.ndarray) -> np.ndarray:
    size = np.abs(beta)
    form = setting.loss.dual_form(target, C)
    if form is None:
        some = np.flatnonzero(beta)
        conjugates = C[some] * setting.loss.conjugate(-beta[some] / C[some], target[some])
        terms = float(np.abs(conjugates).sum() + 4.0 * size.sum())
    else:
        terms = float(size @ (np.abs(form.target) + form.tube + 0.5 * form.ridge * size))
    return np.array([np.count_nonzero(beta), size.sum(), terms])


def _steepest(setting: Setting, beta: np.ndarray, target: np.ndarray, C: np.ndarray) -> float:
    form = setting.loss.dual_form(target, C)
    if form is None:  # the entropy of the logistic loss is steep near the ends of the box only
        return 40.0
    return float((np.abs(form.target) + form.tube + form.ridge * np.abs(beta)).max(initial=0.0))


def _beta(
    setting: Setting, X: np.ndarray, target: np.ndarray, C: np.ndarray, dual: DualPoint, given: np.ndarray | None
) -> tuple[np.ndarray, int]:
    """β of some rows, and how many of those that are given were used."""
    if dual.near == np.inf:
        assert given is not None
        beta, used = given[: len(target)], len(target)
    else:
        z = scores(X, dual.theta, setting.constant)
        if dual.near is None:
            found: Responses = responses(setting, z, target, C, dual.width)
            beta, used = found.u, 0
        else:
            assert given is not None
            form = setting.loss.dual_form(target, C)
            assert form is not None
            near = near_kinks(setting, X, z, target, C, dual.near, dual.others)
            places = np.flatnonzero(near)
            beta, used = pulled(z, form.arrays), len(places)
            beta[places] = given[:used]
    return np.where(beta > 0.0, dual.up * beta, dual.down * beta), used


def score_error(setting: Setting, theta: np.ndarray) -> float:
    """A bound on the rounding of a score."""
    R = float(np.sqrt(setting.largest)) + abs(setting.constant)
    return (setting.width + 2) * EPS * R * float(np.linalg.norm(theta))


def proved(proof: Proof, pair: Pair, setting: Setting) -> Proved:
    """The certificate from the sums of a proof, with a bound on its rounding (docs/theory.md, "Rounding")."""
    theta, up, down = pair.theta, proof.up, proof.down
    regular = regulariser(theta, setting)
    primal = regular + proof.loss
    combined = up.combined + down.combined
    total = up.total + down.total
    constant = 0.0 if setting.free else setting.constant * total
    square = float(combined @ combined) + constant * constant
    dual = up.linear + down.linear - up.quadratic - down.quadratic - 0.5 * square
    R = float(np.sqrt(setting.largest)) + abs(setting.constant)
    apart, norm = proof.support * EPS * R * proof.size, float(np.sqrt(square))
    rounding = (len(theta) + 4) * EPS * regular + (proof.rows + 4) * EPS * abs(primal) + proof.slopes
    rounding += 0.5 * len(theta) * EPS * square + apart * (norm + apart)
    rounding += (proof.support + 8) * EPS * proof.terms
    off = abs(total) if setting.free else 0.0
    if off:  # one variable makes up for it, at its slope in the dual
        rounding += off * (1.01 * (R * norm + max(proof.steepest)) + off * R * R)
    counts = dict(zip(("outside", "free", "bound"), map(int, proof.counts), strict=True))
    precision = f"recomputed in float64 from {proof.rows} rows, shard by shard"
    task: Task = "classification" if setting.classes is not None else "regression"
    return Proved(primal, dual, rounding, off, proof.rows, counts, precision, task)


def beta_of_shards(dual: DualPoint, lengths: Sequence[int]) -> list[np.ndarray | None]:
    """The given β cut into those of each shard."""
    if dual.beta is None:
        return [None] * len(lengths)
    ends = np.cumsum(lengths)
    return [dual.beta[end - length : end] for end, length in zip(ends, lengths, strict=True)]
