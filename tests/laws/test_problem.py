"""What every problem must obey: the projection, the two objectives, the way between them, weights and labels."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight

from maxmargin import Problem
from maxmargin.errors import InvalidInput
from maxmargin.kernels import RBF, Linear, Polynomial
from maxmargin.losses import loss as loss_of
from maxmargin.problem.bias import kinked_bias
from maxmargin.problem.projection import project


def make_data(loss, n=14, d=3, seed=0):
    """Rows and targets that suit the loss; both classes are there."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0) if loss.task == "classification" else rng.normal(size=n)
    if loss.task == "classification":
        y[:2] = -1.0, 1.0
    return X, None if loss.task == "novelty" else y


def make_problem(loss, bias="free", kernel="linear", n=14, seed=0, **parameters):
    X, y = make_data(loss, n, seed=seed)
    return Problem(X, y, loss=loss, kernel=kernel, bias=bias, **parameters)


def random_point(problem, seed=1, scale=1.0):
    """A point in the problem's space; the feature of a bias that is not augmented stays 0."""
    w = scale * np.random.default_rng(seed).normal(size=problem.space.size)
    if problem.linear and problem.bias != "augmented":
        w[-1] = 0.0
    return w


def random_beta(problem, seed=1, scale=1.0):
    """A feasible dual point."""
    return problem.feasible(scale * np.random.default_rng(seed).normal(size=problem.n))


# Projection onto {lower ≤ β ≤ upper, Σβ = total}


def soft_clip(v, lower, upper, shrink):
    return np.clip(np.sign(v) * np.maximum(np.abs(v) - shrink, 0.0), lower, upper)


def bisected(v, lower, upper, total, shrink):
    """The projection once more: 300 halvings of an interval for μ, and nothing clever."""
    reach = 1.0
    while soft_clip(v + reach, lower, upper, shrink).sum() < total and reach < 1e300:
        reach *= 2
    low = -reach
    reach = 1.0
    while soft_clip(v - reach, lower, upper, shrink).sum() > total and reach < 1e300:
        reach *= 2
    high = reach
    for _ in range(300):
        middle = 0.5 * (low + high)
        if soft_clip(v - middle, lower, upper, shrink).sum() > total:
            low = middle
        else:
            high = middle
    return soft_clip(v - 0.5 * (low + high), lower, upper, shrink)


#: Multiples of 1/64: exact, and no two bounds are closer to each other than rounding can tell.
NUMBERS = st.integers(-640, 640).map(lambda k: k / 64)


@st.composite
def projections(draw, numbers=NUMBERS):
    """v, bounds (some infinite, some equal), a total between what they allow, and perhaps a tube."""
    n = draw(st.integers(1, 12))
    vectors = st.lists(numbers, min_size=n, max_size=n).map(np.array)
    v, first, second = draw(vectors), draw(vectors), draw(vectors)
    lower, upper = np.minimum(first, second), np.maximum(first, second)
    upper[0] += lower[0] == upper[0]  # something must be left to move
    inside = lower + draw(st.floats(0.05, 0.95)) * (upper - lower)
    lower[draw(st.lists(st.integers(0, n - 1), max_size=n))] = -np.inf
    upper[draw(st.lists(st.integers(0, n - 1), max_size=n))] = np.inf
    shrink = np.abs(draw(vectors)) if draw(st.booleans()) else np.zeros(n)
    return v, lower, upper, float(inside.sum()), shrink


def check_projection(v, lower, upper, total, shrink, c=1.0):
    """Everything times c must give the projection times c."""
    tube = c * shrink if shrink.any() else None
    beta = project(c * v, c * lower, c * upper, c * total, tube)
    assert (c * lower <= beta).all() and (beta <= c * upper).all()
    expected = bisected(v, lower, upper, total, shrink)
    scale = np.abs(v).max() + np.abs(expected).max() + shrink.max() + abs(total)
    assert_allclose(beta / c, expected, rtol=0.0, atol=1e-9 * scale)
    assert abs(beta.sum() / c - total) <= 1e-12 * scale


@given(projections())
def test_projection(instance):
    check_projection(*instance)


@given(projections(st.integers(-3, 3).map(float)))
def test_projection_with_ties(instance):
    check_projection(*instance)


