"""Slack, the width of the margin, marker areas, and the hyperplane of the perceptron."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from maxmargin import Problem, plots, solve
from maxmargin.errors import InvalidInput

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.compiled]


@pytest.mark.parametrize(("bias", "d"), [("free", 2), ("augmented", 2), ("none", 2), ("free", 5)])
def test_slack_goes_from_the_sample_to_its_margin(clouds, bias, d, fits, legend_texts):
    X, y = clouds(80, 1.2, d=d)
    result = solve(Problem(X, y, C=1.0, bias=bias), tol=1e-8)
    display = plots.boundary(result, slack=True)
    z = result.decision_function(X)
    slack = np.maximum(0.0, 1.0 - y * z)
    inside = np.flatnonzero(slack > 1e-6)
    assert len(display.slack) == len(inside) > 5
    lengths = np.hypot(*(display.slack[:, 1] - display.slack[:, 0]).T)
    norm = np.linalg.norm(result.w)
    np.testing.assert_allclose(lengths, slack[inside] / norm, atol=1e-9)
    np.testing.assert_allclose(display.slack[:, 0], display.positions[inside])
    normal, offset = display.plane.affine(result.w, result.b)
    np.testing.assert_allclose(display.slack[:, 1] @ normal + offset, y[inside], atol=1e-8)
    assert display.width == pytest.approx(2 / norm)
    (drawn,) = [c for c in display.axes[0].collections if c.get_gid() == "slack"]
    np.testing.assert_allclose(drawn.get_segments(), display.slack)
    assert f"slack, length ξ/‖w‖: {len(inside)}" in legend_texts(display)
    words = [text.get_text() for text in display.axes[0].texts if "2/‖w‖" in text.get_text()]
    assert words == [f"2/‖w‖ = {2 / norm:.3g}"]
    fits(display)


def test_the_arrow_is_as_long_as_the_margin_is_wide(separable):
    display = plots.boundary(separable, slack=True)
    assert len(display.slack) == 0, "a hard margin has none"
    (arrow,) = [text for text in display.axes[0].texts if not text.get_text()]
    ends = np.array([arrow.xy, arrow.xyann])
    assert np.hypot(*(ends[1] - ends[0])) == pytest.approx(2 / np.linalg.norm(separable.w))
    np.testing.assert_allclose(np.sort(ends @ separable.w + separable.b), [-1.0, 1.0], atol=1e-9)


def test_slack_is_refused_where_there_is_none_to_see(clouds, moons, regression):
    X, y = clouds(40, 1.0, d=4)
    linear = solve(Problem(X, y, C=1.0), tol=1e-4)
    with pytest.raises(InvalidInput, match="a linear model, not a kernel"):
        plots.boundary(moons, slack=True)
    with pytest.raises(InvalidInput, match="true distances"):
        plots.boundary(linear, slack=True, plane="pca")
    with pytest.raises(InvalidInput, match="true distances"):
        plots.boundary(linear, slack=True, features=(0, 1))
    with pytest.raises(InvalidInput, match="a loss with a margin"):
        plots.boundary(solve(Problem(X, y, C=1.0, loss="least-squares", task="classification"), tol=1e-4), slack=True)
    with pytest.raises(InvalidInput, match="a classifier with two features"):
        plots.boundary(regression, slack=True)
    with pytest.raises(InvalidInput, match="linear model"):
        plots.boundary(KNeighborsClassifier().fit(X, y), X, y, slack=True)


def sizes(ax, kind):
    return np.concatenate([c.get_sizes() for c in ax.collections if (c.get_gid() or "").startswith(f"{kind} ")])


def offsets(ax, kind):
    return np.vstack(
        [np.asarray(c.get_offsets()) for c in ax.collections if (c.get_gid() or "").startswith(f"{kind} ")]
    )


def test_a_crumb_does_not_look_like_a_support_vector(clouds, legend_texts):
    """A sub-gradient run has a crumb of α on nearly every sample: the area of a marker follows its α."""
    X, y = clouds(100, 1.2)
    rough = solve(Problem(X, y, C=1.0), "subgradient", tol=1e-2)
    true = solve(Problem(X, y, C=1.0), tol=1e-10)
    assert len(rough.support) > 2 * len(true.support)
    display = plots.boundary(rough)
    alpha = np.abs(rough.beta)
    for kind in ("free", "bound"):
        area, where = sizes(display.axes[0], kind), offsets(display.axes[0], kind)
        chosen = [int(np.flatnonzero((X == point).all(axis=1))[0]) for point in where]
        for code in (-1, 1):
            mine = y[chosen] == code
            order = np.argsort(alpha[chosen][mine], kind="stable")
            assert (np.diff(area[mine][order]) >= -1e-9).all()
            full = area[mine].max()
            np.testing.assert_allclose(
                area[mine], 2.0 + (full - 2.0) * alpha[chosen][mine] / alpha[chosen][mine].max(), rtol=0.05
            )
    conspicuous = np.count_nonzero(np.r_[sizes(display.axes[0], "free"), sizes(display.axes[0], "bound")] > 12.0)
    assert conspicuous < len(true.support) + 5
    assert "area ∝ α (largest: 1)" in legend_texts(display)
    outlines = [len(np.asarray(c.get_offsets())) for c in display.axes[0].collections if c.get_gid() == "outline"]
    assert sum(outlines) == len(rough.support), "every support vector keeps the outline of a sample"


@pytest.fixture(scope="module")
def perceptron(clouds):
    X, y = clouds(60, 4.0)
    return solve(Problem(X, y, C=np.inf), "perceptron", every=1, snapshots=True)


def test_the_perceptron_shows_its_corrections(perceptron, drawn_lines, legend_texts, fits):
    result = perceptron
    counts = result.coef
    corrected = np.flatnonzero(counts)
    assert result.point.answer and corrected.size
    display = plots.boundary(result)
    np.testing.assert_array_equal(display.kinds["corrected"], corrected)
    assert f"corrected samples: {corrected.size}" in legend_texts(display)
    assert not any("support" in text for text in legend_texts(display))
    # Its hyperplane is not scaled: the nearest sample is at level m.
    z = result.problem.target * (result.problem.X @ result.w + result.b)
    lines = drawn_lines(display.axes[0])
    np.testing.assert_allclose(sorted(lines), [-z.min(), 0.0, z.min()], rtol=1e-5)
    for level, pieces in lines.items():
        np.testing.assert_allclose(np.vstack(pieces) @ result.w + result.b, level, rtol=1e-5, atol=1e-9)
    fits(display)


def test_the_perceptron_has_no_empty_panels(perceptron, fits):
    display = plots.support(perceptron)
    counts = perceptron.coef
    stems = display.axes[1].collections[0].get_segments()
    assert len(stems) == np.count_nonzero(counts)
    for (_, foot), (sample, top) in stems:
        assert foot == 0.0 and top == counts[int(sample)]
    done = display.axes[0].lines[0].get_ydata()
    assert done[-1] == np.abs(counts).sum() and (np.diff(done) >= 0).all()
    z = perceptron.problem.target * (perceptron.problem.X @ perceptron.w + perceptron.b)
    np.testing.assert_allclose(display.distances, z / np.linalg.norm(perceptron.w))
    assert all(ax.collections or ax.lines for ax in display.axes)
    assert not any(ax.texts for ax in display.axes), "no panel says that it is empty"
    fits(display)
    fits(plots.support(perceptron, columns=1))


def test_a_perceptron_that_cannot_separate(clouds, drawn_lines, fits):
    X, y = clouds(60, 0.5)
    soft = solve(Problem(X, y, C=1.0), "perceptron", every=1, snapshots=True, max_iter=20)
    display = plots.boundary(soft)
    assert list(drawn_lines(display.axes[0])) == [0.0], "no margin: some samples are on the wrong side"
    assert "on the wrong side" in plots.support(soft).axes[2].get_title(loc="left")
    with pytest.raises(InvalidInput, match="this one has none"):
        plots.boundary(soft, slack=True)
    hard = solve(Problem(X, y, C=np.inf), "perceptron", every=1, snapshots=True, max_iter=20)
    for shown in (display, plots.boundary(hard), plots.support(hard), plots.support(soft), plots.animate(hard)):
        fits(shown)


def test_the_counts_are_whole_numbers(perceptron):
    np.testing.assert_array_equal(perceptron.coef, np.round(perceptron.coef))


def test_an_animated_perceptron_counts(perceptron, fits):
    display = plots.animate(perceptron)
    last = display.scenes[-1].moment
    np.testing.assert_array_equal(last.weight, np.abs(perceptron.coef))
    assert set(last.kinds) == {"corrected", "uncorrected"} and list(display.scenes[-1].lines) == [0.0]
    fits(display)
