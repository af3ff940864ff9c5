"""The gap splits by sample, and the stems are the duals."""

from __future__ import annotations

import numpy as np
import pytest

from maxmargin import Problem, plots, solve
from maxmargin.losses.one_class import OneClass
from maxmargin.plots.vectors import sample_gaps

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.compiled]


def small(clouds, loss):
    X, y = clouds(50, 1.0)
    if loss == "one-class":
        return X, None
    return X, (X[:, 0] if loss.endswith("insensitive") else y)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("bias", ["free", "augmented", "none"])
@pytest.mark.parametrize(
    "loss",
    ["hinge", "squared-hinge", "least-squares", "logistic", "epsilon-insensitive", "squared-epsilon-insensitive"],
)
def test_the_gaps_of_the_samples_sum_to_that_of_the_certificate(clouds, loss, bias, kernel):
    X, y = small(clouds, loss)
    solver = "auto" if loss != "logistic" else "subgradient"
    result = solve(Problem(X, y, loss=loss, bias=bias, kernel=kernel, C=0.7), solver=solver, tol=1e-2, max_iter=40)
    gaps, link = sample_gaps(result)
    scale = abs(result.certificate.primal)
    assert gaps.sum() + link == pytest.approx(result.certificate.gap, abs=1e-12 * scale * len(gaps))
    assert gaps.min() >= -1e-12 * scale and link >= -1e-12 * scale


@pytest.mark.parametrize("solver", ["perceptron", "pegasos", "subgradient", "qp-primal"])
def test_what_is_left_over_is_the_distance_of_w_from_its_duals(clouds, solver):
    X, y = clouds(50, 1.0)
    result = solve(Problem(X, y, C=0.7, bias="augmented"), solver=solver, tol=1e-9, max_iter=20)
    gaps, link = sample_gaps(result)
    scale = abs(result.certificate.primal)
    assert gaps.sum() + link == pytest.approx(result.certificate.gap, abs=1e-11 * scale * len(gaps))
    assert gaps.min() >= -1e-12 * scale and link >= -1e-12 * scale


def test_one_class_and_sample_weights(clouds):
    X, y = clouds(50, 1.0)
    novelty = solve(Problem(X, loss=OneClass(0.3), kernel="rbf"), tol=1e-3)
    weights = np.arange(50) % 3  # a third of the samples count nothing
    weighted = solve(Problem(X, y, sample_weight=weights, C=2.0), tol=1e-3)
    for result in (novelty, weighted):
        gaps, link = sample_gaps(result)
        scale = max(1.0, abs(result.certificate.primal))
        assert gaps.sum() + link == pytest.approx(result.certificate.gap, abs=1e-11 * scale)
    assert not sample_gaps(weighted)[0][weights == 0].any()


def test_a_hard_margin(separable, inseparable, fits):
    gaps, link = sample_gaps(separable)
    assert gaps.sum() + link == pytest.approx(separable.certificate.gap, abs=1e-12)
    infinite, _ = sample_gaps(inseparable)
    assert np.isinf(infinite).any() and np.isinf(inseparable.certificate.gap)
    display = plots.support(inseparable)
    assert "samples inside the margin" in display.axes[2].get_title(loc="left").replace("\n", " ")
    fits(display)
    fits(plots.support(separable))


def test_stems_and_counts_are_read_back(overlapping, legend_texts, fits):
    display = plots.support(overlapping)
    trace, counts = overlapping.trace, overlapping.certificate.kinds.counts
    for line, column in zip(display.axes[0].lines, ("support", "free", "bound"), strict=True):
        np.testing.assert_array_equal(line.get_data(), [trace["iteration"], trace[column]])
    stems = display.axes[1].collections[0].get_segments()
    assert len(stems) == counts["free"] + counts["bound"]
    for (foot_x, foot), (top_x, top) in stems:
        assert foot == 0.0 and foot_x == top_x and top == overlapping.beta[int(top_x)]
    texts = legend_texts(display)
    assert f"free support vectors: {counts['free']}" in texts and f"bound support vectors: {counts['bound']}" in texts
    fits(display)


def test_the_unsatisfied_are_drawn_at_their_gap(clouds):
    X, y = clouds(60, 1.0)
    result = solve(Problem(X, y, C=1.0, bias="augmented"), solver="coordinate-ascent", tol=1e-1, every=1)
    display = plots.support(result)
    drawn = np.vstack([np.asarray(c.get_offsets()) for c in display.axes[2].collections])
    seen = {int(sample): gap for sample, gap in drawn}
    assert set(seen) == set(np.flatnonzero(display.gaps > 0))
    for sample, gap in seen.items():
        assert gap == display.gaps[sample]
    worst = int(display.gaps.argmax())
    assert f"largest: samples {worst}," in display.axes[2].get_title(loc="left")


def test_many_stems_are_thinned_and_it_is_said(clouds, fits):
    X, y = clouds(5000, 1.0)
    result = solve(Problem(X, y, C=0.1, bias="augmented"), tol=1e-2)
    display = plots.support(result)
    assert len(display.drawn) <= 400 < len(result.support)
    assert "points drawn" in display.axes[1].get_title(loc="left").replace("\n", " ")
    fits(display)