@given(projections(), st.integers(-100, 100))
def test_projection_at_any_scale(instance, decades):
    check_projection(*instance, c=10.0**decades)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 1e308])
@pytest.mark.parametrize("total", [-2.5, 0.0, 2.5])
def test_projection_ends_whatever_it_is_given(value, total):
    """A compiled loop without an end cannot be broken off, not even by Ctrl-C."""
    for upper in (1.0, np.inf):
        v = np.array([value, 0.0, 1.0])
        assert project(v, np.full(3, -upper), np.full(3, upper), total).shape == (3,)


@given(projections(), st.integers(0, 2**32 - 1))
def test_projection_is_the_nearest_point(instance, seed):
    """⟨v − β, q − β⟩ ≤ 0 for every q of the set: the geometry, without μ."""
    v, lower, upper, total, _ = instance
    beta = project(v, lower, upper, total)
    q = project(10.0 * np.random.default_rng(seed).normal(size=v.size), lower, upper, total)
    assert (v - beta) @ (q - beta) <= 1e-9 * (1.0 + np.abs(v).max() + np.abs(q).max()) ** 2


@given(projections())
def test_projection_stays_where_it_is(instance):
    v, lower, upper, total, _ = instance
    once = project(v, lower, upper, total)
    assert_allclose(project(once, lower, upper, total), once, rtol=1e-12, atol=1e-12 * (1 + np.abs(once).max()))


@given(projections())
def test_projection_without_a_total_clips(instance):
    v, lower, upper, _, shrink = instance
    assert_array_equal(project(v, lower, upper), np.clip(v, lower, upper))
    assert_array_equal(project(v, lower, upper, None, shrink), soft_clip(v, lower, upper, shrink))


