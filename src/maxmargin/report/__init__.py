"""One fit as one HTML file: the verdict in words, its proof, its pictures, and what to do next.

>>> from maxmargin import Problem, solve
>>> solve(Problem(X, y, kernel="rbf", C=10.0)).report("fit.html")
>>> report(SVC().fit(X, y), "fit.html")

A model of several machines has a page with the summary and a section for each machine.

Everything is inside the file, the figures too, so it opens without a network. Whatever comes from the user is
escaped, and nothing in it grows with the number of samples, but for a run that can be played: one of at most 500
samples in the plane, solved with ``every=1, snapshots=True``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInput
from maxmargin.models import Model, model_of
from maxmargin.models.classes import TOGETHER
from maxmargin.page import Page, document, facts, place, written
from maxmargin.report.advice import things_to_do
from maxmargin.report.fit import Fit
from maxmargin.report.machines import Machine, machines_of, machines_of_estimator, machines_page
from maxmargin.report.playback import STYLE, can_be_played, player
from maxmargin.report.proof import certificate_rows, conditions, verdict
from maxmargin.report.reproduce import reproduce
from maxmargin.report.samples import scores, summary, support
from maxmargin.report.setting import problem_rows, solver_rows
from maxmargin.report.words import bullets, paragraph
from maxmargin.result import Result

__all__ = ["Machine", "report", "report_machines"]

_TITLES = {"classification": "Classification", "regression": "Regression", "novelty": "One-class model"}
_PICTURES = {"classification": "The boundary", "regression": "The fit", "novelty": "The boundary"}


def report(fitted: Any, path: str | os.PathLike[str] | None = None, X: Any = None, y: Any = None) -> Path | Page:
    """Write a fit as one self-contained HTML file, whole or not at all; or show it in a notebook.

    Parameters
    ----------
    fitted : Result, Model or fitted estimator
        Any fit: classification, regression or one-class, finished or not. A `Result` has its data with it, and gets
        pictures of it, and of a run that was recorded (``every=1, snapshots=True``) a player; a `Model` or an
        estimator gets a section for each of its machines.
    path : str or path, default None
        The file to write; its folder must exist. An old file stays until the new one is complete.
    X, y : array-like, default None
        Rows and their targets to score a model or an estimator on; a `Result` has its own.

    Returns
    -------
    Path or Page
        The file that was written; without a path the page itself, which a notebook shows inline.

    Examples
    --------
    >>> from maxmargin import SVC
    >>> report(SVC().fit(X, y), "fit.html", X, y)
    """
    if path is not None:
        place(path)  # a folder that is not there is refused before the figures are drawn
    if isinstance(fitted, Result):
        if X is not None or y is not None:
            raise InvalidInput("a Result has its data with it; drop X and y")
        if fitted.problem.family == "crammer-singer":
            return _of_classes(fitted, path)
        return written(path, _page(Fit(fitted)))
    if (X is None) != (y is None):
        raise InvalidInput("a report scores a model on rows and their targets; give X and y, or neither")
    if isinstance(fitted, Model):
        machines = machines_of(fitted)
        return report_machines(fitted, machines, fitted.training.tol if fitted.training else 0.0, path, X, y)
    model = model_of(fitted)
    return report_machines(model, machines_of_estimator(fitted, model), float(fitted.tol), path, X, y)


def report_machines(
    model: Model,
    machines: Sequence[Machine],
    tol: float,
    path: str | os.PathLike[str] | None,
    X: Any = None,
    y: Any = None,
) -> Path | Page:
    """Write the page of a model whose machines are known."""
    if X is not None and not hasattr(X, "shape"):
        X = np.asarray(X, dtype=np.float64)
    return written(path, machines_page(model, machines, tol, X, None if y is None else np.asarray(y)))


def _of_classes(result: Result, path: str | os.PathLike[str] | None) -> Path | Page:
    """The page of all classes in one problem: its only machine, and the scores of its rows."""
    problem, one = result.problem, result.certificate
    assert problem.classes is not None
    vectors = int(np.count_nonzero(one.kinds.support))
    numbers = str(result.status), one.primal, one.dual, one.relative_gap, vectors
    machine = Machine(TOGETHER, *numbers, result.solver.name, result.iterations, result.trace)
    return report_machines(model_of(result), [machine], result.tol, path, problem.X, problem.classes[problem.target])


def _page(fit: Fit) -> str:
    result = fit.result
    sections = {
        "What to do next": bullets(things_to_do(fit)),
        "The problem": facts(problem_rows(fit)),
        "The solver": facts(solver_rows(result)),
        "The certificate": facts(certificate_rows(result)) + conditions(result) + fit.drawn("convergence"),
        _PICTURES[result.problem.task]: fit.drawn("boundary"),
        "The run, frame by frame": player(result) if can_be_played(result) else "",
        "Support vectors": support(fit),
        "Scores on the training data": scores(fit),
        "How to reproduce it": reproduce(result),
    }
    tone, sentence = verdict(result)
    title = f"{_TITLES[result.problem.task]} by {result.solver.name}"
    top = f'<h1>{escape(title)}</h1>\n<p class="verdict {tone}">{escape(sentence)}</p>\n{paragraph(summary(fit))}'
    rest = "".join(f"\n<h2>{escape(heading)}</h2>\n{content}" for heading, content in sections.items() if content)
    return document(title, top + rest, STYLE if can_be_played(result) else "")
