"""Who has called fit: Ctrl-C keeps the best model so far for a user, and ends a loop over fits of somebody else's.

A library that fits many machines (`GridSearchCV`, `cross_val_score`, `OneVsRestClassifier`) would score or combine what
was broken off, and go on with the next. There KeyboardInterrupt goes on to the user. A library that passes one call on
(`Pipeline`) hands the model to the user, who wants to have it.
"""

from __future__ import annotations

import sys
import sysconfig
from functools import cache

#: Packages and modules that pass a call of fit on.
PASSING = (
    "maxmargin",
    "sklearn.base",
    "sklearn.callback",
    "sklearn.compose",
    "sklearn.pipeline",
    "sklearn.utils",
    "contextlib",
)


def in_a_loop_of_others() -> bool:
    """Whether fit was called by an installed library that does more than to pass the call on."""
    frame = sys._getframe(1)
    while frame is not None and _passes(frame.f_globals.get("__name__") or ""):
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None and frame.f_code.co_filename.startswith(_libraries())


@cache
def _passes(module: str) -> bool:
    return any(module == one or module.startswith(f"{one}.") for one in PASSING)


@cache
def _libraries() -> tuple[str, ...]:
    """The folders of what is installed, with Python's own modules."""
    paths = sysconfig.get_paths()
    return tuple({paths[name] for name in ("purelib", "platlib", "stdlib", "platstdlib")})