def test_projection_onto_a_corner():
    """The total may be all that the bounds allow (one-class with ν = 1): one point is left, and it is found.

    In a process of its own, because a search for μ that rounding keeps from ending cannot be interrupted.
    """
    code = """
import numpy as np
from maxmargin import Problem
from maxmargin.losses.one_class import OneClass
from maxmargin.kernels import RBF, Linear, Polynomial
from maxmargin.losses import loss as loss_of
from maxmargin.problem.projection import project

for seed in range(100):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    v, lower = rng.normal(size=(2, n))
    upper = lower + rng.random(n)
    for corner in (lower, upper):
        found = project(v, lower, upper, float(corner.sum()))
        np.testing.assert_allclose(found, corner, rtol=0, atol=1e-12)
    problem = Problem(rng.normal(size=(n, 2)), loss=OneClass(nu=1.0), sample_weight=rng.uniform(0.1, 2.0, n))
    np.testing.assert_allclose(problem.feasible(v), problem.C, rtol=1e-12)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("far", [1e3, 1e9, 1e12, 1e15, 1e100])
@pytest.mark.parametrize("box", [1.0, 1e-8])
@pytest.mark.parametrize("seed", range(5))
def test_projection_from_far_away_is_feasible(far, box, seed):
    """A point so far away that v − μ cannot resolve the box must still land in the feasible set."""
    rng = np.random.default_rng(seed)
    y = np.array([1.0, 1.0, 1.0, 1.0, 1.0, -1.0, -1.0])
    lower, upper = box * np.minimum(y, 0.0), box * np.maximum(y, 0.0)
    for v in (far * rng.normal(size=7), far * y, np.full(7, far), far * (y > 0)):
        beta = project(v, lower, upper, 0.0)
        assert (lower <= beta).all() and (beta <= upper).all()
        assert abs(beta.sum()) <= 1e-12 * box


def test_projection_onto_nothing_is_refused():
    with pytest.raises(InvalidInput, match="no point within the bounds has the sum 3"):
        project(np.zeros(2), np.zeros(2), np.ones(2), 3.0)
    with pytest.raises(InvalidInput, match="no point within the bounds has the sum -1"):
        project(np.zeros(2), np.zeros(2), np.ones(2), -1.0)


# The best bias


def bias_objective(problem, scores, b):
    """Σ C_i ℓ_i(s_i + b) + total·b, from the loss alone."""
    values = problem.loss.value(scores + b, problem.target)
    return float(problem.C @ values) + (problem.total or 0.0) * b


def least_by_search(problem, scores):
    """The smallest value over b: at a kink, or by ternary search."""
    kinks = problem.loss.kinks(problem.target)
    if kinks:
        return min(bias_objective(problem, scores, b) for b in np.concatenate(kinks) - np.tile(scores, len(kinks)))
    reach = 100.0 + np.abs(scores).max() + np.abs(problem.target).max()
    low, high = -reach, reach
    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if bias_objective(problem, scores, left) < bias_objective(problem, scores, right):
            high = right
        else:
            low = left
    return bias_objective(problem, scores, 0.5 * (low + high))


@given(seed=st.integers(0, 2**32 - 1), decades=st.integers(-6, 6), weight_decades=st.integers(0, 3))
def test_best_bias_is_the_minimiser(loss, seed, decades, weight_decades):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 15))
    problem = make_problem(loss, n=n, seed=seed, sample_weight=10.0 ** rng.uniform(-weight_decades, weight_decades, n))
    scores = 10.0**decades * rng.normal(size=n)
    found = bias_objective(problem, scores, problem.best_bias(scores))
    least = least_by_search(problem, scores)
    size = float(problem.C @ loss.value(scores, problem.target)) + float(problem.C.sum()) * (1 + np.abs(scores).max())
    assert found <= least + 1e-10 * size


@pytest.mark.parametrize("kind", ["normal", "rounded", "ascending", "periodic", "heavy", "total"])
def test_the_best_of_many_biases_is_found_among_few(kind, monkeypatch):
    """A sample of the kinks says where to look; where it misleads, all of them are sorted."""
    rng = np.random.default_rng(0)
    n = 5000
    C, scores, total = np.ones(n), rng.normal(size=n), 0.0
    if kind == "rounded":
        scores = np.round(scores, 1)
    elif kind == "ascending":
        scores.sort()
    elif kind == "periodic":  # every fifth, which is what the sample sees, is far off
        scores[::5] += 100.0
    elif kind == "heavy":  # the sample does not see the only sample that counts
        C[3] = 1e6
    elif kind == "total":  # all slopes together do not reach the root
        total = -2.0 * n
    t = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    found = kinked_bias(loss_of("hinge"), t, C, total, scores)
    monkeypatch.setattr("maxmargin.problem.bias.SAMPLE", 10**9)
    assert found == pytest.approx(kinked_bias(loss_of("hinge"), t, C, total, scores), abs=1e-12)


def test_best_bias_without_free_support_vectors():
    """There is nothing to average y − s over; the minimisers are an interval, and we take its middle."""
    problem = Problem(np.array([[5.0], [-5.0]]), [1, -1])
    assert problem.best_bias(np.array([5.0, -5.0])) == 0.0  # no loss for b in [−4, 4]
    assert problem.best_bias(np.array([6.0, -4.0])) == -1.0  # in [−5, 3]
    # Both samples inside the margin: slopes cancel for b in [−1, 1].
    assert problem.best_bias(np.array([0.0, 0.0])) == 0.0
    # Heavier on one side: the kink of the heavier class.
    problem = Problem(np.zeros((3, 1)), [1, 1, -1])
    assert problem.best_bias(np.zeros(3)) == 1.0


def test_best_bias_of_a_tie_of_weights_is_the_middle():
    """The running sum of slopes is 0 only up to rounding here: 3 · 0.1 against 0.3."""
    problem = Problem(np.zeros((4, 1)), [1, 1, 1, -1], sample_weight=[0.1, 0.1, 0.1, 0.3])
    assert problem.best_bias(np.zeros(4)) == 0.0


@pytest.mark.parametrize("bias", ["none", "augmented"])
def test_only_a_free_bias_is_chosen(supervised_loss, bias):
    problem = make_problem(supervised_loss, bias)
    assert problem.best_bias(np.arange(14.0)) == 0.0


def test_best_bias_of_a_hard_margin_is_the_middle_between_the_classes():
    problem = Problem(np.array([[1.0], [2.0], [-4.0]]), [1, 1, -1], C=np.inf, sample_weight=[1.0, 1.0, 1.0])
    assert problem.best_bias(np.array([1.0, 2.0, -4.0])) == 1.5


# From a primal point to a dual one


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("C", [1e-8, 1.0, 1e8])
def test_dual_point_is_feasible_and_its_best_multiple(loss_and_bias, kernel, C):
    for seed in range(5):
        problem = make_problem(*loss_and_bias, kernel, seed=seed, C=C)
        scores = problem.space.scores(random_point(problem, seed))
        beta = problem.dual_point(scores, problem.best_bias(scores))
        assert problem.is_feasible(beta)
        if problem.total:
            continue  # Σβ = ν ΣC leaves no multiple to choose
        value = problem.dual(beta)
        # D(0) = 0 is among the multiples, so the dual point never proves less than nothing.
        best = max(problem.dual(theta * beta) for theta in np.r_[np.linspace(0.0, 1.0, 101), 10.0 ** np.arange(-20, 0)])
        assert value >= best - 1e-9 * (abs(value) + abs(best))


def test_dual_point_of_the_optimum_is_as_good(loss_and_bias):
    """Where the loss is smooth β = −C ℓ'(z) is the dual optimum at the primal one: the gap closes."""
    loss, bias = loss_and_bias
    if not loss.smooth:
        return  # a kink leaves the sub-gradient open
    problem = make_problem(loss, bias, C=0.7)
    size = problem.space.size - 1

    def unpack(v):
        return (v, 0.0) if bias == "augmented" else (np.r_[v[:size], 0.0], v[-1] if bias == "free" else 0.0)

    found = minimize(lambda v: problem.primal(*unpack(v)), np.zeros(size + 1), method="BFGS", options={"gtol": 1e-9})
    w, b = unpack(found.x)
    beta = problem.dual_point(problem.space.scores(w), b)
    assert problem.primal(w, b) - problem.dual(beta) <= 1e-5 * abs(found.fun)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_pulls_are_subgradients_of_the_right_sum(loss_and_bias, kernel):
    """Each u_i = −C_i ℓ'(z_i) makes its sample's bracket in the gap 0; with a free bias they sum to the total."""
    loss, bias = loss_and_bias
    for seed in range(5):
        problem = make_problem(loss, bias, kernel, seed=seed, C=2.0)
        scores = problem.space.scores(random_point(problem, seed))
        u = problem.pulls(scores)
        assert problem.is_feasible(u)
        z = scores + problem.best_bias(scores)
        bracket = problem.C * (loss.value(z, problem.target) + loss.conjugate(-u / problem.C, problem.target)) + u * z
        assert_allclose(bracket, 0.0, atol=1e-8)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_feasible_is_feasible_and_idempotent(loss_and_bias, scale):
    for seed in range(10):
        problem = make_problem(*loss_and_bias, seed=seed)
        v = scale * np.random.default_rng(seed).normal(size=problem.n)
        beta = problem.feasible(v)
        assert problem.is_feasible(beta)
        assert_allclose(problem.feasible(beta), beta, rtol=1e-12, atol=1e-13 * (1 + np.abs(beta).max()))
        assert np.isfinite(problem.dual(beta))


