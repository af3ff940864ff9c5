"""`grid_of`: several fits as boundaries side by side, with one legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from maxmargin.errors import InvalidInput
from maxmargin.plots.decision import IN_VIEW, Panel
from maxmargin.plots.display import BoundaryDisplay, Display, axes_for
from maxmargin.plots.plane import choose_plane
from maxmargin.plots.proof import ProofPanel, proof_plane
from maxmargin.plots.style import legend, plain, styled
from maxmargin.plots.subject import Subject, subject_of
from maxmargin.result import Result


@dataclass(frozen=True, eq=False, repr=False)
class GalleryDisplay(Display):
    """What `grid_of` drew: the boundary of each fit, by name."""

    boundaries: dict[str, BoundaryDisplay]


@styled
def grid_of(
    results: Mapping[str, Result],
    X: Any = None,
    *,
    columns: int = 3,
    resolution: int = 150,
    features: tuple[int, int] | None = None,
) -> GalleryDisplay:
    """Draw the boundaries of several fits side by side, with one legend: kernels, values of C, hard and soft margins.

    Parameters
    ----------
    results : dict of name: Result
        Classifications with two features or more; the name becomes the title of its panel.
    X
        The rows before a transform, where the fits have one.
    columns : int
        Panels in a row; 1 for a narrow screen.
    resolution : int
        Points of the grid along each side of a panel.
    features : pair of int
        Two columns to show, as for `boundary`.

    Returns
    -------
    GalleryDisplay
        The display of each boundary, by name. A hard margin that does not exist shows its proof.

    Examples
    --------
    >>> from maxmargin import Problem, plots, solve
    >>> from maxmargin.data import toys
    >>> X, y = toys.overlapping()
    >>> display = plots.grid_of({f"C = {C}": solve(Problem(X, y, C=C)) for C in (0.01, 1.0)}, columns=2)
    >>> type(display).__name__
    'GalleryDisplay'
    """
    if not isinstance(results, Mapping) or not results:
        raise InvalidInput("grid_of needs a dict of name: Result with at least one entry")
    subjects = {str(name): subject_of(result, X, None) for name, result in results.items()}
    for name, subject in subjects.items():
        if subject.task == "regression" or subject.X.shape[1] == 1:
            raise InvalidInput(f"{name!r} is a regression or has a single feature; grid_of shows planes")
    count = len(results)
    across = min(columns, count) if isinstance(columns, int) and columns >= 1 else columns
    # Squares of 3.5 inches, and a legend below all of them.
    figure, axes, own = axes_for(None, count, (3.5 * count, 4.4), columns=across)
    panels: list[Panel | ProofPanel] = []
    for ax, (name, subject), result in zip(axes, subjects.items(), results.values(), strict=True):
        if result.certificate.inseparable is not None:
            view = proof_plane(subject, features)
            panel: Any = ProofPanel(
                ax, own, result, subject, view, f"{plain(name)}: no hyperplane separates", brief=True
            )
        else:
            view = choose_plane(subject, features, "auto")
            panel = Panel(ax, own, subject, view, f"{plain(name)}: {_counts(subject)}", bar=False)
        panels.append(panel)
    legend(axes, _handles(panels), own)
    _label_outside(axes, across, count)
    box = panels[0].room(np.vstack([panel.positions for panel in panels])) if _alike(panels) else None
    shown = {}
    for (name, _), panel in zip(subjects.items(), panels, strict=True):
        shown[name] = panel.fill(box or panel.room(), resolution)
    return GalleryDisplay(figure, axes, shown)


def _alike(panels: Sequence[Panel | ProofPanel]) -> bool:
    """Whether the panels show much the same samples, perhaps one more or less: then one frame does for all."""
    names = {panel.plane.names for panel in panels}
    spans = [np.ptp(panel.positions, axis=0) for panel in panels]
    together = np.ptp(np.vstack([panel.positions for panel in panels]), axis=0)
    faithful = all(panel.plane.faithful and not panel.plane.note for panel in panels)
    return faithful and len(names) == 1 and bool((together <= 1.3 * np.max(spans, axis=0)).all())


def _label_outside(axes: Sequence[Axes], across: int, count: int) -> None:
    """Where all panels have the same labels, keep those at the left and below."""
    for pick, drop in ((Axes.get_xlabel, "x"), (Axes.get_ylabel, "y")):
        if len({pick(ax) for ax in axes}) > 1:
            continue
        for k, ax in enumerate(axes):
            if drop == "x" and k + across < count:
                ax.set_xlabel("")
            if drop == "y" and k % across:
                ax.set_ylabel("")


def _counts(subject: Subject) -> str:
    kinds = subject.kinds
    if "free" in kinds:
        support = len(kinds["free"]) + len(kinds["bound"])
        return f"{support:,} support vector{'' if support == 1 else 's'}"
    if "corrected" in kinds:
        return f"{len(kinds['corrected']):,} corrected"
    return f"{len(subject.codes):,} samples"


def _handles(panels: Sequence[Panel | ProofPanel]) -> list[list[Any]]:
    """The entries of all panels, each once."""
    merged: list[list[Any]] = [[], [], []]
    seen: set[str] = set()
    margins = any(panel.subject.margins for panel in panels)
    for panel in panels:
        levels = {level: IN_VIEW for level in panel.subject.levels} if isinstance(panel, Panel) and panel.binary else {}
        for group, handles in zip(merged, panel.handles(levels, counted=False, margins=margins), strict=True):
            for handle in handles:
                if str(handle.get_label()) not in seen:
                    seen.add(str(handle.get_label()))
                    group.append(handle)
    if "area ∝ |β|" in seen:  # α is |β|: one line in the legend says both
        merged[2] = [handle for handle in merged[2] if handle.get_label() != "area ∝ α"]
    merged[2].sort(key=lambda handle: str(handle.get_label()).startswith("area"))  # what the areas mean comes last
    return merged
