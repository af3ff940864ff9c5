"""What a notebook shows of a certificate, a result, a problem, a trace, a model, a path and a search.

Each is a small HTML table. All text is escaped. Colours are the notebook's own (text and lines are `currentColor`), so
that a dark theme stays dark; nothing is loaded, and no script runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch
from html import escape
from itertools import islice
from typing import Any

import numpy as np

from maxmargin.certificate.certificate import Certificate
from maxmargin.models.model import Model
from maxmargin.problem import Problem
from maxmargin.report.proof import verdict
from maxmargin.result import Result, Trace
from maxmargin.training.path import SVCPath
from maxmargin.training.summary import CertificateSummary, problem_name

#: Rows of a table of looks, machines or fits; more are counted.
ROWS = 10
#: Letters of one cell: a label or a kernel of the user's own may be as long as it likes.
LETTERS = 200

_STYLE = """<style>
.maxmargin { color: inherit; line-height: 1.35; margin: .3em 0; max-width: 52em; overflow-x: auto; }
.maxmargin table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .2em 0; color: inherit;
  background: none; }
.maxmargin tr, .maxmargin th, .maxmargin td { background: none !important; color: inherit; }
.maxmargin th, .maxmargin td { text-align: left; vertical-align: top; padding: .12em 1em .12em 0; border: 0;
  font-weight: normal; }
