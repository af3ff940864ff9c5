"""Sweeps or samples of the rows, then all samples inside their bounds at once: the solver for linear problems.

Problem:  max_β  targetᵀβ − Σ tube_i|β_i| − ½‖Σ β_i x_i‖² − ½ βᵀ ridge β   s.t.  lower ≤ β ≤ upper  (and Σβ = total)

Two ways to begin:

    1. Tall, far more rows than features: Newton's method on samples of the rows that grow (`growing_sample.py`), unless
       a few rows show that sweeps will be done sooner. Rows in blocks that are not in memory at once begin so, too:
       all that this way needs of them are sums over the blocks, and samples.
    2. Otherwise sweeps of coordinate ascent with shrinking (`sweeps.py`). When the samples that are left have closed
       most of the gap, or after a few passes, all are surveyed at one w, on all cores: that gives the gap of the whole
       problem and the samples to go on with, so that nothing stays out unchecked. A free bias is the limit of augmented
       ones (method of multipliers): the constant feature s has its bias centred at b, which moves by s²(Σβ − total)
       after every sweep, until that is 0.

and two to end, after the samples or where the sweeps slow down:

    3. Few features: Newton's method on the augmented Lagrangian (`newton.py`). Its matrix has only the samples strictly
       inside their bounds, about d + 1 of them at the optimum.
    4. Many: the sweeps go on, with steps on all samples inside their bounds in between (`free_block.py`). Whichever of
       the two raises the dual more for its work gets more of the work.

A dense array of mostly zeros is read as its non-zeros (`nonzeros.py`): by the sweeps, and by Newton's method when it
takes long.

Cost: a sweep is at most a pass over the data, a Newton step about two. Memory: a few n-vectors, and those non-zeros.

Hsieh et al., ICML 2008 (coordinates, shrinking); Bertsekas, "Constrained optimization and Lagrange multiplier methods",
1982 (method of multipliers); Yan & Li, Asia-Pacific J. of Operational Research 37, 2020 (Newton).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np

from maxmargin.losses import DualForm
from maxmargin.numeric.row_blocks import RowBlocks
from maxmargin.problem import Problem
from maxmargin.problem.space import LinearSpace
from maxmargin.result import Iterate
from maxmargin.solvers.base import Solver, Starts, refuse_without_form, registry, reliable, start_beta
from maxmargin.solvers.linear.free_block import FreeBlock
from maxmargin.solvers.linear.growing_sample import box_width, go_on, grow, is_tall, sweeps_suffice
from maxmargin.solvers.linear.newton import AugmentedLagrangian
from maxmargin.solvers.linear.nonzeros import thinned
from maxmargin.solvers.linear.settings import SweepSettings
from maxmargin.solvers.linear.sweeps import Limits, Point, survey, sweep
from maxmargin.solvers.translation import about_the_mean

settings = SweepSettings()


@dataclass(frozen=True)
class CoordinateNewton(Solver):
    """Samples of the rows or shrinking sweeps to begin, Newton's method or conjugate gradients to end.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import CoordinateNewton
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1])
    >>> result = solve(problem, CoordinateNewton(), tol=1e-6)
    >>> result.certificate.relative_gap < 1e-6, result.w.round(3)
    (True, array([1.]))
    """

    name: ClassVar[str] = "coordinate-newton"
    paper: ClassVar[str] = "Hsieh et al., ICML 2008; Yan & Li 2020"
    endless: ClassVar[bool] = True
    starts: ClassVar[Starts] = ("beta",)
    streams: ClassVar[bool] = True

    def accepts(self, problem: Problem) -> str | None:
        if not problem.linear:
            return f"w has no coordinates with the kernel {problem.kernel.name!r}; use solver={reliable(problem)!r}"
        if isinstance(problem.X, RowBlocks) and problem.X.shape[1] > settings.most_features:
            return f"its sweeps need all rows in memory, and its matrix at most {settings.most_features} features"
        return refuse_without_form(problem)

    @about_the_mean
    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        assert problem.form is not None and isinstance(problem.space, LinearSpace)
        space, form, cold = problem.space, problem.form, start.beta is None
        if not space.in_memory:
            k, lagrangian = yield from _grown(space, form, rng, start)
        elif (
            cold and space.d <= settings.most_features and is_tall(space, form) and not sweeps_suffice(space, form, rng)
        ):
            k, lagrangian = yield from _grown(space, form, rng, start)
        else:
            k, lagrangian = yield from _Sweeps(space, form, start_beta(problem, start), rng).run()
        yield from newton_steps(k, lagrangian)


#: What the beginning leaves to the end: the count of iterations, and where Newton's method goes on.
Begun = Generator[Iterate, None, tuple[int, AugmentedLagrangian]]


def _grown(space: LinearSpace, form: DualForm, rng: np.random.Generator, start: Iterate) -> Begun:
    """Newton's method on samples (1.), or from where it was before."""
    begun = grow(space, form, rng) if start.beta is None else go_on(space, form, start)
    for k, lagrangian in enumerate(begun, start=1):
        if lagrangian.space is space:
            break
        b = lagrangian.b if lagrangian.free_bias else None
        yield Iterate(k, w=lagrangian.w, b=b, work=lagrangian.passes * lagrangian.space.work)
        lagrangian.passes = 0.0
    return k, lagrangian


