"""Figures and animations of a fit: the arrays first, then the drawing.

Every function takes axes of your own if you like, and returns a display: the arrays that it drew, with `.figure`,
`.axes` and `.save("name.svg")`. Nothing is shown unasked, and pyplot is not touched.

>>> from maxmargin import Problem, plots, solve
>>> result = solve(Problem(X, y, kernel="rbf", C=10.0), every=1, snapshots=True)
>>> plots.boundary(result).save("boundary.png")
>>> plots.animate(result, "training.gif")
"""

from __future__ import annotations

from maxmargin.errors import missing_extra

try:
    import matplotlib  # noqa: F401
except ImportError:
    raise missing_extra("matplotlib", "plot") from None

from maxmargin.plots.animation import AnimationDisplay, animate
from maxmargin.plots.conditions import KKTDisplay, kkt
from maxmargin.plots.contours import DescentDisplay, descent
from maxmargin.plots.convex_hulls import HullsDisplay, hulls
from maxmargin.plots.curves import ConvergenceDisplay, convergence
from maxmargin.plots.decision import boundary
from maxmargin.plots.display import BoundaryDisplay, Display
from maxmargin.plots.gallery import GalleryDisplay, grid_of
from maxmargin.plots.penalties import PenaltyDisplay, penalty
from maxmargin.plots.proof import ProofDisplay
from maxmargin.plots.racing import RaceDisplay, race
from maxmargin.plots.saddle_point import SaddleDisplay, saddle
from maxmargin.plots.selection import GridDisplay, PathDisplay, grid, path
from maxmargin.plots.theory import (
    ConjugateDisplay,
    LagrangianDisplay,
    LossesDisplay,
    conjugate,
    lagrangian,
    losses,
)
from maxmargin.plots.vectors import SupportDisplay, support

__all__ = [
    "AnimationDisplay",
    "BoundaryDisplay",
    "ConjugateDisplay",
    "ConvergenceDisplay",
    "DescentDisplay",
    "Display",
    "GalleryDisplay",
    "GridDisplay",
    "HullsDisplay",
    "KKTDisplay",
    "LagrangianDisplay",
    "LossesDisplay",
    "PathDisplay",
    "PenaltyDisplay",
    "ProofDisplay",
    "RaceDisplay",
    "SaddleDisplay",
    "SupportDisplay",
    "animate",
    "boundary",
    "conjugate",
    "convergence",
    "descent",
    "grid",
    "grid_of",
    "hulls",
    "kkt",
    "lagrangian",
    "losses",
    "path",
    "penalty",
    "race",
    "saddle",
    "support",
]