.maxmargin th { opacity: .75; white-space: nowrap; }
.maxmargin thead th { border-bottom: 1px solid currentColor; }
.maxmargin .title { font-weight: 600; }
.maxmargin .proof { display: inline-block; width: 1.1em; font-weight: 700; }
.maxmargin .good { color: #2e9e4f; } .maxmargin .bad { color: #d9822b; }
.maxmargin summary { cursor: pointer; }
</style>"""


@singledispatch
def html_of(thing: Any) -> str:
    """The HTML of anything that is shown; of a search its summary."""
    return card("Search", *(f"<div>{_text(line)}</div>" for line in thing.summary().splitlines()))


def card(title: str, *parts: str, good: bool | None = None) -> str:
    """A title, with a mark for what is proved or not, above some HTML."""
    mark = ""
    if good is not None:
        mark = f'<span class="proof {"good" if good else "bad"}">{"✓" if good else "!"}</span>'
    body = "\n".join(part for part in parts if part)
    return f'<div class="maxmargin">{_STYLE}\n<div class="title">{mark}{_text(title)}</div>\n{body}\n</div>'


def facts(rows: Iterable[tuple[str, object]]) -> str:
    """Names and values, a line each."""
    lines = "".join(f'<tr><th scope="row">{_text(name)}</th><td>{_text(value)}</td></tr>' for name, value in rows)
    return f"<table><tbody>{lines}</tbody></table>"


def table(header: Sequence[str], rows: Iterable[Sequence[object]], more: int = 0) -> str:
    """A table, and how many rows are not in it."""
    head = "".join(f'<th scope="col">{_text(name)}</th>' for name in header)
    lines = "".join("<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    rest = f"<div>and {more} more</div>" if more > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>{rest}"


@html_of.register
def _certificate(certificate: Certificate) -> str:
    """The verdict, and the certificate as it prints."""
    return card(_claim(certificate), facts(_printed(str(certificate))), good=_proved(certificate))


@html_of.register
def _result(result: Result) -> str:
    """The verdict in words, the problem, the certificate, and the status."""
    tone, sentence = verdict(result)
    rows = [("problem", repr(result.problem)), ("solver", result.solver), ("status", result.status)]
    certificate = f"<details><summary>certificate</summary>{facts(_printed(str(result.certificate)))}</details>"
    return card(sentence, facts(rows), certificate, good=tone == "good")


@html_of.register
def _problem(problem: Problem) -> str:
    """What is to be solved."""
    C = problem.C
    cost = f"{C.min():.6g}" if C.size and C.min() == C.max() else f"{C.min():.6g} … {C.max():.6g}, by sample"
    rows: list[tuple[str, object]] = [
        ("samples × features", f"{problem.n} × {problem.X.shape[1]}, {getattr(problem.X, 'dtype', 'in blocks')}"),
        ("loss", problem.loss),
        ("kernel", problem.kernel),
        ("bias", problem.bias),
        ("C", cost),
    ]
    if problem.classes is not None:
        rows.append(("classes", ", ".join(map(str, problem.classes))))
    return card(f"Problem of {problem.task}", facts(rows))


@html_of.register
def _trace(trace: Trace) -> str:
    """The first and the last looks, and the course of the relative gap as a line."""
    names = ("iteration", "seconds", "primal", "dual", "relative_gap", "support")
    looks = list(trace)
    shown = looks if len(looks) <= ROWS else looks[: ROWS // 2] + looks[-(ROWS // 2) :]
    rows = [[f"{look[name]:.5g}" for name in names] for look in shown]
    if len(looks) > len(shown):
        rows.insert(ROWS // 2, ["…"] * len(names))
    return card(f"Trace of {len(looks)} looks", _curve(trace["relative_gap"]), table(names, rows))


@html_of.register
def _model(model: Model) -> str:
    """What was fitted, and what was proved of each machine."""
    rows: list[tuple[str, object]] = [("kernel", model.kernel), ("features", model.columns)]
    if model.classes is not None:
        rows.append(
            ("classes", ", ".join(map(str, model.classes[:ROWS])) + (" …" if len(model.classes) > ROWS else ""))
        )
    if model.vectors is not None:
        rows.append(("support vectors", model.vectors.shape[0]))
    if model.scaling is not None:
        rows.append(("scaling", model.scaling.kind))
    proofs = ""
    if model.training is not None:
        lines = zip(model.machine_names(), model.training.proofs, strict=True)
        cells = [
            [name, f"{one.primal:.8g}", f"{one.relative_gap:.2g}", one.status] for name, one in islice(lines, ROWS)
        ]
        proofs = table(("machine", "primal", "relative gap", "status"), cells, model.machines - len(cells))
    return card(f"Model of {model.task}", facts(rows), proofs)


@html_of.register
def _summary(summary: CertificateSummary) -> str:
    """The certificates of several problems, the worst first."""
    worst = sorted(summary.items(), key=lambda item: -item[1].relative_gap)[:ROWS]
    cells = [
        [problem_name(name), f"{one.primal:.8g}", f"{one.dual:.8g}", f"{one.relative_gap:.2g}"] for name, one in worst
    ]
    title = f"{len(summary)} problems: worst relative gap {summary.relative_gap:.2g}"
    good = all(map(_proved, summary.values()))
    return card(
        title, table(("problem", "primal", "dual", "relative gap"), cells, len(summary) - len(cells)), good=good
    )


@html_of.register
def _path(path: SVCPath) -> str:
    """One line for each C."""
    cells = []
    for C, result in zip(path.Cs, path.results, strict=True):
        counts = result.certificate.kinds.counts
        gap = f"{result.certificate.relative_gap:.2g}"
        cells.append([f"{C:.4g}", gap, counts["free"], counts["bound"], result.iterations])
    header = ("C", "relative gap", "free", "bound", "iterations")
    good = all(result.converged for result in path.results)
    return card(f"Path of {len(cells)} values of C", table(header, cells[: 3 * ROWS], len(cells) - 3 * ROWS), good=good)


def _claim(certificate: Certificate) -> str:
    if certificate.inseparable is not None:
        return "Not separable"
    if certificate.positive is False:
        return "A stationary point: the kernel is indefinite"
    if not np.isfinite(certificate.gap):
        return "Nothing is proved yet"
    return f"Within a relative gap of {certificate.relative_gap:.2g} of the optimum"


def _proved(certificate: Certificate) -> bool:
    return certificate.positive is not False and bool(np.isfinite(certificate.gap))


def _printed(text: str) -> list[tuple[str, object]]:
    """A certificate as it prints, line by line: a name of at most 13 letters, and what it is."""
    return [(line[:13].strip(), line[13:].strip()) for line in text.splitlines()]


def _curve(gaps: np.ndarray, width: int = 300, height: int = 60) -> str:
    """A line of the logarithm of the relative gap; empty where there is nothing to see."""
    good = np.isfinite(gaps) & (gaps > 0)
    if good.sum() < 3:
        return ""
    places, heights = np.flatnonzero(good), np.log10(gaps[good])
    if len(places) > width:
        kept = np.linspace(0, len(places) - 1, width).astype(int)
        places, heights = places[kept], heights[kept]
    low, high = heights.min(), max(heights.max(), heights.min() + 1e-9)
    x = 2 + (width - 4) * (places - places[0]) / max(1, places[-1] - places[0])
    y = 2 + (height - 4) * (high - heights) / (high - low)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    words = f"relative gap from {10 ** heights[0]:.1g} to {10 ** heights[-1]:.1g}"
    return (
        f'<svg width="{width}" height="{height}" role="img" aria-label="{words}"><title>{words}</title>'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>'
    )


def _text(thing: Any) -> str:
    text = str(thing)
    return escape(text if len(text) <= LETTERS else f"{text[: LETTERS - 1]}…")
