"""The work of `train`: read, select, train, save, tell."""

from __future__ import annotations

import sys
from dataclasses import replace
from time import perf_counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import typer

from maxmargin.cli import UNPROVED, Stopped, options
from maxmargin.cli.model_output import destination
from maxmargin.cli.recipes import refuse_values, with_kernel_values
from maxmargin.cli.selection import Asked, select
from maxmargin.cli.train_checks import asked_for, refuse_places
from maxmargin.cli.verdict import tell, write_traces
from maxmargin.numeric.stopwatch import now
from maxmargin.training.budget import Budget
from maxmargin.training.recipe import Recipe

if TYPE_CHECKING:
    from maxmargin.data import Data
    from maxmargin.training.fit import Fit

#: Multiply-adds that the training accuracy may cost: well under a second.
LITTLE = 1e9


def run(given: SimpleNamespace) -> None:
    """Train as the options of the command say, by their names."""
    began = perf_counter()
    recipe, asked = asked_for(given)
    place = destination(given.output, given.data)
    refuse_places(given, place)
    if given.cluster is not None:
        from maxmargin.cli.train_cluster import run_on_cluster

        run_on_cluster(given, recipe, place)
        return
    budget = Budget(
        given.max_time,
        not given.quiet and sys.stderr.isatty(),
        None if given.checkpoint is None else str(given.checkpoint),
        given.resume,
        given.checkpoint_work and given.checkpoint_work * 1e9,
    )
    reader = {name: getattr(given, name) for name in ("format", "target", "drop", "zero_based")}
    with place.messages():
        rows = None if given.stream else _read(given, reader, recipe, budget)
    if given.no_model:
        assert rows is not None
        with options.stopping(budget):
            _, extra = select(rows, recipe, options.row_weights(given.weights, rows.n), budget, asked, given.as_json)
        if given.as_json:
            options.put(extra)
        return
    with options.stopping(budget), place.messages():
        if rows is None:
            from maxmargin.training.stream import fit_stream

            fitted = fit_stream(given.data, reader, recipe, budget, options.reading(given.data, budget.progress))
            extra = {"rows": fitted.model.training.n if fitted.model.training else 0, "columns": fitted.model.columns}
        else:
            fitted, extra = _train(rows, recipe, budget, asked, given)
        place.save(fitted.model)
        seconds = perf_counter() - began  # what is drawn and told about it does not count
        _write(given, fitted, rows)
        tell(fitted, extra, place, seconds, given.tol, given.as_json, given.quiet)
    if fitted.interrupted:
        raise Stopped
    if not fitted.converged:
        raise typer.Exit(UNPROVED)


def _read(given: SimpleNamespace, reader: dict[str, Any], recipe: Recipe, budget: Budget) -> Data:
    from maxmargin.data import read

    with options.reading(given.data, budget.progress) as progress:
        rows = read(given.data, **reader, needed=recipe.kind != "novelty", progress=progress)
    if recipe.kind == "classification" and recipe.multiclass is None:
        refuse_values(rows)
    rows = with_kernel_values(rows, recipe)
    if not (given.as_json or given.quiet):
        options.say(f"{rows.source}: {rows.n} rows, {rows.X.shape[1]} columns")
    return rows


def _train(
    rows: Data, recipe: Recipe, budget: Budget, asked: Asked, given: SimpleNamespace
) -> tuple[Fit, dict[str, Any]]:
    """Select and train: the model and what else was found."""
    from maxmargin.training.fit import fit, with_probabilities

    weights = options.row_weights(given.weights, rows.n)
    recipe, extra = select(rows, recipe, weights, budget, asked, given.as_json or given.quiet)
    if not extra.get("search", {}).get("complete", True):
        budget = replace(budget, checkpoint=None)  # --resume goes on with the search, and may find another recipe
    whole = budget.share(1)
    if given.probability and whole is not None:  # calibration trains on parts of the rows, again and again
        fitted = fit(rows, recipe, weights, replace(budget, max_time=0.5 * whole, began=now()))
    else:
        fitted = fit(rows, recipe, weights, budget)
    extra |= {"rows": rows.n, "columns": rows.X.shape[1]} | _scores(fitted, rows)
    if given.probability and budget.stopped:
        print("maxmargin: stopped before the probabilities; the model has none", file=sys.stderr)
    elif given.probability:
        fitted = with_probabilities(fitted, rows, recipe, weights, budget)
    return replace(fitted, model=replace(fitted.model, target=given.target)), extra


def _scores(fitted: Fit, rows: Data) -> dict[str, Any]:
    """How the model does on the rows that it was trained on, where that costs little."""
    from maxmargin.cli.scores import Tally

    if rows.y is None or not _cheap(fitted, rows):
        return {}
    tally = Tally(fitted.model)
    tally.add(fitted.model.predict(rows.X), rows.y)
    return {f"training_{name}": score for name, score in tally.scores().items()}


def _cheap(fitted: Fit, rows: Data) -> bool:
    """Whether answers for all rows cost little."""
    vectors = 1 if fitted.model.vectors is None else fitted.model.vectors.shape[0]
    return 1.0 * rows.n * vectors * rows.X.shape[1] <= LITTLE


def _write(given: SimpleNamespace, fitted: Fit, rows: Data | None) -> None:
    """The course of the training and the report, where they are wanted."""
    if given.trace is not None:
        names = (machine.name for machine in fitted.machines)
        write_traces(given.trace, "machine", zip(names, fitted.traces, strict=True))
    if given.report is None:
        return
    if fitted.result is not None and fitted.model.scheme != "crammer-singer":  # its labels are in the model
        fitted.result.report(given.report)
        return
    from maxmargin.report import Machine, report_machines

    machines = [
        Machine(
            machine.name,
            one.status,
            one.primal,
            one.dual,
            one.relative_gap,
            one.support(len(machine.rows)),
            one.solver,
            one.iterations,
            trace,
        )
        for machine, one, trace in zip(fitted.machines, fitted.solved, fitted.traces, strict=True)
    ]
    scored = rows is not None and rows.y is not None and fitted.model.task != "novelty" and _cheap(fitted, rows)
    X, y = (rows.X, rows.y) if rows is not None and scored else (None, None)
    report_machines(fitted.model, machines, given.tol, given.report, X, y)
