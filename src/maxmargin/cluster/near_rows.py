"""What shards and one worker do for wide data: scores and keys of the rows, the near rows of all shards, their β.

The key of a row tells how much it should be among the near rows: the less, the more. A row whose β is the bound of its
side has its way to the kink as key; one whose β is not (any more) has minus its slope, so that the rows that are most
wrong come first. `gathered.py` says what follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.cluster.engine import Held, sum_of_group
from maxmargin.cluster.evaluation import Side, pulled, responses, scores, side_of, sides_of
from maxmargin.cluster.point import dual_of_sides
from maxmargin.cluster.sample import Sample, drawn, joined_blocks, theta_of
from maxmargin.cluster.shard import Block, Setting, Shard
from maxmargin.losses import DualForm
from maxmargin.problem.projection import project
from maxmargin.problem.space import LinearSpace
from maxmargin.solvers.linear.coordinate_newton import ascended

#: Keys up to which the bytes of the rows are counted, in units of the sample's largest way to a kink.
GRID = np.concatenate([-(2.0 ** np.arange(6.0, -24.0, -0.5)), [0.0], 2.0 ** np.arange(-23.5, 6.5, 0.5)])


@dataclass(frozen=True, eq=False)
class Ask:
    """What a pass asks for: θ of each machine, and the unit of the keys."""

    machines: tuple[int, ...]
    thetas: tuple[np.ndarray, ...]
    unit: float


class Facts(NamedTuple):
    """What the client hears of a pass: rows, Σ C ℓ and Σ|β| of each machine, the bytes of the rows up to each key."""

    rows: int
    losses: np.ndarray
    masses: np.ndarray
    sizes: np.ndarray


@dataclass(frozen=True, eq=False)
class Scored(Held):
    """A shard after a pass: the key of each row, and its β for each machine should it not be near."""

    shard: Shard
    facts: Facts
    keys: list[np.ndarray]
    betas: list[np.ndarray]


@dataclass(frozen=True, eq=False)
class Parted(Held):
    """The near rows of a shard, their β so far, and the sums of the others, both signs for each machine."""

    near: Block
    starts: np.ndarray
    far: tuple[tuple[Side, Side], ...]
    #: β of all rows, with 0 for the near ones, and which these are.
    betas: np.ndarray
    mask: np.ndarray


class Found(NamedTuple):
    """What the near rows give for one machine."""

    theta: np.ndarray
    value: float
    up: float
    down: float
    beta: np.ndarray


def score(shards: Sequence[Shard], ask: Ask, own: np.ndarray | None) -> Scored:
    """A pass over a shard; `own` has the β of its rows so far, a line for each machine."""
    (shard,) = shards
    losses, sizes = np.zeros(len(ask.machines)), np.zeros(len(GRID))
    keys, betas, first = [], [], 0
    for block in shard.blocks:
        n = len(block.y)
        key, beta = _keys(block, shard.setting, ask, None if own is None else own[:, first : first + n], losses)
        first += n
        order = np.argsort(key)
        reach = np.searchsorted(key[order], GRID * ask.unit, side="right")
        sizes += np.append(0.0, np.cumsum(row_bytes(block.X)[order]))[reach]
        keys.append(key)
        betas.append(beta)
    masses = np.abs(np.concatenate(betas, axis=1)).sum(axis=1)
    return Scored(shard, Facts(shard.rows, losses, masses, sizes), keys, betas)


def _keys(
    block: Block, setting: Setting, ask: Ask, old: np.ndarray | None, losses: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The least key of each row over the machines, and its β for each of them."""
    keys, betas = np.full(len(block.y), np.inf), np.empty((len(ask.machines), len(block.y)))
    for m, (machine, theta) in enumerate(zip(ask.machines, ask.thetas, strict=True)):
        target = block.target(machine, setting)
        form = setting.loss.dual_form(target, block.C)
        assert form is not None
        z = scores(block.X, theta, setting.constant)
        losses[m] += float(block.C @ setting.loss.value(z, target))
        at = pulled(z, form.arrays)
        key = np.abs(np.abs(form.target - z) - form.tube)
        if old is None:
            beta = np.where(np.isfinite(at), at, responses(setting, z, target, block.C, 0.0).u)
            key[~np.isfinite(at)] = 0.0
        else:
            beta = old[m]
            slope = form.target - z - form.ridge * beta
            wrong = beta != at
            key[wrong] = -np.abs(np.abs(slope) - form.tube)[wrong]
        key[form.upper == form.lower] = np.inf
        keys, betas[m] = np.minimum(keys, key), beta
    return keys, betas


