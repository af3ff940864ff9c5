"""What is proved: the verdict in one sentence, the certificate line by line, and the KKT conditions one by one."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from maxmargin.certificate.separability import Inseparable
from maxmargin.page import table
from maxmargin.report.words import number, paragraph, percent, sentence
from maxmargin.result import Reason, Result

_OTHERS = {"classification": "hyperplane", "regression": "function of this kind", "novelty": "boundary of this kind"}


def verdict(result: Result) -> tuple[str, str]:
    """The tone ("good" or "bad"), and one sentence that claims no more than the certificate proves."""
    certificate, problem = result.certificate, result.problem
    if certificate.inseparable is not None:
        through = " through the origin" if problem.bias == "none" else ""
        where = "" if problem.linear else " in the space of this kernel"
        return "bad", f"Not separable: no hyperplane{through}{where} has each class on a side of its own."
    if certificate.positive is False:
        reached = "A stationary point, not a proved optimum" if result.converged else "Not yet, and without proof"
        return "bad", f"{reached}: the kernel is indefinite, so a hyperplane with a lower objective may exist."
    if not np.isfinite(certificate.gap):
        return "bad", "Open: no hyperplane that separates the classes was found, nor a proof that there is none."
    other, size = _OTHERS[problem.task], abs(certificate.primal)
    fall = certificate.gap / size if size else certificate.relative_gap
    if not result.converged:
        # A sum of squares and losses cannot fall below 0; the one-class objective can.
        fall = fall if problem.task == "novelty" else min(fall, 1.0)
        if result.status.reason is Reason.FINISHED:  # there is nothing to wait for
            return "bad", f"Not proved optimal: another {other} may have an objective up to {percent(fall)} lower."
        return "bad", f"Not yet: the objective may still fall by up to {percent(fall)}."
    proved = f"Proved optimal {closeness(certificate.relative_gap)}"
    if certificate.positive is None:
        proved += ", provided that the kernel is positive semi-definite (not checked)"
    return "good", f"{proved}: {_rest(other, fall)}."


def closeness(gap: float) -> str:
    """How near to the optimum a relative gap is, in words."""
    if gap < 1e-12:
        return "up to rounding"
    if gap > 0.01:
        return f"to within {percent(gap)}"
    parts = 1.0 / gap
    unit = 10.0 ** (math.floor(math.log10(parts)) - 1)  # two digits, rounded down so that the claim stays true
    return f"to 1 part in {math.floor(parts / unit + 1e-9) * unit:,.0f}"


def _rest(other: str, fall: float) -> str:
    if fall < 1e-6:
        return f"no other {other} has a noticeably lower objective"
    return f"no other {other} has an objective more than {percent(fall)} lower"


def certificate_rows(result: Result) -> Iterator[tuple[str, str, str]]:
    """Name, number and meaning of each line."""
    certificate, total = result.certificate, result.problem.total
    floor, gap = (
        "A floor: no choice of w and b can have a lower objective.",
        "Primal − dual: the most that it can still fall.",
    )
    if certificate.positive is False:
        floor, gap = "No floor here, as the kernel is indefinite.", "Primal − dual: 0 at a stationary point."
    kkt = "The largest violation of the optimality (KKT) conditions, in LIBSVM's measure; 0 at the optimum."
    reward = " + ν ΣC·b" if result.problem.task == "novelty" else ""
    objective = f"The objective of this fit, ½‖w‖² + Σ C·loss{reward}. Lower is better."
    yield "Primal", number(certificate.primal, 10), objective
    yield "Dual", number(certificate.dual, 10), floor
    yield "Gap", number(certificate.gap), gap
    yield "Relative gap", number(certificate.relative_gap), "The gap by the size of the objective: what tol is about."
    yield "KKT violation", number(certificate.kkt_violation), kkt
    if total is not None:
        yield "Infeasibility", number(certificate.infeasibility), f"|Σβ − {total:g}|, which may be rounding only."
    if certificate.inseparable is not None:
        yield from _inseparable_rows(certificate.inseparable)
    for name, other in result.related.items():
        words = f"Relative, of the problem that the solver really worked on: {name}."
        yield "Related gap", number(other.relative_gap), words
    yield "Precision", "", sentence(certificate.precision)
    if certificate.remark and certificate.inseparable is None:
        yield "Remark", "", sentence(certificate.remark)


def conditions(result: Result) -> str:
    """The KKT conditions as a checklist."""
    rows = [
        (one.name, one.formula, f"{one.residual:.2g}", "–" if one.worst is None else f"{one.worst}")
        for one in result.kkt.conditions
    ]
    words = "The conditions of an optimum one by one. Residuals have no unit; at an optimum all of them are 0."
    return paragraph(words) + table(["condition", "formula", "residual", "worst sample"], rows)


def _inseparable_rows(proof: Inseparable) -> Iterator[tuple[str, str, str]]:
    samples = f"A mixture of one class equals one of the other ({np.count_nonzero(proof.alpha):,} samples in all)."
    yield "Common point", "found", samples
    distance = f"How far apart the two mixtures are; the samples reach out to {number(proof.radius)}."
    yield "Distance", number(proof.distance), distance
    yield "Widest margin", number(proof.margin_bound), "No hyperplane has a wider one; 0 but for rounding."
