"""What the linked views show is what the library computes."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin import Problem, solve
from maxmargin.certificate import examine
from maxmargin.errors import InvalidInput
from maxmargin.numeric.hulls import contains
from maxmargin.studio.views import VIEWS, Seen, view

pytestmark = pytest.mark.compiled


def blobs(n=24, apart=2.0, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1, -1)
    return rng.normal(size=(n, 2)) + apart * y[:, None] * (0.5, 0.3), y


def seen_of(problem, point=None):
    return Seen(problem, np.arange(problem.n), problem.n, point)


@pytest.mark.parametrize("C", [0.05, 1.0, 50.0, np.inf])
def test_the_nearest_points_of_the_hulls_make_the_hyperplane(C):
    X, y = blobs(apart=4.0)
    problem = Problem(X, y, C=C)
    result = solve(problem, tol=1e-10)
    header, arrays = view(seen_of(problem, result.point), "hulls", {})
    p, q = np.array(header["p"]), np.array(header["q"])
    np.testing.assert_allclose(header["A"] * (p - q), result.w, atol=1e-6 * np.abs(result.w).max())
    kinds = ("negative", "positive") if np.isinf(C) else ("reduced_negative", "reduced_positive")
    for corners, point in zip((arrays[kind] for kind in kinds), (q, p), strict=True):
        assert contains(corners, point, 1e-6)
    assert header["separable"] and "common" not in arrays


def test_the_common_point_of_the_hulls_is_a_proof():
    X, y = blobs(apart=0.5)
    problem = Problem(X, y, C=np.inf)
    header, arrays = view(seen_of(problem), "hulls", {})
    assert header["proved"] and not header["separable"] and "not separable" in header["text"]
    weights = arrays["weights"]
    assert (weights >= 0).all()
    for sign in (-1, 1):
        assert weights[y == sign].sum() == pytest.approx(1.0)
        np.testing.assert_allclose(weights[y == sign] @ X[y == sign], arrays["common"], atol=1e-12)


@pytest.mark.parametrize("bias", ["none", "augmented", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "logistic"])
def test_the_landscape_is_the_primal_at_the_best_bias(loss, bias):
    problem = Problem(*blobs(), loss=loss, bias=bias, C=2.0)
    header, arrays = view(seen_of(problem), "landscape", {"nx": 5, "ny": 4})
    x, y = (np.linspace(header[f"{axis}0"], header[f"{axis}1"], k) for axis, k in (("x", 5), ("y", 4)))
    for j, w2 in enumerate(y):
        for i, w1 in enumerate(x):
            if bias == "augmented":
                values = [problem.primal(np.array([w1, w2, c])) for c in np.linspace(-9, 9, 3601)]
                assert arrays["values"][j, i] == pytest.approx(min(values), rel=1e-3)
            else:
                w = np.array([w1, w2, 0.0])
                b = problem.best_bias(problem.space.scores(w))
                assert arrays["values"][j, i] == pytest.approx(problem.primal(w, b), rel=1e-5)
    assert (arrays["values"] >= header["least"] * (1 - 1e-5)).all()


def test_the_landscape_of_one_feature_has_the_bias_as_its_second_axis():
    X = np.linspace(-2, 2, 15)[:, None]
    problem = Problem(X, X[:, 0] * 0.7 + 0.2, loss="epsilon-insensitive", C=3.0)
    header, arrays = view(seen_of(problem), "landscape", {"nx": 3, "ny": 3})
    assert header["axes"] == ["w", "b"]
    corner = problem.primal(np.array([header["x0"], 0.0]), header["y0"])
    assert arrays["values"][0, 0] == pytest.approx(corner, rel=1e-5)


def test_the_landscape_of_one_class_counts_the_price_of_the_bias():
    rng = np.random.default_rng(1)
    problem = Problem(rng.normal(size=(20, 2)) + 3.0, loss="one-class", C=0.2)
    header, arrays = view(seen_of(problem), "landscape", {"nx": 9, "ny": 9})
    assert (arrays["values"] >= header["least"] - 1e-6 * abs(header["least"])).all()


@pytest.mark.parametrize("bias", ["free", "augmented"])
@pytest.mark.parametrize("d", [1, 2])
def test_the_track_is_where_the_hyperplanes_were(d, bias):
    X, y = blobs()
    problem = Problem(X[:, :d], y, bias=bias, C=2.0)
    points = []
    shots = solve(
        problem,
        "subgradient",
        every=1,
        snapshots=True,
        max_iter=9,
        callbacks=[lambda look: points.append(look.point.kept())],
    ).trace.snapshots
    expected = [shot.w if d == 2 else [shot.w[0], shot.b] for shot in shots]
    seen = Seen(problem, np.arange(24), 24, points[-1], points)
    np.testing.assert_array_equal(view(seen, "track", {})[1]["points"], expected)
    np.testing.assert_array_equal(view(seen, "track", {"first": 4})[1]["points"], expected[4:])


def test_the_kernel_matrix_is_ordered_by_class():
    X, y = blobs()
    problem = Problem(X, y, kernel="rbf", C=2.0)
    header, arrays = view(seen_of(problem), "kernel", {})
    order = arrays["order"]
    assert sorted(order) == list(range(24)) and (np.diff(y[order]) >= 0).all()
    np.testing.assert_allclose(arrays["values"], problem.kernel.block(X, X)[np.ix_(order, order)], rtol=1e-6)
    few = view(seen_of(problem), "kernel", {"most": 6})[1]
    assert few["values"].shape == (6, 6) and header["total"] == 24


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_each_fit_of_a_path_is_proved_and_is_the_fit_of_its_C(kernel):
    X, y = blobs(apart=1.0)
    problem = Problem(X, y, kernel=kernel, C=3.0, class_weight={1: 2.0, -1: 1.0})
    window = {"x0": -3, "x1": 3, "y0": -2, "y1": 2, "nx": 4, "ny": 3}
    _, arrays = view(seen_of(problem), "path", {"count": 4, "low": 0.1, "high": 10, "field": window})
    assert (arrays["relative_gap"] <= 1e-6).all() and arrays["field"].shape == (4, 3, 4)
    for k in (0, 3):
        alone = solve(problem.with_cost(arrays["C"][k] / problem.C.max()), tol=1e-8)
        assert arrays["primal"][k] == pytest.approx(alone.certificate.primal, rel=1e-5)
        np.testing.assert_allclose(arrays["z"][k], alone.decision_function(X), atol=2e-2)
        corner = alone.decision_function([[-3.0, -2.0]])
        assert arrays["field"][k, 0, 0] == pytest.approx(corner[0], abs=2e-2)
    assert np.array_equal(arrays["support"].sum(axis=1), (arrays["kinds"] > 0).sum(axis=1))


@pytest.mark.parametrize(
    ("solver", "options"),
    [
        ("smo", {"bias": "free"}),
        ("smo", {"bias": "free", "C": np.inf}),
        ("smo", {"bias": "free", "loss": "epsilon-insensitive"}),
        ("coordinate-ascent", {"bias": "augmented"}),
        ("coordinate-ascent", {"bias": "none", "loss": "squared-hinge", "kernel": "rbf"}),
        ("coordinate-ascent", {"bias": "none", "loss": "epsilon-insensitive"}),
    ],
)
def test_the_line_of_an_update_is_the_dual_along_it(solver, options):
    X, y = blobs(apart=3.0)
    problem = Problem(X, X[:, 0] - X[:, 1] if "epsilon" in str(options) else y, **{"C": 2.0, **options})
    looked = 0

    def look(shown):
        nonlocal looked
        event = shown.point.event
        if event is None or looked > 12:
            return
        looked += 1
        header, _ = view(seen_of(problem, shown.point), "step", {})
        raw = shown.point.beta if shown.point.raw is None else shown.point.raw
        start = raw.copy()
        start[list(event.indices)] = event.before
        moved, signs = np.array(event.indices), np.array([1.0, -1.0])[: len(event.indices)]
        scale = max(abs(header["slope"]), header["curvature"], 1.0)

        def along(t):
            there = np.array(header["before"]) + t * signs
            kinked = np.array(header["tube"]) @ (np.abs(there) - np.abs(header["before"]))
            return header["slope"] * t - 0.5 * header["curvature"] * t * t - kinked

        def true(t):
            beta = start.copy()
            beta[moved] += t * signs
            return problem.dual_terms(beta) - 0.5 * problem.space.sqnorm(problem.space.combine(beta))

        high = min(header["high"], 3.0 * abs(event.unclipped) + 1.0)
        for t in np.linspace(max(header["low"], -high), high, 7):
            assert along(t) == pytest.approx(true(t) - true(0.0), abs=1e-8 * scale * max(1.0, t * t))
        taken = event.after[0] - event.before[0]
        assert header["low"] - 1e-12 <= taken <= header["high"] + 1e-12
        assert along(taken) == pytest.approx(event.gain, abs=1e-8 * scale)

    solve(problem, solver, grain=1, every=1, tol=1e-6, max_iter=60, callbacks=[look])
    assert looked > 3


def test_a_machine_of_several_classes_speaks_of_all_points():
    X, y = blobs()
    problem = Problem(X, y, C=1.0)
    rows = np.arange(24) * 2 + 1
    point = examine(problem, solve(problem, tol=1e-6).point).point
    seen = Seen(problem, rows, 50, point)
    path = view(seen, "path", {"count": 2})[1]
    assert path["alpha"].shape == (2, 50) and np.isnan(path["alpha"][:, 0]).all() and path["kinds"][0, 0] == 255
    assert set(view(seen, "kernel", {})[1]["order"]) == set(rows)


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize(
    "arguments", [{"nx": "many"}, {"nx": 10**9}, {"count": -1, "low": "a"}, {"most": 1.5}, {"field": [1]}, {"low": -1}]
)
def test_bad_arguments_are_refused_in_a_sentence_or_not_used(name, arguments):
    seen = seen_of(Problem(*blobs(), C=1.0))
    try:
        view(seen, name, {"count": 2, **arguments})
    except InvalidInput as error:
        assert str(error)


def test_many_samples_are_drawn_in_little_time_or_refused():
    """The work of a view is bounded: its grid is coarser, its hulls have few corners, and a long path is refused."""
    X, y = blobs(n=3000, apart=0.7)
    problem = Problem(X, y, C=1.0)
    seen = seen_of(problem, solve(problem, tol=1e-3).point)
    assert view(seen, "landscape", {})[1]["values"].size * problem.n < 3e6
    hulls = view(seen, "hulls", {})[1]
    assert sum(len(hulls[name]) for name in ("reduced_negative", "reduced_positive")) < 200
    with pytest.raises(InvalidInput, match="at most 1,000 samples"):
        view(seen, "path", {})
    assert view(seen, "kernel", {})[1]["values"].shape == (240, 240)


def test_what_a_view_cannot_show_it_says():
    X, y = blobs()
    with pytest.raises(InvalidInput, match="there is no view"):
        view(seen_of(Problem(X, y)), "nothing", {})
    others = ({"kernel": "rbf"}, {"bias": "none"}, {"loss": "squared-hinge"}, {"regularizer": "l1"})
    for problem in (Problem(X, y, **other) for other in others):
        with pytest.raises(InvalidInput, match="hulls"):
            view(seen_of(problem), "hulls", {})
    for problem in (Problem(X, y, kernel="rbf"), Problem(X, y, C=np.inf)):
        with pytest.raises(InvalidInput, match=r"landscape|infinite"):
            view(seen_of(problem), "landscape", {})
    with pytest.raises(InvalidInput, match="no point yet"):
        view(seen_of(Problem(X, y)), "step", {})
