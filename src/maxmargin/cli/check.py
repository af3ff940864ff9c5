"""`maxmargin check`: recompute a model's certificate from the data, and say whether it holds."""

from __future__ import annotations

from pathlib import Path

import typer

from maxmargin.cli import options, problem_options
from maxmargin.files import shown


def check(
    model: Path = options.MODEL,
    data: str = options.DATA,
    tol: float | None = typer.Option(None, help="The relative gap to ask for (by default what the model claims)."),
    format: str | None = options.FORMAT,
    target: str | None = options.TARGET,
    zero_based: bool | None = options.BASE,
    weights: Path | None = problem_options.WEIGHTS,
    as_json: bool = options.JSON,
    quiet: bool = options.QUIET,
) -> None:
    """Recompute the certificate of a model from scratch, in float64 and in blocks; exit status 0 if it holds, else 1.

    Example: maxmargin check a9a.mm a9a.svm
    """
    from maxmargin.cli.predict import parts_for, refuse_swapped
    from maxmargin.models import load
    from maxmargin.models.certify import certify

    if tol is not None and not tol >= 0:
        raise typer.BadParameter(f"--tol is {tol}; it must be a number ≥ 0")
    refuse_swapped(model, data)
    loaded = load(model)
    given = None
    if weights is not None and loaded.training is not None:
        given = options.row_weights(weights, loaded.training.n)
    with options.reading(data, not quiet) as progress:
        parts = parts_for(loaded, data, format, target, zero_based, progress)
        findings = certify(loaded, parts, given)
    good = all(finding.holds(tol) for finding in findings)
    if as_json:
        machines = [
            {
                "name": finding.name,
                "primal": finding.primal,
                "dual": finding.dual,
                "relative_gap": finding.relative_gap,
                "claimed": finding.claimed_gap,
                "infeasibility": finding.infeasibility,
                "holds": finding.holds(tol),
            }
            for finding in findings
        ]
        options.put({"holds": good, "machines": machines})
    else:
        for finding in [] if quiet else findings:
            options.say(
                f"{shown(finding.name)}: primal {finding.primal:.10g}, dual {finding.dual:.10g}, relative gap"
                f" {finding.relative_gap:.3g} (claimed {finding.claimed_gap:.3g}),"
                f" infeasibility {finding.infeasibility:.2g}"
            )
        asked = "as claimed" if tol is None else f"to {tol:g}"
        print(f"the certificate holds {asked}" if good else f"the certificate does NOT hold {asked}")
    if not good:
        raise typer.Exit(1)
