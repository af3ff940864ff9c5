"""The command line: one file a command; an expected error is one sentence and exit status 1, never a traceback."""

from __future__ import annotations

import sys
from importlib import metadata

import typer

from maxmargin.cli.demo import demo
from maxmargin.errors import MaxMarginError

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command()(demo)


@app.callback(invoke_without_command=True)
def _about(version: bool = typer.Option(False, "--version", help="Show the version and exit.")) -> None:
    """Support vector machines with proof."""
    if version:
        print(f"maxmargin {metadata.version('maxmargin')}")
        raise typer.Exit


def main() -> None:
    """Run a command."""
    try:
        app()
    except MaxMarginError as error:
        print(f"maxmargin: {error}", file=sys.stderr)
        sys.exit(1)
    except OSError as error:  # a full disk, a folder that may not be written to
        where = f": {error.filename}" if error.filename else ""
        print(f"maxmargin: {error.strerror or error}{where}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("maxmargin: interrupted", file=sys.stderr)
        sys.exit(130)