def test_dual_is_minus_infinity_outside_the_box(loss):
    problem = make_problem(loss)
    lower, upper = problem.bounds
    for end, outward in ((lower, -1.0), (upper, 1.0)):
        if np.isfinite(end[0]):
            beta = np.zeros(problem.n)
            beta[0] = end[0] + outward * 1e-6
            assert problem.dual(beta) == -np.inf and not problem.is_feasible(beta)


# Parametrisations


def test_lam_is_one_over_C(loss):
    with_C, with_lam = make_problem(loss, C=4.0), make_problem(loss, lam=0.25)
    assert_array_equal(with_C.C, with_lam.C)
    w, b = random_point(with_lam), 0.3
    # Σ loss + λ/2 ‖w‖² = λ P
    sum_of_losses = float(loss.value(with_lam.space.scores(w) + b, with_lam.target).sum())
    reward = loss.total(np.ones(14)) * b
    assert 0.25 * with_lam.primal(w, b) == pytest.approx(sum_of_losses + reward + 0.125 * float(w @ w))


def test_default_weight_is_one(loss):
    assert_array_equal(make_problem(loss).C, np.ones(14))


def test_lam_zero_is_the_hard_margin():
    assert Problem(np.array([[1.0], [-1.0]]), [1, -1], lam=0.0).hard


