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
from maxmargin.cli.recipes import class_weights_of, cost_of, recipe_of, refuse_if
from maxmargin.cli.verdict import tell, write_traces
from maxmargin.errors import InvalidInput

if TYPE_CHECKING:
    from maxmargin.data import Data
    from maxmargin.models.fit import Fit
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
    probability: bool = typer.Option(
        False, "--probability", help="Fit sigmoids, so that `predict` has probabilities.", rich_help_panel=SELECTION
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
        help="Billions of multiply-adds (about seconds) between checkpoints; by default they cost less than 5 %.",
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
    from maxmargin.models import estimated
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
            from maxmargin.models.streaming import refusal

            if sentence := refusal(recipe):
                raise typer.BadParameter(sentence)
        refuse_if(overwrite and checkpoint is None, "--overwrite needs --checkpoint, to say what may be replaced")
        refuse_if(overwrite and resume, "give --resume, to go on from the checkpoint, or --overwrite, to begin afresh")
    place = destination(output, data)
    refuse_if(place.stream is not None and as_json, "--json and -o - cannot share standard output; name a file with -o")
    options.outputs(
        {"DATA": data, "--weights": weights},
        {"-o": place.path, "--trace": trace, "--report": report, "--checkpoint": checkpoint},
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
    reader = {"format": format, "target": target, "zero_based": zero_based}
    silent = as_json or quiet
    with place.messages():
        rows = None if stream else _read(data, reader, recipe, budget, silent)
    with options.stopping(budget), place.messages():
        if rows is None:
            from maxmargin.models.streaming import fit_stream

            fitted = fit_stream(data, reader, recipe, budget, options.reading(data, budget.progress))
            extra = {"rows": fitted.model.training.n if fitted.model.training else 0, "columns": fitted.model.columns}
        else:
            given = options.row_weights(weights, rows.n)
            fitted, extra = _train(rows, recipe, budget, given, cv, search, probability, silent)
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
    if not silent:
        options.say(f"{rows.source}: {rows.n} rows, {rows.X.shape[1]} columns")
    return rows


def _train(
    rows: Data,
    recipe: Recipe,
    budget: Any,
    given: Any,
    cv: int | None,
    search: bool,
    probability: bool,
    silent: bool,
) -> tuple[Fit, dict[str, Any]]:
    """Select and train: the model and what else was found."""
    from maxmargin.models.fit import fit

    if search or cv or probability:
        from maxmargin.models.selection import cross_validate, with_sigmoids
        from maxmargin.models.selection import search as find
    extra: dict[str, Any] = {"rows": rows.n, "columns": rows.X.shape[1]}
    if search:

        def show(tried: Any) -> None:
            if not silent and budget.progress:
                gamma = "" if tried.gamma is None else f"  gamma {tried.gamma:<10.4g}"
                print(f"  C {tried.C:<8g}{gamma}  {tried.score:.4f} ± {tried.spread:.4f}")

        recipe, tried = find(rows, recipe, given, cv or 5, budget, show)
        best = max(tried, key=lambda one: one.score)
        extra["search"] = {"C": recipe.C, "gamma": getattr(recipe.kernel, "gamma", None), "score": best.score}
        if not silent:
            chosen = f"C = {recipe.C:g}" + (f", gamma = {recipe.kernel.gamma:.4g}" if best.gamma else "")  # type: ignore[attr-defined]
            print(f"best of {len(tried)}: {chosen} with {best.score:.4f} ± {best.spread:.4f}")
    elif cv:
        mean, spread = cross_validate(rows, recipe, given, cv, budget)
        extra["cross_validation"] = {"folds": cv, "score": mean, "deviation": spread}
        if not silent:
            what = "accuracy" if recipe.kind == "classification" else "mean squared error"
            print(f"{cv}-fold {what}: {abs(mean):.4f} ± {spread:.4f}")
    fitted = fit(rows, recipe, given, budget)
    extra |= _scores(fitted, rows)
    if probability:
        try:
            fitted = replace(fitted, model=with_sigmoids(fitted.model, rows, recipe, given, cv or 5, budget))
        except KeyboardInterrupt:
            print("maxmargin: stopped before the probabilities; the model has none", file=sys.stderr)
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
