"""The pictures of the theory: what is drawn obeys it."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin import plots
from maxmargin.losses import loss as loss_by_name
from maxmargin.losses import losses as loss_names

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.compiled]


@pytest.mark.parametrize(
    ("name", "u"),
    [
        ("hinge", -0.5),
        ("hinge", -1.0),
        ("hinge", 0.0),
        ("squared-hinge", -1.3),
        ("logistic", -0.3),
        ("logistic", -0.9),
        ("least-squares", 1.0),
        ("least-squares", -3.0),
        ("epsilon-insensitive", 0.5),
        ("squared-epsilon-insensitive", -0.7),
        ("one-class", -0.4),
    ],
)
def test_the_drawn_gap_is_the_conjugate(name, u, fits):
    display = plots.conjugate(name, u)
    expected = float(loss_by_name(name).conjugate(np.array([u]), np.ones(1))[0])
    (gap,) = [line for line in display.axes[0].lines if "largest gap" in str(line.get_label())]
    (at, again), (on_line, on_loss) = gap.get_data()
    assert at == again == display.at
    assert on_line == pytest.approx(u * at)
    assert on_loss == pytest.approx(float(loss_by_name(name).value(np.array([at]), np.ones(1))[0]), abs=1e-9)
    assert on_line - on_loss == pytest.approx(expected, abs=1e-9)
    # No other point of the picture has the line further above the loss.
    assert (u * display.z - display.value).max() <= expected + 1e-9
    fits(display)


@pytest.mark.parametrize(("name", "u"), [("hinge", 0.5), ("hinge", -1.5), ("squared-hinge", 1.0), ("logistic", 0.2)])
def test_an_infinite_conjugate_is_said(name, u, fits):
    display = plots.conjugate(name, u)
    assert display.conjugate == np.inf and np.isnan(display.at)
    assert "= ∞" in display.axes[0].get_title(loc="left")
    fits(display)


def test_a_conjugate_that_is_only_approached():
    display = plots.conjugate("logistic", -1.0)
    assert display.conjugate == 0.0 and np.isnan(display.at)
    assert "never reached" in display.axes[0].get_title(loc="left")


@pytest.mark.parametrize("names", [None, loss_names()])
def test_losses_slopes_and_conjugates(names, legend_texts, fits):
    display = plots.losses(names)
    for name, value in display.value.items():
        chosen = loss_by_name(name)
        np.testing.assert_array_equal(value, chosen.value(display.z, np.ones(len(display.z))))
        np.testing.assert_array_equal(display.slope[name], chosen.slope(display.z, np.ones(len(display.z))))
        # Fenchel and Young: no line is further above its loss than the conjugate says.
        finite = np.isfinite(display.conjugate[name])
        above = np.outer(display.u[finite], display.z) - value
        assert (above.max(axis=1) <= display.conjugate[name][finite] + 1e-9).all()
    lines = {tuple(line.get_ydata()) for line in display.axes[0].lines}
    assert all(tuple(value) in lines for value in display.value.values())
    assert legend_texts(display) == list(display.value)
    dashes = {str(line.get_linestyle()) + str(line.get_color()) for line in display.axes[0].lines[: len(display.value)]}
    assert len(dashes) == len(display.value)
    fits(display)


def test_duality_is_weak_and_strong(fits):
    display = plots.lagrangian()
    allowed = display.x >= 1.0
    optimum = display.f[allowed].min()
    assert optimum == pytest.approx(1.0)
    for multiplier, L in display.L.items():
        assert (L[allowed] <= display.f[allowed] + 1e-12).all()
        g = multiplier - multiplier**2 / 4
        assert L.min() == pytest.approx(g, abs=1e-4) and g <= optimum
    assert (display.dual <= optimum + 1e-12).all()
    assert display.dual.max() == pytest.approx(optimum)
    assert display.multipliers[display.dual.argmax()] == pytest.approx(2.0)
    fits(display)
