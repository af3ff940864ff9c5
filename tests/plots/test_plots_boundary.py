"""The drawn margin is the computed one: positions, lines, shades and counts are read back from the axes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC, OneClassSVM

from maxmargin import Problem, plots, solve
from maxmargin.errors import InvalidInput
from maxmargin.losses.one_class import OneClass
from maxmargin.transforms import PolynomialTransform

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.compiled]


def offsets(ax, name):
    """The positions of the points of one kind, all classes together."""
    found = [c.get_offsets() for c in ax.collections if (c.get_gid() or "").startswith(f"{name} ")]
    return np.vstack([np.asarray(part) for part in found]) if found else np.zeros((0, 2))


def title_of(display):
    return display.axes[0].get_title(loc="left").replace("\n", " ")


@pytest.mark.parametrize("bias", ["free", "augmented", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "least-squares"])
def test_hyperplane_and_margins_are_those_of_w_and_b(clouds, drawn_lines, bias, loss):
    X, y = clouds(80, 1.5)
    task = "classification" if loss == "least-squares" else None
    result = solve(Problem(X, y, C=0.5, bias=bias, loss=loss, task=task), tol=1e-6)
    display = plots.boundary(result)
    lines = drawn_lines(display.axes[0])
    assert sorted(lines) == [-1.0, 0.0, 1.0]
    for level, pieces in lines.items():
        for piece in pieces:
            np.testing.assert_allclose(piece @ result.w + result.b, level, atol=1e-9)
            (left, right), (bottom, top) = display.axes[0].get_xlim(), display.axes[0].get_ylim()
            on_a_side = np.isclose(piece, [left, bottom]) | np.isclose(piece, [right, top])
            assert on_a_side.any(axis=1).all(), "a line goes from one side of the view to another"


def test_samples_stand_where_they_are_by_kind(overlapping, legend_texts, fits):
    display = plots.boundary(overlapping)
    X, kinds = overlapping.problem.X, overlapping.certificate.kinds
    for kind in ("outside", "free", "bound"):
        np.testing.assert_allclose(np.unique(offsets(display.axes[0], kind), axis=0), np.unique(X[kinds[kind]], axis=0))
    texts = legend_texts(display)
    for kind, name in (("outside", "not support vectors"), ("free", "free support"), ("bound", "bound support")):
        (text,) = [text for text in texts if text.startswith(name)]
        assert text.endswith(f": {kinds.counts[kind]}")
    assert {"class -1: 60", "class 1: 60"} <= set(texts)
    fits(display)


def test_free_vectors_lie_on_the_margins(separable, drawn_lines):
    display = plots.boundary(separable)
    points = offsets(display.axes[0], "free")
    assert len(points) >= 2
    np.testing.assert_allclose(np.abs(points @ separable.w + separable.b), 1.0, atol=1e-6)


def test_contours_of_a_kernel_are_at_their_levels(moons, drawn_lines):
    display = plots.boundary(moons)
    for level, pieces in drawn_lines(display.axes[0]).items():
        assert pieces
        np.testing.assert_allclose(moons.decision_function(np.vstack(pieces)), level, atol=0.02)


def test_shades_are_decision_values(moons, overlapping):
    for result in (moons, overlapping):
        display = plots.boundary(result, resolution=40)
        (image,) = display.axes[0].images
        rows = np.stack(np.meshgrid(display.x, display.y), axis=-1).reshape(-1, 2)
        np.testing.assert_allclose(image.get_array().ravel(), result.decision_function(rows), atol=1e-9)
        left, right, bottom, top = image.get_extent()
        step = (right - left) / 40
        np.testing.assert_allclose([left + step / 2, right - step / 2], display.x[[0, -1]])
        assert bottom < display.y[0] and display.y[-1] < top


def test_the_plane_of_w_keeps_decision_values(clouds, drawn_lines, fits):
    X, y = clouds(150, 2.0, d=20)
    result = solve(Problem(X, y, C=1.0), tol=1e-8)
    display = plots.boundary(result)
    z = result.decision_function(X)
    np.testing.assert_allclose(display.positions[:, 0] * np.linalg.norm(result.w), z, atol=1e-9)
    for level, pieces in drawn_lines(display.axes[0]).items():
        np.testing.assert_allclose(np.vstack(pieces)[:, 0] * np.linalg.norm(result.w), level, atol=1e-9)
    np.testing.assert_allclose(display.plane.directions @ display.plane.directions.T, np.eye(2), atol=1e-9)
    assert "plane of w in 20 features" in title_of(display)
    fits(display)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_the_principal_plane(clouds, drawn_lines, storage):
    X, y = clouds(90, 2.0, d=6)
    X = X + 5.0
    result = solve(Problem(storage(X), y, C=1.0), tol=1e-6)
    display = plots.boundary(result, plane="pca")
    _, _, right = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(np.abs(np.sum(display.plane.directions * right[:2], axis=1)), 1.0, atol=1e-6)
    np.testing.assert_allclose(display.positions, (X - X.mean(axis=0)) @ display.plane.directions.T, atol=1e-9)
    for level, pieces in drawn_lines(display.axes[0]).items():
        if pieces:
            rows = display.plane.points(np.vstack(pieces))
            np.testing.assert_allclose(rows @ result.w + result.b, level, atol=1e-8)
    assert "principal plane of 6 features" in title_of(display)
    assert f"at {display.agreement:.0%} of the points" in title_of(display)


def test_a_pair_of_features_cuts_at_the_mean_of_the_others(clouds, drawn_lines):
    X, y = clouds(90, 2.0, d=4)
    for kernel in ("linear", "rbf"):
        result = solve(Problem(X, y, C=1.0, kernel=kernel), tol=1e-6)
        display = plots.boundary(result, features=(3, 1), resolution=30)
        np.testing.assert_allclose(display.positions, X[:, [3, 1]])
        row = X.mean(axis=0)
        row[[3, 1]] = display.x[7], display.y[11]
        np.testing.assert_allclose(display.values[11, 7], result.decision_function(row[None])[0], atol=1e-9)
        assert display.axes[0].get_xlabel() == "feature 3" and display.axes[0].get_ylabel() == "feature 1"
        assert "mean of the other 2 features" in title_of(display)


def test_sparse_rows_give_the_picture_of_dense_ones(moons):
    problem = moons.problem
    y = problem.classes[(problem.target > 0).astype(int)]
    sparse = solve(Problem(sp.csr_array(problem.X), y, kernel="rbf", C=5.0), tol=1e-5)
    display = plots.boundary(sparse, resolution=20)
    np.testing.assert_allclose(display.positions, problem.X)


def test_many_samples_are_thinned_and_it_is_said(clouds, fits):
    X, _ = clouds(100_000, 0.0)
    y = np.where(np.arange(len(X)) < 100, 1, -1)  # a thousand to one
    X[:100] += 3.0
    result = solve(Problem(X, y, C=1.0, bias="augmented"), tol=1e-4)
    display = plots.boundary(result)
    assert len(display.drawn) <= 2000
    assert np.isin(np.arange(100), display.drawn).all(), "the few of the rare class are all drawn"
    assert np.isin(result.certificate.kinds.free, display.drawn).all(), "and so are those that hold the margin"
    assert f"{len(display.drawn):,} of 100,000 points drawn" in title_of(display)
    shown = sum(len(offsets(display.axes[0], kind)) for kind in ("outside", "candidate", "free", "bound"))
    assert shown == len(display.drawn)
    fits(display)


def test_a_margin_out_of_view_says_so(clouds, legend_texts):
    X, y = clouds(60, 1.0)
    display = plots.boundary(solve(Problem(X, y, C=1e-4), tol=1e-6))
    for level, pieces in display.lines.items():
        name = {-1.0: "margin z = −1", 0.0: "hyperplane z = 0", 1.0: "margin z = +1"}[level]
        assert name + ("" if pieces else " (not in view)") in legend_texts(display)
    assert not display.lines[1.0]


def test_a_flat_decision_function_has_no_hyperplane(fits):
    result = solve(Problem(np.zeros((6, 2)), [1, 1, 1, 1, 0, 0], C=1.0), tol=1e-6)
    display = plots.boundary(result)
    assert not any(display.lines.values())
    assert "the decision function is flat: z = 1 everywhere" in title_of(display)
    fits(display)


def test_one_feature_is_drawn_against_the_decision_value(clouds, fits):
    X, y = clouds(40, 1.0, d=1)
    for kernel in ("linear", "rbf"):
        result = solve(Problem(X, y, C=1.0, kernel=kernel), tol=1e-6)
        display = plots.boundary(result)
        np.testing.assert_allclose(display.positions, np.column_stack([X[:, 0], result.decision_function(X)]))
        (curve,) = display.axes[0].lines
        x, z = curve.get_data()
        np.testing.assert_allclose(z, result.decision_function(x[:, None]))
        fits(display)


def test_regression_draws_its_fit_in_its_tube(regression, drawn_lines, fits):
    display = plots.boundary(regression)
    lines = drawn_lines(display.axes[0])
    assert sorted(lines) == [-0.1, 0.0, 0.1]
    for offset, (curve,) in lines.items():
        np.testing.assert_allclose(curve[:, 1], regression.decision_function(curve[:, :1]) + offset)
    free = offsets(display.axes[0], "free")
    np.testing.assert_allclose(np.abs(free[:, 1] - regression.decision_function(free[:, :1])), 0.1, atol=1e-3)
    fits(display)


def test_regression_on_more_features_is_predicted_against_true(fits):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    t = X @ [1.0, -2.0, 0.5]
    result = solve(Problem(X, t, loss="squared-epsilon-insensitive", C=1.0), tol=1e-6)
    display = plots.boundary(result)
    np.testing.assert_allclose(display.positions, np.column_stack([t, result.decision_function(X)]))
    fits(display)
    same = plots.boundary(LinearRegression().fit(X, t), X, t)
    np.testing.assert_allclose(same.positions[:, 0], same.positions[:, 1])


def test_novelty_has_one_class_and_no_margins(clouds):
    X, _ = clouds(80, 0.0)
    result = solve(Problem(X, loss=OneClass(0.2), kernel="rbf"), tol=1e-6)
    display = plots.boundary(result)
    assert list(display.lines) == [0.0]
    again = plots.boundary(OneClassSVM(nu=0.2).fit(X), X)
    assert list(again.lines) == [0.0] and len(again.kinds["support"]) > 0


def test_ten_classes_are_regions_with_a_marker_each(legend_texts, fits):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(10), 15)
    X = rng.normal(size=(150, 2)) + 4.0 * np.column_stack([np.cos(y), np.sin(y)])
    model = SVC().fit(X, y)
    display = plots.boundary(model, X, y, resolution=30)
    rows = np.stack(np.meshgrid(display.x, display.y), axis=-1).reshape(-1, 2)
    np.testing.assert_array_equal(display.values.ravel(), model.predict(rows))
    assert f"support vectors: {len(model.support_)}" in legend_texts(display)
    markers = {plots.style.class_marker(code) for code in range(10)}
    assert len(markers) == 10
    fits(display)


def test_estimators_of_two_classes(clouds, drawn_lines):
    X, y = clouds(60, 1.5)
    linear = LinearSVC().fit(X, y)
    for level, pieces in drawn_lines(plots.boundary(linear, X, y).axes[0]).items():
        np.testing.assert_allclose(linear.decision_function(np.vstack(pieces)), level, atol=1e-9)
    for level, pieces in drawn_lines(plots.boundary(SVC().fit(X, y), X, y, resolution=150).axes[0]).items():
        np.testing.assert_allclose(SVC().fit(X, y).decision_function(np.vstack(pieces)), level, atol=0.02)
    no_scores = plots.boundary(KNeighborsClassifier().fit(X, y), X, y, resolution=20)
    assert not no_scores.lines and set(np.unique(no_scores.values)) <= {0, 1}


def test_a_transform_needs_its_rows_from_before(clouds, drawn_lines):
    X, y = clouds(60, 1.0)
    result = solve(Problem(X, y, C=1.0, transform=PolynomialTransform(2)), tol=1e-6)
    with pytest.raises(InvalidInput, match="before the transform"):
        plots.boundary(result)
    display = plots.boundary(result, X)
    assert set(display.kinds) == {"outside", "candidate", "free", "bound"}
    for level, pieces in drawn_lines(display.axes[0]).items():
        if pieces:
            np.testing.assert_allclose(result.decision_function(np.vstack(pieces)), level, atol=0.05)


def test_other_samples_have_no_kinds(overlapping, clouds):
    X, y = clouds(30, 1.2, seed=5)
    display = plots.boundary(overlapping, X, y)
    assert set(display.kinds) == {"sample"}
    np.testing.assert_allclose(display.positions, X)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"features": (0, 0)}, "two different columns"),
        ({"features": (0, 7)}, "two different columns"),
        ({"features": "ab"}, "pair of column numbers"),
        ({"features": (0, 1), "plane": "pca"}, "exclude each other"),
        ({"plane": "tilted"}, "plane is 'tilted'"),
        ({"resolution": 1}, "resolution is 1"),
        ({"X": [[0.0, 1.0]]}, "y is missing"),
        ({"X": [[0.0, 1.0]], "y": [7]}, "which the model does not know"),
        ({"ax": 3}, "one matplotlib Axes"),
    ],
)
def test_a_wrong_question_gets_one_clear_sentence(overlapping, options, words):
    with pytest.raises(InvalidInput, match=words):
        plots.boundary(overlapping, **options)


def test_what_cannot_be_drawn_is_refused(clouds, moons):
    X, y = clouds(20, 1.0)
    with pytest.raises(InvalidInput, match="no features to draw"):
        plots.boundary(solve(Problem(X @ X.T, y, kernel="precomputed", C=1.0), tol=1e-4))
    with pytest.raises(InvalidInput, match="give X"):
        plots.boundary(SVC().fit(X, y))
    with pytest.raises(InvalidInput, match="neither a Result"):
        plots.boundary("a model", X, y)
    with pytest.raises(InvalidInput, match="needs a linear model"):
        plots.boundary(moons, plane="normal")
    with pytest.raises(InvalidInput, match="a view of a classifier"):
        plots.boundary(solve(Problem(X[:, :1], y, C=1.0), tol=1e-4), features=(0, 1))


def test_awkward_problems_have_figures(fits):
    three = solve(Problem([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0]], [0, 1, 1], C=1.0), tol=1e-8)
    single = solve(
        Problem([[1.0, 1.0], [3.0, 2.0], [-4.0, -3.0], [2.0, 4.0]], [1, 1, 0, 1], C=10.0, bias="none"), tol=1e-9
    )
    no_free = solve(Problem([[1.0, 0.0], [-1.0, 0.0], [2.0, 1.0], [-2.0, -1.0]], [1, 0, 1, 0], C=0.01), tol=1e-9)
    assert single.certificate.kinds.counts["free"] + single.certificate.kinds.counts["bound"] == 1
    assert no_free.certificate.kinds.counts["free"] == 0
    for result in (three, single, no_free):
        fits(plots.boundary(result))


def test_names_with_dollars_are_not_mathematics(clouds, legend_texts, fits):
    X, y = clouds(20, 2.0)
    result = solve(Problem(X, np.where(y > 0, "$a_b$", "5$ or \\$"), C=1.0), tol=1e-4)
    fits(plots.boundary(result))
    fits(plots.convergence({"the $x^$ one": result}))
