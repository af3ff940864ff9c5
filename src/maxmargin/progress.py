"""The progress display: one line that says how long, how far, and how many support vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from maxmargin.run import Look


class Progress:
    """A line on the terminal while a solver runs, or nothing where it is not wanted."""

    def __init__(self, wanted: bool, name: str, tol: float) -> None:
        self.name, self.tol = name, tol
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
        self._status.update(
            f"{self.name} {look.iteration}: {look.seconds:.1f} s,"
            f" gap {look.certificate.relative_gap:.1e} (to {self.tol:g}), {counts['free'] + counts['bound']} SVs"
        )
