"""Hulls, reduced hulls, nearest points, and the proof that no hyperplane separates."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial import ConvexHull

from maxmargin import Problem, plots, solve
from maxmargin.errors import InvalidInput
from maxmargin.numeric.hulls import contains, furthest, hull
from maxmargin.transforms import PolynomialTransform

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.compiled]


def title_of(display):
    return display.axes[0].get_title(loc="left").replace("\n", " ")


@pytest.mark.parametrize("seed", range(5))
def test_a_hull_is_the_convex_hull(seed):
    points = np.random.default_rng(seed).normal(size=(40, 2))
    corners = hull(points)
    expected = points[ConvexHull(points).vertices]
    assert {tuple(corner) for corner in corners.round(9)} == {tuple(corner) for corner in expected.round(9)}
    assert all(contains(corners, point) for point in points)
    assert not contains(corners, points.max(axis=0) + 1.0)


@pytest.mark.parametrize(("seed", "cap"), list(product(range(3), (1.0, 0.5, 0.3, 0.12, 0.1))))
def test_a_reduced_hull_is_what_its_weights_allow(seed, cap):
    """Its reach in any direction is the optimum of a linear program over the weights."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(10, 2))
    caps = np.full(10, cap)
    corners = hull(points, caps)
    for angle in np.linspace(0.0, 6.0, 13):
        direction = np.array([np.cos(angle), np.sin(angle)])
        program = linprog(-points @ direction, A_eq=np.ones((1, 10)), b_eq=[1.0], bounds=(0.0, cap))
        assert (corners @ direction).max() == pytest.approx(-program.fun, abs=1e-8)
        assert furthest(points, caps, direction) @ direction == pytest.approx(-program.fun, abs=1e-8)
    for weights in rng.dirichlet(np.ones(10), 200):
        if (weights <= cap).all():
            assert contains(corners, weights @ points, 1e-9)
    if cap == 0.1:  # no choice is left: the mean
        np.testing.assert_allclose(corners, np.broadcast_to(points.mean(axis=0), corners.shape), atol=1e-12)


def test_hulls_of_points_on_a_line_and_of_one_point():
    np.testing.assert_array_equal(hull(np.array([[1.0, 2.0]])), [[1.0, 2.0]])
    segment = hull(np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]]))
    assert {tuple(corner) for corner in segment} == {(0.0, 0.0), (3.0, 3.0)}
    upright = hull(np.array([[1.0, 0.0], [1.0, 2.0], [1.0, 1.0]]))
    assert {tuple(corner) for corner in upright} == {(1.0, 0.0), (1.0, 2.0)}
    assert contains(segment, np.array([2.0, 2.0])) and not contains(segment, np.array([4.0, 4.0]))
    with pytest.raises(InvalidInput, match="must reach 1"):
        hull(np.zeros((3, 2)), np.full(3, 0.1))


def test_nearest_points_of_a_hard_margin(separable, fits):
    display = plots.hulls(separable)
    p, q, w = display.p, display.q, separable.w
    distance = np.hypot(*(p - q))
    assert distance * display.A == pytest.approx(np.linalg.norm(w))
    np.testing.assert_allclose(display.A * (p - q), w, atol=1e-9)
    assert distance / 2 == pytest.approx(1 / np.linalg.norm(w), rel=1e-6), "half the distance is the margin"
    assert display.reduced is None
    assert contains(display.hulls[1], p, 1e-6) and contains(display.hulls[0], q, 1e-6)
    (piece,) = display.lines[0.0]
    np.testing.assert_allclose(piece @ w + separable.b, 0.0, atol=1e-9)
    np.testing.assert_allclose((p + q) / 2 @ w + separable.b, 0.0, atol=1e-6)
    (segment,) = [line for line in display.axes[0].lines if line.get_gid() == "segment"]
    np.testing.assert_allclose(np.column_stack(segment.get_data()), [p, q])
    fits(display)


@pytest.mark.parametrize("C", [0.02, 0.3, 1.0])
def test_nearest_points_of_a_soft_margin(clouds, C, fits):
    X, y = clouds(80, 1.2)
    result = solve(Problem(X, y, C=C), tol=1e-10)
    display = plots.hulls(result)
    p, q = display.p, display.q
    assert np.hypot(*(p - q)) * display.A == pytest.approx(np.linalg.norm(result.w), rel=1e-6)
    np.testing.assert_allclose(display.A * (p - q), result.w, atol=1e-6)
    assert contains(display.reduced[1], p, 1e-6) and contains(display.reduced[0], q, 1e-6)
    # The nearest points: seen along w, the rest of each reduced hull is behind them.
    along = result.w / np.linalg.norm(result.w)
    assert (display.reduced[1] @ along).min() == pytest.approx(p @ along, abs=1e-4)
    assert (display.reduced[0] @ along).max() == pytest.approx(q @ along, abs=1e-4)
    for full, reduced in zip(display.hulls, display.reduced, strict=True):
        assert all(contains(full, corner, 1e-9) for corner in reduced)
    fits(display)


