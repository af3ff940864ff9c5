"""Nyström: a kernel problem on the span of some of its samples, with the gap of the problem itself.

Problem:  any kernel problem with a positive semi-definite kernel; n too large for its kernel matrix

    1. Draw landmarks, at first by the weights C of the samples; their features Φ have ΦΦᵀ = K̃ ⪯ K (`landmarks.py`).
    2. Solve the linear problem on Φ, from where the last one ended.
    3. Its w is Σ c_j φ(z_j) over the landmarks: a point of the problem itself, with the same primal value. Its β is
       feasible in the dual of the problem itself, where it is worth ½βᵀ(K − K̃)β less. So

           gap of the problem = gap of the linear problem + ½ βᵀ(K − K̃)β.

       The last term is estimated on a few support vectors; the linear problem is solved to a share of it. A multiple
       θβ with θ ≤ 1 is feasible, too: that of the largest dual value is handed over.
    4. Draw as many landmarks again, by β_i² r_i (r_i: the squared distance of φ(x_i) from the span), and go to 2.
    5. Where there are enough landmarks ("auto": more would cost more than what follows), the exact solver goes on
       from β.

Cost: n·m kernel values, n·m² multiply-adds of BLAS, and some tens of passes over n·m numbers, which are the memory,
too. The certificate takes the kernel values of the landmarks with all samples and those between the support vectors.

Williams & Seeger, NIPS 13, 2001; Chen, Epperly, Tropp & Webber, Communications on Pure and Applied Mathematics 78, 2025
(landmarks drawn by the diagonal of what is left).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.kernels import Linear
from maxmargin.problem import Problem
from maxmargin.problem.space import BLAS_SPEED, KernelSpace, LinearSpace
from maxmargin.result import Iterate
from maxmargin.solvers.base import Solver, refuse_indefinite, registry, reliable
from maxmargin.solvers.kernel.landmarks import LandmarkFeatures
from maxmargin.solvers.kernel.settings import NystroemSettings
from maxmargin.solvers.linear.coordinate_newton import CoordinateNewton, newton_steps
from maxmargin.solvers.linear.growing_sample import go_on

settings = NystroemSettings()


@dataclass(frozen=True)
class Nystroem(Solver):
    """Landmark features that grow, and the exact problem's gap.

    Parameters
    ----------
    landmarks : int or "auto", default "auto"
        How many landmarks at most; the model is made of them alone. "auto" takes as many as pay, and goes on with the
        exact solver where the gap asks for more.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem, solve
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> problem = Problem(X, np.linalg.norm(X, axis=1) > 1.2, kernel="rbf")
    >>> result = solve(problem, "nystroem", landmarks=60, tol=1e-2)
    >>> result.converged, int(np.count_nonzero(result.coef)) <= 60
    (True, True)
    """

    name: ClassVar[str] = "nystroem"
    paper: ClassVar[str] = "Williams & Seeger, NIPS 2001; Chen, Epperly, Tropp & Webber 2025"
    copies: ClassVar[bool] = True
    few_values: ClassVar[bool] = True
    further: ClassVar[str] = "allow more landmarks (landmarks='auto' goes on with the exact solver), or memory for them"

    landmarks: int | Literal["auto"] = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.landmarks
        whole = isinstance(given, (int, np.integer)) and not isinstance(given, bool) and given > 0
        if not whole and given != "auto":
            raise InvalidInput(f"landmarks is {given!r}; it must be a whole number > 0, or 'auto'")

    def accepts(self, problem: Problem) -> str | None:
        if problem.linear:
            return "the linear kernel has its features already; use solver='auto'"
        if problem.hard or problem.task == "novelty":
            what = "a hard margin (C=inf)" if problem.hard else "a one-class problem"
            return f"{what} is decided by single samples, which landmarks leave out; use solver={reliable(problem)!r}"
        return refuse_indefinite(problem)

    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        run = _Run(problem, rng, self.landmarks)
        weights = problem.C
        while not run.fine and run.grow(weights):
            yield from run.solved()
            weights = np.square(run.beta)
        if self.landmarks == "auto":  # 5.
            beta, k = run.beta, run.k
            del run  # the features are as large as what the exact solver needs
            exact = registry["truncated-newton" if problem.form is None else "working-set"]
            for iterate in exact.iterates(problem, Iterate(beta=beta), rng):
                yield replace(iterate, k=k + iterate.k)


class _Run:
    """The landmarks' features, and the dual point and the weights of the last linear problem."""

    def __init__(self, problem: Problem, rng: np.random.Generator, landmarks: int | str) -> None:
        self.problem, self.rng = problem, rng
        n = problem.n
        self.auto = isinstance(landmarks, str)
        if isinstance(landmarks, str):
            most = min(settings.most, max(min(n, settings.first), n // settings.samples_per_landmark))
        else:
            most = min(int(landmarks), n)
        self.features = LandmarkFeatures(problem, most)
        self.beta, self.w, self.b = np.zeros(n), np.zeros(0), 0.0
        #: What was last handed over: while there is nothing better, the loop sees it again.
        self.shown = Iterate(w=np.zeros(n), beta=np.zeros(n), linked=False)
        self.k, self.work, self.goal = 0, 0.0, settings.first_gap
        assert isinstance(problem.space, KernelSpace)
        self.value_work = problem.space.value_work
        #: The linear problem has the bias of the problem, but an augmented one is in the features.
        self.bias = "free" if problem.bias == "free" else "none"

    def grow(self, weights: np.ndarray) -> bool:
        """More landmarks, drawn by the given weights times r (1. and 4.); False where there is no room, or no use."""
        features = self.features
        room = min(features.capacity, max(settings.first, settings.growth * features.size)) - features.size
        chances = np.where(features.rest > features.near, weights * features.rest, 0.0)
        if (features.size and self.full) or not chances.any():
            return False
        added = features.extend(_drawn(chances, room, self.rng))
        n, m = self.problem.n, features.size
        self.work += n * added * (self.value_work + (m + added) / BLAS_SPEED)
        return added > 0

    def solved(self) -> Iterator[Iterate]:
        """The linear problem of the features, to a share of what the approximation costs (2. and 3.)."""
        space = self.features.space()
        last = Iterate(beta=self.beta, b=self.b)
        for last in self._linear(space):
            self.work += last.work
            self.k += 1
            if last.estimate is None or last.estimate > self.goal:
                yield self._halfway(last)
                continue
            inner, missing = self._take(space, last)
            if self.fine:
                return
            yield self._handed()
            share = settings.last_share if self.full else settings.inner_share
            if inner <= max(share * missing, settings.finest):
                break
            self.goal = max(settings.sharper * self.goal, share * missing, settings.finest)
        else:
            inner, missing = self._take(space, last)
            yield self._handed()
        self.goal = max(settings.finest, min(self.goal, settings.inner_share * missing))

    @property
    def fine(self) -> bool:
        """Whether the rest is for the exact solver."""
        return self.auto and self.shown.estimate is not None and self.shown.estimate <= settings.finest

    @property
    def full(self) -> bool:
        """Whether there is no room for more landmarks, or for so few that they are not worth another problem."""
        return self.features.capacity - self.features.size <= settings.few * self.features.size

    def _linear(self, space: LinearSpace) -> Iterator[Iterate]:
        """The iterates of a solver for the linear problem: begun anew, or where the last one ended."""
        problem, form = self.problem, self.problem.form
        if form is not None and self.beta.any():
            lagrangian = next(iter(go_on(space, form, Iterate(beta=self.beta, b=self.b))))
            return newton_steps(0, lagrangian)
        inner = Problem.of_checked(
            space.X,
            problem.target,
            problem.loss,
            Linear(),
            self.bias,  # type: ignore[arg-type]
            problem.C,
            problem.cache_bytes,
            task=problem.task,
        )
        w = np.zeros(space.size)
        w[: len(self.w)] = self.w
        if form is None:
            return registry["truncated-newton"].iterates(inner, Iterate(w=w, b=self.b), self.rng)
        return CoordinateNewton().iterates(inner, Iterate(), self.rng)

    def _halfway(self, iterate: Iterate) -> Iterate:
        """A point of the linear problem that is not solved yet, where it has both sides."""
        if iterate.w is None or iterate.beta is None or iterate.linked:
            return replace(self.shown, k=self.k, work=self._worked(), estimate=None)
        beta = self._feasible(iterate.beta)
        w = self.features.coefficients(iterate.w)
        return Iterate(self.k, w=w, beta=beta, linked=False, work=self._worked())

    def _take(self, space: LinearSpace, iterate: Iterate) -> tuple[float, float]:
        """Keep the solution of the linear problem; the parts of the relative gap: its own, and the approximation's."""
        problem = self.problem
        assert iterate.beta is not None
        beta = self._feasible(iterate.beta).copy()
        v = space.combine(beta)
        w = v if iterate.w is None or iterate.linked else iterate.w.copy()
        s = space.scores(w)
        b = problem.best_bias(s)
        primal = 0.5 * space.sqnorm(w) + problem.loss_sum(s + b)
        square = space.sqnorm(v)
        terms, lost = problem.dual_terms(beta), self._lost(beta, v)
        dual = terms - 0.5 * square
        scale = max(abs(primal), abs(dual), np.finfo(np.float64).tiny)
        form, loss = problem.form, problem.loss
        whole = square + lost
        theta = form.best_multiple(beta, whole) if form else loss.best_multiple(beta, problem.target, problem.C, whole)
        better = problem.dual_terms(theta * beta) - 0.5 * theta**2 * whole
        self.beta, self.w, self.b = beta, w[:-1], b
        gap = max(0.0, primal - better) / scale
        self.work += 4.0 * space.work
        self.shown = Iterate(w=self.features.coefficients(w), beta=theta * beta, linked=False, estimate=max(gap, 1e-16))
        return max(0.0, primal - dual) / scale, 0.5 * lost / scale

    def _lost(self, beta: np.ndarray, v: np.ndarray) -> float:
        """An estimate of βᵀ(K − K̃)β: its terms Σ_j of some support vectors stand for all (3.)."""
        support = np.flatnonzero(beta)
        some = support
        if support.size > settings.looked:
            some = np.sort(self.rng.choice(support, settings.looked, replace=False))
        if not some.size:
            return 0.0
        exact = self.problem.space.scores_of(some, beta)  # type: ignore[union-attr]
        off = exact - self.features.values[some] @ v[:-1]
        self.work += some.size * support.size * self.value_work
        return max(0.0, float(beta[some] @ off) * support.size / some.size)

    def _handed(self) -> Iterate:
        return replace(self.shown, k=self.k, work=self._worked())

    def _feasible(self, beta: np.ndarray) -> np.ndarray:
        return beta if self.problem.is_feasible(beta) else self.problem.feasible(beta)

    def _worked(self) -> float:
        work, self.work = self.work, 0.0
        return work


def _drawn(chances: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """So many samples without replacement, each next one with a probability in proportion to its chance."""
    some = np.flatnonzero(chances)
    if some.size <= count:
        return some
    keys = np.log(chances[some]) + rng.gumbel(size=some.size)
    return np.sort(some[np.argpartition(-keys, count)[:count]])


registry.register(Nystroem.name, Nystroem())
