"""A start for tall problems: solve a sample of the rows, then a larger one, by Newton's method.

With far more rows than features, a sample of them gives nearly the same hyperplane at a fraction of the cost: each row
drawn stands for n/m of them, so that its weight C is n/m times as large.

    1. The first sample begins at w = 0 with a loss so smooth that Newton's first step is a ridge regression.
    2. Each sample is solved roughly (`newton.py`), and is several times as large as the one before.
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
from maxmargin.solvers.linear.settings import GrowingSampleSettings
from maxmargin.solvers.linear.sweeps import Limits, Point, sweep

settings = GrowingSampleSettings()


def is_tall(space: LinearSpace, form: DualForm) -> bool:
    """Whether samples of the rows can stand for all, and Newton's equations are not too expensive beside a pass."""
    enough = (
        space.n >= max(settings.rows_per_feature * space.d, settings.growth * settings.fewest_rows)
        and space.d**3 <= settings.most_passes_of_matrix * space.work
    )
    hard_margin = np.isinf(form.upper - form.lower).any() and not form.ridge.any()
    return enough and not hard_margin


def sweeps_suffice(space: LinearSpace, form: DualForm, rng: np.random.Generator) -> bool:
    """Whether sweeps will soon be done, as seen on some of the rows.

    They take few passes where a single step leads across the box, so that most samples are at once where they belong;
    and are cheap where few samples have to move at all, so that most are soon put aside.
    """
    if form.total is not None:
        return False
    probed = max(settings.probed_rows, min(space.n // settings.probed_part, _most_rows(space)))
    part = np.sort(rng.integers(space.n, size=probed))
    rows, some = LinearSpace(space.X[part], space.constant), form.of(part)
    q = rows.diag() + some.ridge
    passes = settings.sweep_passes + settings.sweep_passes_per_box * box_width(some) * float(q.mean())
    if (
        passes * (space.work + settings.visit_work * space.n)
        <= settings.sample_passes * space.work + settings.sample_work
    ):
        return True
    order, state = np.arange(rows.n, dtype=np.uint32), np.ones(1, np.uint64)
    beta, w = np.zeros(rows.n), np.zeros(rows.size)
    point, limits = Point(beta, w, rows.constant, 0.0), Limits(-np.inf, np.inf)
    sweep(rows.rows, some.arrays, q, point, order, state, rows.n, limits, rows.n, 0.0)
    return np.count_nonzero(beta) <= settings.few_moving * rows.n


def grow(space: LinearSpace, form: DualForm, rng: np.random.Generator) -> Iterator[AugmentedLagrangian]:
    """Newton's steps on samples of growing size; at last the whole problem, begun where they have led."""
    w, b = np.zeros(space.size), 0.0
    for m in _sizes(space, form):
        part = np.sort(rng.integers(space.n, size=m))
        rows = LinearSpace(space.X[part], space.constant)
        lagrangian = smoothed(rows, standing_for(form, part, space.n / m), w, b, settings.inside_sample)
        for _ in range(settings.most_steps):
            lagrangian.step()
            yield lagrangian
            if lagrangian.settled():
                if lagrangian.relative_gap() <= settings.sample_gap:
                    break
                lagrangian.multiply()
        w, b = lagrangian.w, lagrangian.b
        del rows, lagrangian  # a sample's copy of its rows is not kept while the next is at work
    yield smoothed(space, form, w, b, settings.inside_all)


def go_on(space: LinearSpace, form: DualForm, start: Iterate) -> Iterator[AugmentedLagrangian]:
    """The whole problem, begun at a dual point and the hyperplane that belongs to it."""
    assert start.beta is not None
    w = space.combine(start.beta)
    bias = start.b or 0.0
    around = smoothed(space, form, w, bias, settings.inside_all)
    yield AugmentedLagrangian(space, form, start.beta.copy(), w, bias, around.sigma)


def _sizes(space: LinearSpace, form: DualForm) -> list[int]:
    """The sizes of the samples; none where they cannot stand for all."""
    if not is_tall(space, form):
        return []
    sizes = [space.n // settings.growth]
    while sizes[-1] // settings.growth >= settings.fewest_rows:
        sizes.append(sizes[-1] // settings.growth)
    return [size for size in sizes[::-1] if size <= _most_rows(space)]


def _most_rows(space: LinearSpace) -> int:
    """How many rows may come into memory for a sample."""
    return space.n if space.in_memory else int(settings.sample_numbers * space.n / max(1.0, space.work))


def standing_for(form: DualForm, part: np.ndarray, factor: float) -> DualForm:
    """The dual of some samples, each of which counts `factor` times."""
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
    some = slice(None, None, -(-space.n // settings.quantile_samples))
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