def test_the_proof_is_drawn_and_no_hyperplane(inseparable, drawn_lines, legend_texts, fits):
    proof = inseparable.certificate.inseparable
    assert proof is not None
    for display in (plots.boundary(inseparable), plots.hulls(inseparable)):
        assert not drawn_lines(display.axes[0]) and not display.lines
        assert not display.axes[0].images, "and no shades of a decision function"
        assert "no hyperplane separates" in title_of(display)
        assert not any("hyperplane" in text for text in legend_texts(display))
        assert len(display.hulls) == 2
        fits(display)
    shown = plots.boundary(inseparable)
    y, X = inseparable.problem.target, inseparable.problem.X
    for side in (1.0, -1.0):
        np.testing.assert_allclose(proof.alpha[y == side] @ X[y == side], shown.point, atol=1e-6)
    assert contains(shown.hulls[0], shown.point, 1e-6) and contains(shown.hulls[1], shown.point, 1e-6)
    np.testing.assert_array_equal(shown.witnesses, np.flatnonzero(proof.alpha))
    (lines,) = [c for c in shown.axes[0].collections if c.get_gid() == "witnesses"]
    for segment, i in zip(lines.get_segments(), shown.witnesses, strict=True):
        np.testing.assert_allclose(segment, [X[i], shown.point])
    again = plots.hulls(inseparable)
    np.testing.assert_array_equal(again.p, again.q)


def test_the_proof_in_other_spaces(clouds, fits):
    X, y = clouds(60, 0.3, d=5)
    X = X[:, :4]
    many = plots.boundary(solve(Problem(X, y, C=np.inf), "smo", tol=1e-6, max_iter=5000))
    assert many.point is not None and contains(many.hulls[0], many.point, 1e-6)
    assert contains(many.hulls[1], many.point, 1e-6) and "principal plane" in title_of(many)
    fits(many)
    pair = plots.boundary(solve(Problem(X, y, C=np.inf), "smo", tol=1e-6, max_iter=5000), features=(0, 2))
    np.testing.assert_allclose(pair.positions, X[:, [0, 2]])
    single = plots.boundary(solve(Problem(X[:, :1], y, C=np.inf), "smo", tol=1e-6, max_iter=5000))
    assert contains(single.hulls[0], single.point - [0.0, single.point[1]], 1e-6)
    fits(single)
    through = plots.boundary(solve(Problem(X[:, :2], y, C=np.inf, bias="none"), "coordinate-ascent", tol=1e-6))
    np.testing.assert_allclose(through.point, 0.0, atol=1e-6)
    assert len(through.hulls) == 1 and contains(through.hulls[0], np.zeros(2), 1e-6)
    fits(through)


def test_the_proof_of_a_kernel_marks_its_witnesses(fits, drawn_lines):
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    y = np.array([1, -1, 1, -1])  # two equal rows with opposite labels: no kernel tells them apart
    result = solve(Problem(X, y, kernel="rbf", C=np.inf), "smo", tol=1e-6, max_iter=2000)
    assert result.certificate.inseparable is not None
    display = plots.boundary(result)
    assert not drawn_lines(display.axes[0]) and display.point is None and not display.hulls
    assert "feature space of the rbf kernel" in title_of(display)
    assert set(display.kinds["witness"]) == {0, 1}
    fits(display)


def test_what_has_no_hulls_is_refused(clouds, moons, overlapping, inseparable):
    X, y = clouds(40, 1.0)
    with pytest.raises(InvalidInput, match="dual of the hinge"):
        plots.hulls(solve(Problem(X, y, C=1.0, loss="squared-hinge"), tol=1e-4))
    with pytest.raises(InvalidInput, match="bias='free'"):
        plots.hulls(overlapping)
    with pytest.raises(InvalidInput, match="two features and the linear kernel"):
        plots.hulls(solve(Problem(X, y, C=1.0, kernel="rbf"), tol=1e-4))
    with pytest.raises(InvalidInput, match="two features and the linear kernel"):
        plots.hulls(solve(Problem(X, y, C=1.0, transform=PolynomialTransform(2)), tol=1e-4))
    with pytest.raises(InvalidInput, match="no hyperplane separates"):
        plots.boundary(inseparable, slack=True)
