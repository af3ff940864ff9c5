"""Small kernel problems in one compiled call: solve, certify and sort the vectors, without a step back into Python.

A fit of a few hundred rows takes a fraction of a millisecond, and the general loop (`run.py`) needs several for its
looks. Here the same things happen in the same order, for a problem with a quadratic dual, a free bias and its kernel
values in float64:

    1. Pair steps (`solvers/textbook/smo.py`), until the relative gap, by the running gradient, is within tol.
    2. The certificate from β and the kernel values alone: scores Kβ, the bias half-way between the steepest rise and
       fall, primal, dual, and the bound on their rounding (`rounding.py`, for the kernel).
    3. If that proves the gap: the KKT violation, and which kind each vector is. If not: 1. again, with a smaller gap.

The loss of a sample is read off the dual's arrays: C ℓ(z) = max_u (target − z)u − tube|u| − ½ ridge u² over the box, the
conjugate of its conjugate. What does not get there (a step limit, rounding) goes to the general loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from maxmargin.certificate import Certificate
from maxmargin.compiled import compiled
from maxmargin.exact import compensated_sum
from maxmargin.kernels import Linear, Precomputed
from maxmargin.kkt import Kinds, extreme_slopes, fill_codes
from maxmargin.losses import DualForm
from maxmargin.problem import Problem
from maxmargin.result import Iterate, Reason, Result, Status, Trace
from maxmargin.solvers.base import registry as solvers
from maxmargin.solvers.textbook.smo import gap_and_dual, pair_steps

#: The most rows of a small problem: its kernel matrix has at most 18 MB.
MOST_ROWS = 1500
#: The most steps times rows (some tenths of a second): a problem that needs more is not small, whatever its size.
MOST_WORK = 2e8
#: Pair steps between two looks at the gap, which costs about one of them.
BETWEEN = 16
#: Seconds below which a time budget goes to the general loop, which looks at the clock more often.
SHORTEST = 1.0

EPS = float(np.finfo(np.float64).eps)


class Values(NamedTuple):
    """Kernel values: rows that are at hand (slot ≥ 0), and the blocks that the others are put together from.

    The samples are those of a class A and then those of a class B; `aa`, `ab` and `bb` are empty where all rows are
    there.
    """

    cache: np.ndarray
    slot: np.ndarray
    aa: np.ndarray
    ab: np.ndarray
    bb: np.ndarray
    diag: np.ndarray


class Dual(NamedTuple):
    """The arrays of a quadratic dual, as in `DualForm`, and the weights of the samples."""

    target: np.ndarray
    ridge: np.ndarray
    tube: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    C: np.ndarray


class Proved(NamedTuple):
    """What the compiled call proves of β; `steps` < 0 where it did not get there."""

    steps: int
    b: float
    primal: float
    dual: float
    rounding: float
    infeasibility: float
    kkt_violation: float
    correct: float


@dataclass(frozen=True, eq=False)
class SmallFit:
    """A solved small problem, or the point that it came to."""

    beta: np.ndarray
    codes: np.ndarray
    proved: Proved
    seconds: float

    @property
    def done(self) -> bool:
        """Whether the gap is proved."""
        return self.proved.steps >= 0

    def certificate(self, dtype: Any) -> Certificate:
        """The certificate, for rows of this precision."""
        one = self.proved
        return Certificate(
            primal=one.primal,
            dual=one.dual,
            infeasibility=one.infeasibility,
            kkt_violation=one.kkt_violation,
            kinds=Kinds(self.codes),
            precision=f"recomputed in float64 from {dtype} data",
            rounding=one.rounding,
        )

    def trace(self, certificate: Certificate, classes: bool) -> Trace:
        """The one look that there was."""
        trace = Trace(solver_seconds=self.seconds)
        accuracy = self.proved.correct if classes else np.nan
        trace.add(self.proved.steps, self.seconds, certificate, accuracy, float(self.beta.sum()))
        return trace


def is_small(problem: Problem, max_time: float | None) -> bool:
    """Whether a problem is one for `solve_small`."""
    kernel, n = problem.kernel, problem.n
    return (
        n <= MOST_ROWS
        and problem.bias == "free"
        and not isinstance(kernel, (Linear, Precomputed))
        and kernel.positive is True
        and 8.0 * n * n <= problem.cache_bytes
        and (max_time is None or max_time >= SHORTEST)
        and not problem.hard
        and problem.form is not None
    )


def solve_small(problem: Problem, tol: float) -> Result | np.ndarray:
    """The result; or, where it did not get there, a feasible point to go on from."""
    form = problem.form
    assert form is not None and form.total is not None
    X = problem.X.astype(np.float64, copy=False)
    K = problem.kernel.block(X, X)
    n = problem.n
    nothing = np.empty((0, 0))
    values = Values(np.ascontiguousarray(K), np.arange(n), nothing, nothing, nothing, np.ascontiguousarray(K.diagonal()))
    fit = run(values, form, problem.C, problem.space.rounding[0], tol, problem.feasible(np.zeros(n)))
    if not fit.done:
        return fit.beta
    certificate = fit.certificate(problem.X.dtype)
    b = fit.proved.b
    point = Iterate(k=fit.proved.steps, w=fit.beta.copy(), b=b, beta=fit.beta, linked=True)
    trace = fit.trace(certificate, problem.task == "classification")
    status = Status(Reason.CONVERGED, converged_text(certificate, tol))
    return Result(problem, solvers["smo"], status, point, certificate, trace, tol, chosen=True)


def converged_text(certificate: Certificate, tol: float) -> str:
    """The words of a status."""
    return f"relative gap {certificate.relative_gap:.2g}, asked for {tol:g}"


def run(values: Values, form: DualForm, C: np.ndarray, error: float, tol: float, beta: np.ndarray) -> SmallFit:
    """Solve from a feasible β, which moves; `error` bounds the rounding of a kernel value."""
    began = perf_counter()
    codes = np.empty(len(beta), np.int8)
    proved = Proved(
        *_solve_and_certify(values, Dual(*form.arrays, C), float(form.total or 0.0), error, tol, beta, codes)
    )
    return SmallFit(beta, codes, proved, perf_counter() - began)


@compiled
def _solve_and_certify(values, dual, total, error, tol, beta, codes):
    """Steps 1. to 3.; the fields of `Proved`."""
    n = len(beta)
    stamp = np.zeros(n, np.int64)
    g = dual.target - dual.ridge * beta
    for j in range(n):
        if beta[j] != 0.0:
            row = _row(values, j)
            for p in range(n):
                g[p] -= beta[j] * row[p]
    wanted, steps, ended = tol, 0, False
    while steps * n < MOST_WORK:
        # 1.
        done, missing = pair_steps(
            values.cache,
            values.slot,
            stamp,
            0,
            BETWEEN,
            True,
            0.0,
            values.diag,
            dual.ridge,
            dual.tube,
            dual.lower,
            dual.upper,
            beta,
            g,
        )
        steps += done
        if missing >= 0:
            _row(values, missing)
            continue
        ended = done < BETWEEN
        gap, value = gap_and_dual(dual.target, dual.ridge, dual.tube, dual.lower, dual.upper, beta, g)
        if gap <= wanted * max(abs(value), abs(value + gap)) or ended:
            # 2.
            b, primal, value, rounding, rest, scores = _certified(values, dual, total, error, beta)
            size = max(abs(primal), abs(value))
            if max(0.0, primal - value) + rounding <= tol * size:
                if rounding > 0.1 * max(primal - value, tol * abs(primal)):
                    break  # worth more precision than there is here
                # 3.
                most, least = extreme_slopes(
                    dual.target, scores, dual.ridge, dual.tube, dual.lower, dual.upper, beta
                )
                kkt = max(most - least, 0.0)
                z = scores + b
                close = min(max(kkt, 1e-8), 1e-3)
                fill_codes(dual.target, z, dual.tube, dual.lower, dual.upper, dual.C, beta, close, codes)
                return steps, b, primal, value, rounding, rest, kkt, _correct(dual, z)
            if ended or rounding > 0.5 * tol * size:
                break
            wanted *= 0.5
    return -1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


@compiled
def _row(values, i):
    """Row i of K; put together from the blocks where it is not there yet."""
    row = values.cache[i]
    if values.slot[i] < 0:
        a = values.aa.shape[0]
        if i < a:
            row[:a] = values.aa[i]
            row[a:] = values.ab[i]
        else:
            row[:a] = values.ab[:, i - a]
            row[a:] = values.bb[i - a]
        values.slot[i] = i
    return row


@compiled
def _certified(values, dual, total, error, beta):
    """The bias, primal, dual, the bound on their rounding, |Σβ − total| and Kβ, from β and the kernel values."""
    n = len(beta)
    scores = np.zeros(n)
    count, size, largest = 0, 0.0, 0.0
    for j in range(n):
        largest = max(largest, abs(values.diag[j]))
        if beta[j] != 0.0:
            count += 1
            size += abs(beta[j])
            row = _row(values, j)
            for p in range(n):
                scores[p] += beta[j] * row[p]
    sqnorm, high, low = 0.0, -np.inf, np.inf
    steepest = 0.0
    for p in range(n):
        sqnorm += beta[p] * scores[p]
        slope = dual.target[p] - scores[p] - dual.ridge[p] * beta[p]
        steepest = max(steepest, abs(slope) + dual.tube[p])
        if beta[p] < dual.upper[p]:
            high = max(high, slope + (-dual.tube[p] if beta[p] >= 0.0 else dual.tube[p]))
        if beta[p] > dual.lower[p]:
            low = min(low, slope + (-dual.tube[p] if beta[p] > 0.0 else dual.tube[p]))
    b = 0.5 * (high + low)
    if not np.isfinite(b):
        b = high if np.isfinite(high) else (low if np.isfinite(low) else 0.0)
    # The rounding of a score and of βᵀKβ, as in `rounding.plain_errors`.
    off = (error + (count + 1) * EPS * largest) * size
    off_sqnorm = size * off + count * EPS * largest * size * size
    losses, moved, terms, sizes, ridge = 0.0, 0.0, 0.0, 0.0, 0.0
    for p in range(n):
        z = scores[p] + b
        u = _pull(dual, p, z)
        losses += (dual.target[p] - z) * u - dual.tube[p] * abs(u) - 0.5 * dual.ridge[p] * u * u
        e = off + EPS * (1.0 + abs(z) + abs(b) + abs(dual.target[p]))
        moved += e * max(abs(_pull(dual, p, z - e)), abs(_pull(dual, p, z + e)))
        terms += dual.target[p] * beta[p] - dual.tube[p] * abs(beta[p]) - 0.5 * dual.ridge[p] * beta[p] * beta[p]
        sizes += abs(beta[p]) * (abs(dual.target[p]) + dual.tube[p] + 0.5 * dual.ridge[p] * abs(beta[p]))
        ridge = max(ridge, dual.ridge[p])
    primal = 0.5 * sqnorm + losses + total * b
    value = terms - 0.5 * sqnorm
    rounding = 0.5 * off_sqnorm + (n + 4) * EPS * (abs(primal) + abs(total * b) + losses) + moved
    rounding += 0.5 * off_sqnorm + (count + 8) * EPS * sizes
    # What it costs to make Σβ exactly the total by changing one variable.
    whole, lost = compensated_sum(beta)
    rest = abs(whole + lost - total)
    missing = rest + EPS * abs(whole) + (n * EPS) * (n * EPS) * size
    if whole + lost != total or whole != 0.0:
        rounding += missing * (1.01 * steepest + missing * (largest + ridge))
    return b, primal, value, rounding, rest, scores


@compiled
def _pull(dual, p, z):
    """The u that attains C ℓ(z) = max_u (target − z)u − tube|u| − ½ ridge u²: −C ℓ'(z)."""
    slope = dual.target[p] - z
    steep = max(slope - dual.tube[p], 0.0) + min(slope + dual.tube[p], 0.0)
    if steep == 0.0:
        return 0.0
    u = steep / dual.ridge[p] if dual.ridge[p] > 0.0 else np.inf * steep
    return min(max(u, dual.lower[p]), dual.upper[p])


@compiled
def _correct(dual, z):
    """The share of samples on the right side, of those that count."""
    right, used = 0, 0
    for p in range(len(z)):
        if dual.C[p] > 0.0:
            used += 1
            right += (z[p] > 0.0) == (dual.target[p] > 0.0)
    return right / max(used, 1)
