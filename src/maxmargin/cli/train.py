"""`maxmargin train`: from a data file to a model with its proof."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import typer

from maxmargin.cli import options, problem_options
from maxmargin.cli.problem_options import SOLVER_PANEL as SOLVER

#: Panels of the help, besides those that other commands have, too.
SELECTION, LARGE = "Selection and probabilities", "Checkpoints and large data"


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
    penalty: str = problem_options.PENALTY,
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
    approximation: str | None = problem_options.APPROXIMATION,
    landmarks: str | None = problem_options.LANDMARKS,
    solver: str = typer.Option("auto", help="The solver: see `maxmargin solvers`.", rich_help_panel=SOLVER),
    solver_option: list[str] = typer.Option(
        [],
        help="A field of the solver, such as rate=0.1; may be repeated: see `maxmargin solvers NAME`.",
        rich_help_panel=SOLVER,
    ),
    cache_bytes: float = problem_options.CACHE,
    tol: float = problem_options.TOL,
    max_time: float | None = typer.Option(
        None, help="Seconds, after which the best model so far is taken.", rich_help_panel=SOLVER
    ),
    max_iter: int | None = typer.Option(
        None, help="Iterations of the solver, after which the same is done.", rich_help_panel=SOLVER
    ),
    seed: int = typer.Option(0, help="The same seed gives the same model, bit for bit.", rich_help_panel=SOLVER),
    cv: int | None = typer.Option(
        None, "--cv", help="First, cross-validate with so many folds (-v: that alone).", rich_help_panel=SELECTION
    ),
    no_model: bool = typer.Option(
        False, "--no-model", help="Nothing but --cv: train and save no model.", rich_help_panel=SELECTION
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
        None, help="Write the fit as an HTML page, with a section per machine.", rich_help_panel=options.OUTPUT_PANEL
    ),
    checkpoint: Path | None = typer.Option(
        None, help="Keep the state (and that of a search beside it) in this file.", rich_help_panel=LARGE
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
    cluster: str | None = typer.Option(
        None,
        metavar="ADDRESS",
        help="DATA is a folder of files, which a Dask cluster reads and solves (linear models): the address of its"
        " scheduler, or 'local' for processes of this machine.",
        rich_help_panel=LARGE,
    ),
    as_json: bool = options.JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Train a model on a data file, and prove how good it is; exit status 3 where it is not proved to --tol.

    Example: maxmargin train a9a.svm -o a9a.mm

    Example: maxmargin train iris.csv --target species --kernel rbf --scale standard --search -o iris.mm
    """
    from maxmargin.cli.train_run import run

    run(SimpleNamespace(**locals()))
