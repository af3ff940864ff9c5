"""The pictures of the theory: losses with slopes and conjugates, one conjugate, and a Lagrangian with its dual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from maxmargin.losses import Loss
from maxmargin.losses import loss as loss_by_name
from maxmargin.plots.display import Display, axes_for
from maxmargin.plots.style import (
    BLACK,
    BLUE,
    DUAL,
    GREEN,
    GREY,
    RUN_COLOURS,
    VERMILLION,
    legend,
    number,
    styled,
    title,
)

#: The losses of the sources.
USUAL = ("hinge", "squared-hinge", "least-squares", "logistic")
#: One dash pattern a loss, so that a black-and-white print tells them apart.
DASHES: tuple[Any, ...] = (
    "-",
    (0, (6, 2)),
    (0, (1.5, 1.5)),
    (0, (6, 2, 1.5, 2)),
    (0, (3, 1.5)),
    (0, (8, 2, 1.5, 2, 1.5, 2)),
)


@dataclass(frozen=True, eq=False)
class LossesDisplay(Display):
    """What `losses` drew for the target +1: values and slopes over z, conjugates over u (+inf off their domain)."""

    z: np.ndarray
    u: np.ndarray
    value: dict[str, np.ndarray]
    slope: dict[str, np.ndarray]
    conjugate: dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class ConjugateDisplay(Display):
    """What `conjugate` drew: the loss over z, the slope u, and where the line uz is furthest above the loss."""

    z: np.ndarray
    value: np.ndarray
    u: float
    #: ℓ*(u), infinite where the line outruns the loss.
    conjugate: float
    #: The point at which it is reached; NaN where there is none.
    at: float


@dataclass(frozen=True, eq=False)
class LagrangianDisplay(Display):
    """What `lagrangian` drew: f and L(·, λ) over x, and the dual function over λ."""

    x: np.ndarray
    f: np.ndarray
    L: dict[float, np.ndarray]
    multipliers: np.ndarray
    dual: np.ndarray


@styled
def losses(names: Sequence[str | Loss] | None = None, *, axes: Sequence[Axes] | None = None) -> LossesDisplay:
    """Draw losses of a score beside each other: their values, their slopes and their conjugates, for the target +1.

    Parameters
    ----------
    names : list of names or losses
        The four of the textbooks by default: hinge, squared hinge, least squares, logistic.
    axes : three matplotlib Axes
        Where to draw; a new figure by default.
    """
    chosen = [loss_by_name(name) for name in (USUAL if names is None else names)]
    kinks = [float(kink[0]) for loss in chosen for kink in loss.kinks(np.ones(1))]
    # The slope jumps at a kink: a point just before it and one just after make the jump a vertical line.
    z = np.unique(np.r_[np.linspace(-2.0, 3.0, 501), [kink + side * 1e-9 for kink in kinks for side in (-1, 0, 1)]])
    ends = [-float(end[0]) for loss in chosen for end in loss.bounds(np.ones(1), np.ones(1)) if np.isfinite(end[0])]
    u = np.unique(np.r_[np.linspace(-2.5, 1.5, 401), ends])
    value, slope, conjugate = {}, {}, {}
    for loss in chosen:
        value[loss.name] = loss.value(z, np.ones(len(z)))
        slope[loss.name] = loss.slope(z, np.ones(len(z)))
        conjugate[loss.name] = loss.conjugate(u, np.ones(len(u)))
    figure, panels, own = axes_for(axes, 3, (11.4, 4.0))
    looks: list[dict[str, Any]] = [
        {"color": RUN_COLOURS[k % 8], "linestyle": DASHES[k % 6], "linewidth": 1.9} for k in range(len(chosen))
    ]
    for loss, look in zip(chosen, looks, strict=True):
        panels[0].plot(z, value[loss.name], **look)
        panels[1].plot(z, slope[loss.name], **look)
        finite = np.isfinite(conjugate[loss.name])
        panels[2].plot(u[finite], conjugate[loss.name][finite], **look)
        # Where a domain ends, the conjugate stops with a dot; from there on it is infinite.
        for end in loss.bounds(np.ones(1), np.ones(1)):
            if np.isfinite(end[0]):
                stop = -end
                panels[2].plot(stop, loss.conjugate(stop, np.ones(1)), "o", color=look["color"], markersize=5)
    panels[0].set(ylim=(-0.15, 4.2), xlabel="score z, target +1", ylabel="ℓ(z)")
    panels[1].set(ylim=(-4.2, 2.2), xlabel="score z, target +1", ylabel="ℓ′(z)")
    panels[2].set(ylim=(-1.3, 2.2), xlabel="slope u", ylabel="ℓ*(u)")
    title(panels[0], "loss: what a score costs", (), own)
    title(panels[1], "slope: how hard it pulls", ["at a kink any slope between is one"], own)
    title(panels[2], "conjugate: the dual's side of it", ["beyond a dot it is infinite"], own)
    for ax in panels:
        ax.axhline(0.0, color=GREY, linewidth=0.6, zorder=0.5)
        ax.axvline(0.0, color=GREY, linewidth=0.6, zorder=0.5)
    handles = [Line2D([], [], **look, label=loss.name) for loss, look in zip(chosen, looks, strict=True)]
    legend(panels, [handles], own)
    return LossesDisplay(figure, panels, z, u, value, slope, conjugate)


@styled
def conjugate(loss: str | Loss = "hinge", u: float = -0.5, *, ax: Axes | None = None) -> ConjugateDisplay:
    """Draw a loss, the line of slope u, and the conjugate ℓ*(u) = max uz − ℓ(z): how far the line gets above the loss.

    Parameters
    ----------
    loss : str or Loss
        For the target +1.
    u : float
        The slope of the line.
    ax : matplotlib Axes
        Where to draw; a new figure by default.
    """
    chosen = loss_by_name(loss)
    one = np.ones(1)
    height = float(chosen.conjugate(np.array([float(u)]), one)[0])
    at = _furthest(chosen, float(u), height)
    reach = 1.0 + abs(at) if np.isfinite(at) else 1.0
    z = np.linspace(min(-2.0, -reach), max(3.0, reach), 501)
    value = chosen.value(z, np.ones(len(z)))
    figure, (ax,), own = axes_for(ax, 1, (6.4, 4.8))
    ax.plot(z, value, color=BLUE, linewidth=2.0, label=f"{chosen.name} loss ℓ(z)")
    ax.plot(z, u * z, color=VERMILLION, linestyle=DUAL, label=f"line uz of slope u = {number(u)}")
    notes = []
    if not np.isfinite(height):
        notes.append("the line leaves the loss behind: the gap has no bound, and ℓ*(u) = ∞")
    elif not np.isfinite(at):
        notes.append(f"ℓ*(u) = {number(height)} is approached and never reached: far out the line runs along the loss")
    else:
        ax.plot(z, u * z - height, color=GREEN, linestyle=":", linewidth=2.0, label="the same line, moved to touch ℓ")
        label = f"the largest gap, ℓ*(u) = {number(height)}"
        ends = [u * at, u * at - height]
        ax.plot([at, at], ends, color=BLACK, linewidth=2.6, solid_capstyle="butt", zorder=4.0, label=label)
        ax.plot([at], ends[1:], "o", color=BLACK, markersize=5, zorder=4.0)
        side = (
            f"{abs(height):.3g} {'above' if height > 0 else 'below'} the loss" if abs(height) > 1e-12 else "on the loss"
        )
        notes.append(f"at its best, z = {number(at)}, the line is {side}")
    ax.axhline(0.0, color=GREY, linewidth=0.6, zorder=0.5)
    ax.axvline(0.0, color=GREY, linewidth=0.6, zorder=0.5)
    room = 0.25 * float(np.quantile(value, 0.8)) + 0.5
    low = min(-room, u * at - 0.3, u * at - height - 0.3) if np.isfinite(at) else -room
    ax.set(xlim=(z[0], z[-1]), ylim=(low, float(np.quantile(value, 0.95)) + room), xlabel="score z, target +1")
    title(ax, "the conjugate: the largest of uz − ℓ(z)", notes, own)
    legend([ax], [[line for line in ax.lines if not str(line.get_label()).startswith("_")]], own)
    return ConjugateDisplay(figure, (ax,), z, value, float(u), height, at)


def _furthest(loss: Loss, u: float, height: float) -> float:
    """The z at which uz − ℓ(z) is ℓ*(u); NaN where there is none within reach."""
    from scipy.optimize import minimize_scalar

    def above(z: np.ndarray) -> np.ndarray:
        return u * z - loss.value(z, np.ones(len(z)))

    if not np.isfinite(height):
        return np.nan
    # A kink is the maximiser for a whole interval of slopes: try the kinks before anything else.
    kinks = np.array([float(kink[0]) for kink in loss.kinks(np.ones(1))])
    close = np.abs(above(kinks) - height) <= 1e-12 if kinks.size else np.zeros(0, bool)
    if close.any():
        return float(kinks[close][0])
    found = minimize_scalar(lambda z: -float(above(np.array([z]))[0]), bracket=(-1.0, 1.0), tol=1e-12)
    return float(found.x) if abs(found.x) < 30.0 and abs(-found.fun - height) <= 1e-9 else np.nan


@styled
def lagrangian(*, axes: Sequence[Axes] | None = None) -> LagrangianDisplay:
    """Draw the smallest example of duality: minimise f(x) = x² subject to x ≥ 1.

    The Lagrangian L(x, λ) = x² + λ(1 − x) has its minimum over x at λ/2, which is the dual function
    g(λ) = λ − λ²/4. Every g(λ) is below the constrained minimum f(1) = 1 (weak duality), and the largest of them,
    g(2), is equal to it (strong duality).

    Parameters
    ----------
    axes : two matplotlib Axes
        Where to draw; a new figure by default.
    """
    x = np.linspace(-1.0, 2.5, 351)
    f = x**2
    chosen = (0.0, 1.0, 2.0, 3.0)
    L = {multiplier: f + multiplier * (1.0 - x) for multiplier in chosen}
    multipliers = np.linspace(0.0, 4.0, 201)
    dual = multipliers - multipliers**2 / 4.0
    figure, (left, right), own = axes_for(axes, 2, (9.6, 4.6))
    optimum: dict[str, Any] = {
        "color": BLACK,
        "marker": "o",
        "fillstyle": "none",
        "markersize": 14,
        "linestyle": "none",
    }
    left.axvspan(1.0, x[-1], facecolor="0.94", edgecolor="0.8", hatch="//", linewidth=0.0, zorder=0.0)
    left.plot(x, f, color=BLACK, linewidth=2.4)
    handles = [Line2D([], [], color=BLACK, linewidth=2.4, label="f(x) = x²")]
    for k, multiplier in enumerate(chosen):
        lowest = multiplier / 2.0
        g = multiplier - multiplier**2 / 4.0
        look: dict[str, Any] = {"color": RUN_COLOURS[k], "marker": "osD^"[k]}
        if multiplier:  # L(x, 0) is f itself
            left.plot(x, L[multiplier], color=look["color"], linestyle=DASHES[k], linewidth=1.5)
        # The same marker in both panels: a minimum over x on the left is a value of g on the right.
        left.plot([lowest], [g], **look, markersize=7, markeredgecolor="white", zorder=4.0)
        right.plot([multiplier], [g], **look, markersize=7, markeredgecolor="white", zorder=4.0)
        label = f"L(x, {multiplier:g}), its minimum {g:g}"
        handles.append(Line2D([], [], **look, linestyle=DASHES[k] if multiplier else "none", label=label))
    left.plot([1.0], [1.0], **optimum)
    left.set(xlim=(x[0], x[-1]), ylim=(-0.6, 4.0), xlabel="x", ylabel="f and L")
    title(left, "minimise x² subject to x ≥ 1", ["L(x, λ) = x² + λ(1 − x) ≤ f(x) for x ≥ 1"], own)
    right.plot(multipliers, dual, color=BLUE, linewidth=2.2)
    right.axhline(1.0, color=BLACK, linestyle=DUAL, linewidth=1.2)
    right.plot([2.0], [1.0], **optimum)
    right.annotate("", (1.0, 1.0), (1.0, 0.75), arrowprops={"arrowstyle": "<->", "color": BLACK, "linewidth": 1.0})
    right.annotate("weak duality:\na gap of 0.25", (1.0, 0.75), (8, -14), textcoords="offset points", va="top")
    right.annotate("strong duality: g(2) = f(1) = 1", (2.0, 1.0), (0, 12), textcoords="offset points", ha="center")
    right.set(xlim=(-0.15, 4.15), ylim=(-0.15, 1.3), xlabel="multiplier λ", ylabel="dual function g")
    title(right, "maximise g(λ) = min L(x, λ) = λ − λ²/4", ["no g(λ) is above the dashed line, the minimum of f"], own)
    handles.append(Line2D([], [], **{**optimum, "markersize": 10}, label="the optimum"))
    handles.append(Line2D([], [], color=BLUE, linewidth=2.2, label="g(λ)"))
    area = Patch(facecolor="0.94", edgecolor="0.8", hatch="//", label="x ≥ 1: allowed")
    legend([left, right], [[*handles, area]], own)
    return LagrangianDisplay(figure, (left, right), x, f, L, multipliers, dual)
