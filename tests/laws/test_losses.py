"""What every loss must obey, whatever its formula: MATH.md, sections 1 and 2."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from maxmargin.losses import list_losses
from maxmargin.losses import loss as loss_by_name

TARGETS = {"classification": (-1.0, 1.0), "regression": (-2.5, 0.0, 0.75), "novelty": (1.0,)}
SCORES = np.linspace(-6.0, 6.0, 97)
WEIGHTS = (1e-8, 0.3, 1.0, 1e8)


def kinks(loss, t):
    """The kinks of one target, in order, repeated where two fall together (ε = 0)."""
    return np.sort([kink[0] for kink in loss.kinks(np.array([t]))])


def samples(loss):
    """Scores and targets: a grid that meets each kink exactly."""
    columns = [np.stack(np.broadcast_arrays(np.r_[SCORES, kinks(loss, t)], t)) for t in TARGETS[loss.task]]
    return np.concatenate(columns, axis=1)


def pairs(loss):
    """All pairs of scores (z, other) with one target t."""
    z, t = samples(loss)
    same = t[:, None] == t[None, :]
    first, second = np.nonzero(same)
    return z[first], z[second], t[first]


def dual_points(loss):
    """β within the box for several weights: (β, t, C), ends included where they are finite."""
    found = []
    for t in TARGETS[loss.task]:
        for C in WEIGHTS:
            lower, upper = (float(end[0]) for end in loss.bounds(np.array([t]), np.array([C])))
            low, high = max(lower, -10 * C), min(upper, 10 * C)
            found += [(beta, t, C) for beta in np.linspace(low, high, 21)]
    return np.array(found).T


# The loss and its slope


def test_value_is_finite_and_not_negative(loss):
    value = loss.value(*samples(loss))
    assert np.isfinite(value).all() and (value >= 0).all()


def test_value_is_convex(loss):
    z, other, t = pairs(loss)
    for share in (0.5, 0.1):
        between = loss.value(share * z + (1 - share) * other, t)
        chord = share * loss.value(z, t) + (1 - share) * loss.value(other, t)
        assert (between <= chord + 1e-12 * (1 + chord)).all()


def test_slope_is_the_central_difference_away_from_kinks(loss):
    z, t = samples(loss)
    smooth = np.array([np.abs(kinks(loss, t_i) - z_i).min(initial=1.0) > 1e-3 for z_i, t_i in zip(z, t, strict=True)])
    z, t, h = z[smooth], t[smooth], 1e-6
    difference = (loss.value(z + h, t) - loss.value(z - h, t)) / (2 * h)
    # A squared loss has a second derivative that jumps, so the difference is good to h, not to h².
    assert_allclose(loss.slope(z, t), difference, atol=1e-5)


def test_slope_is_a_subgradient_everywhere(loss):
    z, other, t = pairs(loss)
    line = loss.value(z, t) + loss.slope(z, t) * (other - z)
    assert (loss.value(other, t) >= line - 1e-12 * (1 + np.abs(line))).all()


def test_slope_jumps_by_one_at_each_kink_and_nowhere_else(loss):
    for t in TARGETS[loss.task]:
        at = kinks(loss, t)
        if loss.smooth:
            assert at.size == 0
            z = np.linspace(-6.0, 6.0, 12_001)  # a jump of 1 would stand out from steps of 0.001·ℓ''
            assert np.abs(np.diff(loss.slope(z, np.full(z.size, t)))).max() < 0.01
        else:
            # Piecewise linear: between two scores the slope grows by the number of kinks between them.
            z = np.sort(np.r_[SCORES, at - 1e-9, at + 1e-9])
            z = z[np.abs(z[:, None] - at[None, :]).min(axis=1) > 1e-12]
            slope = loss.slope(z, np.full(z.size, t))
            assert_allclose(slope - slope[0], np.searchsorted(at, z) - np.searchsorted(at, z[0]), atol=1e-12)


def test_curvature_is_the_largest_second_derivative(loss):
    assert loss.smooth == np.isfinite(loss.curvature)
    if not loss.smooth:
        return
    steepest = 0.0
    for t in TARGETS[loss.task]:
        z = np.linspace(-6.0, 6.0, 12_001)
        steepest = max(steepest, np.abs(np.diff(loss.slope(z, np.full(z.size, t)))).max() / (z[1] - z[0]))
    assert steepest == pytest.approx(loss.curvature, rel=1e-4)


def test_second_is_the_difference_of_slopes_on_one_side_or_the_other(loss):
    z, t = samples(loss)
    smooth = np.array([np.abs(kinks(loss, t_i) - z_i).min(initial=1.0) > 1e-3 for z_i, t_i in zip(z, t, strict=True)])
    z, t, h = z[smooth], t[smooth], 1e-6
    # A squared loss has a second derivative that jumps: there it may be either of the two.
    left, right = (sign * (loss.slope(z + sign * h, t) - loss.slope(z, t)) / h for sign in (-1.0, 1.0))
    second = loss.second_derivative(z, t)
    assert (second >= np.minimum(left, right) - 1e-6).all() and (second <= np.maximum(left, right) + 1e-6).all()
    assert (second >= 0.0).all() and (not loss.smooth or second.max() <= loss.curvature)


@given(z=st.floats(-1e140, 1e140), t=st.floats(-1e140, 1e140))
def test_scores_of_any_size_give_finite_numbers(loss, z, t):
    t = {"classification": 1.0 if t >= 0 else -1.0, "regression": t, "novelty": 1.0}[loss.task]
    z, t = np.array([z]), np.array([t])
    value, slope, second = loss.value(z, t), loss.slope(z, t), loss.second_derivative(z, t)
    assert np.isfinite(value).all() and np.isfinite(slope).all() and np.isfinite(second).all() and (value >= 0).all()


# The conjugate


def test_conjugate_is_the_supremum(loss):
    far = 1e9
    for t in TARGETS[loss.task]:
        # The supremum of a convex loss sits at a kink, or is met by a fine grid up to its square.
        z = np.r_[np.linspace(-60.0, 60.0, 240_001), kinks(loss, t)]
        value = loss.value(z, np.full(z.size, t))
        for u in np.r_[np.linspace(-3.0, 3.0, 25), -0.99, -0.01, 0.01, 0.99, -1.01, 1.01]:
            found = float(loss.conjugate(np.array([u]), np.array([t]))[0])
            ends = u * np.array([-far, far]) - loss.value(np.array([-far, far]), np.full(2, t))
            if ends.max() > 1e5:  # it grows without end
                assert found == np.inf, (t, u)
            else:
                assert found == pytest.approx((u * z - value).max(), abs=1e-6), (t, u)


def test_fenchel_young(loss):
    z, other, t = pairs(loss)
    u = loss.slope(other, t)
    bracket = loss.value(z, t) + loss.conjugate(u, t) - u * z
    scale = 1.0 + np.abs(u * z) + loss.value(z, t)
    assert (bracket >= -1e-12 * scale).all()
    # Equality where u is the slope at z.
    equal = z == other
    assert_allclose(bracket[equal] / scale[equal], 0.0, atol=1e-12)


@given(z=st.floats(-1e6, 1e6), u=st.floats(-10, 10), t=st.floats(-1e3, 1e3))
def test_fenchel_young_anywhere(loss, z, u, t):
    t = {"classification": 1.0 if t >= 0 else -1.0, "regression": t, "novelty": 1.0}[loss.task]
    z, u, t = np.array([z]), np.array([u]), np.array([t])
    value, conjugate = loss.value(z, t), loss.conjugate(u, t)
    scale = 1.0 + value + np.abs(u * z) + np.abs(u * t) + u * u
    assert (value + conjugate >= u * z - 1e-12 * scale).all()


# The dual's arrays


def test_bounds_are_the_domain_of_the_conjugate(loss):
    for t in TARGETS[loss.task]:
        for C in WEIGHTS:
            lower, upper = (float(end[0]) for end in loss.bounds(np.array([t]), np.array([C])))
            assert lower <= 0.0 <= upper
            for end, outward in ((lower, -1.0), (upper, 1.0)):
                inside = end if np.isfinite(end) else outward * 1e6 * C
                assert np.isfinite(loss.conjugate(np.array([-inside / C]), np.array([t]))).all(), (t, C, inside)
                if np.isfinite(end):
                    outside = end + outward * 1e-6 * C
                    assert np.isinf(loss.conjugate(np.array([-outside / C]), np.array([t]))).all(), (t, C, outside)


def test_dual_form_is_the_conjugate(loss):
    beta, t, C = dual_points(loss)
    form = loss.dual_form(t, C)
    if form is None:
        # Only a dual that is not quadratic may go without arrays: some third difference must not vanish.
        conjugate = loss.conjugate(-beta / C, t).reshape(-1, 21)  # 21 equally spaced β for each t and C
        assert np.abs(np.diff(conjugate, 3)).max() > 1e-3
        return
    arrays = form.target * beta - form.tube * np.abs(beta) - 0.5 * form.ridge * beta**2
    assert_allclose(arrays / C, -loss.conjugate(-beta / C, t), rtol=1e-12, atol=1e-12)
    assert form.value(beta) == pytest.approx(float(arrays.sum()), abs=1e-12 * float(np.abs(arrays).sum()))
    assert_array_equal((form.lower, form.upper), loss.bounds(t, C))
    assert form.total == loss.total(C)


def test_dual_form_has_the_shape_of_the_data(loss):
    t = np.array(TARGETS[loss.task])
    form = loss.dual_form(t, np.ones(t.size))
    if form is None:
        return
    for array in (form.target, form.ridge, form.tube, form.lower, form.upper):
        assert array.shape == t.shape and array.dtype == np.float64
    assert (form.ridge >= 0).all() and (form.tube >= 0).all() and (form.lower <= form.upper).all()


def test_weight_zero_pins_beta_to_zero(loss):
    t = np.array(TARGETS[loss.task])
    lower, upper = loss.bounds(t, np.zeros(t.size))
    assert_array_equal(lower, 0.0)
    assert_array_equal(upper, 0.0)
    form = loss.dual_form(t, np.zeros(t.size))
    if form is not None:
        assert np.isfinite(form.ridge).all() and form.value(np.zeros(t.size)) == 0.0
    assert loss.total(np.zeros(t.size)) == 0.0


def test_slope_times_weight_is_within_the_bounds(loss):
    """β = −C ℓ'(z) is how a primal point gives a dual one: it must land in the box without clipping."""
    z, t = samples(loss)
    for C in WEIGHTS:
        beta = -C * loss.slope(z, t)
        lower, upper = loss.bounds(t, np.full(t.size, C))
        assert (lower <= beta).all() and (beta <= upper).all()