def newton_steps(k: int, lagrangian: AugmentedLagrangian) -> Iterator[Iterate]:
    """Newton's method on the whole problem, σ after σ."""
    first = lagrangian.sigma
    for step in count(1):
        if lagrangian.sigma >= settings.largest_sigma * first or lagrangian.steps >= settings.most_newton_steps:
            return
        if step == settings.long_newton:
            lagrangian.space = thinned(lagrangian.space)
        lagrangian.step()
        k += 1
        yield Iterate(
            k,
            w=lagrangian.w,
            b=lagrangian.b if lagrangian.free_bias else None,
            beta=lagrangian.u,
            linked=False,
            work=lagrangian.passes * lagrangian.space.work,
            estimate=lagrangian.relative_gap(),
        )
        lagrangian.passes = 0.0
        if lagrangian.settled():
            lagrangian.multiply()


def ascended(
    space: LinearSpace,
    form: DualForm,
    beta: np.ndarray,
    rng: np.random.Generator,
    enough: float,
    over: Callable[[], bool],
) -> tuple[np.ndarray, np.ndarray]:
    """θ = (w, c or the free bias) and β of a dual given as arrays, from a β in its box: at most `enough` is missing.

    It ends before that where the time is over.
    """
    sweeps = _Sweeps(space, form, beta, rng)
    run = sweeps.run()
    try:
        while True:
            next(run)
            if sweeps.before <= enough or over():
                theta = sweeps.w.copy()
                if sweeps.free_bias:
                    theta[-1] = sweeps.b + sweeps.constant * float(sweeps.w[-1])
                return theta, sweeps.beta
    except StopIteration as ended:
        lagrangian: AugmentedLagrangian = ended.value[1]
    while lagrangian.steps < settings.most_newton_steps:
        lagrangian.step()
        if lagrangian.settled():
            if lagrangian.gap()[0] <= enough or over():
                break
            lagrangian.multiply()
    theta = lagrangian.w.copy()
    if lagrangian.free_bias:
        theta[-1] = lagrangian.b
    return theta, lagrangian.u


