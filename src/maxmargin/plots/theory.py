"""The pictures of the theory: losses with slopes and conjugates, one conjugate, and a Lagrangian with its dual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from maxmargin.errors import InvalidInput
from maxmargin.losses import Loss
from maxmargin.losses import loss as loss_by_name
from maxmargin.plots.display import Display, axes_for
from maxmargin.plots.style import (
    BLACK,
    BLUE,
    DASHES,
    DUAL,
    GREEN,
    GREY,
    RUN_COLOURS,
    RUN_MARKERS,
    VERMILLION,
    legend,
    loss_label,
    number,
    styled,
    title,
)

#: The losses of the sources.
USUAL = ("hinge", "squared-hinge", "least-squares", "logistic")


@dataclass(frozen=True, eq=False, repr=False)
class LossesDisplay(Display):
    """What `losses` drew for the target +1: values and slopes over z, conjugates over u (+inf off their domain)."""

    z: np.ndarray
    u: np.ndarray
    value: dict[str, np.ndarray]
    slope: dict[str, np.ndarray]
    conjugate: dict[str, np.ndarray]


@dataclass(frozen=True, eq=False, repr=False)
class ConjugateDisplay(Display):
    """What `conjugate` drew: the loss over z, the slope u, and where the line uz is furthest above the loss."""

    z: np.ndarray
    value: np.ndarray
    u: float
    #: ℓ*(u), infinite where the line outruns the loss.
    conjugate: float
    #: The point at which it is reached; NaN where there is none.
    at: float


@dataclass(frozen=True, eq=False, repr=False)
class LagrangianDisplay(Display):
    """What `lagrangian` drew: f and L(·, λ) over x, and the dual function over λ."""

    x: np.ndarray
    f: np.ndarray
    L: dict[float, np.ndarray]
    multipliers: np.ndarray
    dual: np.ndarray


@styled
def losses(
    names: Sequence[str | Loss] | None = None, *, axes: Sequence[Axes] | None = None, columns: int | None = None
) -> LossesDisplay:
    """Draw losses of a score beside each other: their values, their slopes and their conjugates, for the target +1.

    Parameters
    ----------
    names : list of names or losses
        The four of the textbooks by default: hinge, squared hinge, least squares, logistic.
    axes : three matplotlib Axes
        Where to draw; a new figure by default.
    columns : int
        Columns of a new figure; side by side by default, 1 for a narrow screen.

    Examples
    --------
    >>> from maxmargin import plots
    >>> len(plots.losses(["hinge", "logistic"]).axes)  # values, slopes, conjugates
    3
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
    figure, panels, own = axes_for(axes, 3, (11.4, 4.0), columns=columns)
    looks: list[dict[str, Any]] = [
        {"color": RUN_COLOURS[k % len(RUN_COLOURS)], "linestyle": DASHES[k % len(DASHES)], "linewidth": 1.9}
        for k in range(len(chosen))
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
    title(panels[0], "loss ℓ(z)", (), own)
    title(panels[1], "derivative ℓ′(z)", ["a vertical line at a kink"], own)
    title(panels[2], "conjugate ℓ*(u)", ["infinite beyond a dot"], own)
    for ax in panels:
        ax.axhline(0.0, color=GREY, linewidth=0.6, zorder=0.5)
        ax.axvline(0.0, color=GREY, linewidth=0.6, zorder=0.5)
    handles = [Line2D([], [], **look, label=loss_label(loss)) for loss, look in zip(chosen, looks, strict=True)]
    legend(panels, [handles], own)
    return LossesDisplay(figure, panels, z, u, value, slope, conjugate)


@styled
def conjugate(
    loss: str | Loss = "hinge",
    u: float = -0.5,
    *,
    ax: Axes | None = None,
    size: tuple[float, float] | None = None,
) -> ConjugateDisplay:
    """Draw a loss, the line of slope u, and the conjugate ℓ*(u) = max uz − ℓ(z): how far the line gets above the loss.

    Parameters
    ----------
    loss : str or Loss
        For the target +1.
    u : float
        The slope of the line.
    ax : matplotlib Axes
        Where to draw; a new figure by default.
    size : pair of float
        Width and height of a new figure in inches; (6.4, 4.8) by default, (4.2, 4.4) suits a narrow screen.

    Examples
    --------
    >>> from maxmargin import plots
    >>> type(plots.conjugate("hinge", u=-0.5)).__name__
    'ConjugateDisplay'
    """
    chosen = loss_by_name(loss)
    one = np.ones(1)
    height = float(chosen.conjugate(np.array([float(u)]), one)[0])
    at = _furthest(chosen, float(u), height)
    reach = 1.0 + abs(at) if np.isfinite(at) else 1.0
    z = np.linspace(min(-2.0, -reach), max(3.0, reach), 501)
    value = chosen.value(z, np.ones(len(z)))
    figure, (ax,), own = axes_for(ax, 1, (6.4, 4.8), size=size)
    ax.plot(z, value, color=BLUE, linewidth=2.0, label=f"loss ℓ(z): {loss_label(chosen)}")
    ax.plot(z, u * z, color=VERMILLION, linestyle=DUAL, label=f"line uz of slope u = {number(u)}")
    notes = []
    if not np.isfinite(height):
        notes.append("uz − ℓ(z) has no upper bound: ℓ*(u) = ∞")
    elif not np.isfinite(at):
        notes.append(f"ℓ*(u) = {number(height)} is approached as |z| grows, and never reached")
    else:
        ax.plot(z, u * z - height, color=GREEN, linestyle=":", linewidth=2.0, label="the tangent of slope u")
        label = f"largest difference, ℓ*(u) = {number(height)}"
        ends = [u * at, u * at - height]
        ax.plot([at, at], ends, color=BLACK, linewidth=2.6, solid_capstyle="butt", zorder=4.0, label=label)
        ax.plot([at], ends[1:], "o", color=BLACK, markersize=5, zorder=4.0)
        side = (
            f"{abs(height):.3g} {'above' if height > 0 else 'below'} the loss" if abs(height) > 1e-12 else "on the loss"
        )
        notes.append(f"at z = {number(at)} the line is {side}")
    ax.axhline(0.0, color=GREY, linewidth=0.6, zorder=0.5)
    ax.axvline(0.0, color=GREY, linewidth=0.6, zorder=0.5)
    room = 0.25 * float(np.quantile(value, 0.8)) + 0.5
    low = min(-room, u * at - 0.3, u * at - height - 0.3) if np.isfinite(at) else -room
    ax.set(xlim=(z[0], z[-1]), ylim=(low, float(np.quantile(value, 0.95)) + room), xlabel="score z, target +1")
    title(ax, "conjugate: ℓ*(u) = max over z of uz − ℓ(z)", notes, own)
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
def lagrangian(
    multipliers: Sequence[float] = (0.0, 1.0, 2.0, 3.0),
    bound: float = 1.0,
    *,
    axes: Sequence[Axes] | None = None,
    columns: int | None = None,
) -> LagrangianDisplay:
    """Draw the smallest example of duality: minimise f(x) = x² subject to x ≥ b.

    The Lagrangian L(x, λ) = x² + λ(b − x) has its minimum over x at λ/2, which is the dual function
    g(λ) = bλ − λ²/4. Every g(λ) is below the constrained minimum of f (weak duality), and the largest of them is
    equal to it (strong duality): at λ = 2b, or at 0 where b ≤ 0 and the constraint does not matter.

    Parameters
    ----------
    multipliers : list of float
        The λ ≥ 0 whose Lagrangians are drawn.
    bound : float
        The b of the constraint x ≥ b.
    axes : two matplotlib Axes
        Where to draw; a new figure by default.
    columns : int
        Columns of a new figure; side by side by default, 1 for a narrow screen.

    Examples
    --------
    >>> from maxmargin import plots
    >>> type(plots.lagrangian(multipliers=(0, 1, 2, 3), bound=1.0)).__name__
    'LagrangianDisplay'
    """
    chosen = [float(multiplier) for multiplier in multipliers]
    b = float(bound)
    if not chosen or not np.isfinite(b) or not all(0.0 <= multiplier < np.inf for multiplier in chosen):
        raise InvalidInput(f"multipliers is {multipliers!r} and bound is {bound!r}; both finite, and multipliers ≥ 0")
    x_star, best = max(b, 0.0), max(2.0 * b, 0.0)
    optimum = x_star**2
    reach = max(1.0, abs(b), max(chosen) / 2.0)
    ends = min(0.0, b, x_star) - reach, max(x_star, max(chosen) / 2.0) + reach
    x = np.unique(np.r_[np.linspace(*ends, 401), b, x_star, np.array(chosen) / 2.0])
    f = x**2
    L = {multiplier: f + multiplier * (b - x) for multiplier in chosen}
    most = max(4.0 * x_star, 1.2 * max(chosen), 1.0)
    values = np.unique(np.r_[np.linspace(0.0, most, 201), best])
    dual = b * values - values**2 / 4.0
    figure, (left, right), own = axes_for(axes, 2, (9.6, 4.6), columns=columns)
    ring: dict[str, Any] = {"color": BLACK, "marker": "o", "fillstyle": "none", "markersize": 14, "linestyle": "none"}
    left.axvspan(b, x[-1], facecolor="0.94", edgecolor="0.8", hatch="//", linewidth=0.0, zorder=0.0)
    left.plot(x, f, color=BLACK, linewidth=2.4)
    handles = [Line2D([], [], color=BLACK, linewidth=2.4, label="f(x) = x²")]
    lowest = [b * multiplier - multiplier**2 / 4.0 for multiplier in chosen]
    handles += _draw_lagrangians(left, right, x, [L[multiplier] for multiplier in chosen], chosen, lowest)
    left.plot([x_star], [optimum], **ring)
    spread = max(1.0, optimum - min(0.0, *lowest))
    low, high = min(0.0, *lowest) - 0.15 * spread, optimum + 2.2 * spread
    left.set(xlim=(x[0], x[-1]), ylim=(low, high), xlabel="x", ylabel="f and L")
    constraint = f"x ≥ {number(b)}"
    title(
        left, f"minimise x² subject to {constraint}", [f"L(x, λ) = x² + λ({_minus_x(b)}) ≤ f(x) for {constraint}"], own
    )
    right.plot(values, dual, color=BLUE, linewidth=2.2)
    right.axhline(optimum, color=BLACK, linestyle=DUAL, linewidth=1.2)
    right.plot([best], [optimum], **ring, clip_on=False)
    inner = [value for value in (*chosen, optimum) if np.isfinite(value)]
    floor = min(0.0, *lowest) if b > 0 else float(np.interp(max(chosen), values, dual))
    height = max(optimum - floor, 1e-3 * max(map(abs, inner), default=1.0), 0.25 * max(1.0, optimum) if b > 0 else 0.5)
    right.set(xlim=(-0.04 * most, 1.04 * most), ylim=(floor - 0.12 * height, optimum + 0.3 * height))
    right.set(xlabel="multiplier λ", ylabel="dual function g")
    _mark_duality(right, chosen, lowest, best, optimum, most, height)
    formula = f"{'' if b == 1 else number(b)}λ − λ²/4" if b else "−λ²/4"
    title(right, f"maximise g(λ) = min L(x, λ) = {formula}", ["dashed: the minimum of f, above every g(λ)"], own)
    handles.append(Line2D([], [], **{**ring, "markersize": 10}, label="optimum"))
    handles.append(Line2D([], [], color=BLUE, linewidth=2.2, label="g(λ)"))
    area = Patch(facecolor="0.94", edgecolor="0.8", hatch="//", label=f"feasible: {constraint}")
    legend([left, right], [[*handles, area]], own)
    return LagrangianDisplay(figure, (left, right), x, f, L, values, dual)


def _draw_lagrangians(
    left: Axes,
    right: Axes,
    x: np.ndarray,
    curves: Sequence[np.ndarray],
    multipliers: Sequence[float],
    lowest: Sequence[float],
) -> list[Line2D]:
    """Each Lagrangian and its minimum, which is a value of g: the same marker in both panels."""
    handles = []
    for k, (multiplier, values, g) in enumerate(zip(multipliers, curves, lowest, strict=True)):
        look: dict[str, Any] = {
            "color": RUN_COLOURS[k % len(RUN_COLOURS)],
            "marker": RUN_MARKERS[k % len(RUN_MARKERS)],
        }
        dashes = DASHES[k % len(DASHES)]
        if multiplier:  # L(x, 0) is f itself
            left.plot(x, values, color=look["color"], linestyle=dashes, linewidth=1.5)
        left.plot([multiplier / 2.0], [g], **look, markersize=7, markeredgecolor="white", zorder=4.0)
        right.plot([multiplier], [g], **look, markersize=7, markeredgecolor="white", zorder=4.0)
        label = f"L(x, {number(multiplier)}), minimum {number(g)}"
        handles.append(Line2D([], [], **look, linestyle=dashes if multiplier else "none", label=label))
    return handles


def _minus_x(b: float) -> str:
    return f"{number(b)} − x" if b else "−x"


def _mark_duality(
    ax: Axes, chosen: Sequence[float], lowest: Sequence[float], best: float, optimum: float, most: float, height: float
) -> None:
    """Write where duality is strong, and the gap of the multiplier that shows a weak one best."""
    right_half = best > 0.6 * most
    text = f"strong duality: g({number(best)}) = {number(optimum)}"
    side = "right" if right_half else "left" if best < 0.3 * most else "center"
    ax.annotate(text, (best, optimum), (0, 12), textcoords="offset points", ha=side)
    gaps = [(optimum - g, multiplier, g) for multiplier, g in zip(chosen, lowest, strict=True)]
    visible = sorted(gap for gap in gaps if gap[0] > 0.12 * height and gap[1] > 0)
    if visible:
        gap, at, g = visible[0]
        ax.annotate("", (at, optimum), (at, g), arrowprops={"arrowstyle": "<->", "color": BLACK, "linewidth": 1.0})
        words = f"weak duality:\na gap of {number(gap)}"
        # Below the curve, which falls to the left of its maximum and to the right of it.
        beside: dict[str, Any] = (
            {"xytext": (8, -14), "ha": "left"} if at < best else {"xytext": (-8, -14), "ha": "right"}
        )
        ax.annotate(words, (at, g), **beside, textcoords="offset points", va="top")
