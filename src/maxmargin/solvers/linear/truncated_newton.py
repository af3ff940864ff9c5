"""Truncated Newton on the primal of a smooth loss: the solver for the logistic loss, linear or with a kernel.

Problem:  min_{w,b}  P(w,b) = ½‖w‖² + Σ C_i ℓ_i(z_i),   z_i = ⟨w, φ(x_i)⟩ + b,   ℓ with a continuous slope

    1. b ← the best bias for the scores, where it is free: Newton's method on one number.
    2. u_i ← −C_i ℓ'_i(z_i), the duals: feasible, as Σu = total at the best bias. ∇P = w − Σ u_i φ(x_i), and
       P(w,b) − D(u) = ½‖∇P‖²: the gradient is its own certificate.
    3. Newton's direction p, with h_i = C_i ℓ''_i(z_i) and p's scores t_i = ⟨p, φ(x_i)⟩ + its bias:
           p + Σ h_i t_i φ(x_i) = −∇P,   the bias such that Σ h_i t_i = 0.
       Conjugate gradients in the inner product of the space, until what is left of ∇P is below a share of it that
       shrinks with it. Where they take longer than the matrix of a linear problem with few features would, that is
       factored instead, in this step and all that follow.
    4. w ← w + αp, with α near the root of the slope along p: it needs only the n-vector t, no pass over the data.

Cost: two passes over the data for a step of conjugate gradients (one product with K for a kernel). Memory: a few
n-vectors, and K where it fits the cap.

Lin, Weng & Keerthi, JMLR 9, 2008 (linear); Chapelle, Neural Computation 19, 2007 (kernels); Dembo & Steihaug, Math.
Programming 26, 1983 (how early to truncate).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.numeric.parallel import over_blocks
from maxmargin.problem import Problem
from maxmargin.problem.space import LinearSpace
from maxmargin.result import Iterate
from maxmargin.solvers.base import Solver, Starts, product_with_K, refuse_indefinite, registry
from maxmargin.solvers.linear.newton_step import normal_matrix, passes_of_matrix, solve_positive, step_length
from maxmargin.solvers.linear.settings import TruncatedNewtonSettings
from maxmargin.solvers.translation import about_the_mean

settings = TruncatedNewtonSettings()


@dataclass(frozen=True)
class TruncatedNewton(Solver):
    """Newton's method on the primal, its equations solved by conjugate gradients as well as they need to be.

    Examples
    --------
    >>> from maxmargin import Problem, solve
    >>> from maxmargin.solvers import TruncatedNewton
    >>> problem = Problem([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1], loss="logistic")
    >>> result = solve(problem, TruncatedNewton(), tol=1e-6)
    >>> result.certificate.relative_gap < 1e-6, result.w.round(3)
    (True, array([1.007]))
    """

    name: ClassVar[str] = "truncated-newton"
    paper: ClassVar[str] = "Lin, Weng & Keerthi, JMLR 2008; Chapelle, Neural Computation 2007"
    starts: ClassVar[Starts] = ("beta", "w")
    streams: ClassVar[bool] = True

    def accepts(self, problem: Problem) -> str | None:
        if not problem.loss.smooth:
            return f"the slope of loss={problem.loss.name!r} jumps, so that it has no Newton step; use solver='auto'"
        return refuse_indefinite(problem)

    @about_the_mean
    def iterates(self, problem: Problem, start: Iterate, rng: np.random.Generator) -> Iterator[Iterate]:
        run = _Run(problem, start)
        k, fruitless, best_square, best_primal = 0, 0, np.inf, np.inf
        while fruitless < settings.patience:
            run.look_around()
            k += 1
            primal = run.primal()
            yield Iterate(
                k,
                w=run.w,
                b=run.b if problem.bias == "free" else None,
                beta=run.u if problem.is_feasible(run.u) else problem.feasible(run.u),
                linked=False,
                work=run.work,
                estimate=0.5 * run.square / max(primal, np.finfo(np.float64).tiny),
            )
            gained = run.square < best_square or primal < best_primal
            fruitless = 0 if gained else fruitless + 1
            best_square, best_primal = min(best_square, run.square), min(best_primal, primal)
            run.step()


class _Run:
    """Where it stands: w and its scores z with b in them; u, h and the gradient there. Images are scores without b."""

    def __init__(self, problem: Problem, start: Iterate) -> None:
        self.problem, self.space = problem, problem.space
        self.linear = isinstance(self.space, LinearSpace)
        product, both = product_with_K(problem)
        #: One pass of `_image`, and of `combine`, which is free for coefficients.
        self._image, self.pass_work = (self.space.scores, 0.5 * both) if self.linear else (product, both)
        self.total = problem.total or 0.0
        if start.w is not None:
            self.w = start.w.copy()
        else:
            self.w = self.space.combine(np.zeros(problem.n) if start.beta is None else problem.feasible(start.beta))
        scores = self._image(self.w) if self.w.any() else np.zeros(problem.n)
        self.b = problem.best_bias(scores)
        self.z = scores + self.b
        self.u, self.h = np.empty(problem.n), np.empty(problem.n)
        self.first_square: float | None = None
        self.factored = self.linear and problem.n * problem.X.shape[1] ** 2 <= settings.small_matrix
        #: Multiply-adds since the last look around began.
        self.work = self.pass_work

    def look_around(self) -> None:
        """The best bias, the duals and the gradient at w (1. and 2.)."""
        self._respond()
        for _ in range(8 if self.problem.bias == "free" else 0):
            rest, curvature = float(self.u.sum()) - self.total, float(self.h.sum())
            if abs(rest) <= 1e-14 * float(np.abs(self.u).sum()):
                break
            shift = rest / curvature if curvature > 0.0 else np.inf
            if abs(shift) > 1.0:  # far away, Newton may jump to and fro
                shift = self.problem.best_bias(self.z)
            self.b += shift
            self.z += shift
            self._respond()
        self.gradient = self.w - self.space.combine(self.u)
        self.square, self.gradient_image = self._square(self.gradient)
        self.first_square = self.first_square or self.square
        self.work += self.pass_work

    def primal(self) -> float:
        """P(w, b)."""
        problem = self.problem
        sqnorm = self.space.sqnorm(self.w, self.z - self.b)
        return 0.5 * sqnorm + problem.loss_sum(self.z) + self.total * self.b

    def step(self) -> None:
        """One Newton step (3. and 4.)."""
        self.work = 0.0
        p, bias, along = self._direction()
        image = along - bias
        linear = self._inner(self.w, p, image) + self.total * bias
        square = self._inner(p, p, image)
        problem, target, C = self.problem, self.problem.target, self.problem.C
        pulls = np.empty(problem.n)

        def slope(alpha: float) -> float:
            def pull(start: int, stop: int) -> None:
                z = self.z[start:stop] + alpha * along[start:stop]
                pulls[start:stop] = C[start:stop] * problem.loss.slope(z, target[start:stop])

            over_blocks(pull, problem.n, settings.block)
            self.work += settings.evaluation_work * problem.n + settings.overhead
            return linear + alpha * square + float(pulls @ along)

        first = linear - float(self.u @ along)
        if not first < 0.0:  # nothing but rounding is left
            return
        alpha = step_length(slope, first)
        self.w += alpha * p
        self.b += alpha * bias
        self.z += alpha * along

    def _respond(self) -> None:
        """U and h at z."""
        problem, target, C = self.problem, self.problem.target, self.problem.C

        def fill(start: int, stop: int) -> None:
            some = slice(start, stop)
            self.u[some] = -C[some] * problem.loss.slope(self.z[some], target[some])
            self.h[some] = C[some] * problem.loss.second_derivative(self.z[some], target[some])

        over_blocks(fill, problem.n, settings.block)
        self.work += 2 * settings.evaluation_work * problem.n + settings.overhead

    # 3.

    def _direction(self) -> tuple[np.ndarray, float, np.ndarray]:
        """P, its bias, and its scores with the bias in them."""
        if not self.factored:
            goal = min(settings.residual_share, float(np.sqrt(self.square / (self.first_square or 1.0)))) * self.square
            found = self._conjugate_gradients(goal)
            if found is not None:
                return found
            self.factored = True
        return self._factor()

    def _conjugate_gradients(self, goal: float) -> tuple[np.ndarray, float, np.ndarray] | None:
        """Until ‖residual‖² is at the goal; None where factoring the matrix would have been faster."""
        space, h = self.space, self.h
        most, can_factor = settings.most_steps, False
        if isinstance(space, LinearSpace) and space.d <= settings.most_features:
            most, can_factor = 2 + int(0.5 * passes_of_matrix(space, int(np.count_nonzero(h)))), True
        weight = float(h.sum()) if self.problem.bias == "free" else 0.0
        residual, square, image = -self.gradient, self.square, self.gradient_image
        image = None if image is None else -image
        p, p_bias, along = np.zeros(space.size), 0.0, np.zeros(space.n)
        q, q_image, before = np.zeros(space.size), np.zeros(space.n), square
        for _ in range(most):
            if square <= goal:
                break
            ratio = square / before
            q = residual + ratio * q
            q_image = (self._image(residual) if image is None else image) + ratio * q_image
            bias = -float(h @ q_image) / weight if weight > 0.0 else 0.0
            t = q_image + bias
            ht = h * t
            step = square / (self._inner(q, q, q_image) + float(ht @ t))
            p += step * q
            p_bias += step * bias
            along += step * t
            residual = residual - step * (q + space.combine(ht))
            before = square
            square, image = self._square(residual)
            self.work += (2.0 if self.linear else 1.0) * self.pass_work + 10.0 * space.n + settings.overhead
        if can_factor and square > goal:
            return None
        return p, p_bias, along

    def _factor(self) -> tuple[np.ndarray, float, np.ndarray]:
        space, free_bias = self.space, self.problem.bias == "free"
        assert isinstance(space, LinearSpace)
        inside = np.flatnonzero(self.h)
        matrix = normal_matrix(space, free_bias, inside, self.h[inside])
        p = solve_positive(matrix, np.append(-self.gradient, 0.0) if free_bias else -self.gradient)
        p, bias = (p[:-1], float(p[-1])) if free_bias else (p, 0.0)
        self.work += (1.0 + passes_of_matrix(space, len(inside))) * self.pass_work
        return p, bias, self._image(p) + bias

    # The inner product of the space

    def _inner(self, a: np.ndarray, other: np.ndarray, image: np.ndarray) -> float:
        """⟨a, other⟩, where the image of the other is known."""
        return float(a @ (other if self.linear else image))

    def _square(self, a: np.ndarray) -> tuple[float, np.ndarray | None]:
        """‖a‖², and the image of a where that had to be found."""
        if self.linear:
            return float(a @ a), None
        image = self._image(a)
        return max(0.0, float(a @ image)), image


registry.register(TruncatedNewton.name, TruncatedNewton())
