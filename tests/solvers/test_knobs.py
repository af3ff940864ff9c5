"""The hyperparameters of every solver: checked when it is made, documented, and found by name."""

from __future__ import annotations

import sys
from dataclasses import fields, replace
from typing import Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from maxmargin import Problem, solve, solvers
from maxmargin.errors import InvalidInput, Refused
from maxmargin.registry import documented
from maxmargin.result import Reason
from maxmargin.solvers.base import registry

from .problems import clouds

SOLVERS = [registry[name] for name in registry.names()]
STEPPED = [solver for solver in SOLVERS if any(field.name == "step" for field in fields(solver))]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_a_misspelt_value_is_an_error_that_lists_the_right_ones(solver):
    for name, kind in get_type_hints(type(solver)).items():
        if get_origin(kind) is Literal:
            with pytest.raises(InvalidInput) as error:
                replace(solver, **{name: "randm"})
            assert all(repr(value) in str(error.value) for value in (*get_args(kind), "randm")), str(error.value)


@pytest.mark.parametrize("solver", STEPPED, ids=lambda solver: solver.name)
def test_a_step_is_a_number_a_function_or_a_rule(solver):
    given = {"c": 1.0} if solver.name == "penalty" else {}
    for wrong in ("constnt", 0.0, -1.0, np.inf, np.nan, lambda t: "long"):
        with pytest.raises(InvalidInput, match="step"):
            replace(solver, step=wrong, **given)
    for right in (0.1, "1/t", "1/sqrt(t)", "constant", lambda t: 0.5 / t):
        assert replace(solver, step=right, **given).step is right


def test_the_examples_of_the_issue():
    for make, words in (
        (lambda: solvers.Subgradient(step="constnt"), "1/sqrt"),
        (lambda: solvers.CoordinateAscent(order="randm"), "'random'"),
        (lambda: solvers.SMO(selection="wss3"), "'second-order'"),
        (lambda: solvers.Subgradient(step=0.1, rate=0.1), "rule by name"),
        (lambda: solvers.Penalty(step=0.1), "give c"),
        (lambda: solvers.Penalty(c=1.0, d=1.0, momentum=True), "exclude"),
        (lambda: solvers.Perceptron(passes=0), "passes"),
        (lambda: solvers.SMO(grain=0), "grain"),
        (lambda: solvers.SGD(batch=1.5), "batch"),
    ):
        with pytest.raises(InvalidInput, match=words):
            make()


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_every_field_is_documented_with_its_default(solver):
    described = documented(type(solver))
    assert list(described) == [field.name for field in fields(solver)]
    for field in fields(solver):
        values, meaning = described[field.name]
        shown = f'"{field.default}"' if isinstance(field.default, str) else str(field.default)
        assert values.endswith(f"default {shown}"), f"{solver.name}.{field.name}: {values}"
        assert meaning.endswith(".")


def test_fields_go_through_solve_by_name():
    X, y = clouds(1.0)
    p = Problem(X, y)
    by_name = solve(p, "subgradient", tol=0, max_iter=20, rate=0.05)
    by_class = solve(p, solvers.Subgradient(rate=0.05), tol=0, max_iter=20)
    other = solve(p, "subgradient", tol=0, max_iter=20, rate=0.5)
    assert by_name.beta.tobytes() == by_class.beta.tobytes() != other.beta.tobytes()
    assert solve(p, solvers.SMO(), tol=1e-6, grain=3).solver == solvers.SMO(grain=3)
    with pytest.raises(InvalidInput, match=r"rat.*step, rate, objective"):
        solve(p, "subgradient", rat=0.1)
    with pytest.raises(InvalidInput, match="no fields"):
        solve(p, "truncated-newton", size=3)
    with pytest.raises(InvalidInput, match="name the solver"):
        solve(p, rate=0.1)


# Steps that are too long


@pytest.mark.parametrize("solver", STEPPED, ids=lambda solver: solver.name)
def test_too_long_a_step_diverges_and_the_status_says_what_would_do(solver):
    X, y = clouds(1.0, n=60)
    loss = "squared-hinge" if solver.name == "subgradient" else "hinge"
    for bias in ("free", "augmented", "none"):
        p = Problem(X, y, loss=loss, bias=bias, C=0.5)
        given = {} if solver.name != "penalty" else {"c": 1.0, "momentum": False}
        tried = replace(solver, step=1.0, **given)
        if tried.accepts(p) is not None:
            continue
        limit = tried.longest_step(p)
        bad = solve(p, replace(tried, step=30.0 * limit), tol=1e-6, max_iter=20_000)
        assert bad.status.reason is Reason.DIVERGED, str(bad.status)
        assert f"{limit:.3g}" in str(bad.status) and "use step=" in str(bad.status)
        assert np.isfinite(bad.certificate.gap)  # the best point so far is certified all the same
        advised = float(str(bad.status).split("use step=")[1])
        good = solve(p, replace(tried, step=advised), tol=1e-3, max_iter=20_000)
        assert good.status.reason is not Reason.DIVERGED
        if solver.name not in ("sgd", "penalty"):  # a constant step leaves these two near the optimum of their own
            assert good.converged, str(good.status)


def test_a_diverging_run_without_a_budget_ends_by_itself():
    X, y = clouds(1.0, n=60)
    for options in ({"step": 100.0}, {"step": lambda t: 3.0 + t}):
        result = solve(Problem(X, y), solvers.Subgradient(**options), tol=1e-6)
        assert result.status.reason is Reason.DIVERGED
    result = solve(Problem(X, y), solvers.ProjectedGradient(step=10.0), tol=1e-6)
    assert result.status.reason is Reason.DIVERGED


def test_steps_of_the_other_objective():
    """A step η on Σℓ + (λ/2)‖w‖² is ηλ on ours, and η/λ in the dual; the longest one follows."""
    X, y = clouds(1.0, n=40)
    lam = 0.25
    p = Problem(X, y, lam=lam, bias="none")
    for made, factor in ((solvers.Subgradient, lam), (solvers.SGD, lam), (solvers.ProjectedGradient, 1 / lam)):
        theirs = solve(p, made(step=0.2, objective="lam"), tol=0, max_iter=7)
        ours = solve(p, made(step=0.2 * factor), tol=0, max_iter=7)
        np.testing.assert_allclose(theirs.w, ours.w, rtol=1e-12)
        limit = made(step=0.2, objective="lam").longest_step(p), made(step=0.2).longest_step(p)
        assert limit[0] * factor == pytest.approx(limit[1])
        with pytest.raises(Refused, match="one finite λ"):
            solve(Problem(X, y, bias="none", sample_weight=np.arange(1, 41)), made(step=0.2, objective="lam"))


# What the command line tells


def test_the_command_line_tells_the_fields_of_a_solver(capsys, monkeypatch):
    from maxmargin.cli import main

    monkeypatch.setenv("COLUMNS", "160")
    for solver in SOLVERS:
        monkeypatch.setattr(sys, "argv", ["maxmargin", "solvers", solver.name])
        with pytest.raises(SystemExit) as stop:
            main()
        assert not stop.value.code
        shown = capsys.readouterr().out
        assert all(field.name in shown for field in fields(solver)), solver.name
        assert f"from maxmargin.solvers import {type(solver).__name__}" in shown
