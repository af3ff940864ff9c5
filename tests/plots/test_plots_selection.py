"""Paths over C and grids over C × gamma."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin import Problem, plots, solve
from maxmargin.errors import InvalidInput

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.compiled]

CS = [10.0, 0.01, 1.0, 0.1]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_path_draws_its_results_in_the_order_of_C(clouds, kernel, fits):
    X, y = clouds(60, 1.0, d=3)
    results = [solve(Problem(X, y, C=C, kernel=kernel), tol=1e-4) for C in CS]
    display = plots.path(CS, results)
    np.testing.assert_array_equal(display.Cs, sorted(CS))
    ordered = [results[k] for k in np.argsort(CS)]
    for line, j in zip(display.axes[0].lines, display.drawn, strict=False):
        expected = [(r.w if kernel == "linear" else r.coef)[j] for r in ordered]
        np.testing.assert_array_equal(line.get_data(), [display.Cs, expected])
    support, free, bound = (line.get_ydata() for line in display.axes[1].lines)
    np.testing.assert_array_equal(support, [len(r.support) for r in ordered])
    np.testing.assert_array_equal(free, [r.certificate.kinds.counts["free"] for r in ordered])
    np.testing.assert_array_equal(bound, support - free)
    accuracy = [np.mean(r.predict(X) == y) for r in ordered]
    np.testing.assert_allclose(display.axes[2].lines[0].get_ydata(), accuracy)
    assert all(ax.get_xscale() == "log" for ax in display.axes)
    fits(display)


def test_scores_of_ones_own(clouds, legend_texts, fits):
    X, y = clouds(40, 1.0)
    results = [solve(Problem(X, y, C=C), tol=1e-3) for C in CS]
    scores = {"training": [0.9, 0.6, 0.8, 0.7], "validation": [0.7, 0.6, 0.75, 0.7]}
    display = plots.path(CS, results, scores=scores)
    np.testing.assert_array_equal(display.scores["validation"], [0.6, 0.7, 0.75, 0.7])
    title = display.axes[2].get_title(loc="left").replace("\n", " ")
    assert "validation 0.75 at C = 1" in title
    assert {"training", "validation"} <= set(legend_texts(display))
    fits(display)
    fits(plots.path([1.0], results[:1]))


def test_a_path_of_regressions_scores_by_the_variance_explained(regression):
    problem = regression.problem
    display = plots.path([10.0], [regression])
    residual = problem.target - regression.predict(problem.X)
    expected = 1 - residual.var() / problem.target.var() - residual.mean() ** 2 / problem.target.var()
    assert display.scores["training R²"][0] == pytest.approx(expected)


def test_a_path_refuses_what_does_not_fit_together(overlapping):
    with pytest.raises(InvalidInput, match="finite numbers > 0"):
        plots.path([np.inf], [overlapping])
    with pytest.raises(InvalidInput, match="1 results for 2 values"):
        plots.path([1.0, 2.0], [overlapping])
    with pytest.raises(InvalidInput, match="one score for each"):
        plots.path([1.0], [overlapping], scores=[1.0, 2.0])


def test_a_grid_marks_the_best_and_the_smallest_of_equals(fits):
    Cs, gammas = [100.0, 1.0, 10.0], [0.1, 0.01]
    scores = [[0.5, 0.9], [0.7, np.nan], [0.9, 0.9]]
    display = plots.grid(scores, Cs, gammas)
    assert display.best == (10.0, 0.01) and display.best_score == 0.9
    np.testing.assert_array_equal(display.scores, [[np.nan, 0.7], [0.9, 0.9], [0.9, 0.5]])
    ax = display.axes[0]
    np.testing.assert_array_equal(ax.images[0].get_array().filled(np.nan), display.scores)
    framed = ax.patches[-1]
    assert framed.get_xy() == (-0.5, 0.5)
    assert [text.get_text() for text in ax.texts] == ["0.7", "0.9", "0.9", "0.9", "0.5"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["1", "10", "100"]
    title = ax.get_title(loc="left").replace("\n", " ")
    assert "best score 0.9 at C = 10, gamma = 0.01" in title and "first of 3 equals" in title and "hatched" in title
    fits(display)


def test_grids_of_one_and_of_a_thousand(fits):
    fits(plots.grid([[0.5]], [1.0], [1.0]))
    big = plots.grid(np.random.default_rng(0).uniform(size=(25, 40)), np.logspace(-3, 3, 25), np.logspace(-5, 1, 40))
    assert not big.axes[0].texts, "no numbers where they have no room"
    fits(big)
    with pytest.raises(InvalidInput, match="2 values of C by 1 of gamma"):
        plots.grid([[1.0]], [1.0, 2.0], [1.0])
    with pytest.raises(InvalidInput, match="no finite score"):
        plots.grid([[np.nan]], [1.0], [1.0])
