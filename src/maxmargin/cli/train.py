"""`maxmargin train`: from a data file to a model with its proof."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import typer

from maxmargin.cli import UNPROVED, Stopped, options, problem_options
from maxmargin.cli.model_output import destination, refuse_data_name
from maxmargin.cli.problem_options import SOLVER_PANEL as SOLVER
from maxmargin.cli.recipes import (
    class_weights_of,
    cost_of,
    recipe_of,
    refuse_if,
    refuse_report,
    refuse_values,
    with_kernel_values,
)
from maxmargin.cli.selection import Asked, powers_of, select
from maxmargin.cli.verdict import tell, write_traces
from maxmargin.errors import InvalidInput

if TYPE_CHECKING:
    from maxmargin.data import Data
    from maxmargin.training.fit import Fit
    from maxmargin.training.recipe import Recipe

#: Panels of the help, besides those that other commands have, too.
SELECTION, LARGE = "Selection and probabilities", "Checkpoints and large data"
#: Multiply-adds that the training accuracy may cost: well under a second.
LITTLE = 1e9


def train(
    data: str = options.DATA,
    output: Path | None = typer.Option(
        None,
        "--output",
        "-o",
        help="Where the model goes (by default beside the data: DATA.mm); - is standard output.",
        rich_help_panel=options.OUTPUT_PANEL,
    ),
    format: str | None = options.FORMAT,
    target: str | None = options.TARGET,
    drop: list[str] = options.DROP,
    zero_based: bool | None = options.BASE,
    loss: str = problem_options.LOSS,
    cost: float | None = problem_options.COST,
    lam: float | None = problem_options.LAM,
    epsilon: float | None = problem_options.EPSILON,
    nu: float | None = problem_options.NU,
    task: str | None = problem_options.TASK,
    bias: str = problem_options.BIAS,
    bias_scale: float = problem_options.BIAS_SCALE,
    class_weight: str | None = problem_options.CLASS_WEIGHT,
    weights: Path | None = problem_options.WEIGHTS,
    multiclass: str | None = typer.Option(
        None, help="ovr (one against the rest), ovo (pairs) or crammer-singer.", rich_help_panel=problem_options.PROBLEM
    ),
    scale: str | None = problem_options.SCALE,
    kernel: str = problem_options.KERNEL,
    gamma: str | None = problem_options.GAMMA,
    degree: int | None = problem_options.DEGREE,
    coef0: float | None = problem_options.COEF0,
    solver: str = typer.Option("auto", help="The solver: see `maxmargin solvers`.", rich_help_panel=SOLVER),
    solver_option: list[str] = typer.Option(
        [],
        help="A field of the solver, such as rate=0.1; may be repeated: see `maxmargin solvers NAME`.",
        rich_help_panel=SOLVER,
    ),
    tol: float = problem_options.TOL,
    max_time: float | None = typer.Option(
        None, help="Seconds, after which the best model so far is taken.", rich_help_panel=SOLVER
    ),
    max_iter: int | None = typer.Option(None, help="The solver's own iterations, likewise.", rich_help_panel=SOLVER),
    seed: int = typer.Option(0, help="The same seed gives the same model, bit for bit.", rich_help_panel=SOLVER),
    cv: int | None = typer.Option(
        None, "--cv", "-v", help="First, cross-validate with so many folds.", rich_help_panel=SELECTION
    ),
    search: bool = typer.Option(
        False, "--search", help="First, find C (and gamma) by cross-validation.", rich_help_panel=SELECTION
    ),
    C_range: str | None = typer.Option(
        None, "--C-range", help="Powers of 2 to try for C: begin,end,step such as -5,15,2.", rich_help_panel=SELECTION
    ),
    gamma_range: str | None = typer.Option(
        None, "--gamma-range", help="The same for gamma (by default around scale).", rich_help_panel=SELECTION
    ),
    refine: bool = typer.Option(
        False, "--refine", help="Search once more around the best, with half the step.", rich_help_panel=SELECTION
    ),
    search_csv: Path | None = typer.Option(None, help="Write all that was tried as CSV.", rich_help_panel=SELECTION),
    search_plot: Path | None = typer.Option(
        None, help="Write the scores over C and gamma as a PNG picture.", rich_help_panel=SELECTION
    ),
    probability: bool = typer.Option(
        False, "--probability", help="Calibrate, so that `predict` has probabilities.", rich_help_panel=SELECTION
    ),
    trace: Path | None = typer.Option(
        None, help="Write the course of the training as CSV.", rich_help_panel=options.OUTPUT_PANEL
    ),
    report: Path | None = typer.Option(
        None, help="Write the fit as an HTML page.", rich_help_panel=options.OUTPUT_PANEL
    ),
    checkpoint: Path | None = typer.Option(
        None, help="Keep the state in this file, so that it can be resumed.", rich_help_panel=LARGE
    ),
    resume: bool = typer.Option(False, "--resume", help="Go on from the checkpoint.", rich_help_panel=LARGE),
    overwrite: bool = typer.Option(
        False, "--overwrite", help="Begin afresh, in place of an old checkpoint.", rich_help_panel=LARGE
    ),
    checkpoint_work: float | None = typer.Option(
        None,
        help="Billions of multiply-adds between checkpoints; by default so many that they cost an estimated 5 %.",
        rich_help_panel=LARGE,
    ),
    stream: bool = typer.Option(
        False,
        "--stream",
        help="Linear models on data larger than memory: blocks from disk.",
        rich_help_panel=LARGE,
    ),
    as_json: bool = options.JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Train a model on a data file, and prove how good it is; exit status 3 where it is not proved to --tol.

    Example: maxmargin train a9a.svm -o a9a.mm

    Example: maxmargin train iris.csv --target species --kernel rbf --scale standard --search -o iris.mm
    """
    from maxmargin.training import estimated
    from maxmargin.training.budget import Budget

    began = perf_counter()
    with options.usage():
        recipe = recipe_of(
            loss,
            {"epsilon": epsilon, "nu": nu if loss == "one-class" else None},
            kernel,
            {"gamma": gamma, "degree": degree, "coef0": coef0},
            C=cost_of(cost, lam),
            class_weight=class_weights_of(class_weight),
            bias=bias,
            bias_scale=bias_scale,
            multiclass=multiclass,
            scaling=scale,
            solver=solver,
            solver_options=solver_option,
            tol=tol,
            max_iter=max_iter,
            seed=seed,
            task=task,
            nu=None if loss == "one-class" else nu,
        )
        if sentence := estimated.refusal(recipe):
            raise typer.BadParameter(sentence)
        refuse_if(
            recipe.nu is not None and recipe.kind == "classification" and any((cost, lam, search)),
            "--nu takes the place of C: drop -C, --lam and --search",
        )
        refuse_if(recipe.nu is not None and epsilon is not None, "--nu takes the place of --epsilon: give one of them")
        refuse_if(
            estimated.concerns(recipe) and any((checkpoint, report)),
            "--nu and --multiclass crammer-singer go with neither --checkpoint nor --report",
        )
        refuse_if(resume and checkpoint is None, "--resume needs --checkpoint, to say where from")
        refuse_if(cv is not None and cv < 2, "--cv needs at least 2 folds")
        asked = Asked(
            cv,
            search,
            powers_of(C_range, "--C-range"),
            powers_of(gamma_range, "--gamma-range"),
            refine,
            search_csv,
            search_plot,
        )
        refuse_if(
            not search and any((C_range, gamma_range, refine, search_csv, search_plot)),
            "--C-range, --gamma-range, --refine, --search-csv and --search-plot go with --search",
        )
        refuse_if(
            gamma_range is not None and not hasattr(recipe.kernel, "gamma"),
            f"the kernel {kernel!r} has no gamma; drop --gamma-range",
        )
        refuse_if(max_time is not None and not max_time > 0, "--max-time must be > 0")
        refuse_if(
            probability and recipe.kind != "classification",
            f"--probability is for classification, not for {recipe.kind}",
        )
        refuse_if(checkpoint_work is not None and not checkpoint_work > 0, "--checkpoint-work must be > 0")
        refuse_if(
            stream and any((search, cv, probability, report, checkpoint, weights, trace)),
            "--stream goes with neither --search, --cv, --probability, --report, --trace, --checkpoint nor --weights",
        )
        if stream:
            from maxmargin.training.stream import refusal

            if sentence := refusal(recipe):
                raise typer.BadParameter(sentence)
        refuse_if(overwrite and checkpoint is None, "--overwrite needs --checkpoint, to say what may be replaced")
        refuse_if(overwrite and resume, "give --resume, to go on from the checkpoint, or --overwrite, to begin afresh")
    place = destination(output, data)
    refuse_if(place.stream is not None and as_json, "--json and -o - cannot share standard output; name a file with -o")
    options.outputs(
        {"DATA": data, "--weights": weights},
        {
            "-o": place.path,
            "--trace": trace,
            "--report": report,
            "--checkpoint": checkpoint,
            "--search-csv": search_csv,
            "--search-plot": search_plot,
        },
    )
    refuse_data_name(place.path)
    refuse_if(
        checkpoint is not None and checkpoint.is_file() and not (resume or overwrite),
        f"{checkpoint} is there already: give --resume to go on from it, or --overwrite to begin afresh",
    )
    kept = None if checkpoint is None else str(checkpoint)
    budget = Budget(
        max_time, not quiet and sys.stderr.isatty(), kept, resume, checkpoint_work and checkpoint_work * 1e9
    )
    reader = {"format": format, "target": target, "drop": drop, "zero_based": zero_based}
    silent = as_json or quiet
    with place.messages():
        rows = None if stream else _read(data, reader, recipe, budget, silent)
        refuse_report(report, recipe, rows)
    with options.stopping(budget), place.messages():
        if rows is None:
            from maxmargin.training.stream import fit_stream

            fitted = fit_stream(data, reader, recipe, budget, options.reading(data, budget.progress))
            extra = {"rows": fitted.model.training.n if fitted.model.training else 0, "columns": fitted.model.columns}
        else:
            given = options.row_weights(weights, rows.n)
            fitted, extra = _train(rows, recipe, budget, given, asked, probability, silent)
            fitted = replace(fitted, model=replace(fitted.model, target=target))
        place.save(fitted.model)
        seconds = perf_counter() - began  # what is drawn and told about it does not count
        if trace is not None:
            names = (machine.name for machine in fitted.machines)
            write_traces(trace, "machine", zip(names, fitted.traces, strict=True))
        if report is not None:
            if fitted.result is None:
                raise InvalidInput("no report was written: it is about one binary problem that was trained just now")
            fitted.result.report(report)
        tell(fitted, extra, place, seconds, tol, as_json, quiet)
    if fitted.interrupted:
        raise Stopped
    if not fitted.converged:
        raise typer.Exit(UNPROVED)