# Labels


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([0, 1, 1, 0], [0, 1]),
        ([7, -3, -3, 7], [-3, 7]),
        (["spam", "ham", "ham", "spam"], ["ham", "spam"]),
        (np.array(["spam", "ham", "ham", "spam"], dtype=object), ["ham", "spam"]),
        ([True, False, False, True], [False, True]),
        ([0.5, 0.25, 0.25, 0.5], [0.25, 0.5]),
    ],
)
def test_the_smaller_label_is_minus_one(y, classes):
    problem = Problem(np.eye(4), y)
    assert problem.classes.tolist() == classes
    assert_array_equal(problem.target, [-1.0 if label == classes[0] else 1.0 for label in y])
    assert problem.labels(problem.target).tolist() == list(y)  # scores of the right sign give the labels back


def test_labels_of_a_least_squares_classifier():
    problem = Problem(np.eye(2), ["b", "a"], loss="least-squares", task="classification")
    assert_array_equal(problem.target, [1.0, -1.0])
    assert Problem(np.eye(2), [2.0, 5.0], loss="least-squares").target.tolist() == [2.0, 5.0]


# Weights


@pytest.mark.parametrize("y", [[0, 1, 1, 1, 0], ["a", "b", "b", "b", "a"], [True, False, False, False, True]])
def test_class_weight_is_scikit_learns(y):
    X = np.random.default_rng(0).normal(size=(5, 2))
    y = np.array(y)
    classes = np.unique(y)
    balanced = dict(zip(classes.tolist(), compute_class_weight("balanced", classes=classes, y=y), strict=True))
    assert balanced[y[0].item()] == pytest.approx(5 / 4)
    for class_weight in ("balanced", balanced, {y[0].item(): 3.0}):
        C = Problem(X, y, C=2.0, class_weight=class_weight).C
        assert_allclose(C, 2.0 * compute_sample_weight(class_weight, y), rtol=1e-14)


def test_object_labels_take_a_class_weight():
    y = np.array(["a", "b", "b"], dtype=object)
    assert_array_equal(Problem(np.eye(3), y, class_weight={"a": 2.0}).C, [2.0, 1.0, 1.0])


def test_all_weights_multiply():
    problem = Problem(np.eye(3), [0, 1, 1], C=2.0, sample_weight=[1.0, 3.0, 5.0], class_weight={1: 7.0})
    assert_array_equal(problem.C, [2.0, 42.0, 70.0])


