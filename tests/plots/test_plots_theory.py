"""The pictures of the theory: what is drawn obeys it."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin import plots
from maxmargin.errors import InvalidInput
from maxmargin.losses import list_losses as loss_names
from maxmargin.losses import loss as loss_by_name

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
    (gap,) = [line for line in display.axes[0].lines if "largest difference" in str(line.get_label())]
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
    labels = [{"least-squares": "least squares (MSE)"}.get(name, name.replace("-", " ")) for name in display.value]
    assert [
        text.replace("ε-", "epsilon ").replace("one-class", "one class") for text in legend_texts(display)
    ] == labels
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


@pytest.mark.parametrize("bound", [2.0, 0.5, 0.0, -0.7])
@pytest.mark.parametrize("multipliers", [(0.0, 1.0, 2.0, 3.0), (5.0,), tuple(range(9))])
def test_a_lagrangian_of_ones_own(bound, multipliers, fits, legend_texts):
    display = plots.lagrangian(multipliers, bound, columns=1)
    allowed = display.x >= bound
    optimum = display.f[allowed].min()
    assert optimum == pytest.approx(max(bound, 0.0) ** 2)
    assert list(display.L) == [float(multiplier) for multiplier in multipliers]
    for multiplier, L in display.L.items():
        np.testing.assert_allclose(L, display.x**2 + multiplier * (bound - display.x))
        assert L.min() == pytest.approx(bound * multiplier - multiplier**2 / 4)
        assert (L[allowed] <= display.f[allowed] + 1e-12).all()
    assert (display.dual <= optimum + 1e-12).all() and display.dual.max() == pytest.approx(optimum)
    number = f"{bound:g}".replace("-", "−")
    assert f"subject to x ≥ {number}" in display.axes[0].get_title(loc="left").replace("\n", " ")
    assert f"feasible: x ≥ {number}" in legend_texts(display)
    fits(display)


def test_a_lagrangian_refuses_negative_multipliers():
    with pytest.raises(InvalidInput, match="multipliers ≥ 0"):
        plots.lagrangian((-1.0,))


@pytest.mark.parametrize(
    ("x", "y", "lam"), [(1.5, 1, 1.0), (1.5, -1, 1.0), (0.7, 1, 1.0), (-2.0, 1, 0.3), (1.0, 1, 1.0)]
)
def test_the_saddle_point_is_both_minimum_and_maximum(x, y, lam, fits):
    display = plots.saddle(x, y, lam)

    def G(w, alpha):
        return 0.5 * lam * w**2 + alpha * (1 - y * x * w)

    w, alpha = display.saddle
    np.testing.assert_allclose(display.G, G(display.w, display.alpha[:, None]))
    assert (G(display.w, alpha) >= display.value - 1e-12).all(), "the smallest over w"
    assert (G(w, display.alpha) <= display.value + 1e-12).all(), "the largest over α"
    assert display.value == pytest.approx(G(w, alpha)) == pytest.approx(display.dual.max(), abs=1e-4)
    assert display.primal.min() >= display.value - 1e-12 and display.primal.min() <= display.value + 1e-2
    np.testing.assert_allclose(display.primal, display.G.max(axis=0), atol=1e-12)
    assert (display.dual <= display.G.min(axis=1) + 1e-12).all()
    for best, row in zip(display.best_w, display.alpha, strict=True):
        assert (G(display.w, row) >= G(best, row) - 1e-12).all()
    # The maximiser over α jumps at the corner of the hinge.
    corner = display.best_alpha[1:3]
    np.testing.assert_allclose(1 - y * x * corner[:, 0], 0.0, atol=1e-12)
    np.testing.assert_array_equal(np.sort(corner[:, 1]), [0.0, 1.0])
    assert display.axes[1].get_ylim() == display.axes[2].get_ylim(), "the two meet at the same height"
    fits(display)


def test_a_saddle_on_a_narrow_screen(fits):
    display = plots.saddle(columns=1)
    assert display.figure.get_figwidth() == pytest.approx(4.2)
    fits(display)
    with pytest.raises(InvalidInput, match="y must be −1 or"):
        plots.saddle(y=0)
