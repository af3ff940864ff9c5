"""Complementary slackness drawn: where each sample is, and the curve that it must be on."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin import Problem, plots, solve
from maxmargin.errors import InvalidInput
from maxmargin.losses.one_class import OneClass

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.compiled]


def title_of(display):
    return display.axes[0].get_title(loc="left").replace("\n", " ")


def test_samples_are_at_their_margin_and_multiplier(clouds, fits):
    X, y = clouds(80, 1.2)
    weights = 1.0 + (np.arange(80) % 3)
    result = solve(Problem(X, y, C=0.5, sample_weight=weights), tol=1e-10)
    display = plots.kkt(result)
    np.testing.assert_allclose(display.margin, y * result.decision_function(X))
    np.testing.assert_allclose(display.multiplier, y * result.beta / (0.5 * weights))
    drawn = np.vstack([np.asarray(c.get_offsets()) for c in display.axes[0].collections if c.get_gid() != "off"])
    expected = np.column_stack([display.margin, display.multiplier])
    np.testing.assert_allclose(drawn[np.lexsort(drawn.T)], expected[np.lexsort(expected.T)])
    assert display.off.size == 0 and "all 80 samples are on the curve" in title_of(display)
    fits(display)


def test_the_curve_of_the_hinge_is_l_shaped(overlapping):
    curve = plots.kkt(overlapping).curve
    margin, share = curve.T
    assert (share[margin < 1 - 1e-9] == 1.0).all() and (share[margin > 1 + 1e-9] == 0.0).all()
    np.testing.assert_allclose(np.sort(share[margin == 1.0]), [0.0, 1.0])


@pytest.mark.parametrize(
    "loss",
    ["hinge", "squared-hinge", "least-squares", "logistic", "epsilon-insensitive", "squared-epsilon-insensitive"],
)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_at_the_optimum_every_loss_is_on_its_curve(clouds, loss, kernel, fits):
    X, y = clouds(50, 1.0)
    target = X[:, 0] ** 2 if loss.endswith("insensitive") else y
    task = "classification" if loss == "least-squares" else None
    solver = "auto"
    tol = 1e-10 if loss != "logistic" else 1e-8
    result = solve(Problem(X, target, loss=loss, kernel=kernel, C=0.7, task=task), solver, tol=tol)
    display = plots.kkt(result)
    assert result.certificate.relative_gap <= tol
    assert display.off.size == 0, display.distance.max()
    fits(display)


def test_those_off_the_curve_are_counted(clouds, legend_texts, fits):
    X, y = clouds(80, 1.2)
    rough = solve(Problem(X, y, C=1.0), "subgradient", tol=0.05)
    display = plots.kkt(rough, tol=1e-2)
    m, a = display.margin, display.multiplier
    # The distance from the hinge's set, by hand.
    by_hand = np.min(
        [
            np.hypot(np.maximum(1.0 - m, 0.0), a),
            np.hypot(m - 1.0, np.maximum(a - 1.0, 0.0)),
            np.hypot(np.maximum(m - 1.0, 0.0), a - 1.0),
        ],
        axis=0,
    )
    np.testing.assert_allclose(display.distance, by_hand, atol=1e-6)
    np.testing.assert_array_equal(display.off, np.flatnonzero(by_hand > 1e-2))
    assert display.off.size
    assert f"{display.off.size} of 80 samples are off the curve by more than 0.01" in title_of(display)
    assert f"off the curve: {display.off.size}" in legend_texts(display)
    fits(display)


def test_hard_margins_regressions_and_one_class(separable, regression, clouds, fits):
    hard = plots.kkt(separable)
    np.testing.assert_allclose(hard.multiplier, separable.problem.target * separable.beta)
    assert hard.off.size == 0
    assert "multiplier α" == hard.axes[0].get_ylabel()
    tube = plots.kkt(regression)
    assert tube.axes[0].get_xlabel() == "error z − t" and tube.off.size == 0
    novelty = plots.kkt(solve(Problem(clouds(60, 0.0)[0], loss=OneClass(0.2), kernel="rbf"), tol=1e-10))
    assert novelty.off.size == 0
    for display in (hard, tube, novelty):
        fits(display)
    with pytest.raises(InvalidInput, match="tol is 0"):
        plots.kkt(separable, tol=0)
