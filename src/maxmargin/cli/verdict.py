"""What a training has to say at its end: the certificate, a verdict of one line, the course it took."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maxmargin.cli import options
from maxmargin.files import replacing, shown

if TYPE_CHECKING:
    from maxmargin.cli.model_output import Destination
    from maxmargin.result import Trace
    from maxmargin.training.fit import Fit


def write_traces(path: Path, what: str, traces: Iterable[tuple[str, Trace]]) -> None:
    """Write every look of every run as CSV; the first column says of `what` it is."""
    from maxmargin.result import COLUMNS

    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow([what, *COLUMNS])
    for name, trace in traces:
        table.writerows([name, *row] for row in trace.rows)
    with replacing(path) as file:
        file.write(text.getvalue().encode("utf-8"))


def tell(
    fitted: Fit, extra: dict[str, Any], place: Destination, seconds: float, tol: float, as_json: bool, quiet: bool
) -> None:
    """The certificate and, as the last line, the verdict; only the latter where it should be quiet."""
    worst = max(fitted.solved, key=lambda one: one.relative_gap)
    if as_json:
        machines = [
            {
                "name": machine.name,
                "primal": one.primal,
                "dual": one.dual,
                "relative_gap": one.relative_gap,
                "support": one.support(len(machine.rows)),
                "iterations": one.iterations,
                "solver": one.solver,
                "status": one.status,
            }
            for machine, one in zip(fitted.machines, fitted.solved, strict=True)
        ]
        found = {"converged": fitted.converged, "relative_gap": worst.relative_gap, "seconds": seconds, **extra}
        options.put({**found, "model": None if place.path is None else str(place.path), "machines": machines})
        return
    if not quiet:
        _certificates(fitted)
    if fitted.converged:
        verdict = f"proved: at most {worst.relative_gap:.2g} of the optimum away (asked for {tol:g})"
    else:
        unfinished = next(one for one in fitted.solved if one.status == worst.status or one is worst)
        verdict = f"not proved: {in_commands(unfinished.status)}"
    scored = [name for name in extra if name.startswith("training")]
    score = "".join(f", {name.replace('_', ' ')} {extra[name]:.4g}" for name in scored)
    print(shown(f"{verdict}{score}{_selected(extra) if quiet else ''}, {seconds:.1f} s{place.told}"))


def in_commands(status: str) -> str:
    """A status with the advice that there is on the command line."""
    return status.replace("maxmargin.list_solvers()", "`maxmargin solvers`").replace(
        "; go on from it with start=result", ""
    )


def _certificates(fitted: Fit) -> None:
    """What was proved of each problem; of many the ten with the largest gaps."""
    if fitted.result is not None:
        options.say(fitted.result.certificate)
    else:
        first = sorted(zip(fitted.machines, fitted.solved, strict=True), key=lambda pair: -pair[1].relative_gap)[:10]
        for machine, one in first:
            print(
                f"  {shown(machine.name)}: primal {one.primal:.8g}, dual {one.dual:.8g},"
                f" relative gap {one.relative_gap:.2g}, {one.support(len(machine.rows))} support vectors"
            )
        if len(fitted.solved) > len(first):
            print(f"  and {len(fitted.solved) - len(first)} with smaller gaps")


def _selected(extra: dict[str, Any]) -> str:
    """What cross-validation found, for a single line."""
    if "search" in extra:
        found = extra["search"]
        gamma = "" if found["gamma"] is None else f", gamma {found['gamma']:.4g}"
        return f", C {found['C']:g}{gamma} with {found['score']:.4f}"
    if "cross_validation" in extra:
        found = extra["cross_validation"]
        return f", {found['folds']}-fold score {found['score']:.4f} ± {found['deviation']:.4f}"
    return ""
