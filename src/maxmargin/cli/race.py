"""`maxmargin race`: many solvers on one problem, the gap against time."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import typer

from maxmargin.cli import options, problem_options
from maxmargin.cli.problem_options import SOLVER_PANEL as SOLVER
from maxmargin.cli.verdict import write_traces
from maxmargin.files import replacing, shown

if TYPE_CHECKING:
    from maxmargin.data import Data
    from maxmargin.problem import Problem
    from maxmargin.training.recipe import Recipe

#: Rows that a solver is warmed up with.
FEW = 30


def race(
    data: str = options.DATA,
    solvers: str | None = typer.Option(
        None, help="Names with commas between (by default all that accept the problem)."
    ),
    solver_option: list[str] = typer.Option(
        [], help="A field of one of them, such as subgradient.rate=0.1; may be repeated."
    ),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="A figure of gap against time: .png, .svg or .pdf."
    ),
    table: Path | None = typer.Option(None, "--csv", help="The gap of every solver over time, as CSV."),
    format: str | None = options.FORMAT,
    target: str | None = options.TARGET,
    drop: list[str] = options.DROP,
    zero_based: bool | None = options.BASE,
    loss: str = problem_options.LOSS,
    cost: float | None = problem_options.COST,
    lam: float | None = problem_options.LAM,
    epsilon: float | None = problem_options.EPSILON,
    nu: float | None = typer.Option(
        None, "--nu", "-n", help="The share of outliers (one-class).", rich_help_panel=problem_options.PROBLEM
    ),
    task: str | None = problem_options.TASK,
    bias: str = problem_options.BIAS,
    bias_scale: float = problem_options.BIAS_SCALE,
    penalty: str = problem_options.PENALTY,
    class_weight: str | None = problem_options.CLASS_WEIGHT,
    weights: Path | None = problem_options.WEIGHTS,
    scale: str | None = problem_options.SCALE,
    kernel: str = problem_options.KERNEL,
    gamma: str | None = problem_options.GAMMA,
    degree: int | None = problem_options.DEGREE,
    coef0: float | None = problem_options.COEF0,
    tol: float = problem_options.TOL,
    max_time: float = typer.Option(10.0, help="Seconds for each solver.", rich_help_panel=SOLVER),
    seed: int = typer.Option(0, help="The same seed gives the same steps.", rich_help_panel=SOLVER),
    quiet: bool = options.QUIET,
) -> None:
    """Race the solvers on one problem of two classes (or a regression): a live table, a figure and a CSV file.

    Example: maxmargin race a9a.svm --solvers smo,interior-point -o race.png --csv race.csv
    """
    from maxmargin.cli.recipes import class_weights_of, cost_of, recipe_of, refuse_if, with_fields
    from maxmargin.errors import missing_extra
    from maxmargin.solvers.base import registry

    with options.usage():
        names = registry.names() if solvers is None else [name.strip() for name in solvers.split(",")]
        chosen = with_fields({name: registry[name] for name in names}, solver_option)
        recipe = recipe_of(
            loss,
            {"epsilon": epsilon, "nu": nu},
            kernel,
            {"gamma": gamma, "degree": degree, "coef0": coef0},
            C=cost_of(cost, lam),
            class_weight=class_weights_of(class_weight),
            bias=bias,
            bias_scale=bias_scale,
            regularizer=penalty,
            scaling=scale,
            solver="auto",
            solver_options=[],
            tol=tol,
            seed=seed,
            task=task,
        )
        refuse_if(not max_time > 0, "--max-time must be > 0")
    options.outputs({"DATA": data, "--weights": weights}, {"-o": output, "--csv": table})
    if output is not None:
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            raise missing_extra("matplotlib", "plot") from None
    with options.reading(data, not quiet) as progress:
        reader = {"format": format, "target": target, "drop": drop, "zero_based": zero_based}
        rows = _read(data, reader, recipe, progress)
    problem = _problem(rows, recipe, options.row_weights(weights, rows.n))
    results = _run(problem, chosen, solvers is not None, tol, max_time, seed, quiet)
    if table is not None:
        write_traces(table, "solver", ((name, result.trace) for name, result in results.items()))
    if output is not None:
        _draw(output, results)


def _read(data: str, reader: dict[str, Any], recipe: Recipe, progress: Any) -> Data:
    """The rows of the race."""
    from maxmargin.cli.recipes import with_kernel_values
    from maxmargin.data import read

    return with_kernel_values(read(data, **reader, needed=recipe.kind != "novelty", progress=progress), recipe)


def _problem(rows: Data, recipe: Recipe, given: Any) -> Problem:
    """The one problem that all solvers get."""
    import numpy as np
    import scipy.sparse as sp

    from maxmargin.data import scaling
    from maxmargin.numeric.sparse_columns import mostly_empty, narrowed, occurring
    from maxmargin.problem import Problem
    from maxmargin.training.samples import class_weights

    X = rows.X if recipe.scaling is None else scaling(recipe.scaling, rows.X).apply(rows.X)
    weights = np.ones(rows.n) if given is None else given
    if recipe.class_weight is not None and recipe.kind == "classification" and rows.y is not None:
        classes, codes = np.unique(rows.y, return_inverse=True)
        weights = weights * class_weights(recipe.class_weight_of(classes), classes, codes, weights)[codes]
    elif recipe.class_weight is not None:
        raise typer.BadParameter(f"--class-weight is for classification, not for {recipe.kind}")
    # The kernel's parameters go by all columns, also by those that no row has, and by weights of rows, not of classes.
    fitted = recipe.kernel.fitted(X, given)
    if sp.issparse(X) and mostly_empty(X.shape[1], X.nnz):
        X = narrowed(X, occurring(X))  # nobody keeps the weights of a race
    return Problem(
        X,
        None if recipe.kind == "novelty" else rows.y,
        loss=recipe.loss,
        kernel=fitted,
        bias=recipe.bias,
        C=recipe.C,
        bias_scale=recipe.bias_scale,
        sample_weight=weights,
        task=recipe.task,
        regularizer=recipe.regularizer,
    )


def _run(
    problem: Any, chosen: dict[str, Any], named: bool, tol: float, max_time: float, seed: int, quiet: bool
) -> dict[str, Any]:
    """Run one after the other; the table grows as they go."""
    from rich.console import Console
    from rich.live import Live
    from rich.markup import escape

    from maxmargin.errors import MaxMarginError, Refused
    from maxmargin.loop import solve
    from maxmargin.solvers import refusal as why_not

    results: dict[str, Any] = {}
    lines: dict[str, list[str]] = {}

    console = Console()
    refusals = []
    with Live(_standings(lines), console=console, auto_refresh=False, transient=not console.is_terminal) as live:
        for name, solver in chosen.items():
            if refusal := why_not(solver, problem):
                if named:
                    raise Refused(f"{name} refuses this problem: {refusal}")
                refusals.append(name)
                continue

            _warm(problem, solver)
            began = perf_counter()

            def look(look: Any, name: str = name, began: float = began) -> bool:
                if not quiet and console.is_terminal:
                    so_far = f"{perf_counter() - began:.2f}"
                    lines[name] = [f"{look.seconds:.2f}", so_far, f"{look.certificate.relative_gap:.2e}", "running"]
                    live.update(_standings(lines), refresh=True)
                return False

            try:
                result = solve(problem, solver, tol, max_time=max_time, random_state=seed, callbacks=[look])
            except MaxMarginError as error:
                lines[name] = ["-", "-", "-", escape(shown(error))]
            else:
                results[name] = result
                seconds = result.trace.solver_seconds, perf_counter() - began
                gap = result.certificate.relative_gap
                lines[name] = [*(f"{part:.2f}" for part in seconds), f"{gap:.2e}", result.status.reason.value]
            live.update(_standings(lines), refresh=True)
        places = {name: _place(results.get(name)) for name in lines}
        lines = dict(sorted(lines.items(), key=lambda line: places[line[0]]))
        live.update(_standings(lines), refresh=True)
    if not console.is_terminal:
        console.print(_standings(lines))
    if refusals:
        print(f"not for this problem: {', '.join(refusals)}")
    return results


def _standings(lines: dict[str, list[str]]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    grid = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("solver", "seconds", "with looks", "relative gap", ""):
        justify: Any = "left" if name in ("solver", "") else "right"
        grid.add_column(name, justify=justify, no_wrap=name != "")
    for name, line in lines.items():
        grid.add_row(name, *line)
    return grid


def _place(result: Any) -> tuple[bool, float]:
    """Who comes first: those who got there by their time, then the others by their gap."""
    if result is None:
        return True, float("inf")
    late = result.certificate.relative_gap > result.tol
    return late, result.certificate.relative_gap if late else result.trace.solver_seconds


def _warm(problem: Any, solver: Any) -> None:
    """Load, or compile, what a solver needs, on a few of the rows: that is not part of the race."""
    import numpy as np

    from maxmargin.errors import MaxMarginError
    from maxmargin.loop import solve
    from maxmargin.problem import Problem

    first = np.unique(problem.target, return_index=True)[1][:2]  # of each class one, at least
    few = np.union1d(np.arange(min(problem.n, FEW)), first)
    parts = {name: getattr(problem, name) for name in ("loss", "kernel", "bias", "task")}
    try:
        part = Problem(problem.X[few], None if problem.task == "novelty" else problem.target[few], **parts)
        solve(part, solver, max_iter=3, max_time=1.0)
    except MaxMarginError:  # it may refuse so few
        pass


def _draw(path: Path, results: dict[str, Any]) -> None:
    import io

    from maxmargin.errors import InvalidInput
    from maxmargin.plots import race as draw

    kind = path.suffix.lstrip(".").lower() or "png"
    buffer = io.BytesIO()
    try:
        draw(results).figure.savefig(buffer, format=kind, bbox_inches="tight")
    except ValueError as error:
        raise InvalidInput(f"cannot draw {path}: {error}") from None
    with replacing(path) as file:
        file.write(buffer.getvalue())
