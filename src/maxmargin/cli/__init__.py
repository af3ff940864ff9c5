"""The command line: one file a command; an expected error is one sentence, never a traceback.

Exit status: 0 where all went well, 1 where something failed, 2 for a mistake of usage, 130 after Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from importlib import metadata

import typer

from maxmargin.cli.check import check
from maxmargin.cli.convert import convert
from maxmargin.cli.demo import demo
from maxmargin.cli.info import info
from maxmargin.cli.kernels import kernels
from maxmargin.cli.losses import losses
from maxmargin.cli.predict import predict
from maxmargin.cli.race import race
from maxmargin.cli.solvers import solvers
from maxmargin.cli.train import train
from maxmargin.errors import MaxMarginError

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
for command in (train, predict, check, race, convert, info, solvers, kernels, losses, demo):
    app.command()(command)

#: What typer raises for a mistake of usage; its place has changed with typer's versions.
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]  # type: ignore[assignment]


@app.callback(invoke_without_command=True)
def _about(version: bool = typer.Option(False, "--version", help="Show the version and exit.")) -> None:
    """Support vector machines with proof."""
    if version:
        print(f"maxmargin {metadata.version('maxmargin')}")
        raise typer.Exit


def main() -> None:
    """Run a command."""
    try:
        sys.exit(app(standalone_mode=False) or 0)
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # type: ignore[attr-defined]
            sys.exit(2)
        _end(_sentence(error), 2)
    except MaxMarginError as error:
        _end(str(error), 1)
    except BrokenPipeError:  # whoever read the output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:  # a full disk, a folder that may not be written to
        where = f": {error.filename}" if error.filename else ""
        _end(f"{error.strerror or error}{where}", 1)
    except MemoryError as error:
        told = str(error) or "not enough memory"
        _end(f"{told}; train a linear model with --stream, or free some memory", 1)
    except (KeyboardInterrupt, typer.Abort):
        _end("interrupted", 130)


def _sentence(error: Exception) -> str:
    """What typer says, in one line."""
    said = error.format_message() if hasattr(error, "format_message") else str(error)
    return " ".join(said.removeprefix("Invalid value: ").split())


def _end(sentence: str, status: int) -> None:
    print(f"maxmargin: {sentence}", file=sys.stderr)
    sys.exit(status)
