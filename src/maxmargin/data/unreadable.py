"""Fields that people read as numbers and that are none: missing values, thousands separators, decimal commas."""

from __future__ import annotations

import re

#: What stands in tables where there is no value, in lower case.
MISSING_WORDS = frozenset({"", "na", "n/a", "#n/a", "<na>", "null", "none", "nil", "missing", "?", "-", "--", "."})

_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?")


def unreadable(field: str, delimiter: str) -> str | None:
    """What is wrong with a field that is no number, as a template with {field} and {name}; None where it is just text.

    Parameters
    ----------
    field : str
        The field, without its quotes.
    delimiter : str
        What stands between the fields: behind a semicolon, 1,000 is a number with a decimal comma.

    Returns
    -------
    str or None
        The template of a sentence.

    Examples
    --------
    >>> unreadable("NA", ",")
    'the value of column {name!r} is missing ({field!r}); fill it in or drop the row'
    """
    if field.lower() in MISSING_WORDS:
        return "the value of column {name!r} is missing ({field!r}); fill it in or drop the row"
    if delimiter != ";" and _THOUSANDS.fullmatch(field):
        return "{field!r} in column {name!r} has commas between its digits; write " + field.replace(",", "")
    if _DECIMAL_COMMA.fullmatch(field):
        return "{field!r} in column {name!r} has a decimal comma; write " + field.replace(",", ".")
    return None
