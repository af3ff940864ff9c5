"""The package as a whole: light to import, clear without matplotlib, and no trace left in pyplot."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from maxmargin import Problem, plots, solve
from maxmargin.errors import InvalidInput
from maxmargin.plots import style

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.compiled]


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


def test_the_package_is_imported_without_matplotlib():
    done = run("import sys, maxmargin; maxmargin.solve, maxmargin.Problem; sys.exit('matplotlib' in sys.modules)")
    assert done.returncode == 0, done.stderr


def test_without_matplotlib_one_sentence_says_how_to_install_it():
    done = run("import sys; sys.modules['matplotlib'] = None; import maxmargin.plots")
    last = done.stderr.strip().splitlines()[-1]
    assert last.endswith("MissingExtra: matplotlib is not installed; run: pip install 'maxmargin[plot]'")


def test_figures_are_not_left_in_pyplot(overlapping):
    import matplotlib.pyplot as plt

    before = dict(mpl.rcParams)
    plots.boundary(overlapping)
    plots.convergence(overlapping)
    plots.lagrangian()
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == before, "the user's own style is as it was"


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_figures_are_saved_in_three_formats(overlapping, tmp_path, ending):
    path = plots.boundary(overlapping, resolution=30).save(tmp_path / f"figure.{ending}", dpi=60)
    assert path.stat().st_size > 5000


def test_a_notebook_shows_a_display(overlapping):
    assert plots.boundary(overlapping, resolution=10)._repr_png_().startswith(b"\x89PNG")


def test_displays_are_frozen_and_know_their_figure(overlapping):
    display = plots.convergence(overlapping)
    assert all(ax.figure is display.figure for ax in display.axes)
    with pytest.raises(FrozenInstanceError):
        display.figure = None


def every(display):
    yield display
    for kind in display.__subclasses__():
        yield from every(kind)


def test_a_display_prints_in_one_line(overlapping, moons):
    for display in (plots.boundary(overlapping), plots.convergence(overlapping), plots.support(overlapping)):
        text = repr(display)
        assert text.startswith(type(display).__name__) and "panel" in text and len(text) < 100
    assert repr(plots.convergence(overlapping)) == "ConvergenceDisplay(3 panels, 10.8 × 3.9 inches)"
    for kind in every(plots.Display):
        assert kind.__repr__ is plots.Display.__repr__, kind


@pytest.mark.parametrize("columns", [1, 2])
def test_panels_in_columns(overlapping, moons, clouds, columns, fits):
    X, y = clouds(30, 1.0)
    path = [solve(Problem(X, y, C=C), tol=1e-3) for C in (0.1, 1.0)]
    shown = [
        plots.convergence(overlapping, columns=columns),
        plots.support(overlapping, columns=columns),
        plots.path([0.1, 1.0], path, columns=columns),
        plots.losses(columns=columns),
        plots.lagrangian(columns=columns),
        plots.saddle(columns=columns),
        plots.grid_of({"one": overlapping, "two": moons}, columns=columns),
    ]
    for display in shown:
        across = display.axes[0].get_subplotspec().get_gridspec().ncols
        assert across == min(columns, len(display.axes))
        if columns == 1:
            assert display.figure.get_figwidth() == pytest.approx(4.2), "readable at 400 pixels"
        fits(display)


def test_single_panels_fit_a_narrow_screen(overlapping, moons, separable, fits):
    shown = [
        plots.boundary(overlapping, slack=True, size=(4.2, 5.0)),
        plots.boundary(moons, size=(4.2, 5.0)),
        plots.hulls(separable, size=(4.2, 5.4)),
        plots.kkt(overlapping, size=(4.2, 4.8)),
        plots.race(overlapping, size=(4.2, 4.4)),
        plots.conjugate(size=(4.2, 4.4)),
        plots.descent(overlapping, size=(4.2, 5.0)),
    ]
    for display in shown:
        assert tuple(display.figure.get_size_inches()) == pytest.approx((4.2, display.figure.get_figheight()))
        fits(display)


def test_columns_and_sizes_that_make_no_sense(overlapping):
    with pytest.raises(InvalidInput, match="columns is 0"):
        plots.convergence(overlapping, columns=0)
    with pytest.raises(InvalidInput, match="columns is 'two'"):
        plots.grid_of({"one": overlapping}, columns="two")
    with pytest.raises(InvalidInput, match="width and a height"):
        plots.boundary(overlapping, size=(4.2, 0.0))
    with pytest.raises(InvalidInput, match="axes of your own"):
        plots.boundary(overlapping, ax=Figure().subplots(), size=(4.2, 4.2))


def test_axes_of_ones_own_are_used_and_get_their_legend_below(overlapping, moons, fits):
    figure = Figure(figsize=(11, 10))  # without a layout engine: the first legend brings one
    axes = figure.subplots(2, 3)
    shown = [plots.boundary(overlapping, ax=axes[0, 0]), plots.boundary(moons, ax=axes[0, 1], title="two moons")]
    shown += [plots.conjugate(ax=axes[0, 2]), plots.convergence(overlapping, axes=axes[1])]
    assert all(display.figure is figure for display in shown)
    assert axes[0, 1].get_title(loc="left") == "two moons"
    fits(shown[0])


def test_nothing_is_said_by_colour_alone():
    assert len({style.class_marker(code) for code in range(10)}) == 10
    assert len({(style.class_marker(code), style.class_colour(code)) for code in range(100)}) == 100
    looks = [style.run_style(position) for position in range(72)]
    assert len({(look["color"], look["marker"]) for look in looks}) == 72
    assert len({(look["marker"], str(look["linestyle"])) for look in looks}) == 72, "without colours, too"
    kinds = [style.KINDS[kind] for kind in ("outside", "candidate", "bound", "free")]
    assert len({(kind.filled, kind.edged) for kind in kinds}) == 4
    assert len({str(level) for level in (style.HYPERPLANE, style.UPPER, style.LOWER)}) == 3


def test_the_two_classes_shade_equally_dark_in_grey():
    """In black and white the shading must not say that one class is worth more than the other."""
    grey = np.array([0.299, 0.587, 0.114])
    ends = [np.array(style.shading()(value)[:3]) @ grey for value in (0.0, 1.0)]
    assert abs(ends[0] - ends[1]) < 0.08
    assert all(np.array(to_rgb(colour)) @ grey < 0.85 for colour in style.RUN_COLOURS)