def _read(data: str, reader: dict[str, Any], recipe: Recipe, budget: Any, silent: bool) -> Data:
    from maxmargin.data import read

    with options.reading(data, budget.progress) as progress:
        rows = read(data, **reader, needed=recipe.kind != "novelty", progress=progress)
    if recipe.kind == "classification" and recipe.multiclass is None:
        refuse_values(rows)
    rows = with_kernel_values(rows, recipe)
    if not silent:
        options.say(f"{rows.source}: {rows.n} rows, {rows.X.shape[1]} columns")
    return rows


def _train(
    rows: Data, recipe: Recipe, budget: Any, given: Any, asked: Asked, probability: bool, silent: bool
) -> tuple[Fit, dict[str, Any]]:
    """Select and train: the model and what else was found."""
    from maxmargin.training.fit import fit, with_probabilities

    recipe, extra = select(rows, recipe, given, budget, asked, silent)
    whole = budget.share(1)
    if probability and whole is not None:  # calibration trains on parts of the rows, again and again
        fitted = fit(rows, recipe, given, replace(budget, max_time=0.5 * whole, began=perf_counter()))
    else:
        fitted = fit(rows, recipe, given, budget)
    extra |= {"rows": rows.n, "columns": rows.X.shape[1]} | _scores(fitted, rows)
    if probability and budget.stopped:
        print("maxmargin: stopped before the probabilities; the model has none", file=sys.stderr)
    elif probability:
        fitted = with_probabilities(fitted, rows, recipe, given, budget)
    return fitted, extra


def _scores(fitted: Fit, rows: Data) -> dict[str, Any]:
    """How the model does on the rows that it was trained on, where that costs little."""
    from maxmargin.cli.scores import Tally

    model = fitted.model
    each = rows.X.shape[1] if model.vectors is None else model.vectors.shape[0] * rows.X.shape[1]
    if rows.y is None or 1.0 * rows.n * each > LITTLE:
        return {}
    tally = Tally(model)
    tally.add(model.predict(rows.X), rows.y)
    return {f"training_{name}": score for name, score in tally.scores().items()}
