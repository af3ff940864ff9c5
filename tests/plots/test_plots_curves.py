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
from maxmargin.plots.runs import above_floor
from maxmargin.result import COLUMNS
from maxmargin.solvers import ProjectedGradient

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


def test_a_run_that_never_comes_near_is_in_the_frame(clouds):
    X, y = clouds(60, 1.0)
    problem = Problem(X, y, C=1.0, bias="none")
    short = {"slow": 1e-5, "right": 1e-3}
    runs = {
        name: solve(problem, ProjectedGradient(step=step), tol=1e-6, max_iter=60, every=1)
        for name, step in short.items()
    }
    slow = runs["slow"].trace
    assert slow["relative_gap"].min() > 0.6
    low, high = plots.convergence(runs).axes[0].get_ylim()
    assert low < slow["dual"].max() and slow["primal"].min() < high


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
    assert "infinite: no feasible primal point" in display.axes[1].texts[0].get_text()
    assert "smo (P = ∞ throughout)" in [label.get_text() for label in display.axes[0].get_yticklabels()]
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


def test_a_single_look_is_its_numbers(clouds, fits):
    """A curve of one point says nothing: bars from 0, with the numbers beside them."""
    X, y = clouds(30, 1.0)
    problem = Problem(X, y, C=1.0)
    result = solve(problem, solver="qp", tol=1e-6)
    assert len(result.trace) == 1
    for columns in (None, 1):
        display = plots.convergence(result, columns=columns)
        values, gap, accuracy = display.axes
        assert not any(ax.lines for ax in display.axes)
        lengths = {patch.get_gid(): patch.get_width() for patch in values.patches}
        assert lengths == {"P": result.trace["primal"][0], "D": result.trace["dual"][0]}
        assert [text.get_text() for text in values.texts] == [
            f"P = {result.certificate.primal:.9g}",
            f"D = {result.certificate.dual:.9g}",
        ]
        assert "relative" in gap.texts[0].get_text() or "rounding" in gap.texts[0].get_text()
        assert accuracy.get_xlim() == (0.0, 1.0)
        assert accuracy.texts[0].get_text() == f"{result.trace['accuracy'][0]:.4g}"
        fits(display)
    for display in (plots.support(result), plots.race(result), plots.convergence({"a": result, "b": result})):
        fits(display)
    mixed = plots.convergence({"qp": result, "smo": solve(problem, "smo", tol=1e-6, every=1)})
    assert mixed.axes[1].lines
    fits(mixed)


def test_a_steady_accuracy_is_not_magnified(clouds, fits):
    X, y = clouds(60, 4.0)
    result = solve(Problem(X, y, C=1.0, bias="augmented"), "coordinate-ascent", tol=1e-6, every=1)
    assert np.ptp(result.trace["accuracy"]) < 0.02
    low, high = plots.convergence(result).axes[2].get_ylim()
    assert low < 0.5 and 1.0 < high < 1.1


def test_rounding_noise_is_drawn_at_a_floor_and_said(clouds, fits):
    X, y = clouds(60, 1.0)
    result = solve(Problem(X, y, C=1.0), "smo", tol=1e-9, every=1)
    gap, relative_gap = COLUMNS.index("gap"), COLUMNS.index("relative_gap")
    last = list(result.trace.rows[-1])
    for k, share in enumerate((1e-15, 0.0, 3e-17)):  # how far a run comes depends on the processor: add its last looks
        last[0] += k
        last[gap], last[relative_gap] = share * result.certificate.primal, share
        result.trace.rows.append(tuple(last))
    display = plots.convergence(result)
    relative = result.trace["gap"] / result.certificate.primal
    (line,) = display.axes[1].lines
    drawn = line.get_ydata()
    assert (relative <= 1e-14).sum() >= 3 and (relative > 1e-14).any()
    floor = 1e-14 * result.certificate.primal
    np.testing.assert_allclose(drawn[relative <= 1e-14], floor)
    np.testing.assert_array_equal(drawn[relative > 1e-14], result.trace["gap"][relative > 1e-14])
    assert f"rounding noise is drawn at {floor:.0e}" in display.axes[1].get_title(loc="left").replace("\n", " ")
    fits(display)
    assert plots.race(result).axes[0].lines[0].get_ydata().min() >= 1e-14


def test_values_for_a_logarithmic_axis():
    (lifted, other), note = above_floor([np.array([1.0, 1e-16, 0.0]), np.array([2.0])], [1e-12, 1e-13])
    np.testing.assert_array_equal(lifted, [1.0, 1e-12, 1e-12])
    assert other[0] == 2.0 and note == "rounding noise is drawn at 1e-12"
    (lifted,), note = above_floor([np.array([1.0, 1e-3, 0.0])], 0.0)
    assert lifted[2] == pytest.approx(1e-4) and note == "0 is drawn at 1e-04"
    assert above_floor([np.array([1.0])], 1e-14)[1] == ""


def test_the_race_draws_the_best_gap_so_far(several, fits):
    display = plots.race(several, tol=1e-3)
    for line, (name, result) in zip(display.axes[0].lines, several.items(), strict=False):
        np.testing.assert_allclose(line.get_ydata(), np.fmin.accumulate(result.trace["relative_gap"]))
        np.testing.assert_array_equal(display.x[name], result.trace["seconds"])
    assert display.axes[0].lines[len(several)].get_ydata()[0] == 1e-3
    fits(display)


def test_a_constant_factor_per_iteration_is_a_straight_line_on_a_linear_axis(several, fits):
    display = plots.race(several, against="iterations", x_scale="linear")
    assert display.axes[0].get_xscale() == "linear" and display.axes[0].get_yscale() == "log"
    for line, result in zip(display.axes[0].lines, several.values(), strict=False):
        np.testing.assert_array_equal(line.get_xdata(), result.trace["iteration"])
    fits(display)
    assert plots.race(several).axes[0].get_xscale() == "log"
    with pytest.raises(InvalidInput, match="x_scale is 'sqrt'"):
        plots.race(several, x_scale="sqrt")


def test_no_two_of_twenty_curves_look_alike(several):
    many = {f"{name} {k}": result for name, result in several.items() for k in range(3)}
    assert len(many) >= 20
    lines = plots.race(many).axes[0].lines
    curves, keys = lines[: len(many)], [line for line in lines if line.get_gid() == "key"]
    assert len(keys) == len(many), "each name has a piece of its line beside it"
    for drawn in (curves, keys):
        looks = [(line.get_color(), line.get_marker(), str(line._dash_pattern)) for line in drawn]
        assert len(set(looks)) == len(many)
        assert len({look[1:] for look in looks}) == len(many), "in black and white, too"


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
