"""Curves over a run: what is drawn is what the trace holds, and what a logarithm cannot show is said."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from maxmargin import Problem, plots, solve
from maxmargin.errors import InvalidInput
from maxmargin.plots.racing import spread

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.compiled]


@pytest.fixture(scope="module")
def several(clouds):
    """Eight solvers on one problem, most of which end at the same tolerance."""
    X, y = clouds(60, 1.0)
    problem = Problem(X, y, C=1.0, bias="augmented")
    names = (
        "coordinate-ascent",
        "frank-wolfe",
        "gradient-ascent",
        "accelerated-gradient",
        "stochastic-ascent",
        "penalty",
        "pegasos",
        "subgradient",
    )
    return {name: solve(problem, solver=name, tol=1e-3, every=1, max_iter=300) for name in names}


@pytest.mark.parametrize("against", ["iterations", "seconds"])
def test_curves_are_the_columns_of_the_trace(overlapping, against, fits):
    display = plots.convergence(overlapping, against=against)
    trace = overlapping.trace
    x = trace["iteration" if against == "iterations" else "seconds"]
    drawn = [line.get_data() for ax in display.axes for line in ax.lines]
    for (where, values), column in zip(drawn, ("primal", "dual", "gap", "accuracy"), strict=True):
        np.testing.assert_array_equal(where, x)
        np.testing.assert_array_equal(values, trace[column])
    assert display.axes[1].get_yscale() == "log"
    fits(display)


def test_several_runs_share_the_axes(several, legend_texts, fits):
    display = plots.convergence(several)
    assert len(display.axes[1].lines) == len(several)
    assert [text for text in legend_texts(display) if text in several] == list(several)
    looks = {(line.get_color(), line.get_marker()) for line in display.axes[1].lines}
    assert len(looks) == len(several)
    fits(display)


def test_runs_of_one_solver_are_numbered(overlapping):
    display = plots.convergence([overlapping, overlapping])
    assert list(display.gap) == ["coordinate-ascent (1)", "coordinate-ascent (2)"]


def test_a_regression_has_no_accuracy(regression, fits):
    display = plots.convergence(regression)
    assert len(display.axes) == 2 and np.isnan(display.accuracy["smo"]).all()
    figure = Figure(figsize=(9, 3), layout="constrained")
    given = plots.convergence(regression, axes=figure.subplots(1, 3))
    assert "no accuracy" in given.axes[2].texts[0].get_text().replace("\n", " ")
    fits(given)


def test_an_infinite_primal_is_not_drawn_but_said(inseparable, clouds, legend_texts, fits):
    assert np.isinf(inseparable.trace["gap"]).all()
    display = plots.convergence(inseparable)
    assert "infinite throughout" in display.axes[1].texts[0].get_text().replace("\n", " ")
    assert "smo (P = ∞ throughout)" in legend_texts(display)
    fits(display)
    # The direction that separates is the small one: it takes a while until a hyperplane separates.
    _, y = clouds(60, 0.0)
    rng = np.random.default_rng(0)
    X = np.column_stack([10.0 * rng.normal(size=60), 0.3 * y + 0.05 * rng.normal(size=60)])
    started = solve(Problem(X, y, C=np.inf), solver="accelerated-gradient", tol=1e-3, every=1, max_iter=150)
    finite = np.isfinite(started.trace["primal"])
    assert finite.any() and not finite[0]
    late = plots.convergence(started)
    assert any("P = ∞ before" in text for text in legend_texts(late))
    np.testing.assert_array_equal(np.isfinite(late.axes[1].lines[0].get_ydata()), finite)


def test_a_single_look_is_a_point(clouds, fits):
    X, y = clouds(30, 1.0)
    result = solve(Problem(X, y, C=1.0), solver="qp", tol=1e-6)
    assert len(result.trace) == 1
    for display in (plots.convergence(result), plots.support(result), plots.race(result)):
        fits(display)


def test_a_gap_of_zero_is_drawn_at_a_floor_and_said(fits):
    result = solve(Problem([[0.0, 0.0], [1.0, 0.0]], [0, 1], C=1.0), "smo", tol=1e-8, every=1)
    display = plots.convergence(result)
    if (display.gap["smo"] == 0).any():
        assert "0 is drawn at" in display.axes[1].get_title(loc="left")
    fits(display)


def test_the_race_draws_the_best_gap_so_far(several, fits):
    display = plots.race(several, tol=1e-3)
    for line, (name, result) in zip(display.axes[0].lines, several.items(), strict=False):
        np.testing.assert_allclose(line.get_ydata(), np.fmin.accumulate(result.trace["relative_gap"]))
        np.testing.assert_array_equal(display.x[name], result.trace["seconds"])
    assert display.axes[0].lines[len(several)].get_ydata()[0] == 1e-3
    fits(display)


@pytest.mark.parametrize("against", ["seconds", "iterations"])
def test_the_names_in_a_race_never_collide(several, against, fits):
    many = {f"{name} {k}": result for name, result in several.items() for k in range(2)}
    display = plots.race(many, against=against)
    fits(display)
    renderer = FigureCanvasAgg(display.figure).get_renderer()
    # Of the words alone: an annotation counts its leader, too.
    boxes = [Text.get_window_extent(text, renderer) for text in display.axes[0].texts]
    assert len(boxes) == len(many)
    for i, one in enumerate(boxes):
        for other in boxes[i + 1 :]:
            assert one.y0 >= other.y1 - 1 or other.y0 >= one.y1 - 1, "two names overlap"


def test_a_race_without_a_finite_gap_says_so(inseparable, fits):
    display = plots.race(inseparable)
    assert "no run has a finite gap" in display.axes[0].texts[0].get_text()
    fits(display)


def test_labels_move_no_further_than_they_must():
    rng = np.random.default_rng(0)
    for count in (1, 2, 7, 20):
        wanted = rng.choice([0.0, 0.2, 0.25, 1.0], count) + 1e-3 * rng.normal(size=count)
        heights = spread(wanted, 0.04)
        order = np.argsort(wanted, kind="stable")
        assert (np.diff(heights[order]) >= 0.04 - 1e-12).all()
        assert heights.min() >= 0 and heights.max() <= 1
    np.testing.assert_allclose(spread(np.array([0.9, 0.1, 0.5]), 0.04), [0.9, 0.1, 0.5])


def test_a_wrong_question_gets_one_clear_sentence(overlapping):
    with pytest.raises(InvalidInput, match="against is 'days'"):
        plots.convergence(overlapping, against="days")
    with pytest.raises(InvalidInput, match="no results"):
        plots.race({})
    with pytest.raises(InvalidInput, match="3 matplotlib Axes"):
        plots.convergence(overlapping, axes=[Figure().subplots()])