# The formulas of the table in MATH.md, once more by hand at a few scores


@pytest.mark.parametrize(
    ("name", "t", "z", "value", "slope"),
    [
        ("hinge", 1.0, 0.25, 0.75, -1.0),
        ("hinge", -1.0, 0.25, 1.25, 1.0),
        ("squared-hinge", 1.0, 0.5, 0.25, -1.0),
        ("squared-hinge", -1.0, -2.0, 0.0, 0.0),
        ("least-squares", 3.0, 1.0, 4.0, -4.0),
        ("logistic", 1.0, 0.0, np.log(2.0), -0.5),
        ("epsilon-insensitive", 1.0, 0.0, 0.9, -1.0),
        ("epsilon-insensitive", 1.0, 1.05, 0.0, 0.0),
        ("squared-epsilon-insensitive", 1.0, 1.6, 0.25, 1.0),
        ("one-class", 1.0, -0.5, 0.5, -1.0),
    ],
)
def test_by_hand(name, t, z, value, slope):
    loss = loss_by_name(name)
    assert loss.value(np.array([z]), np.array([t]))[0] == pytest.approx(value)
    assert loss.slope(np.array([z]), np.array([t]))[0] == pytest.approx(slope)


def test_names():
    for name in list_losses():
        assert loss_by_name(name).name == name
        assert loss_by_name(name.replace("-", "_")) == loss_by_name(name)
        made = loss_by_name(name)
        assert loss_by_name(made) is made
