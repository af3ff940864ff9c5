"""The project's own exceptions: one sentence that says what, where, and what to do."""


class MaxMarginError(Exception):
    """Any error that maxmargin raises on purpose.

    Examples
    --------
    >>> from maxmargin import MaxMarginError, Problem
    >>> try:
    ...     Problem([[1.0], [2.0]], [0, 1], C=-1)
    ... except MaxMarginError as error:
    ...     print(error)
    C is -1; it must be a number > 0 (C=inf for a hard margin)
    """


class InvalidInput(MaxMarginError, ValueError):
    """The data or a parameter cannot be used; the message names the row, column or parameter.

    Examples
    --------
    >>> from maxmargin import InvalidInput, Problem
    >>> try:
    ...     Problem([[1.0], [float("nan")]], [0, 1])
    ... except InvalidInput as error:
    ...     print(error)
    X[1, 0] is nan; fill in or drop that row, or scale the column first
    """


class Refused(MaxMarginError, ValueError):
    """A solver does not accept this problem; the message says why and names one that does.

    Examples
    --------
    >>> from maxmargin import Problem, Refused, solve
    >>> try:
    ...     solve(Problem([[1.0], [2.0]], [0, 1]), "coordinate-ascent")
    ... except Refused as error:
    ...     print(error)
    coordinate-ascent refuses this problem: it cannot do bias='free', only none or augmented; use solver='smo'
    """


class MemoryLimit(MaxMarginError, MemoryError):
    """Something would not fit its memory cap; the message gives the bytes it would need.

    Examples
    --------
    >>> from maxmargin.errors import MaxMarginError, MemoryLimit
    >>> issubclass(MemoryLimit, MaxMarginError), issubclass(MemoryLimit, MemoryError)
    (True, True)
    """


class MissingExtra(MaxMarginError, ImportError):
    """An optional dependency is not installed; the message gives the install line.

    Examples
    --------
    >>> from maxmargin.errors import missing_extra
    >>> print(missing_extra("matplotlib", "plot"))
    matplotlib is not installed; run: pip install 'maxmargin[plot]'
    """


def missing_extra(package: str, extra: str) -> MissingExtra:
    """Build the one sentence that tells how to install an optional dependency."""
    return MissingExtra(f"{package} is not installed; run: pip install 'maxmargin[{extra}]'")


def bytes_text(count: float) -> str:
    """Write a number of bytes the way people say it: 7.2 GB."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
