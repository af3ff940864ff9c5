"""Working sets: the solver for kernels, which evaluates about one row of K for every support vector.

Problem:  max_β  targetᵀβ − Σ tube_i|β_i| − ½ βᵀ(K + diag(ridge))β   s.t.  lower ≤ β ≤ upper  (and Σβ = total)

    1. Take the samples in a random order and see a few of them first, then twice as many, until all are seen:
       each stage begins with the answer of the one before, so that few samples of the next need to move.
    2. Scores of newly seen samples: f_i = Σ_j K_ij β_j over the support vectors.
    3. Active are the samples that violate optimality by more than ε (where these are very many, the worst of them);
       those that will hardly leave their bound are put aside. Where many samples are support vectors, and K fits, all
       of them are active and their scores come from K among them.
    4. Maximise over the active samples alone, to the violation ε: pick a small working set W (half of it the worst
       violators, half the free ones of the last W), solve it by second-order SMO on its own small matrix, and
       update the active gradient with |W| rows at once.
    5. Bring the scores of all other seen samples up to date: f_i += Σ_j K_ij Δβ_j over the β_j that changed; those far
       from violating may wait (see `working_set_scores.py`).
    6. When all samples are seen, divide ε by 4 after each round that took in all violators, or by 16 where the next
       would need the same rows of K whatever ε is. Where ε nears the rounding that the scores have gathered (seen on a
       few), they are recomputed in float64, so that float32 rows never limit the gap.

Cost: about (support vectors × n) kernel values in all; memory: K among the active samples, within `cache_bytes`.

Joachims, "Making large-scale SVM learning practical", 1999 (working sets); Fan, Chen & Lin, JMLR 6, 2005 (second
order); Wen et al., "ThunderSVM", JMLR 19, 2018 (large working sets, kept by half); Hsieh, Si & Dhillon, ICML 2014
(smaller problems first).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from maxmargin.gram.active_square import ActiveSquare
from maxmargin.gram.cached_rows import whole_rows
from maxmargin.gram.row_store import RowStore, add_rows
from maxmargin.losses import DualForm
from maxmargin.numeric.parallel import over_blocks
from maxmargin.problem import Problem
from maxmargin.problem.space import KernelSpace
from maxmargin.result import Iterate
from maxmargin.solvers import clock
from maxmargin.solvers.base import Solver, Starts, refuse_indefinite, refuse_without_form, registry, start_beta
from maxmargin.solvers.kernel.outlying import outlying_start
from maxmargin.solvers.kernel.settings import WorkingSetSettings
from maxmargin.solvers.kernel.working_set_choice import middle, pick, violation
from maxmargin.solvers.kernel.working_set_scores import Scores
from maxmargin.solvers.kernel.working_set_steps import ranges, single_steps, submatrix
from maxmargin.solvers.steps import check_positive
from maxmargin.solvers.textbook.smo import pair_steps

settings = WorkingSetSettings()


@dataclass(frozen=True)
class WorkingSet(Solver):
    """Active samples, working sets and second-order SMO, for kernels.

    Parameters
    ----------
    size : int, default 768
        How many variables the inner SMO works on.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import WorkingSet
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], kernel="rbf")
    >>> result = solve(problem, WorkingSet(size=128), tol=1e-6)
    >>> result.converged
    True
    """

    name: ClassVar[str] = "working-set"
    paper: ClassVar[str] = "Joachims 1999; Fan, Chen & Lin, JMLR 2005; Wen et al., JMLR 2018"
    endless: ClassVar[bool] = True

    starts: ClassVar[Starts] = ("beta",)

    size: int = 768

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("size", self.size, whole=True)

    def accepts(self, problem: Problem) -> str | None:
        if problem.linear:
            return "it is for kernels other than the linear one; use solver='auto'"
        return refuse_without_form(problem) or refuse_indefinite(problem)

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        return _Run(problem, start, rng, self.size).iterates()


class _Run:
    """β, the scores Kβ of the seen samples, and the active square of K."""

    def __init__(self, problem: Problem, start: Iterate, rng: np.random.Generator, size: int) -> None:
        assert problem.form is not None
        self.problem, self.form, self.rng, self.size = problem, problem.form, rng, size
        self.free_bias = problem.bias == "free"
        self.square = ActiveSquare(problem.kernel, problem.X, problem.space.constant**2, problem.cache_bytes)
        self.diag = problem.space.diag()
        #: Where the matrix of each working set goes: fresh memory would take longer than filling it.
        self.buffer = np.empty(min(max(size, settings.largest), problem.n) ** 2, self.square.dtype)
        outlying = bool(problem.total) and start.beta is None
        self.beta = outlying_start(problem, rng) if outlying else start_beta(problem, start)
        assert isinstance(problem.space, KernelSpace)
        self.scores = Scores(problem.space, self.square)
        #: Whether the last round changed anything.
        self.moved = True
        #: Whether it moved most support vectors, in steps that cost less than the kernel values that followed them.
        self.light = False
        #: A distance from its kink at which a sample is always let go.
        self.farthest = np.inf
        #: Whether more samples violated than could become active.
        self.crowded = False
        #: Whether many samples are support vectors, and the square has room for all: then all of them are active.
        self.all_active = False
        #: Steps of SMO, each times the size of its working set: all of them, and those that were reported as work.
        self.steps = self.reported = self.working_sets = 0
        row_work = problem.X.nnz if sp.issparse(problem.X) else problem.X.size
        self.row_work = row_work / problem.n + 4.0

    def iterates(self) -> Iterator[Iterate]:
        n = self.problem.n
        order = self.rng.permutation(n)
        sizes = self._stages()
        first = max(self._first_violation(), np.finfo(float).tiny)
        self.farthest = settings.settled * settings.round_violation * first
        before = 0
        for size in sizes[:-1]:  # 1.
            self._see(order[before:size])
            yield from self._round(order[:size], settings.stage_violation * first)
            before = size
            yield Iterate(self.working_sets, beta=self.beta, work=self._work())
        everyone = np.arange(n)
        if self.row_work >= settings.expensive_value and len(sizes) > 1 and not self.all_active:
            self.scores.store = RowStore(self.square, 0.5)
        self._see(order[before:])
        epsilon = settings.round_violation * first / (settings.sharper if self.light else 1.0)
        while True:
            self.scores.correct_rounding(self.beta, epsilon, self.rng)
            yield from self._round(everyone, epsilon)
            yield Iterate(self.working_sets, beta=self.beta, scores=self.scores.values, work=self._work())
            if epsilon < (1e-14 if self.moved else 1e-12) * first:
                return  # below the rounding of a score
            if not self.crowded or not self.moved:
                epsilon /= settings.sharper**2 if self.light else settings.sharper  # 6.

    def _stages(self) -> list[int]:
        """How many samples each stage sees; a start that is not 0 sees them all at once."""
        sizes = [self.problem.n]
        while sizes[-1] > settings.first_stage and not self.beta.any():
            sizes.append(-(-sizes[-1] // 2))
        return sizes[::-1]

    def _first_violation(self) -> float:
        """How far β = 0 is from optimal: the measure that ε is taken from."""
        reach = np.maximum(np.abs(self.form.target) - self.form.tube, 0.0)
        return 2.0 * float(reach.max(initial=0.0)) or float(np.abs(self.diag + self.form.ridge).max(initial=1.0))

    def _see(self, samples: np.ndarray) -> None:
        """The scores of samples that have not been seen before (2.)."""
        # A support vector that was let go before all became active is missing in the square.
        if self.all_active and np.count_nonzero(self.beta[self.square.index]) == np.count_nonzero(self.beta):
            size = int(min(len(samples), max(64.0, clock.piece() / (self.problem.n * self.row_work))))
            for start in range(0, len(samples), max(1, size)):
                clock.check()
                self.scores.take_in(samples[start : start + size], self.beta)
        else:
            support = np.count_nonzero(self.beta) * self.row_work
            size = int(min(len(samples), max(64.0, clock.piece() / max(1.0, support))))
            for start in range(0, len(samples), max(1, size)):
                clock.check()
                self.scores.see(samples[start : start + size], self.beta)

    def _round(self, seen: np.ndarray, epsilon: float) -> Iterator[Iterate]:
        """One round over the seen samples (3. to 5.); shows where it stands on the way, so that a budget can end it."""
        self._choose_active(seen, epsilon)
        active = self.square.index
        form, old = self.form.of(active), self.beta[active]
        g = form.target - self.scores.values[active] - form.ridge * old
        beta, steps = old.copy(), self.steps
        for _ in self._settle(form, beta, g, epsilon):
            self.beta[active] = beta
            yield Iterate(self.working_sets, beta=self.beta, work=self._work())
        changed = int(np.count_nonzero(beta != old))
        before = self.beta.copy()
        before[active] = old
        self.beta[active] = beta
        now = form.target - g - form.ridge * beta
        moved = float(np.abs(now - self.scores.values[active]).max(initial=0.0))
        self.scores.values[active] = now
        others = self._others(seen)
        if changed and others.size:  # 5.
            bias = middle(*self._ranges(active), self.free_bias)
            self.scores.follow(others, before, self.beta, -self._excess(others, bias), moved)
        self.moved = changed > 0
        support, values = (
            int(np.count_nonzero(self.beta)),
            changed * others.size * (settings.value_constant + self.row_work / settings.value_work),
        )
        self.light = changed > settings.light_moved * support and self.steps - steps < settings.light_work * values
        self.all_active = support > settings.all_active_share * seen.size and self.problem.n <= self.square.capacity

    def _choose_active(self, seen: np.ndarray, epsilon: float) -> None:
        """Let the settled go, take the violators in (3.)."""
        square, active = self.square, self.square.index
        self.crowded = False
        if self.all_active:
            self.scores.catch_all_up(self.beta)
            square.extend(self._others(seen))
            return
        rise, fall = self._ranges(active if active.size else seen)
        bias = middle(rise, fall, self.free_bias)
        others = self._others(seen)
        excess = self._excess(others, bias)
        entering = np.flatnonzero(excess > epsilon)
        if active.size:
            # Scores will move about as far as the violators are off: who is nearer to its kink may be needed.
            reach = max(settings.settled * epsilon, min(float(excess.max(initial=0.0)), self.farthest))
            near = (rise >= bias - reach) | (fall <= bias + reach)
            # To move what is left costs as much as a few working sets: not for a handful.
            if (
                np.count_nonzero(near) < settings.packed_share * square.size
                or entering.size > square.capacity - square.size
            ):
                square.keep(near)
        if entering.size > square.capacity - square.size and square.size > square.capacity // 2:
            square.keep(self.rng.random(square.size) < 0.5)  # more free ones than fit: they take turns
        crowd = settings.most_entering + int(np.count_nonzero(self.beta))
        self.crowded = entering.size > crowd
        room = min(square.capacity - square.size, crowd)
        if entering.size > room:
            entering = entering[np.argsort(-excess[entering], kind="stable")[:room]]
        square.extend(others[entering])

    def _others(self, seen: np.ndarray) -> np.ndarray:
        """The seen samples that are not active."""
        mask = np.zeros(self.problem.n, bool)
        mask[seen] = True
        mask[self.square.index] = False
        return np.flatnonzero(mask)

    def _excess(self, samples: np.ndarray, bias: float) -> np.ndarray:
        """By how much each sample violates optimality."""
        rise, fall = self._ranges(samples)
        return np.maximum(rise - bias, bias - fall)

    def _ranges(self, samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        form, beta = self.form.of(samples), self.beta[samples]
        g = form.target - self.scores.values[samples] - form.ridge * beta
        return ranges(form.tube, form.lower, form.upper, beta, g)

    def _settle(self, form: DualForm, beta: np.ndarray, g: np.ndarray, epsilon: float) -> Iterator[None]:
        """Move β to the maximum over the active samples, up to the violation ε (4.), and g with it; pauses at times."""
        square, m = self.square, self.square.size
        diag = self.diag[square.index]
        bounds = (form.tube, form.lower, form.upper)
        size, share = self.size, settings.bulk_share
        last, turns = np.empty(0, np.int64), np.zeros(m, np.int64)
        paused, limited = self.steps, clock.left() is not None
        while True:
            rise, fall = ranges(*bounds, beta, g)
            worst = violation(rise, fall, self.free_bias)
            if worst <= epsilon:
                return
            chosen = pick(rise, fall, size, last, turns, self.free_bias)
            turns[chosen] += 1
            turns[np.setdiff1d(last, chosen, assume_unique=True)] = 0
            last = chosen
            K = self.buffer[: chosen.size**2].reshape(chosen.size, chosen.size)
            over_blocks(lambda start, stop: submatrix(square.K, chosen, start, stop, K), chosen.size, 32)  # noqa: B023
            inner, g_inner = beta[chosen], g[chosen]
            enough = epsilon if chosen.size == m else max(share * worst, 0.5 * epsilon)
            dual, most = form.of(chosen).arrays, settings.steps_per_sample * chosen.size
            if self.free_bias:
                steps, _ = pair_steps(whole_rows(K), 0, most, True, enough, diag[chosen], dual, inner, g_inner)
            else:
                steps = single_steps(K, most, enough, diag[chosen], dual, inner, g_inner)
            moved = np.flatnonzero(inner != beta[chosen])
            if steps == 0 or moved.size == 0:
                return  # the violation that is left is below the rounding of a step
            change = (inner - beta[chosen])[moved]
            rows = chosen[moved]
            beta[chosen] = inner
            over_blocks(lambda start, stop: add_rows(square.K, rows, -change, start, stop, g), m, 2048)  # noqa: B023
            g[rows] -= form.ridge[rows] * change
            self.steps += steps * chosen.size
            self.working_sets += 1
            if self.working_sets % settings.working_sets == 0 or (
                limited and self.steps - paused >= settings.limited_steps
            ):
                paused = self.steps
                yield
            # Few steps for a whole set: its samples went straight to a bound, and more could have.
            bulk = steps < chosen.size // 2
            size, share = (
                (min(2 * size, settings.largest), settings.bulk_share) if bulk else (self.size, settings.fine_share)
            )

    def _work(self) -> float:
        work = self.square.evaluated * self.row_work + 4.0 * (self.steps - self.reported)
        self.square.evaluated, self.reported = 0, self.steps
        return work


registry.register(WorkingSet.name, WorkingSet())
