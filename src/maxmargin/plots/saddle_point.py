"""`saddle`: the saddle function of one sample, its saddle point, and the two functions that meet there.

    G(w, α) = (λ/2) w² + α(1 − y x w),   0 ≤ α ≤ 1

    over w:  the minimiser is w(α) = α y x / λ, which leaves the dual    D(α) = α − α² x² / (2λ)
    over α:  the maximiser is 1 where y x w < 1, 0 where y x w > 1, and any α at the hinge's kink y x w = 1,
             which leaves the primal                                     P(w) = (λ/2) w² + max(0, 1 − y x w)

G is convex in w and concave in α, so the smallest P is the largest D, at α* = min(1, λ/x²).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from maxmargin.errors import InvalidInput
from maxmargin.plots.display import Display, axes_for
from maxmargin.plots.style import BLACK, BLUE, DUAL, PRIMAL, VERMILLION, legend, number, styled, title


@dataclass(frozen=True, eq=False, repr=False)
class SaddleDisplay(Display):
    """What `saddle` drew."""

    w: np.ndarray
    alpha: np.ndarray
    #: G on the grid, one row for each α.
    G: np.ndarray
    #: The minimiser over w for each α, and the maximisers over α as a line of points (w, α).
    best_w: np.ndarray
    best_alpha: np.ndarray
    primal: np.ndarray
    dual: np.ndarray
    #: (w*, α*), and the value there.
    saddle: tuple[float, float]
    value: float


@styled
def saddle(
    x: float = 1.5,
    y: float = 1.0,
    lam: float = 1.0,
    *,
    axes: Sequence[Axes] | None = None,
    columns: int | None = None,
) -> SaddleDisplay:
    """Draw G(w, α) = (λ/2) w² + α(1 − y x w) for one sample with one feature, and the primal and dual that it gives.

    Parameters
    ----------
    x, y : float
        The sample and its label, −1 or +1.
    lam : float
        The weight λ of the regularisation.
    axes : three matplotlib Axes
        For G, the primal and the dual; a new figure by default.
    columns : int
        Columns of a new figure; side by side by default, 1 for a narrow screen.

    Examples
    --------
    >>> from maxmargin import plots
    >>> type(plots.saddle(x=1.5, y=1, lam=1.0)).__name__
    'SaddleDisplay'
    """
    if x == 0 or not np.isfinite(x) or y not in (-1, 1) or not 0 < lam < np.inf:
        raise InvalidInput(f"x is {x!r}, y is {y!r}, lam is {lam!r}; x must not be 0, y must be −1 or +1, lam > 0")
    a = float(y * x)  # the slope of the score's margin in w
    alpha_star = min(1.0, lam / a**2)
    w_star = alpha_star * a / lam
    value = alpha_star - alpha_star**2 * a**2 / (2 * lam)
    kink, furthest = 1.0 / a, a / lam
    ends = np.array([0.0, kink, furthest, w_star])
    spread = float(np.ptp(ends))
    w = np.linspace(ends.min() - 0.45 * spread, ends.max() + 0.45 * spread, 301)
    alpha = np.linspace(0.0, 1.0, 201)
    G = 0.5 * lam * w**2 + alpha[:, None] * (1.0 - a * w)
    primal = 0.5 * lam * w**2 + np.maximum(0.0, 1.0 - a * w)
    dual = alpha - alpha**2 * a**2 / (2 * lam)
    best_w = alpha * a / lam
    before, after = (w[0], w[-1]) if a > 0 else (w[-1], w[0])
    best_alpha = np.array([[before, 1.0], [kink, 1.0], [kink, 0.0], [after, 0.0]])
    figure, panels, own = axes_for(axes, 3, (12.0, 4.4), columns=columns)
    plane, left, right = panels
    _draw_contours(plane, w, alpha, G, value)
    over_w: dict[str, Any] = {"color": BLUE, "linewidth": 2.2, "linestyle": DUAL}
    over_alpha: dict[str, Any] = {"color": VERMILLION, "linewidth": 2.2, "linestyle": PRIMAL}
    point: dict[str, Any] = {"color": BLACK, "marker": "o", "fillstyle": "none", "markersize": 12, "linestyle": "none"}
    point["markeredgewidth"] = 1.8
    plane.plot(*best_alpha.T, **over_alpha, zorder=3.0)
    plane.plot(best_w, alpha, **over_w, zorder=3.1)
    plane.plot([w_star], [alpha_star], **point, zorder=4.0, clip_on=False)
    plane.set(xlim=(w[0], w[-1]), ylim=(-0.04, 1.04), xlabel="w", ylabel="α")
    left.plot(w, primal, **over_alpha)
    left.set(xlim=(w[0], w[-1]), xlabel="w", ylabel="value")
    right.plot(alpha, dual, **over_w)
    right.set(xlim=(-0.04, 1.04), xlabel="α", ylabel="value")
    low = min(0.0, float(dual.min())) - 0.1
    high = max(1.05, value + 1.2 * (value - low))
    for ax, at in ((left, w_star), (right, alpha_star)):
        ax.axhline(value, color=BLACK, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1.0)
        ax.plot([at], [value], **point, zorder=4.0, clip_on=False)
        ax.set_ylim(low, high + 0.1 * (high - low))
    title(plane, "G(w, α) = (λ/2) w² + α(1 − y x w)", [f"x = {number(x)}, y = {number(y)}, λ = {number(lam)}"], own)
    title(left, "primal: max over α of G(w, α)", [f"smallest at w = {number(w_star)}: {number(value)}"], own)
    title(right, "dual: min over w of G(w, α)", [f"largest at α = {number(alpha_star)}: {number(value)}"], own)
    handles = [
        Line2D([], [], **over_alpha, label="maximiser over α for each w"),
        Line2D([], [], **over_w, label="minimiser over w for each α"),
        Line2D([], [], **{**point, "markersize": 9}, label="saddle point"),
        Line2D([], [], color="0.5", linewidth=0.8, label="contours of G"),
    ]
    legend(panels, [handles], own)
    return SaddleDisplay(
        figure, panels, w, alpha, G, best_w, best_alpha, primal, dual, (float(w_star), float(alpha_star)), float(value)
    )


def _draw_contours(plane: Axes, w: np.ndarray, alpha: np.ndarray, G: np.ndarray, value: float) -> None:
    """Levels evenly spread over the values in the picture; the level of the saddle point itself crosses there."""
    steps = value + float(np.ptp(G)) * np.array([-0.12, -0.08, -0.04, -0.015, 0.015, 0.04, 0.08, 0.15, 0.25, 0.4, 0.6])
    plane.contourf(w, alpha, G, steps, colors=[str(shade) for shade in np.linspace(0.99, 0.8, 12)], extend="both")
    contours = plane.contour(w, alpha, G, np.sort(np.r_[steps, value]), colors="0.5", linewidths=0.8)
    labelled = [level for level in contours.levels if level != value][::2]
    plane.clabel(contours, labelled, fontsize=8.0, fmt=lambda level: number(round(float(level), 2)))