class _Sweeps:
    """β, w = w(β) with the constant's weight behind it, and the centre b of a free bias (2.)."""

    def __init__(self, space: LinearSpace, form: DualForm, beta: np.ndarray, rng: np.random.Generator) -> None:
        self.form, self.space = form, thinned(space)
        self.free_bias = self.form.total is not None
        self.total = self.form.total or 0.0
        self.q = self.space.diag()
        self.constant, self.b = self.space.constant, 0.0
        if self.free_bias:
            self.constant = float(np.sqrt(self.q.mean())) or 1.0  # as long as a row
            self.q += self.constant**2
        self.q += self.form.ridge
        self.beta = beta
        self._link()
        self.scale = float(np.abs(self.form.target).max()) or float(np.abs(self.space.scores(self.w)).max()) or 1.0
        self.state = rng.integers(1, 2**63, 1).astype(np.uint64)
        #: The samples, those still active first, and the slopes beyond which they are put aside.
        self.order, self.active = np.arange(self.space.n, dtype=np.uint32), self.space.n
        self.low, self.high, self.worst = -np.inf, np.inf, 0.0
        #: What was missing when all samples were last looked at, and the passes since then and in all.
        self.before, self.since, self.passes = np.inf, 0.0, 0.0
        #: The share of that at which the sweeps end.
        self.nearer = settings.survey_share
        #: The passes and what was missing when the sweeps were last judged; the first passes are not.
        self.quick = (0.0, np.inf)
        self.k, self.work = 0, 0.0
        #: The dual after the last step, and its rise for the work of the last sweep.
        self.dual, self.rate = -np.inf, 0.0
        #: The share of the work that steps on the free block get, and what they have not spent of it.
        self.share, self.credit = settings.least_share, 0.0

    def run(self) -> Begun:
        """Sweep after sweep, until Newton's method can do better, if it can at all."""
        few_features = self.space.d <= settings.most_features
        while True:
            missing = self._sweep()
            if self.k == 1:
                self.before = missing
            if missing > settings.survey_share * self.before and self.since < settings.survey_passes:
                yield Iterate(self.k, w=None if self.free_bias else self.w, beta=self.beta, work=self._worked())
                continue
            missing = self._survey()
            self.nearer = settings.survey_share if missing < self.before else self.nearer / settings.stricter
            self.before, self.since = min(self.before, missing), 0.0
            estimate = missing / (self.dual + missing) if self.dual + missing > 0 else None
            w = None if self.free_bias else self.w
            yield Iterate(self.k, w=w, beta=self.beta, work=self._worked(), estimate=estimate)
            if few_features and self._slow(estimate or 1.0):
                return self.k, self._lagrangian()
            if not few_features and self.passes > (
                settings.free_block_after if (estimate or 1.0) < settings.large_gap else settings.free_block_soon
            ):
                self._ascend_free_block()

    def _link(self) -> None:
        """W = w(β), without the rounding of many changes."""
        self.w = self.space.combine(self.beta)
        if self.free_bias:
            self.w[-1] = self.constant * (float(self.beta.sum()) - self.total)

    def _sweep(self) -> float:
        """Epochs over the active samples; what is missing among them: the gap, or the worst slope where that is ∞."""
        goal = self.nearer * self.before if self.before < np.inf else 0.0
        point, limits = Point(self.beta, self.w, self.constant, self.b), Limits(self.low, self.high)
        self.active, visited, gap, self.low, self.high, self.worst = sweep(
            self.space.rows, self.form.arrays, self.q, point, self.order, self.state, self.active, limits,
            self.space.n, goal,
        )  # fmt: skip
        if self.free_bias:
            self.b += self.constant * float(self.w[-1])
        self.k += 1
        self.since += visited / self.space.n
        self.passes += visited / self.space.n
        work, before = 3.0 * self.space.work * visited / self.space.n, self.dual
        self.dual = self.form.value(self.beta) - 0.5 * float(self.w @ self.w)
        self.rate = (self.dual - before) / max(1.0, work)
        self.credit += self.share * work
        self.work += work
        return self._missing(gap)

    def _survey(self) -> float:
        """Look at all samples: what is missing among them, and which of them to go on with."""
        if self.before <= settings.fresh_gap * self.dual:
            self._link()
            self.work += self.space.work
        offset = self.b + self.constant * float(self.w[-1]) if self.free_bias else 0.0
        z = self.space.scores(self.w) + offset
        shift = abs(self.constant * float(self.w[-1])) if self.free_bias else 0.0
        self.active, gap, self.low, self.high, self.worst = survey(z, self.order, self.form.arrays, self.beta, shift)
        self.work += self.space.work
        return self._missing(gap)

    def _slow(self, relative_gap: float) -> bool:
        """Whether the sweeps will take longer than Newton's method, as their last passes have gone."""
        then, missing = self.quick
        passes = self.passes - then
        if passes < settings.patience:
            return False
        self.quick = self.passes, self.before
        return self.before > min(1.0, settings.newton_gap / relative_gap) ** (passes / settings.newton_passes) * missing

    def _missing(self, gap: float) -> float:
        missing = max(0.0, gap) if gap < np.inf else self.worst
        return missing + self.scale * abs(float(self.w[-1])) / self.constant if self.free_bias else missing

    def _worked(self) -> float:
        work, self.work = self.work, 0.0
        return work

    def _ascend_free_block(self) -> None:
        """A step on the free block, as soon as a worthwhile one has its share of the work (4.)."""
        block = FreeBlock(self.space, self.form, self.beta, self.constant)
        steps = int(self.credit / (2.0 * block.pass_over))
        if not block.size or steps < settings.fewest_gradients:
            return
        rise = block.ascend(self.q, self.beta, self.w, self.b, min(steps, settings.most_gradients))
        better = rise / block.work > self.rate
        self.share = (
            min(2.0 * self.share, settings.most_share) if better else max(0.5 * self.share, settings.least_share)
        )
        self.dual += rise
        self.credit = 0.0
        self.work += block.work

    def _lagrangian(self) -> AugmentedLagrangian:
        """Where Newton's method goes on: at β, and with a σ that fits the largest slope."""
        bias = self.b + self.constant * float(self.w[-1]) if self.free_bias else 0.0
        sigma = settings.first_sigma * box_width(self.form) / max(self.worst, 1e-12 * self.scale)
        return AugmentedLagrangian(self.space, self.form, self.beta, self.space.combine(self.beta), bias, sigma)


registry.register(CoordinateNewton.name, CoordinateNewton())
