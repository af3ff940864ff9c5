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

from maxmargin import plots
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
    kinds = [style.KINDS[kind] for kind in ("outside", "candidate", "bound", "free")]
    assert len({(kind.filled, kind.edged) for kind in kinds}) == 4
    assert len({str(level) for level in (style.HYPERPLANE, style.UPPER, style.LOWER)}) == 3


def test_the_two_classes_shade_equally_dark_in_grey():
    """In black and white the shading must not say that one class is worth more than the other."""
    grey = np.array([0.299, 0.587, 0.114])
    ends = [np.array(style.shading()(value)[:3]) @ grey for value in (0.0, 1.0)]
    assert abs(ends[0] - ends[1]) < 0.08
    assert all(np.array(to_rgb(colour)) @ grey < 0.85 for colour in style.RUN_COLOURS)
