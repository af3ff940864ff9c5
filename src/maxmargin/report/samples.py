"""The samples: which of them are support vectors, and how well the fit does on them."""

from __future__ import annotations

import numpy as np

from maxmargin.certificate import KINDS
from maxmargin.page import facts, table
from maxmargin.problem import Problem
from maxmargin.report.fit import Fit
from maxmargin.report.words import count, number, paragraph

#: Rows of the table of influential samples.
MOST = 10


def summary(fit: Fit) -> str:
    """The fit in one line."""
    result = fit.result
    words = [
        count(result.problem.n, "sample"),
        count(len(result.support), "support vector"),
        count(result.iterations, "iteration"),
        f"{result.trace.solver_seconds:.3g} s",
    ]
    if result.problem.task == "classification":
        words.append(f"{fit.accuracy:.1%} of the training samples classified correctly")
    return ", ".join(words) + "."


def support(fit: Fit) -> str:
    """Counts by kind, their figure, and the most influential samples."""
    problem, counts = fit.result.problem, fit.result.certificate.kinds.counts
    meanings = _meanings(problem)
    rows = [(kind.capitalize(), f"{counts[kind]:,} ({counts[kind] / problem.n:.1%})", meanings[kind]) for kind in KINDS]
    early = "" if fit.result.converged else paragraph("Counted where the run ended; at an optimum they may differ.")
    return early + facts(rows) + fit.drawn("support") + _influential(fit)


def _meanings(problem: Problem) -> dict[str, str]:
    edge, beyond = {
        "classification": ("on the margin", "inside the margin or on the wrong side"),
        "regression": ("on the edge of the tube", "outside the tube"),
        "novelty": ("on the boundary", "outside it"),
    }[problem.task]
    return {
        "outside": "β = 0: without them the fit would be the same.",
        "candidate": f"Just {edge}, but not needed (β = 0).",
        "free": "0 < |β|: the derivative of the loss at their scores."
        if problem.loss.smooth
        else f"0 < |β| < C: at the optimum they lie {edge}.",
        "bound": f"|β| = C: {beyond}.",
    }


def _influential(fit: Fit) -> str:
    """The samples that matter most: by |β|, or by their part in the proof that there is no hard margin."""
    proof = fit.result.certificate.inseparable
    targets = {"classification": ["label"], "regression": ["target"], "novelty": []}[fit.result.problem.task]
    if proof is not None:
        first = [i for i in np.argsort(-proof.alpha, kind="stable")[:MOST] if proof.alpha[i] > 0]
        rows = [[f"{i}", *_target(fit, i), f"{proof.alpha[i]:.4g}"] for i in first]
        words = f"The two mixtures, {MOST} samples of them at most; samples are counted from 0."
        return paragraph(words) + table(["sample", *targets, "α"], rows)
    first, equal = _strongest(fit)
    if not first:
        return paragraph("There is no support vector: every β is 0.")
    where, values = _places(fit)
    beta, codes = np.abs(fit.result.beta), fit.result.certificate.kinds.codes
    rows = [[f"{i}", *_target(fit, i), f"{beta[i]:.4g}", f"{values[i]:.4g}", KINDS[codes[i]]] for i in first]
    words = "The most influential samples, counted from 0"
    words += f"; {equal:,} share the largest |β|, and these have the largest loss." if equal > MOST else "."
    return paragraph(words) + table(["sample", *targets, "|β|", where, "kind"], rows)


def _strongest(fit: Fit) -> tuple[list[int], int]:
    """The support vectors with the largest |β|, those of larger loss first, and how many share the largest."""
    support = fit.result.support
    if not support.size:
        return [], 0
    beta = np.abs(fit.result.beta[support])
    equal = beta >= beta.max() * (1 - 1e-9)
    loss = fit.result.problem.loss.value(fit.z[support], fit.result.problem.target[support])
    order = np.lexsort((-loss, -np.where(equal, beta.max(), beta)))
    return [int(i) for i in support[order[:MOST]]], int(np.count_nonzero(equal))


def _places(fit: Fit) -> tuple[str, np.ndarray]:
    """Where samples lie, in the measure of the task."""
    target = fit.result.problem.target
    return {
        "classification": ("margin y·z", target * fit.z),
        "regression": ("error z − t", fit.z - target),
        "novelty": ("score z", fit.z),
    }[fit.result.problem.task]


def _target(fit: Fit, i: int) -> list[str]:
    """The label or the value of a sample; a one-class model has neither."""
    task, target = fit.result.problem.task, fit.result.problem.target[i]
    if task == "classification":
        return [fit.label(int(target > 0))]
    return [f"{target:.4g}"] if task == "regression" else []


def scores(fit: Fit) -> str:
    """How well the fit does on the samples that it was made from."""
    words = {"classification": _confusion, "regression": _errors, "novelty": _outliers}[fit.result.problem.task](fit)
    return words + paragraph("The fit was made from these samples: expect less on new ones, and measure it on others.")


def _confusion(fit: Fit) -> str:
    confusion = fit.confusion
    right, predicted, true = np.diagonal(confusion), confusion.sum(axis=0), confusion.sum(axis=1)
    rows = [(fit.label(k), *(f"{c:,}" for c in confusion[k]), _share(right[k], true[k])) for k in (0, 1)]
    rows.append(("precision", *(_share(right[k], predicted[k]) for k in (0, 1)), ""))
    always = fit.label(int(true.argmax()))
    words = f"Accuracy {fit.accuracy:.2%}; always answering {always} would reach {true.max() / true.sum():.2%}."
    return paragraph(words) + table(["true ↓ predicted →", *map(fit.label, (0, 1)), "recall"], rows)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "–"


def _errors(fit: Fit) -> str:
    t = fit.result.problem.target[fit.used]
    error = np.abs(fit.z[fit.used] - t)
    spread = float(np.square(t - t.mean()).sum())
    explained = 1.0 - float(np.square(error).sum()) / spread if spread else np.nan
    rows = [
        ("R²", number(explained, 4), "The share of the targets' variance that the fit explains."),
        ("Mean error", number(float(error.mean()), 4), "The mean absolute error, in the units of the target."),
        ("Largest error", number(float(error.max()), 4), "Of any sample, in the same units."),
    ]
    epsilon = getattr(fit.result.problem.loss, "epsilon", None)
    if epsilon is not None:
        # A sample on the edge of the tube is inside, whatever rounding says.
        inside = float(np.mean(error <= epsilon + 1e-9 * max(1.0, epsilon) + fit.result.certificate.kkt_violation))
        rows.append(("Inside the tube", f"{inside:.1%}", f"Samples with an error of at most ε = {epsilon:g}."))
    return facts(rows)


def _outliers(fit: Fit) -> str:
    novel = int(np.count_nonzero(fit.z[fit.used] < 0))
    n = int(np.count_nonzero(fit.used))
    rows = [("Usual (+1)", f"{n - novel:,}", _share(n - novel, n)), ("Novel (−1)", f"{novel:,}", _share(novel, n))]
    nu = getattr(fit.result.problem.loss, "nu", None)
    words = "" if nu is None else f"At the optimum at most a share ν = {nu:g} of the training samples is novel."
    return (paragraph(words) if words else "") + table(["predicted", "samples", "share"], rows)
