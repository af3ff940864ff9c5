"""A run that was recorded frame by frame, to be played inside the report: the studio's tape of it."""

from __future__ import annotations

from html import escape

import numpy as np

from maxmargin.result import Result
from maxmargin.solvers import refusal

#: Samples up to which a run is played, and seconds for making it again: it is written for each of its frames.
MOST, SECONDS = 500, 5.0
CAPTION = (
    "The run as it was recorded: play it, step through it, point at a sample. Every frame is certified; the page needs"
    " scripts for this, and nothing else."
)
STYLE = """
.tape iframe { display: block; width: 100%; height: 46rem; border: 1px solid var(--line); border-radius: 8px; }
@media print { .tape { display: none; } }
"""


def can_be_played(result: Result) -> bool:
    """Whether there are frames, of samples in the plane or of one feature, and few enough to be carried in a page."""
    problem = result.problem
    plane = isinstance(problem.X, np.ndarray) and problem.X.shape[1] == (1 if problem.task == "regression" else 2)
    whole = problem.transform is None and not problem.kernel.given and refusal(result.solver, problem) is None
    return bool(result.trace.snapshots) and plane and whole and problem.n <= MOST


def player(result: Result) -> str:
    """The tape in a frame of its own, which may run its script and reach nothing else."""
    from maxmargin.studio.tape import tape_of  # the studio is above this folder: it writes reports, too

    title = f"A run of {result.solver.name}"
    tape = escape(tape_of(result, title, SECONDS).decode())
    frame = f'<iframe title="{escape(title)}" sandbox="allow-scripts" loading="lazy" srcdoc="{tape}"></iframe>'
    return f'<figure class="tape">{frame}<figcaption>{CAPTION}</figcaption></figure>'
