"""The progress display: one line that says how long, how far, and how many support vectors."""

from __future__ import annotations

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
            from rich.console import Console

            self._status = Console(stderr=True).status(f"{name}: starting (the first run on a machine compiles)")

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
