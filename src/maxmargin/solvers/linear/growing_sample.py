"""A start for tall problems: solve a sample of the rows, then a larger one, by Newton's method.

With far more rows than features, a sample of them gives nearly the same hyperplane at a fraction of the cost: each row
drawn stands for n/m of them, so that its weight C is n/m times as large.

    1. The first sample begins at w = 0 with a loss so smooth that Newton's first step is a ridge regression.
    2. Each sample is solved roughly (`newton.py`), and is STEP times as large as the one before.
    3. From one sample to the next only w and b go on. The multipliers begin in the middle of their boxes, which makes
       the augmented Lagrangian a loss smoothed on both sides of its kink, so widely that a share of the samples is
       inside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from maxmargin.losses import DualForm
from maxmargin.problem.space import LinearSpace
from maxmargin.result import Iterate
from maxmargin.solvers.linear.newton import AugmentedLagrangian
from maxmargin.solvers.linear.sweeps import Limits, Point, sweep

#: The rows a feature has in a tall problem, and the fewest rows of a sample.
TALL, FEWEST = 250, 2000
#: A matrix of d³ beyond so many passes over the data is dear.
DEAR = 30
#: Each sample is so many times as large as the one before it.
STEP = 8
#: The share of the samples that the first smoothing has inside: of a sample, and of all rows.
INSIDE_SAMPLE, INSIDE_ALL = 0.4, 0.05
#: The relative gap to which a sample is solved, and the most Newton steps for that.
ROUGH, MOST_STEPS = 0.05, 50
#: Passes of sweeps to a gap of a thousandth: at least, and more for each step that leads across the box.
SWEEPS, MORE_SWEEPS = 4.0, 5.0
#: What a visit to a sample costs besides its row, in multiply-adds.
VISIT = 25.0
#: Passes over growing samples to the same gap, and the multiply-adds that the interpreter takes meanwhile.
GROWN, GROWN_LEAST = 7.5, 1.2e7
#: Where no larger share of the samples moves, sweeps suffice, too.
FEW = 0.05
#: That is seen on so many rows, or on this part of them all.
PROBED, PROBED_SHARE = 2000, 64
#: The most numbers of a sample where the rows are not in memory.
SAMPLE_NUMBERS = 2**20
#: Samples that are looked at to find the width of the smoothing.
LOOKED = 20_000


def is_tall(space: LinearSpace, form: DualForm) -> bool:
    """Whether samples of the rows can stand for all, and Newton's equations are not too dear beside a pass."""
    enough = space.n >= max(TALL * space.d, STEP * FEWEST) and space.d**3 <= DEAR * space.work
    hard_margin = np.isinf(form.upper - form.lower).any() and not form.ridge.any()
    return enough and not hard_margin


def sweeps_suffice(space: LinearSpace, form: DualForm, rng: np.random.Generator) -> bool:
    """Whether sweeps will soon be done, as seen on some of the rows.

    They take few passes where a single step leads across the box, so that most samples are at once where they belong;
    and are cheap where few samples have to move at all, so that most are soon put aside.
    """
    if form.total is not None:
        return False
    probed = max(PROBED, min(space.n // PROBED_SHARE, _most_rows(space)))
    part = np.sort(rng.integers(space.n, size=probed))
    rows, some = LinearSpace(space.X[part], space.constant), form.of(part)
    q = rows.diag() + some.ridge
    passes = SWEEPS + MORE_SWEEPS * box_width(some) * float(q.mean())
    if passes * (space.work + VISIT * space.n) <= GROWN * space.work + GROWN_LEAST:
        return True
    order, state = np.arange(rows.n, dtype=np.uint32), np.ones(1, np.uint64)
    beta, w = np.zeros(rows.n), np.zeros(rows.size)
    point, limits = Point(beta, w, rows.constant, 0.0), Limits(-np.inf, np.inf)
    sweep(rows.rows, some.arrays, q, point, order, state, rows.n, limits, rows.n, 0.0)
    return np.count_nonzero(beta) <= FEW * rows.n


def grow(space: LinearSpace, form: DualForm, rng: np.random.Generator) -> Iterator[AugmentedLagrangian]:
    """Newton's steps on samples of growing size; at last the whole problem, begun where they have led."""
    w, b = np.zeros(space.size), 0.0
    for m in _sizes(space, form):
        part = np.sort(rng.integers(space.n, size=m))
        rows = LinearSpace(space.X[part], space.constant)
        lagrangian = smoothed(rows, standing_for(form, part, space.n / m), w, b, INSIDE_SAMPLE)
        for _ in range(MOST_STEPS):
            lagrangian.step()
            yield lagrangian
            if lagrangian.settled():
                if lagrangian.relative_gap() <= ROUGH:
                    break
                lagrangian.multiply()
        w, b = lagrangian.w, lagrangian.b
        del rows, lagrangian  # a sample's copy of its rows is not kept while the next is at work
    yield smoothed(space, form, w, b, INSIDE_ALL)


def go_on(space: LinearSpace, form: DualForm, start: Iterate) -> Iterator[AugmentedLagrangian]:
    """The whole problem, begun at a dual point and the hyperplane that belongs to it."""
    assert start.beta is not None
    w = space.combine(start.beta)
    bias = start.b or 0.0
    around = smoothed(space, form, w, bias, INSIDE_ALL)
    yield AugmentedLagrangian(space, form, start.beta.copy(), w, bias, around.sigma)


def _sizes(space: LinearSpace, form: DualForm) -> list[int]:
    """The sizes of the samples; none where they cannot stand for all."""
    if not is_tall(space, form):
        return []
    sizes = [space.n // STEP]
    while sizes[-1] // STEP >= FEWEST:
        sizes.append(sizes[-1] // STEP)
    return [size for size in sizes[::-1] if size <= _most_rows(space)]


def _most_rows(space: LinearSpace) -> int:
    """How many rows may come into memory for a sample."""
    return space.n if space.in_memory else int(SAMPLE_NUMBERS * space.n / max(1.0, space.work))


def standing_for(form: DualForm, part: np.ndarray, factor: float) -> DualForm:
    """The dual of some samples, each of which counts as so many."""
    some = form.of(part)
    return replace(
        some, ridge=some.ridge / factor, lower=some.lower * factor, upper=some.upper * factor, total=form.total
    )


def smoothed(space: LinearSpace, form: DualForm, w: np.ndarray, b: float, inside: float) -> AugmentedLagrangian:
    """The augmented Lagrangian at w, with multipliers in the middle and σ by how many samples are to be inside (3.)."""
    with np.errstate(invalid="ignore"):
        middle = 0.5 * (form.lower + form.upper)
    middle[~np.isfinite(middle)] = 0.0
    z = space.scores(w) + b
    some = slice(None, None, -(-space.n // LOOKED))
    if w.any():
        off_kink = np.abs(np.abs(form.target[some] - z[some]) - form.tube[some])
        width = float(np.quantile(off_kink, inside))
    else:  # 1.
        width = 4.0 * float(np.abs(form.target).max())
    sigma = box_width(form) / max(width, np.finfo(np.float64).eps)
    return AugmentedLagrangian(space, form, middle, w, b, sigma)


def box_width(form: DualForm) -> float:
    """How far a dual can go: the width of its box, or what the curvature of the loss makes of it."""
    reach = form.upper - form.lower
    bounded = np.isfinite(reach) & (reach > 0)
    if bounded.any():
        return float(np.median(reach[bounded]))
    return 1.0 / float(np.median(form.ridge)) if form.ridge.any() else 1.0