def row_bytes(X: Any) -> np.ndarray:
    """The bytes that each row takes."""
    if sp.issparse(X):
        return np.diff(X.indptr) * (X.data.itemsize + X.indices.itemsize) + 8
    return np.full(X.shape[0], X.shape[1] * X.itemsize)


def facts_of(scored: Scored, common: None, own: None) -> Facts:
    """What the client hears."""
    return scored.facts


def part(scored: Sequence[Scored], ask: tuple[tuple[int, ...], float], own: None) -> Parted:
    """The rows up to a key, and the sums of the others."""
    (one,), (machines, most) = scored, ask
    setting, d = one.shard.setting, one.shard.setting.columns
    combined = [[np.zeros(d), np.zeros(d)] for _ in machines]
    scalars = np.zeros((len(machines), 2, 3))
    blocks, starts, betas, masks = [], [], [], []
    for block, key, beta in zip(one.shard.blocks, one.keys, one.betas, strict=True):
        near = key <= most
        far = np.where(near, 0.0, beta)
        for m, machine in enumerate(machines):
            target = block.target(machine, setting)
            for k, half in enumerate((np.maximum(far[m], 0.0), np.minimum(far[m], 0.0))):
                scalars[m, k] += side_of(setting, block.X, half, target, block.C, combined[m][k])[:3]
        places = np.flatnonzero(near)
        blocks.append((block.X[places], block.y[places], block.C[places]))
        starts.append(beta[:, places])
        betas.append(far)
        masks.append(near)
    sides = [sides_of(numbers, sums) for numbers, sums in zip(scalars, combined, strict=True)]
    joined = [np.concatenate(parts, axis=1) for parts in (starts, betas)]
    return Parted(joined_blocks(blocks), joined[0], tuple(sides), joined[1], np.concatenate(masks))


def betas_of(parted: Parted, common: None, own: None) -> tuple[np.ndarray, np.ndarray]:
    """β of all rows but the near ones, and which these are."""
    return parted.betas, parted.mask


def sampled(shards: Sequence[Shard], common: tuple[float, int], own: int) -> list[tuple[Any, np.ndarray, np.ndarray]]:
    """Some rows of a shard."""
    return drawn(shards[0], common, own)


def together(found: Sequence[list[tuple[Any, np.ndarray, np.ndarray]]], setting: Setting, own: None) -> Shard:
    """The drawn rows of all shards."""
    return Shard((joined_blocks([one for few in found for one in few]),), setting)


def solve_sample(
    shard: Shard, common: tuple[float, float, float | None, int], own: None
) -> tuple[list[np.ndarray], np.ndarray, float]:
    """θ and Σ|β| of each machine for the sample, and the unit of the keys: the largest way of a row to its kink."""
    factor, tol, seconds, seed = common
    setting, (block,) = shard.setting, shard.blocks
    used = np.flatnonzero(block.C > 0.0)
    sample = Sample(Block(block.X[used], block.y[used], block.C[used]), factor)
    thetas, masses, unit = [], np.zeros(setting.machines), 0.0
    for machine in range(setting.machines):
        target, theta = sample.block.target(machine, setting), np.zeros(setting.columns + 1)
        if np.unique(target).size > (0 if setting.classes is None else 1):
            share = None if seconds is None else seconds / setting.machines
            result = sample.solved(machine, setting, tol, share, seed)
            theta, masses[machine] = theta_of(result, setting), float(np.abs(result.beta).sum())
        form = setting.loss.dual_form(target, sample.block.C)
        assert form is not None
        off = np.abs(np.abs(form.target - scores(sample.block.X, theta, setting.constant)) - form.tube)
        unit = max(unit, float(off.max(initial=0.0)))
        thetas.append(theta)
    return thetas, masses, unit or 1.0


