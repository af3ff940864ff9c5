"""`maxmargin race`: many solvers on one problem, the gap against time."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import typer

from maxmargin.cli import options
from maxmargin.cli.verdict import write_traces
from maxmargin.files import replacing, shown

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
    table: Path | None = typer.Option(None, "--csv", help="All looks of all solvers as CSV."),
    format: str | None = options.FORMAT,
    target: str | None = options.TARGET,
    zero_based: bool | None = options.BASE,
    loss: str = typer.Option("hinge", help="The loss: see `maxmargin losses`."),
    kernel: str = typer.Option("linear", help="The kernel: see `maxmargin kernels`."),
    bias: str = typer.Option("free", help="free, augmented or none."),
    cost: float = typer.Option(1.0, "--cost", "-C", help="The weight of the loss, C."),
    scale: str | None = typer.Option(None, help="Scale the features: standard, min-max or max-abs."),
    tol: float = typer.Option(1e-4, help="The relative duality gap to reach."),
    max_time: float = typer.Option(10.0, help="Seconds for each solver."),
    seed: int = typer.Option(0, help="The same seed gives the same steps."),
    quiet: bool = options.QUIET,
) -> None:
    """Race the solvers on one problem of two classes (or a regression): a live table, a figure and a CSV file.

    Example: maxmargin race a9a.svm --solvers smo,coordinate-ascent --bias none -o race.png --csv race.csv
    """
    import scipy.sparse as sp

    from maxmargin.cli.recipes import made, with_fields
    from maxmargin.columns import mostly_empty, narrowed, occurring
    from maxmargin.data import read, scaling
    from maxmargin.errors import missing_extra
    from maxmargin.kernels.base import registry as kernels
    from maxmargin.losses.base import registry as losses
    from maxmargin.problem import Problem
    from maxmargin.solvers.base import registry

    with options.usage():
        names = registry.names() if solvers is None else [name.strip() for name in solvers.split(",")]
        chosen = with_fields({name: registry[name] for name in names}, solver_option)
        parts = made(losses[loss], "loss", loss, {}), made(kernels[kernel], "kernel", kernel, {})
        if not max_time > 0 or not tol >= 0:
            raise typer.BadParameter("--max-time must be > 0 and --tol ≥ 0")
    options.outputs({"DATA": data}, {"-o": output, "--csv": table})
    if output is not None:
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            raise missing_extra("matplotlib", "plot") from None
    with options.reading(data, not quiet) as progress:
        rows = read(data, format, target=target, zero_based=zero_based, progress=progress)
    X = rows.X if scale is None else scaling(scale, rows.X).apply(rows.X)
    fitted = parts[1].fitted(X)  # its parameters go by all columns, also by those that no row has
    if sp.issparse(X) and mostly_empty(X.shape[1], X.nnz):
        X = narrowed(X, occurring(X))  # nobody keeps the weights of a race
    problem = Problem(X, rows.y, loss=parts[0], kernel=fitted, bias=bias, C=cost)  # type: ignore[arg-type]
    results = _run(problem, chosen, solvers is not None, tol, max_time, seed, quiet)
    if table is not None:
        write_traces(table, "solver", ((name, result.trace) for name, result in results.items()))
    if output is not None:
        _draw(output, results)


def _run(
    problem: Any, chosen: dict[str, Any], named: bool, tol: float, max_time: float, seed: int, quiet: bool
) -> dict[str, Any]:
    """Run one after the other; the table grows as they go."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.live import Live
    from rich.markup import escape
    from rich.table import Table

    from maxmargin.errors import MaxMarginError, Refused
    from maxmargin.loop import solve

    results: dict[str, Any] = {}
    lines: dict[str, list[str]] = {}

    def standings() -> Table:
        grid = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for name in ("solver", "seconds", "with looks", "relative gap", ""):
            justify: Any = "left" if name in ("solver", "") else "right"
            grid.add_column(name, justify=justify, no_wrap=name != "")
        for name, line in lines.items():
            grid.add_row(name, *line)
        return grid

    console = Console()
    refusals = []
    with Live(standings(), console=console, auto_refresh=False, transient=not console.is_terminal) as live:
        for name, solver in chosen.items():
            if refusal := solver.accepts(problem):
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
                    live.update(standings(), refresh=True)
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
            live.update(standings(), refresh=True)
        places = {name: _place(results.get(name)) for name in lines}
        lines = dict(sorted(lines.items(), key=lambda line: places[line[0]]))
        live.update(standings(), refresh=True)
    if not console.is_terminal:
        console.print(standings())
    if refusals:
        print(f"not for this problem: {', '.join(refusals)}")
    return results


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