KERNELS = (Linear(), RBF(gamma=0.5), RBF(gamma="scale"), Polynomial(degree=2, gamma="scale", coef0=1.0))
REPEATS = np.array([2, 1, 3, 1, 2, 1, 1, 4, 1, 1, 2, 1, 1, 3])


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_weights_equal_repetition(loss_and_bias, kernel):
    loss, bias = loss_and_bias
    weighted = make_problem(loss, bias, kernel, sample_weight=REPEATS, C=0.8)
    X, y = make_data(loss)
    repeated = Problem(np.repeat(X, REPEATS, axis=0), None if y is None else np.repeat(y, REPEATS), loss=loss,
                       kernel=kernel, bias=bias, C=0.8)  # fmt: skip

    def spread(v):
        return np.repeat(v / REPEATS, REPEATS)

    w, b = random_point(weighted), 0.4 if bias == "free" else 0.0
    w_repeated = w if weighted.linear else spread(w)
    assert repeated.primal(w_repeated, b) == pytest.approx(weighted.primal(w, b), rel=1e-12)
    beta = random_beta(weighted)
    assert repeated.is_feasible(spread(beta))
    assert repeated.dual(spread(beta)) == pytest.approx(weighted.dual(beta), rel=1e-11)
    # And the way from one side to the other.
    scores = weighted.space.scores(w)
    assert repeated.best_bias(np.repeat(scores, REPEATS)) == pytest.approx(weighted.best_bias(scores), abs=1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_weight_zero_equals_leaving_the_row_out(loss_and_bias, kernel):
    loss, bias = loss_and_bias
    kept = np.arange(14) % 3 != 2
    weights = np.where(kept, np.linspace(0.5, 2.0, 14), 0.0)
    whole = make_problem(loss, bias, kernel, sample_weight=weights, C=0.8)
    X, y = make_data(loss)
    part = Problem(X[kept], None if y is None else y[kept], loss=loss, kernel=kernel, bias=bias, C=0.8,
                   sample_weight=weights[kept])  # fmt: skip
    beta = random_beta(whole)
    assert_array_equal(beta[~kept], 0.0)
    assert part.dual(beta[kept]) == pytest.approx(whole.dual(beta), rel=1e-12)
    w = whole.space.combine(beta)
    w_part = w if whole.linear else w[kept]
    b = 0.4 if bias == "free" else 0.0
    assert part.primal(w_part, b) == pytest.approx(whole.primal(w, b), rel=1e-12)
    scores = whole.space.scores(w)
    best, best_of_part = whole.best_bias(scores), part.best_bias(scores[kept])
    assert bias_objective(part, scores[kept], best) == pytest.approx(bias_objective(part, scores[kept], best_of_part))
    assert_allclose(whole.dual_point(scores, b)[kept], part.dual_point(scores[kept], b), rtol=1e-9, atol=1e-12)
    assert_array_equal(whole.dual_point(scores, b)[~kept], 0.0)


def test_a_row_of_weight_zero_does_not_move_the_bias():
    """It would move it within the flat bottom, where all minimisers are, and with it every prediction."""
    scores = np.array([5.0, -5.0, 1.5])
    without = Problem(np.eye(3)[:2], [1, -1]).best_bias(scores[:2])
    assert Problem(np.eye(3), [1, -1, 1], sample_weight=[1.0, 1.0, 0.0]).best_bias(scores) == without


def test_balanced_does_not_count_rows_of_weight_zero():
    with_zero = Problem(np.eye(4), [0, 1, 1, 1], class_weight="balanced", sample_weight=[1, 1, 1, 0])
    assert_allclose(with_zero.C, [*Problem(np.eye(3), [0, 1, 1], class_weight="balanced").C, 0.0], rtol=1e-14)


# The augmented bias


@pytest.mark.parametrize("s", [0.3, 1.0, 20.0])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_augmented_bias_is_one_more_column(supervised_loss, s, make):
    loss = supervised_loss
    X, y = make_data(loss)
    augmented = Problem(make(X), y, loss=loss, bias="augmented", bias_scale=s)
    explicit = Problem(make(np.c_[X, np.full(14, s)]), y, loss=loss, bias="none")
    w = random_point(augmented)
    w_explicit = np.r_[w, 0.0]  # the explicit problem's own constant feature is not used
    assert augmented.primal(w) == pytest.approx(explicit.primal(w_explicit), rel=1e-12)
    assert augmented.space.bias(w) == pytest.approx(s * w[-1])
    beta = random_beta(augmented)
    assert augmented.dual(beta) == pytest.approx(explicit.dual(beta), rel=1e-12)
    assert_allclose(augmented.space.combine(beta), explicit.space.combine(beta)[:-1], rtol=1e-12, atol=1e-14)
    assert_allclose(augmented.space.diag(), explicit.space.diag(), rtol=1e-12)
    assert_allclose(augmented.space.product(beta), explicit.space.product(beta), rtol=1e-10, atol=1e-12)
    # b is penalised by b²/2s².
    plain = Problem(make(X), y, loss=loss, bias="none")
    b = augmented.space.bias(w)
    scores = plain.space.scores(np.r_[w[:-1], 0.0]) + b
    expected = 0.5 * float(w[:-1] @ w[:-1]) + b**2 / (2 * s**2) + float(loss.value(scores, plain.target).sum())
    assert augmented.primal(w) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_same_problem_with_an_augmented_bias(loss, kernel):
    problem = make_problem(loss, "free", kernel, C=3.0)
    assert problem.space.constant == 0.0 and problem.total is not None  # cached now; it must not leak into the other
    other = problem.with_augmented_bias(2.5)
    assert other.bias == "augmented" and other.X is problem.X and other.total is None
    if loss.task != "novelty":
        made = make_problem(loss, "augmented", kernel, C=3.0, bias_scale=2.5)
        beta = random_beta(made)
        assert other.dual(beta) == pytest.approx(made.dual(beta), rel=1e-12)
        w = random_point(made)
        assert other.primal(w) == pytest.approx(made.primal(w), rel=1e-12)


@pytest.mark.parametrize("bias", ["none", "augmented", "free"])
def test_new_rows_score_like_the_training_rows(kernel, bias):
    """⟨w, φ(z)⟩ at the training rows is the training score, and the bias inside w is what the constant feature adds."""
    X = np.random.default_rng(0).normal(size=(9, 2))
    y = np.arange(9) % 2
    scale = {"bias_scale": 2.5} if bias == "augmented" else {}
    for make in (np.asarray, sp.csr_array):
        problem = Problem(make(X), y, kernel=kernel, bias=bias, **scale)
        w = random_point(problem)
        scores = problem.space.scores(w)
        for new in (X, sp.csr_array(X)):
            assert_allclose(problem.space.decision(problem.check_new(new), w), scores, rtol=1e-10, atol=1e-10)
        plain = Problem(make(X), y, kernel=kernel, bias="none")
        without = np.r_[w[:-1], 0.0] if problem.linear else w
        assert_allclose(scores - plain.space.scores(without), problem.space.bias(w), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("c", [1e-2, 1.0, 1e4])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_penalty_method_is_the_augmented_bias(supervised_loss, kernel, c):
    """D(β) − (c/2)(Σβ)² is the dual with K + c: the augmented bias with s = √c."""
    loss = supervised_loss
    plain = make_problem(loss, "none", kernel)
    augmented = make_problem(loss, "augmented", kernel, bias_scale=np.sqrt(c))
    beta = random_beta(plain)
    penalised = plain.dual(beta) - 0.5 * c * beta.sum() ** 2
    assert augmented.dual(beta) == pytest.approx(penalised, rel=1e-10)


@pytest.mark.parametrize("bias", ["none", "augmented", "free"])
def test_a_kernel_matrix_and_its_kernel_are_one_problem(kernel, bias):
    X = np.random.default_rng(0).normal(size=(9, 2))
    y = np.arange(9) % 2
    K = kernel.fitted(X).block(X, X)
    direct = Problem(X, y, kernel=kernel, bias=bias)
    by_matrix = Problem(0.5 * (K + K.T), y, kernel="precomputed", bias=bias)
    beta = random_beta(direct)
    assert by_matrix.dual(beta) == pytest.approx(direct.dual(beta), rel=1e-10, abs=1e-10)
    w, w_matrix = direct.space.combine(beta), by_matrix.space.combine(beta)
    assert by_matrix.primal(w_matrix, 0.1) == pytest.approx(direct.primal(w, 0.1), rel=1e-10)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_linear_space_is_the_matrix_product(make, dtype, monkeypatch):
    """More rows than a block has; the bits are the same whatever the number of threads."""
    n = 70_000
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2)).astype(dtype)
    u = rng.normal(size=n)
    space = Problem(make(X), np.arange(n) % 2, bias="augmented", bias_scale=3.0).space
    rows = np.c_[X.astype(np.float64), np.full(n, 3.0)]
    bits = set()
    for threads in ("1", "3"):
        monkeypatch.setenv("MAXMARGIN_THREADS", threads)
        w = space.combine(u)
        assert_allclose(w, rows.T @ u, rtol=1e-9)
        assert_allclose(space.scores(w), rows @ w, rtol=1e-9, atol=1e-9)
        assert_allclose(space.diag(), (rows**2).sum(axis=1), rtol=1e-12)
        bits.add(w.tobytes() + space.scores(w).tobytes())
    assert len(bits) == 1


def test_data_are_not_copied():
    for X in (np.eye(3), np.eye(3, dtype=np.float32), sp.csr_array(np.eye(3))):
        problem = Problem(X, [0, 1, 1])
        assert problem.X.dtype == X.dtype
        assert np.shares_memory(problem.X.data, X.data)


def test_a_problem_says_what_it_is():
    text = repr(Problem(np.eye(3), [0, 1, 1], C=2.0, sample_weight=[1, 2, 0]))
    assert "n=3" in text and "d=3" in text and "Hinge" in text and "C=2..4" in text
