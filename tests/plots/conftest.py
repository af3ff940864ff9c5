"""Fits that the figures' tests share, and the check that nothing in a figure overlaps or is cut off."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.datasets import make_moons

from maxmargin import Problem, solve

if find_spec("matplotlib") is None:  # the extra "plot" is not installed: there is nothing to test
    collect_ignore_glob = ["test_*.py"]


def two_clouds(n, distance, d=2, seed=0):
    """Two classes of normal samples, `distance` on either side of the origin along the diagonal."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 1, 1, -1)
    return rng.normal(size=(n, d)) + distance * y[:, None] / np.sqrt(d), y


@pytest.fixture(scope="session")
def clouds():
    return two_clouds


@pytest.fixture(scope="session")
def overlapping():
    """A linear fit that was watched at every step."""
    X, y = two_clouds(120, 1.2)
    problem = Problem(X, y, C=1.0, bias="augmented")
    return solve(problem, solver="coordinate-ascent", tol=1e-7, every=1, snapshots=True)


@pytest.fixture(scope="session")
def separable():
    X, y = two_clouds(60, 4.0)
    return solve(Problem(X, np.where(y > 0, "yes", "no"), C=np.inf), tol=1e-8)


@pytest.fixture(scope="session")
def moons():
    X, y = make_moons(150, noise=0.2, random_state=0)
    problem = Problem(X, y, kernel="rbf", C=5.0, bias="augmented")
    return solve(problem, solver="coordinate-ascent", tol=1e-5, every=1, snapshots=True)


@pytest.fixture(scope="session")
def inseparable():
    """A hard margin that does not exist: the primal is infinite in every row of the trace."""
    X, y = two_clouds(60, 0.5)
    return solve(Problem(X, y, C=np.inf), "smo", tol=1e-6, every=1, snapshots=True, max_iter=1000)


@pytest.fixture(scope="session")
def regression():
    rng = np.random.default_rng(0)
    x = np.linspace(0.0, 6.0, 50)[:, None]
    t = np.sin(x[:, 0]) + 0.15 * rng.normal(size=50)
    problem = Problem(x, t, loss="epsilon-insensitive", kernel="rbf", C=10.0)
    return solve(problem, "smo", tol=1e-6, every=1, snapshots=True)


@pytest.fixture(scope="session")
def fits():
    """A function: lay out a display's figure and see that all of it is on the page and nothing is on something else."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    def check(display, slack=2.0):
        figure = display.figure
        renderer = FigureCanvasAgg(figure).get_renderer()
        figure.draw_without_rendering()
        page = figure.bbox
        boxes = [ax.get_tightbbox(renderer) for ax in figure.axes]
        legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes if ax.get_legend())]
        for box in [*boxes, *(legend.get_window_extent(renderer) for legend in legends)]:
            assert box.x0 >= page.x0 - slack and box.x1 <= page.x1 + slack, "cut off at a side"
            assert box.y0 >= page.y0 - slack and box.y1 <= page.y1 + slack, "cut off above or below"
        for i, one in enumerate(boxes):
            for other in boxes[i + 1 :]:
                assert not meet(one, other, slack), "two panels overlap"
        for legend in legends:
            box = legend.get_window_extent(renderer)
            for ax in figure.axes:
                assert not meet(box, ax.get_window_extent(renderer), slack), "a legend covers data"
            for ax in figure.axes:
                label = ax.xaxis.label
                if label.get_text():
                    assert not meet(box, label.get_window_extent(renderer), slack), "a legend covers a label"

    return check


def meet(a, b, slack):
    return min(a.x1, b.x1) - max(a.x0, b.x0) > slack and min(a.y1, b.y1) - max(a.y0, b.y0) > slack


@pytest.fixture(scope="session")
def legend_texts():
    """A function: the entries of a display's legend."""

    def texts(display):
        legends = [*display.figure.legends, *(ax.get_legend() for ax in display.axes if ax.get_legend())]
        return [text.get_text() for legend in legends for text in legend.get_texts() if text.get_text().strip()]

    return texts


@pytest.fixture(scope="session")
def drawn_lines():
    """A function: the level lines on an axes, read back from it, by level."""

    def lines(ax):
        found = {}
        for collection in ax.collections:
            if (collection.get_gid() or "").startswith("level "):
                found[float(collection.get_gid().split()[1])] = collection.get_segments()
        return found

    return lines
