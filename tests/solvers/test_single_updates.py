"""grain=1: every single update is yielded, with an event that is true; and the path is the same as without."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from maxmargin import Problem, solve, solvers
from maxmargin.solvers.base import registry

from .problems import clouds

GRAINED = [registry[n] for n in registry.names() if any(field.name == "grain" for field in fields(registry[n]))]
X, y = clouds(1.0, n=30, seed=4)


def problems(solver):
    for loss in ("hinge", "squared-hinge", "epsilon-insensitive"):
        for kernel in ("linear", "rbf"):
            for bias in ("free", "augmented", "none"):
                target = y if loss != "epsilon-insensitive" else X[:, 0] + 0.1 * y
                p = Problem(X, target, loss=loss, kernel=kernel, bias=bias, C=2.0)
                if solver.accepts(p) is None:
                    yield p


def test_they_are_those_that_make_single_updates():
    named = {"coordinate-ascent", "smo", "sgd", "pegasos", "stochastic-ascent", "perceptron"}
    assert {solver.name for solver in GRAINED} == named


@pytest.mark.parametrize("solver", GRAINED, ids=lambda solver: solver.name)
def test_single_updates_walk_the_same_path(solver):
    for p in problems(solver):
        coarse = solve(p, solver, tol=0, max_iter=30 if solver.name == "smo" else 3, every=1, snapshots=True)
        steps = coarse.trace.snapshots[-1].iteration * (1 if solver.name == "smo" else p.n)
        if solver.name == "perceptron":
            steps = int(np.abs(coarse.trace.snapshots[-1].raw_beta).sum())
        fine = solve(p, replace(solver, grain=1), tol=0, max_iter=steps, every=1, snapshots=True)
        last, end = coarse.trace.snapshots[-1], fine.trace.snapshots[-1]
        scale = 1e-10 * (1.0 + np.abs(last.w).max())
        np.testing.assert_allclose(end.w, last.w, rtol=1e-10, atol=scale, err_msg=f"{p!r}")
        np.testing.assert_allclose(end.raw_beta, last.raw_beta, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("solver", GRAINED, ids=lambda solver: solver.name)
def test_events_say_what_happened(solver):
    dual = solver.name in ("coordinate-ascent", "stochastic-ascent", "smo")
    for p in problems(solver):
        result = solve(p, replace(solver, grain=1), tol=0, max_iter=60, every=1, snapshots=True)
        before = None
        told = 0
        for snapshot in result.trace.snapshots:
            event = snapshot.event
            if event is None:  # no pair or mistake was left
                continue
            told += 1
            index = list(event.indices)
            assert len(index) == len(event.before) == len(event.after) == (2 if solver.name == "smo" else 1)
            if dual or solver.name == "perceptron":
                np.testing.assert_allclose(snapshot.raw_beta[index], event.after, rtol=1e-12, atol=1e-15)
            if before is not None and dual:
                moved = np.flatnonzero(snapshot.beta != before)
                assert set(moved) <= set(index)
                gained = p.dual(snapshot.beta) - p.dual(before)
                assert event.gain == pytest.approx(gained, rel=1e-6, abs=1e-9)
                # Clipping can only shorten a step; where it did not, the step is the whole one.
                step = event.after[0] - event.before[0]
                assert abs(step) <= abs(event.unclipped) * (1 + 1e-9) + 1e-12
                lower, upper = (bound[index] for bound in p.bounds)
                inside = (np.array(event.after) > lower) & (np.array(event.after) < upper)
                if inside.all() and not p.form.tube.any():
                    assert step == pytest.approx(event.unclipped, rel=1e-9, abs=1e-12)
            before = snapshot.beta
        assert told > 3 or solver.name == "perceptron", p


def test_a_grain_of_several_updates_has_no_events():
    p = Problem(X, y, bias="augmented")
    result = solve(p, solvers.CoordinateAscent("cyclic", grain=7), tol=0, max_iter=60, every=1, snapshots=True)
    assert [snapshot.iteration for snapshot in result.trace.snapshots[:6]] == [7, 14, 21, 28, 30, 37]
    assert all(snapshot.event is None for snapshot in result.trace.snapshots)


def test_the_perceptron_counts_its_corrections():
    """Source 004: w is the sum of y_n x_n, each as often as it was corrected, hard margin or not."""
    for C in (1.0, np.inf):
        p = Problem([[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]], [-1, -1, 1, 1], C=C)
        result = solve(p, "perceptron")
        counts = np.abs(result.coef)
        assert (counts == np.round(counts)).all() and counts.sum() > 0
        np.testing.assert_array_equal(result.w, result.coef @ p.X)
        assert result.b == result.coef.sum()
        np.testing.assert_array_equal(result.raw_beta, result.coef)
        assert (result.predict(p.X) == [-1, -1, 1, 1]).all()
        fine = solve(p, "perceptron", grain=1, tol=0, every=1, snapshots=True)
        assert fine.iterations == counts.sum()
        assert np.isfinite(result.certificate.primal)