@dataclass(frozen=True, eq=False)
class Gathered(Held):
    """The near rows of all shards, and the sums of the others."""

    near: Block
    far: tuple[tuple[Side, Side], ...]
    starts: tuple[np.ndarray, ...]
    setting: Setting


def gather(seen: Sequence[Parted], setting: Setting, own: None) -> Gathered:
    """The near rows of all shards."""
    blocks = [(one.near.X, one.near.y, one.near.C) for one in seen]
    far = sum_of_group(*(one.far for one in seen))
    starts = np.concatenate([one.starts for one in seen], axis=1)
    return Gathered(joined_blocks(blocks), far, tuple(starts), setting)


def solve_near(
    gathered: Gathered, common: tuple[tuple[int, ...], tuple[float, ...], float | None, int], own: None
) -> list[Found]:
    """The β of the near rows of each machine."""
    machines, enough, seconds, seed = common
    began, found = perf_counter(), []
    for m, (machine, goal) in enumerate(zip(machines, enough, strict=True)):
        share = None if seconds is None else seconds * (m + 1) / len(machines)

        def over(share: float | None = share) -> bool:
            return share is not None and perf_counter() - began > share

        found.append(_solved(gathered, m, machine, goal, over, seed))
    return found


def _solved(gathered: Gathered, m: int, machine: int, enough: float, over: Callable[[], bool], seed: int) -> Found:
    setting, near, far = gathered.setting, gathered.near, gathered.far[m]
    target = near.target(machine, setting)
    form = setting.loss.dual_form(target, near.C)
    assert form is not None
    constant = 0.0 if setting.free else setting.constant
    rest = far[0].total + far[1].total
    v = np.append(far[0].combined + far[1].combined, constant * rest)
    total = -rest if setting.free else None
    if total is not None:  # what the near rows cannot make up for is scaled away below
        total = min(max(total, float(form.lower.sum())), float(form.upper.sum()))
    reduced: DualForm = replace(form, target=form.target - scores(near.X, v, constant), total=total)
    beta = np.clip(gathered.starts[m], form.lower, form.upper)
    beta = beta if total is None else project(beta, form.lower, form.upper, total)
    theta, beta = ascended(LinearSpace(near.X, constant), reduced, beta, np.random.default_rng(seed), enough, over)
    beta = np.clip(beta, form.lower, form.upper) if total is None else _with_sum(beta, form, total)
    theta[:-1] += v[:-1]
    if not setting.free:
        theta[-1] += v[-1]
    sides = []
    for sign, side in zip((1.0, -1.0), far, strict=True):
        part = side.combined.copy()
        few = side_of(setting, near.X, np.clip(sign * beta, 0.0, None) * sign, target, near.C, part)
        sides.append(Side(few.linear + side.linear, few.quadratic + side.quadratic, few.total + side.total, part))
    value, up, down = dual_of_sides(sides[0], sides[1], setting)
    return Found(theta, value, up, down, beta)


def _with_sum(beta: np.ndarray, form: DualForm, total: float) -> np.ndarray:
    """β moved to Σβ = total by those alone that are inside their bounds: a β that is 0 or at a bound stays there."""
    beta = np.clip(beta, form.lower, form.upper)
    inner = np.flatnonzero((beta != 0.0) & (beta > form.lower) & (beta < form.upper))
    low, high = np.where(beta > 0.0, 0.0, form.lower)[inner], np.where(beta < 0.0, 0.0, form.upper)[inner]
    goal = total - float(beta.sum() - beta[inner].sum())
    if not float(low.sum()) <= goal <= float(high.sum()):
        return project(beta, form.lower, form.upper, total)
    beta[inner] = project(beta[inner], low, high, goal)
    return beta
