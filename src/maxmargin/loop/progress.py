"""The progress display: one line that says how long, how far, and how many support vectors.

On a terminal it is rich's; in a notebook it is one line of HTML that is replaced, which needs no widgets.
"""

from __future__ import annotations

import sys
from html import escape
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from maxmargin.loop.run import Look
    from maxmargin.result import Iterate

#: Seconds after which the display is renewed where the loop does not look.
OFTEN = 0.2


class Progress:
    """A line on the terminal while a solver runs, or nothing where it is not wanted."""

    def __init__(self, wanted: bool, name: str, tol: float) -> None:
        self.name, self.tol = name, tol
        #: What the last look said, and when the display was last renewed.
        self.proved, self.renewed = "", 0.0
        self._status: Any = None
        if wanted:
            begin = f"{name}: starting (the first run on a machine compiles)"
            self._status = NotebookLine(begin) if in_notebook() else _terminal(begin)

    def __enter__(self) -> Self:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._status is not None:
            self._status.stop()

    def show(self, look: Look) -> None:
        """Say where the solver stands."""
        if self._status is None:
            return
        counts = look.certificate.kinds.counts
        self.proved = (
            f"gap {look.certificate.relative_gap:.1e} (to {self.tol:g}), {counts['free'] + counts['bound']} SVs"
        )
        self._status.update(f"{self.name} {look.iteration}: {look.seconds:.1f} s, {self.proved}")

    def step(self, iterate: Iterate, k: int, seconds: float) -> None:
        """Show that the solver goes on, between two looks."""
        if self._status is None or perf_counter() - self.renewed < OFTEN:
            return
        self.renewed = perf_counter()
        guess = "" if iterate.estimate is None else f"gap about {iterate.estimate:.1e} (to {self.tol:g})"
        known = f", {self.proved} at the last look" if self.proved else f", {guess}" if guess else ""
        self._status.update(f"{self.name} {k}: {seconds:.1f} s{known}")


class NotebookLine:
    """A line of a notebook's output that is replaced as the run goes on; it has what a status of rich has."""

    def __init__(self, text: str) -> None:
        self._text, self._shown = text, 0.0
        self._handle: Any = None

    def start(self) -> None:
        """Show the line for the first time."""
        from IPython.display import HTML, display

        self._handle = display(HTML(self._html()), display_id=True)

    def update(self, text: str) -> None:
        """Say something else, a few times a second at most."""
        self._text = text
        if perf_counter() - self._shown >= OFTEN:
            self._show()

    def stop(self) -> None:
        """Leave the last line."""
        self._show()

    def _show(self) -> None:
        from IPython.display import HTML

        self._shown = perf_counter()
        self._handle.update(HTML(self._html()))

    def _html(self) -> str:
        return f'<div style="font-variant-numeric: tabular-nums">{escape(self._text)}</div>'


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel")


def _terminal(text: str) -> Any:
    from rich.console import Console

    return Console(stderr=True).status(text)
