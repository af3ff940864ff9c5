"""What to do next: what the run, the data and the fit itself suggest, one sentence each."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from maxmargin.certificate.diagnosis import findings
from maxmargin.problem import Problem
from maxmargin.report.fit import Fit
from maxmargin.result import Result

#: Below this many samples, shares of them mean little.
FEW = 30


def things_to_do(fit: Fit) -> list[str]:
    """All findings, the gravest first and none of them twice."""
    checks = [_about_the_run, _about_the_data, _about_the_kernel, _about_size]
    if fit.result.converged:  # before that, support vectors and mistakes say more about the run than about the model
        checks += [_about_support, _about_labels]
    found = dict.fromkeys(text for check in checks for text in check(fit))
    return list(found) or ["nothing stands out: score the fit on data that it has not seen"]


def _about_the_run(fit: Fit) -> Iterator[str]:
    if not fit.result.converged:
        yield from fit.result.status.text.split("; ")[1:]
        yield from _pace(fit.result)
    if fit.result.certificate.inseparable is not None and fit.result.problem.linear:
        yield "or try a kernel, such as rbf, in whose space the classes may be separable"


def _pace(result: Result) -> Iterator[str]:
    """What the second half of both curves says about going on."""
    finite = np.isfinite(result.trace["gap"])
    if not np.isfinite(result.certificate.gap) or np.count_nonzero(finite) < 4:
        return
    iteration, primal, dual = (result.trace[name][finite] for name in ("iteration", "primal", "dual"))
    half = int(np.searchsorted(iteration, iteration[-1] / 2)) + 1
    fell = float(primal[:half].min() - primal.min())
    rose = float(dual.max() - dual[:half].max())
    if fell + rose < 0.05 * result.certificate.gap:
        yield "primal and dual hardly moved in the second half of the run: try another solver, such as 'auto'"
    elif fell < 0.1 * rose:
        yield "the primal has settled and the dual still rises: going on helps the proof more than the fit"
    else:
        yield "primal and dual were still closing in on each other: go on with solve(problem, start=result)"


def _about_the_data(fit: Fit) -> Iterator[str]:
    result = fit.result
    # A finished run needs no advice on precision.
    tol = math.inf if result.converged else result.tol
    yield from findings(result.problem, result.certificate, tol)


def _about_the_kernel(fit: Fit) -> Iterator[str]:
    positive = fit.result.certificate.positive
    if positive is False:
        yield "take a positive semi-definite kernel, such as rbf, if you want a proof"
    elif positive is None:
        yield "check on some of the samples that no eigenvalue of the kernel matrix (numpy.linalg.eigvalsh) is below 0"


def _about_support(fit: Fit) -> Iterator[str]:
    problem, counts, size = fit.result.problem, fit.result.certificate.kinds.counts, np.abs(fit.result.beta)
    # Tiny ones do not count: a first-order method leaves a little on every sample.
    many = int(np.count_nonzero(size > 1e-3 * size.max()))
    if problem.n >= FEW and many > 0.5 * problem.n and problem.task != "novelty" and _forgets(problem):
        remedy = "a larger epsilon" if problem.task == "regression" else "better features"
        remedy += ", a smaller gamma" if hasattr(problem.kernel, "gamma") else ""
        yield f"{many:,} of {problem.n:,} samples are support vectors, which is many: try {remedy} or another C"
    if counts["bound"] and not counts["free"]:
        yield "all support vectors are at their limit C, so none of them pins the bias down: try a larger C"


def _forgets(problem: Problem) -> bool:
    """Whether the loss lets go of a sample that is fitted well; otherwise all are support vectors by nature."""
    t, z = (0.0, 1e-9) if problem.task == "regression" else (1.0, 30.0)
    return not problem.loss.slope(np.array([z]), np.array([t])).any()


def _about_labels(fit: Fit) -> Iterator[str]:
    problem = fit.result.problem
    if problem.task != "classification":
        return
    sizes = fit.confusion.sum(axis=1)
    rare, common = int(sizes.argmin()), int(sizes.argmax())
    weights = [float(problem.C[problem.target == sign].sum()) for sign in (-1.0, 1.0)]
    if not problem.hard and weights[rare] < 0.1 * sum(weights):
        few = f"{sizes[rare]:,} of {sizes.sum():,} samples are labelled {fit.label(rare)}"
        yield f"only {few}, and mistakes on them cost little: try class_weight='balanced'"
    if fit.confusion.trace() <= sizes.max():
        yield f"always answering {fit.label(common)} would be right as often as this fit: try a larger C or a kernel"


def _about_size(fit: Fit) -> Iterator[str]:
    problem = fit.result.problem
    if problem.n < FEW:
        yield f"{problem.n} samples are few, and a few others could give another fit: judge it by leave-one-out"
    elif problem.linear and problem.n <= problem.X.shape[1]:
        yield "there are as many features as samples or more, so almost anything fits: judge it on held-out data"
