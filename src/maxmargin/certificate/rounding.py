"""How much rounding may have changed the two objectives: bounds that hold, and are simple enough to prove.

With eps = 2⁻⁵², a sum of k products computed in float64 in any order is off by at most k·eps·Σ|a_i b_i| (Higham,
Accuracy and Stability of Numerical Algorithms, section 3.1; half of it would do). Hence, with R the largest ‖φ(x_i)‖:

    linear   a score ⟨w, φ(x_i)⟩             (k + 1)·eps·R‖w‖             k numbers of a row that are not 0
             w(β) = Σ β_i φ(x_i)             m·eps·R·Σ|β_i|               m numbers of β that are not 0
    kernel   a score Σ_j c_j k(x_i, x_j)     (δ + (m + 1)·eps·R²)·Σ|c_j|  δ the rounding of one value of the kernel
             βᵀKβ                            Σ|β_i| times that, and m·eps·R²·(Σ|β_i|)²

The primal is a convex function of the scores: a score that is off by e changes its loss by at most C_i e times the
steepest slope between z_i − e and z_i + e. The dual sums m terms. A free bias asks for Σβ = total: what rounding left
of it, r, is made up by one variable in exact arithmetic, at the cost of |r| times the largest slope of the dual.
(docs/theory.md, "Rounding".)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maxmargin.certificate.exact import sum_of
from maxmargin.numeric.compiled import compiled
from maxmargin.problem import Problem
from maxmargin.problem.space import LinearSpace

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Errors:
    """Bounds on the rounding of the scores (one for all, or one for each), of ‖w‖², and of ‖w(β)‖²."""

    score: float | np.ndarray
    sqnorm: float
    dual_sqnorm: float


def plain_errors(problem: Problem, w: np.ndarray, beta: np.ndarray, dual_sqnorm: float) -> Errors:
    """The bounds for sums in float64 as the spaces compute them."""
    space = problem.space
    if isinstance(space, LinearSpace):
        m, size = _count_and_size(beta)
        R, norm = float(np.sqrt(space.largest)), float(np.linalg.norm(w))
        apart, dual_norm = m * EPS * R * size, float(np.sqrt(max(0.0, dual_sqnorm)))
        dual = len(w) * EPS * dual_norm * dual_norm + 2.0 * apart * (dual_norm + apart)
        return Errors((space.width + 1) * EPS * R * norm, len(w) * EPS * norm * norm, dual)

    def of(c: np.ndarray) -> tuple[float, float]:
        m, size = _count_and_size(c)
        score = (space.rounding[0] + (m + 1) * EPS * space.largest) * size
        return score, size * score + m * EPS * space.largest * size * size

    score, sqnorm = of(w)
    return Errors(score, sqnorm, sqnorm if w is beta else of(beta)[1])


def exact_linear_errors(
    space: LinearSpace, w: np.ndarray, beta: np.ndarray, z: np.ndarray, dual_sqnorm: float
) -> Errors:
    """The bounds where the sums were computed with twice the precision."""
    (m, size), norm = _count_and_size(beta), float(np.linalg.norm(w))
    R = float(np.sqrt(space.largest))
    dual_norm = float(np.sqrt(max(0.0, dual_sqnorm)))
    apart = EPS * dual_norm + (m * EPS) ** 2 * R * size
    dual = len(w) * EPS * dual_norm * dual_norm + 2.0 * apart * (dual_norm + apart)
    score = EPS * np.abs(z) + ((space.width + 2) * EPS) ** 2 * R * norm
    return Errors(score, len(w) * EPS * norm * norm, dual)


def exact_kernel_error(
    c: np.ndarray, scores: np.ndarray, sizes: np.ndarray, bounds: tuple[float, float]
) -> tuple[np.ndarray, float]:
    """The bounds on Kc and on cᵀKc, where the sums have twice the precision and the kernel these two bounds."""
    absolute, relative = bounds
    size = float(np.abs(c).sum())
    m = int(np.count_nonzero(c))
    score = 2.0 * EPS * np.abs(scores) + (m * EPS) ** 2 * sizes
    if np.isfinite(relative):
        score += np.minimum(absolute * size, relative * sizes + EPS * absolute * size)
    else:
        score += absolute * size
    return score, float(np.abs(c) @ score) + (m + 2) * EPS * float(np.abs(c) @ np.abs(scores))


def soft_rounding(
    problem: Problem,
    z: np.ndarray,
    b: float,
    primal_value: float,
    beta: np.ndarray,
    dual_scores: np.ndarray,
    errors: Errors,
    enough: float,
) -> float:
    """A bound on the rounding of P − D for a finite C; one that is at most `enough` need not be the best there is."""
    primal = 0.5 * errors.sqnorm + _losses_rounding(problem, z, b, primal_value, errors, enough)
    dual = 0.5 * errors.dual_sqnorm + _terms_rounding(problem, beta)
    return primal + dual + _sum_rounding(problem, beta, dual_scores)


def constrained_rounding(
    problem: Problem,
    z: np.ndarray,
    b: float,
    primal_value: float,
    own: float,
    beta: np.ndarray,
    errors: Errors,
    rest: float,
    enough: float,
) -> float:
    """The same where r* is 0, but for its reach: `own` is the rounding of r(w), and Σβ is off by `rest` at most."""
    total = own + _losses_rounding(problem, z, b, primal_value, errors, enough) + _terms_rounding(problem, beta)
    if rest == 0.0:
        return total
    form = problem.form
    if form is not None:
        slopes, curvature = np.abs(form.target) + form.ridge * np.abs(beta) + form.tube, form.ridge.max(initial=0.0)
        steepest = float(slopes.max(initial=0.0))
    else:
        steepest, curvature = 40.0, 4.0 / float(problem.C[problem.C > 0].min())
    return total + rest * (1.01 * steepest + rest * float(curvature))


def combination_error(space: LinearSpace, beta: np.ndarray, exact: bool = False) -> float:
    """A bound on the rounding of each number of Σ β_i φ(x_i), which twice the precision squares."""
    m, size = _count_and_size(beta)
    return (m * EPS) ** (2 if exact else 1) * float(np.sqrt(space.largest)) * size


def _losses_rounding(
    problem: Problem, z: np.ndarray, b: float, primal_value: float, errors: Errors, enough: float
) -> float:
    """The rounding of Σ C_i ℓ_i(z_i), of its sum and of total·b."""
    n, t, C = problem.n, problem.target, problem.C
    sums = (n + 4) * EPS * (abs(primal_value) + abs((problem.total or 0.0) * b))
    largest = max(float(z.max(initial=0.0)), -float(z.min(initial=0.0)))
    furthest = float(np.max(errors.score)) + EPS * (1.0 + largest + abs(b))
    moved = furthest * problem.loss.steepest * float(C.sum())
    if moved <= enough:
        return sums + moved
    e = errors.score + EPS * (1.0 + np.abs(z) + abs(b))
    slopes = np.maximum(np.abs(problem.loss.slope(z - e, t)), np.abs(problem.loss.slope(z + e, t)))
    return sums + float((C * e) @ slopes)


def _terms_rounding(problem: Problem, beta: np.ndarray) -> float:
    """The rounding of everything in the dual but the regulariser's part."""
    m, size = _count_and_size(beta)
    if problem.form is not None:
        terms = _size_of_terms(problem.form.target, problem.form.ridge, problem.form.tube, beta)
    else:
        terms = abs(problem.dual_terms(beta)) + 4.0 * size
    return float((m + 8) * EPS * terms)


