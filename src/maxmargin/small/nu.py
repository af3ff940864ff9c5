"""Small ν-problems without the general loop: pair steps on the whole matrix, and one look.

    1. Pair steps (`solvers/textbook/nu_smo.py`) until no two slopes of a side are further apart than the gap allows.
    2. The certificate, from β and the kernel values alone; where it does not prove the gap, 1. again with a tenth.

What does not get there goes to the general loop.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from maxmargin.certificate.nu import judged
from maxmargin.certificate.rounding import EPS, Errors
from maxmargin.gram.cached_rows import whole_rows
from maxmargin.problem import NuProblem
from maxmargin.problem.space import LinearSpace, entries_per_pair
from maxmargin.result import Iterate, Reason, Result, Status, Trace
from maxmargin.small.kernel import LEAST_WORK, MOST_ROWS, MOST_WORK
from maxmargin.small.proof import SHORTEST, converged_text
from maxmargin.solvers.base import registry as solvers
from maxmargin.solvers.textbook.nu_smo import bounds, first_point, refuse_vanished, side_steps

#: The part of the tolerance that the slopes aim at: their bound on the gap is a coarse one.
AIM = 0.1
#: How much closer they are to be after a look that did not prove the gap.
CLOSER = 0.1


def solve_small_nu(problem: NuProblem, tol: float, max_time: float | None) -> Result | np.ndarray | None:
    """The result; a feasible point to go on from where it did not get there; None where the problem is not small."""
    n, kernel = problem.n, problem.kernel
    if (
        n > MOST_ROWS
        or kernel.positive is False
        or not (kernel.positive or kernel.given)
        or 8.0 * n * n > problem.cache_bytes
        or (max_time is not None and max_time < SHORTEST)
    ):
        return None
    began = perf_counter()
    X = problem.X.astype(np.float64, copy=False)
    K = np.ascontiguousarray(X if kernel.given else kernel.block(X, X))
    diag = K.diagonal().copy()
    rows, ends = whole_rows(K), bounds(problem)
    beta = first_point(problem, lambda v: K @ v)
    v, target = problem.sides(beta), problem.form.target
    g = target - K @ beta
    steps = side_steps(rows, 0, int(LEAST_WORK / n), 0.0, diag, *ends, v, g)[0]  # tiny problems to the last digits
    beta, enough = v[0] + v[1], 0.0
    while steps * n < MOST_WORK:
        most = 4 * n if enough == 0.0 else int(MOST_WORK / n) - steps
        if enough == 0.0:  # the size of the dual is not known yet
            enough = AIM * tol * max(0.5 * float(beta @ (target - g)), abs(float(target @ beta))) / problem.half
        done = side_steps(rows, 0, most, enough, diag, *ends, v, g)[0]
        steps += done
        beta = v[0] + v[1]
        scores = K @ beta
        sqnorm = float(beta @ scores)
        refuse_vanished(problem, beta, scores, diag, rows)
        certificate, (a, c) = judged(problem, beta, scores, sqnorm, _errors(problem, beta, diag))
        if certificate.holds(tol):
            b = 0.5 * (a + c)
            tau = 0.5 * abs(c - a)
            w = beta @ X if problem.linear else beta.copy()
            w = np.append(w, 0.0) if problem.linear else w
            point = Iterate(k=steps, w=w, b=b, beta=beta, tau=tau)
            seconds, accuracy = perf_counter() - began, np.nan
            if problem.of_classes:
                accuracy = float(np.mean(((scores + b > 0) == (problem.target > 0))[problem.C > 0]))
            trace = Trace(solver_seconds=seconds)
            trace.add(steps, seconds, certificate, accuracy, float(beta.sum()))
            status = Status(Reason.CONVERGED, converged_text(certificate, tol))
            return Result(problem, solvers["smo"], status, point, certificate, trace, tol, chosen=True)
        if (done < most and enough < 1e-15 * float(np.abs(g).max())) or not np.isfinite(certificate.primal):
            break
        enough = min(enough * CLOSER, AIM * tol * abs(certificate.dual) / problem.half)
    return beta


def _errors(problem: NuProblem, beta: np.ndarray, diag: np.ndarray) -> Errors:
    """The rounding of a score and of βᵀKβ, as in `rounding.plain_errors` for a kernel."""
    largest = float(np.abs(diag).max())
    if isinstance(problem.space, LinearSpace):
        error = problem.kernel.rounding(entries_per_pair(problem.X), largest)[0]
    else:
        error = problem.space.rounding[0]
    count, size = int(np.count_nonzero(beta)), float(np.abs(beta).sum())
    score = (error + (count + 1) * EPS * largest) * size
    sqnorm = size * score + count * EPS * largest * size * size
    return Errors(score, sqnorm, sqnorm)
