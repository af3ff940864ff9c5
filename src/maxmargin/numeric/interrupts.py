"""Ctrl-C, wherever it comes: compiled code must not turn it into another error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C be a KeyboardInterrupt even where it comes while Numba converts arguments or results.

    Numba then returns a result although an exception is set, and Python raises a SystemError with that as its cause.
    """
    try:
        yield
    except SystemError as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, KeyboardInterrupt):
            cause = cause.__cause__ or cause.__context__
        if cause is None:
            raise
        raise KeyboardInterrupt from error
