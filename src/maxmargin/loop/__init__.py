"""The one loop: `solve` runs a solver, looks at its iterates, certifies them and stops."""

from maxmargin.loop.loop import solve

__all__ = ["solve"]