@compiled
def _count_and_size(beta):
    """How many are not 0, and Σ|β|."""
    count, size = 0, 0.0
    for i in range(len(beta)):
        count += beta[i] != 0.0
        size += abs(beta[i])
    return count, size


@compiled
def _size_of_terms(target, ridge, tube, beta):
    """The sum of the sizes of all terms of the dual but βᵀKβ."""
    total = 0.0
    for i in range(len(beta)):
        size = abs(beta[i])
        total += size * (abs(target[i]) + tube[i] + 0.5 * ridge[i] * size)
    return total


def _sum_rounding(problem: Problem, beta: np.ndarray, dual_scores: np.ndarray) -> float:
    """What it costs to make Σβ exactly the total by changing one variable, whichever it is."""
    if problem.total is None:
        return 0.0
    total, error = sum_of(beta)
    rest = abs(total - problem.total) + error
    if rest == 0.0:
        return 0.0
    form = problem.form
    if form is not None:
        slopes = np.abs(form.target - dual_scores - form.ridge * beta) + form.tube
        curvature = problem.space.largest + float(form.ridge.max(initial=0.0))
    else:  # the entropy of the logistic loss is steep near the ends of the box only, and there is a middle
        slopes = np.abs(dual_scores) + 40.0
        curvature = problem.space.largest + 4.0 / float(problem.C[problem.C > 0].min())
    return rest * (1.01 * float(slopes.max(initial=0.0)) + rest * curvature)


def hard_rounding(
    problem: Problem,
    w: np.ndarray,
    m: float,
    sqnorm: float,
    beta: np.ndarray,
    theta: float,
    z: np.ndarray,
    b: float,
    dual_scores: np.ndarray,
    errors: Errors,
) -> float:
    """The same for a hard margin with the least margin m: the primal point is (w, b)/m, the dual one θβ.

    The numbers of w/m are rounded once more: that changes a score by at most eps Σ|w_j φ_j(x)|.
    """
    e = float(np.max(errors.score + EPS * (np.abs(z) + abs(b)))) + 2.0 * EPS * _reach(problem, w)
    if not m > e:
        return np.inf
    primal = 0.5 * (sqnorm + errors.sqnorm) / ((m - e) * (m - e)) - 0.5 * sqnorm / m / m
    count = int(np.count_nonzero(beta))
    dual = theta * (count + 8) * EPS * float(np.abs(beta).sum()) + 0.5 * theta * theta * errors.dual_sqnorm
    return primal + dual + 4.0 * EPS * sqnorm / m / m + theta * _sum_rounding(problem, beta, theta * dual_scores)


def _reach(problem: Problem, w: np.ndarray) -> float:
    """A bound on Σ_j |w_j φ_j(x)| for every sample."""
    space = problem.space
    if isinstance(space, LinearSpace):
        return float(np.sqrt(space.largest)) * float(np.linalg.norm(w))
    return space.largest * float(np.abs(w).sum())
