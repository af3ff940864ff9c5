"""All commands in one application."""

from __future__ import annotations

import typer

from maxmargin.cli.check import check
from maxmargin.cli.convert import convert
from maxmargin.cli.demo import demo
from maxmargin.cli.info import info
from maxmargin.cli.kernels import kernels
from maxmargin.cli.libsvm_options import LibsvmCommand
from maxmargin.cli.losses import losses
from maxmargin.cli.predict import predict
from maxmargin.cli.race import race
from maxmargin.cli.scale import scale
from maxmargin.cli.solvers import solvers
from maxmargin.cli.split import split
from maxmargin.cli.studio import studio
from maxmargin.cli.train import train

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
for command in (train, predict, check, race, scale, split, convert, info, solvers, kernels, losses, demo, studio):
    app.command(cls=LibsvmCommand if command in (train, predict, race) else None)(command)

#: What typer raises for a mistake of usage; its place has changed with typer's versions.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]  # type: ignore[assignment]


@app.callback(invoke_without_command=True)
def _about(version: bool = typer.Option(False, "--version", help="Show the version and exit.")) -> None:
    """Support vector machines with proof.

    Exit status: 0 all went well, 1 something failed, 2 a mistake of usage, 3 trained but not proved to the tolerance,
    130 after Ctrl-C.
    """
    if version:
        from importlib import metadata

        print(f"maxmargin {metadata.version('maxmargin')}")
        raise typer.Exit
