"""The report of a model with several machines: the verdict on all of them, a table, and a section for each.

A model file holds no data and no runs, so that this page is made of what was proved; curves are there where the model
was trained just now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.models.model import Model
from maxmargin.page import document, facts, table
from maxmargin.report.proof import closeness
from maxmargin.report.words import bullets, count, number, paragraph, percent, sentence, short
from maxmargin.result import Trace

#: More classes than this are not counted one against the other.
LARGEST_TABLE = 20
#: The size of a curve, and the points that it is drawn through at most.
WIDE, HIGH, POINTS = 560, 130, 200


@dataclass(frozen=True, eq=False)
class Machine:
    """What is known of one machine: its proof and, where it was trained just now, how it went."""

    name: str
    status: str
    primal: float
    dual: float
    relative_gap: float
    support: int
    solver: str | None = None
    iterations: int | None = None
    trace: Trace | None = None


def machines_of(model: Model) -> list[Machine]:
    """The machines of a model, as its file tells of them."""
    if model.training is None:
        raise InvalidInput("this model does not say what was proved when it was trained; a report is about that")
    return [
        Machine(name, one.status, one.primal, one.dual, one.relative_gap, len(np.unique(one.rows // model.width)))
        for name, one in zip(model.proof_names(), model.training.proofs, strict=True)
    ]


def machines_of_estimator(estimator: Any, model: Model) -> list[Machine]:
    """The machines of a fitted estimator, with the course of their training."""
    summary = estimator.certificate_
    several = hasattr(summary, "values")
    certificates = list(summary.values()) if several else [summary]
    traces = estimator.trace_ if isinstance(estimator.trace_, list) else [estimator.trace_]
    names = model.proof_names()
    iterations = np.broadcast_to(estimator.n_iter_, len(names)).tolist()
    found = []
    for name, one, steps, trace in zip(names, certificates, iterations, traces, strict=True):
        proved = f"proved to {estimator.tol:g}" if one.holds(estimator.tol) else f"not proved to {estimator.tol:g}"
        vectors = one.kinds.counts["free"] + one.kinds.counts["bound"]
        status = proved if several else str(estimator.status_)
        found.append(Machine(name, status, one.primal, one.dual, one.relative_gap, vectors, None, steps, trace))
    return found


def machines_page(model: Model, machines: Sequence[Machine], tol: float, X: Any = None, y: Any = None) -> str:
    """The whole page; `X` and `y` are rows to score the model on, where there are some."""
    worst = max(machines, key=lambda one: one.relative_gap)
    title = f"{model.task.capitalize()} by {count(len(machines), 'machine')}"
    tone, verdict = _verdict(machines, worst, tol)
    sections = {
        "What to do next": bullets(_advice(machines, worst, tol)),
        "The model": facts(_model_rows(model, machines)),
        "The machines": paragraph("From the largest relative gap to the smallest.") + _table(machines),
    }
    if X is not None and y is not None:
        sections["Scores on the training data"] = _scores(model, X, y)
    top = f'<h1>{escape(title)}</h1>\n<p class="verdict {tone}">{escape(verdict)}</p>'
    body = "".join(f"\n<h2>{escape(heading)}</h2>\n{content}" for heading, content in sections.items())
    each = "".join(f"\n<h2>{escape(short(one.name))}</h2>\n{_section(one, tol)}" for one in machines)
    return document(title, top + body + each)


def _verdict(machines: Sequence[Machine], worst: Machine, tol: float) -> tuple[str, str]:
    failed = sum(not one.relative_gap <= tol for one in machines)
    if not failed:
        each = "each machine" if len(machines) > 1 else "the machine"
        return "good", f"Proved optimal {closeness(worst.relative_gap)}: {each} is that near to its optimum or nearer."
    gap = percent(worst.relative_gap) if np.isfinite(worst.relative_gap) else "an unknown share"
    return "bad", f"Not yet: {failed} of {count(len(machines), 'machine')} may still improve, the worst by up to {gap}."


def _advice(machines: Sequence[Machine], worst: Machine, tol: float) -> Iterator[str]:
    if worst.relative_gap <= tol:
        yield "the model is proved to the tolerance: judge it on data that it has not seen"
    else:
        yield f"{worst.name}: {worst.status.partition(': ')[2] or worst.status}"
        yield "allow more time or iterations, scale the features, or choose a smaller C"


def _model_rows(model: Model, machines: Sequence[Machine]) -> Iterator[tuple[str, str, str]]:
    schemes = {"binary": "", "ovo": "One machine per pair of classes; most votes win.", "ovr": "One machine per class."}
    schemes["crammer-singer"] = "One hyperplane per class, all in one problem."
    if model.classes is not None:
        names = ", ".join(short(label) for label in model.classes[:LARGEST_TABLE].tolist())
        yield "Classes", f"{len(model.classes):,}", names + (" …" if len(model.classes) > LARGEST_TABLE else "")
    yield "Machines", f"{len(machines):,}", schemes[model.scheme] if len(machines) > 1 else ""
    yield "Kernel", str(model.kernel), f"On {model.columns:,} features."
    if model.scaling is not None:
        yield "Scaling", model.scaling.kind, "Learnt from the training rows, and part of the model."
    if model.vectors is not None:
        yield "Vectors", f"{model.vectors.shape[0]:,}", "Training rows that the model keeps; machines share them."
    training = model.training
    if training is not None:
        yield "Rows", f"{training.n:,}", "Weighted." if training.weighted else ""
        yield "Loss", training.loss, ", ".join(f"{name} = {x:g}" for name, x in training.loss_parameters.items())
        yield "C", f"{training.C:g}", "" if training.class_weight is None else "Times the weight of the class."
        yield "Bias", training.bias, ""
    yield "Primal", number(sum(one.primal for one in machines), 10), "The sum over the machines."
    yield "Dual", number(sum(one.dual for one in machines), 10), "The sum over the machines."


def _table(machines: Sequence[Machine]) -> str:
    header = ["machine", "primal", "dual", "relative gap", "support vectors", "iterations"]
    rows = []
    for one in sorted(machines, key=lambda one: -one.relative_gap):
        steps = "–" if one.iterations is None else f"{one.iterations:,}"
        values = number(one.primal, 8), number(one.dual, 8), number(one.relative_gap), f"{one.support:,}"
        rows.append([short(one.name), *values, steps])
    return table(header, rows)


def _section(one: Machine, tol: float) -> str:
    rows: list[tuple[str, str, str]] = [
        ("Primal", number(one.primal, 10), "The objective. Lower is better."),
        ("Dual", number(one.dual, 10), "A floor: nothing has a lower objective."),
        ("Relative gap", number(one.relative_gap), f"Asked for {tol:g}."),
        ("Support vectors", f"{one.support:,}", ""),
    ]
    if one.solver is not None:
        rows.append(("Solver", one.solver, ""))
    if one.iterations is not None:
        rows.append(("Iterations", f"{one.iterations:,}", ""))
    rows.append(("End", one.status.partition(":")[0], sentence(one.status.partition(": ")[2])))
    return facts(rows) + ("" if one.trace is None else _curve(one.trace, tol))


def _curve(trace: Trace, tol: float) -> str:
    """The relative gap over the iterations, on a logarithmic axis, with the tolerance as a broken line."""
    if len(trace) < 3:
        return ""
    steps, gaps = trace["iteration"], trace["relative_gap"]
    good = np.isfinite(gaps) & (gaps > 0.0)
    if np.count_nonzero(good) < 3:
        return ""
    chosen = np.unique(np.linspace(0, np.count_nonzero(good) - 1, POINTS).astype(int))
    x, y = steps[good][chosen], np.log10(gaps[good][chosen])
    wanted = np.log10(tol) if tol > 0.0 else y.min()
    low, high = min(y.min(), wanted) - 0.2, max(y.max(), wanted) + 0.2
    across = (WIDE - 20) * (x - x[0]) / max(x[-1] - x[0], 1e-9) + 10
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, _down(y, low, high), strict=True))
    level = float(_down(np.array(wanted), low, high))
    words = f"The relative gap from {10 ** y[0]:.2g} to {10 ** y[-1]:.2g} in {int(x[-1]):,} iterations (logarithmic)"
    drawing = (
        f'<svg viewBox="0 0 {WIDE} {HIGH}" width="{WIDE}" role="img" aria-label="{escape(words)}">'
        f'<line x1="0" y1="{level:.1f}" x2="{WIDE}" y2="{level:.1f}" stroke="#57606a" stroke-dasharray="4 4"/>'
        f'<polyline points="{points}" fill="none" stroke="#0969da" stroke-width="1.5"/></svg>'
    )
    return f"<figure>{drawing}<figcaption>{escape(words)}; the broken line is the tolerance.</figcaption></figure>\n"


def _down(y: np.ndarray, low: float, high: float) -> np.ndarray:
    return (HIGH - 10) * (high - y) / (high - low) + 5


def _scores(model: Model, X: Any, y: np.ndarray) -> str:
    """How many rows of each class are answered by which; or the errors of a regression."""
    answers = model.predict(X)
    if model.classes is None:
        return paragraph(f"Mean squared error {float(np.mean((answers - y) ** 2)):.6g} on {len(y):,} rows.")
    right = answers == y
    text = f"{percent(float(np.mean(~right)))} of {len(y):,} rows are answered wrongly."
    if len(model.classes) > LARGEST_TABLE:
        shares: Iterable[tuple[float, str, int]] = sorted(
            (float(np.mean(right[y == label])), short(label), int(np.sum(y == label)))
            for label in model.classes
            if (y == label).any()
        )
        rows = [[name, f"{size:,}", percent(1.0 - share)] for share, name, size in shares]
        return paragraph(text + " From the worst class to the best:") + table(["class", "rows", "wrong"], rows)
    header = ["class", *(f"as {short(label)}" for label in model.classes)]
    counts = [[int(np.sum((y == true) & (answers == given))) for given in model.classes] for true in model.classes]
    lines = [[short(true), *map(str, row)] for true, row in zip(model.classes, counts, strict=True)]
    return paragraph(text) + table(header, lines)
