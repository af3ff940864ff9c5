"""The one decorator for compiled inner loops, and the word that a first compilation is under way.

A compiled function takes arrays and scalars only, is cached on disk, releases the GIL, and runs as plain Python
under ``NUMBA_DISABLE_JIT=1``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core import event

#: Sums may be reordered and fused (vectorised); infinities and NaN keep their meaning.
FAST = {"reassoc", "contract", "nsz", "arcp"}

logger = logging.getLogger("maxmargin")


def compiled(function: Callable[..., Any]) -> Any:
    """Compile an inner loop with Numba, once per machine and signature."""
    return njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")(function)


class _Announcer(event.Listener):
    """Logs each compilation of ours: the first fit on a machine waits for it, later ones do not."""

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        if (function.__module__ or "").startswith("maxmargin"):
            logger.info("compiling %s.%s (first use; kept on disk)", function.__module__, function.__name__)

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Announcer())
