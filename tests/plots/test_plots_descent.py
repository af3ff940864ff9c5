"""Contours of the primal and the paths over them; boundaries side by side; the violation of the penalty method."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin import Problem, plots, solve
from maxmargin.errors import InvalidInput
from maxmargin.problem.landscape import primal_at
from maxmargin.solvers import Penalty

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.compiled]


def title_of(display, number=0):
    return display.axes[number].get_title(loc="left").replace("\n", " ")


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "logistic"])
@pytest.mark.parametrize("bias", ["free", "augmented", "none"])
def test_contours_are_values_of_the_primal(clouds, loss, bias):
    X, y = clouds(40, 1.0)
    problem = Problem(X + 0.5, y, C=0.7, bias=bias, loss=loss)
    points = np.random.default_rng(0).normal(size=(20, 2))
    for point, value in zip(points, primal_at(problem, points), strict=True):
        if bias == "augmented":  # the best b among many
            values = [problem.primal(np.append(point, b)) for b in np.linspace(-3, 3, 6001)]
            assert value == pytest.approx(min(values), rel=1e-4)
        else:
            w = np.append(point, 0.0)
            assert value == pytest.approx(problem.primal(w, problem.best_bias(problem.space.scores(w))), rel=1e-9)


def test_one_feature_has_the_plane_of_w_and_b(clouds, fits):
    X, y = clouds(40, 1.0, d=1)
    problem = Problem(X, y, C=0.7, bias="free")
    points = np.random.default_rng(0).normal(size=(20, 2))
    for (w, b), value in zip(points, primal_at(problem, points), strict=True):
        assert value == pytest.approx(problem.primal(np.array([w, 0.0]), b))
    result = solve(problem, "subgradient", tol=1e-3, every=1, snapshots=True, max_iter=50)
    display = plots.descent(result)
    assert display.axes[0].get_ylabel() == "b"
    fits(display)


def test_paths_are_the_snapshots(overlapping, fits):
    display = plots.descent(overlapping)
    (path,) = display.paths.values()
    np.testing.assert_array_equal(path[0], [0.0, 0.0])
    np.testing.assert_allclose(path[1:], [shot.w for shot in overlapping.trace.snapshots])
    np.testing.assert_allclose(display.optimum, overlapping.w, atol=1e-3)
    x, y = display.axes[0].lines[0].get_data()
    np.testing.assert_allclose(np.column_stack([x, y]), path)
    assert display.values.min() >= overlapping.certificate.dual - 1e-9, "no point is below the dual value"
    rows, columns = np.unravel_index(display.values.argmin(), display.values.shape)
    lowest = display.x[columns], display.y[rows]
    np.testing.assert_allclose(lowest, display.optimum, atol=0.05 * np.ptp(display.x))
    given = plots.descent(overlapping, optimum=overlapping, start=(1.0, 0.0))
    np.testing.assert_array_equal(given.optimum, overlapping.w)
    np.testing.assert_array_equal(next(iter(given.paths.values()))[0], [1.0, 0.0])
    fits(display)


def test_a_path_that_leaves_the_frame_is_cut_and_it_is_said(clouds, fits):
    X, y = clouds(60, 1.0)
    problem = Problem(X, y, C=1.0, bias="none")
    near, far = (
        solve(problem, "projected-gradient", tol=1e-12, every=1, snapshots=True, max_iter=40) for _ in range(2)
    )
    # As a step that is too long leaves it: far away, and at last for numbers that are none.
    for k, shot in enumerate(far.trace.snapshots):
        shot.w[:] = (-3.0) ** k * np.array([1.0, 2.0]) if k < 30 else np.inf
    display = plots.descent({"near": near, "far": far})
    assert display.clipped == ("far",) and "leaves the frame: far" in title_of(display)
    left, right = display.axes[0].get_xlim()
    assert right - left < 50.0
    fits(display)


def test_what_has_no_plane_of_w_is_refused(clouds, moons, overlapping, separable):
    X, y = clouds(30, 1.0, d=3)
    with pytest.raises(InvalidInput, match="linear kernel"):
        plots.descent(moons)
    with pytest.raises(InvalidInput, match="two features, or one and a bias"):
        plots.descent(solve(Problem(X, y, C=1.0), tol=1e-3, every=1, snapshots=True))
    with pytest.raises(InvalidInput, match="hard margin"):
        plots.descent(separable)
    with pytest.raises(InvalidInput, match="every=1, snapshots=True"):
        plots.descent(solve(Problem(X[:, :2], y, C=1.0), tol=1e-3))
    other = solve(Problem(X[:, :2], y, C=1.0), tol=1e-3, every=1, snapshots=True)
    with pytest.raises(InvalidInput, match="one problem"):
        plots.descent([overlapping, other])


def test_boundaries_side_by_side(clouds, drawn_lines, legend_texts, fits, inseparable, moons):
    X, y = clouds(60, 1.2)
    fits_by_name = {f"C = {C}": solve(Problem(X, y, C=C), tol=1e-8) for C in (0.01, 0.1, 1.0, 10.0)}
    display = plots.grid_of(fits_by_name)
    assert list(display.boundaries) == list(fits_by_name) and len(display.axes) == 4
    frames = {(ax.get_xlim(), ax.get_ylim()) for ax in display.axes}
    assert len(frames) == 1, "the same samples in the same frame"
    for ax, (name, result) in zip(display.axes, fits_by_name.items(), strict=True):
        for level, pieces in drawn_lines(ax).items():
            if pieces:
                np.testing.assert_allclose(np.vstack(pieces) @ result.w + result.b, level, atol=1e-9)
        assert ax.get_title(loc="left").replace("\n", " ") == f"{name}: {len(result.support)} support vectors"
    texts = legend_texts(display)
    assert len(texts) == len(set(texts)) and "hyperplane z = 0" in texts
    fits(display)
    problems = [Problem(X, y, loss=loss, C=1.0, task="classification") for loss in ("hinge", "least-squares")]
    losses = {problem.loss.name: solve(problem, tol=1e-6) for problem in problems}
    areas = [text for text in legend_texts(plots.grid_of(losses)) if text.startswith("area")]
    assert areas == ["area ∝ |β|"], "α is |β|, so one line says both"
    mixed = plots.grid_of({"hard": inseparable, "rbf": moons}, columns=1)
    assert not drawn_lines(mixed.axes[0]) and isinstance(mixed.boundaries["hard"], plots.ProofDisplay)
    assert "point of both hulls" in legend_texts(mixed) and "free support vectors" in legend_texts(mixed)
    fits(mixed)


def test_a_grid_refuses_what_has_no_plane(regression):
    with pytest.raises(InvalidInput, match="grid_of shows planes"):
        plots.grid_of({"fit": regression})
    with pytest.raises(InvalidInput, match="at least one entry"):
        plots.grid_of({})


def test_the_violation_falls_like_one_over_c(clouds, fits):
    X, y = clouds(60, 1.5)
    X = X + 0.7  # a bias that is not 0
    problem = Problem(X, y, C=1.0)
    weights = (1.0, 10.0, 100.0, 1000.0)
    results = [solve(problem, Penalty(c=c), tol=1e-6, every=1, max_iter=3000) for c in reversed(weights)]
    display = plots.penalty(results)
    np.testing.assert_array_equal(display.c, weights)
    np.testing.assert_allclose(display.sums, [abs(fit.raw_beta.sum()) for fit in reversed(results)])
    slope = np.polyfit(np.log(display.c[1:]), np.log(display.sums[1:]), 1)[0]
    assert slope == pytest.approx(-1.0, abs=0.05)
    left, right = display.axes
    np.testing.assert_array_equal(left.lines[0].get_data(), [display.c, display.sums])
    x, guide = left.lines[1].get_data()
    np.testing.assert_allclose(np.diff(np.log(guide)) / np.diff(np.log(x)), -1.0)
    for line, result in zip(right.lines, reversed(results), strict=True):
        course, drawn = np.abs(result.trace["beta_sum"]), line.get_ydata()
        np.testing.assert_array_equal(drawn[np.isfinite(drawn)], course[np.isfinite(drawn)])
        assert (course[np.isnan(drawn)] < 1e-9).all() and np.isfinite(drawn).sum() > 0.9 * len(drawn)
    assert left.get_xscale() == left.get_yscale() == "log"
    fits(display)
    fits(plots.penalty({c: fit for c, fit in zip(reversed(weights), results, strict=True)}, columns=1))


def test_a_penalty_needs_its_weight(overlapping):
    with pytest.raises(InvalidInput, match="dict of c: Result"):
        plots.penalty([overlapping])
    with pytest.raises(InvalidInput, match="at least one result"):
        plots.penalty([])
