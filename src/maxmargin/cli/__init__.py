"""The command line: one file a command; an expected error is one sentence, never a traceback.

Exit status: 0 where all went well, 1 where something failed, 2 for a mistake of usage, 3 where a model was trained but
is not proved to the tolerance, 130 after Ctrl-C.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys

from maxmargin.errors import MaxMarginError
from maxmargin.files import shown
from maxmargin.numeric.interrupts import interruptible

#: The exit status of a training that ended before its model was proved to the tolerance.
UNPROVED = 3
#: The exit status after Ctrl-C.
INTERRUPTED = 130
#: New objects between two searches for garbage: modules being imported make a million and no garbage, and Python's own
#: 700 would be a sixth of the time to start.
OBJECTS = 50_000
#: Every Ctrl-C so far: the exception alone may be lost in a library that is being imported.
pressed: list[int] = []


class Stopped(Exception):
    """A command that was stopped by Ctrl-C and has said what came of it."""


def main() -> None:
    """Run a command."""
    gc.set_threshold(OBJECTS)
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # at the end nothing is left to interrupt
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _press)
        sys.unraisablehook = _unraisable
    try:
        with interruptible():
            status = _run()
    except KeyboardInterrupt:
        status = _told("interrupted", INTERRUPTED)
    sys.exit(status)


def _press(number: int, frame: object) -> None:
    pressed.append(number)
    raise KeyboardInterrupt


def _unraisable(told: sys.UnraisableHookArgs) -> None:
    """A Ctrl-C that comes while a library is called back is noted in `pressed`, and no traceback for the user."""
    if not issubclass(told.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(told)


def _run() -> int:
    """Run the command of the command line; gives the exit status. What takes time to import is imported here, too."""
    import typer

    from maxmargin.cli.app import UsageError, app
    from maxmargin.numeric.parallel import threads

    try:
        threads()  # a MAXMARGIN_THREADS that is no number is refused by every command, not only by those that need it
        status = app(standalone_mode=False, prog_name="maxmargin") or 0
        if status == INTERRUPTED:  # typer's other word for it
            raise KeyboardInterrupt
        sys.stdout.flush()  # a full disk shows here, not in the interpreter's last breath
        return status
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # type: ignore[attr-defined]
            return 2
        return _told(_sentence(error), 2)
    except MaxMarginError as error:
        return _told(str(error), 1)
    except BrokenPipeError:  # whoever read the output has had enough
        return _closed()
    except OSError as error:  # a full disk, a folder that may not be written to
        where = f": {error.filename}" if error.filename else ""
        return _told(f"{error.strerror or error}{where}", _closed())
    except MemoryError as error:
        told = str(error) or "not enough memory"
        return _told(f"{told}; train a linear model with --stream, or free some memory", 1)
    except Stopped:
        return INTERRUPTED
    except typer.Abort:  # one of typer's words for Ctrl-C
        raise KeyboardInterrupt from None


def _sentence(error: Exception) -> str:
    """What typer says, in one line."""
    said = error.format_message() if hasattr(error, "format_message") else str(error)
    return " ".join(said.removeprefix("Invalid value: ").split())


def _closed() -> int:
    """Send what is still waiting to be printed nowhere: it could not be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def _told(sentence: str, status: int) -> int:
    """One sentence on standard error; gives the exit status."""
    print(f"maxmargin: {shown(sentence)}", file=sys.stderr)
    return status
