"""One fit as one HTML file: the verdict in words, its proof, its pictures, and what to do next.

>>> from maxmargin import Problem, solve
>>> solve(Problem(X, y, kernel="rbf", C=10.0)).report("fit.html")

Everything is inside the file, the figures too, so it opens without a network. Whatever comes from the user is
escaped, and nothing in it grows with the number of samples.
"""

from __future__ import annotations

import os
from html import escape
from pathlib import Path

from maxmargin.page import document, facts, place, write
from maxmargin.report.advice import things_to_do
from maxmargin.report.fit import Fit
from maxmargin.report.proof import certificate_rows, conditions, verdict
from maxmargin.report.reproduce import reproduce
from maxmargin.report.samples import scores, summary, support
from maxmargin.report.setting import problem_rows, solver_rows
from maxmargin.report.words import bullets, paragraph
from maxmargin.result import Result

__all__ = ["report"]

_TITLES = {"classification": "Classification", "regression": "Regression", "novelty": "One-class model"}
_PICTURES = {"classification": "The boundary", "regression": "The fit", "novelty": "The boundary"}


def report(result: Result, path: str | os.PathLike[str]) -> Path:
    """Write a fit as one self-contained HTML file, whole or not at all.

    Parameters
    ----------
    result : Result
        Any fit: classification, regression or one-class, finished or not.
    path : str or path
        The file to write; its folder must exist. An old file stays until the new one is complete.

    Returns
    -------
    Path
        The file that was written.
    """
    place(path)  # a folder that is not there is refused before the figures are drawn
    return write(path, _page(Fit(result)))


def _page(fit: Fit) -> str:
    result = fit.result
    sections = {
        "What to do next": bullets(things_to_do(fit)),
        "The problem": facts(problem_rows(fit)),
        "The solver": facts(solver_rows(result)),
        "The certificate": facts(certificate_rows(result)) + conditions(result) + fit.drawn("convergence"),
        _PICTURES[result.problem.task]: fit.drawn("boundary"),
        "Support vectors": support(fit),
        "Scores on the training data": scores(fit),
        "How to reproduce it": reproduce(result),
    }
    tone, sentence = verdict(result)
    title = f"{_TITLES[result.problem.task]} by {result.solver.name}"
    top = f'<h1>{escape(title)}</h1>\n<p class="verdict {tone}">{escape(sentence)}</p>\n{paragraph(summary(fit))}'
    rest = "".join(f"\n<h2>{escape(heading)}</h2>\n{content}" for heading, content in sections.items())
    return document(title, top + rest)
