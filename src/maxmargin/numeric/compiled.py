"""The one decorator for compiled inner loops.

A compiled function takes arrays and scalars only, is cached on disk, releases the GIL, and runs as plain Python
under ``NUMBA_DISABLE_JIT=1``. Numba is imported at the first call of such a function (`numeric.compiler`), so that a
program that calls none of them does not wait for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from importlib import import_module
from typing import Any

from maxmargin.numeric.stopwatch import standing_still

#: Sums may be reordered and fused (vectorised); infinities and NaN keep their meaning.
FAST = {"reassoc", "contract", "nsz", "arcp"}

#: Modules that tell Numba how to compile what it does not know; imported before the first compilation.
extensions: list[str] = []


def compiled(function: Callable[..., Any]) -> Any:
    """Compile an inner loop with Numba, once per machine and signature."""
    return compiled_with(FAST)(function)


def strictly_compiled(function: Callable[..., Any]) -> Any:
    """Compile a loop whose operations must be rounded as they are written: error-free sums and products.

    What is not said is inherited from the first caller, so that it is said: sums are not reordered.
    """
    return compiled_with(False)(function)


def compiled_with(fastmath: set[str] | bool) -> Callable[[Callable[..., Any]], Any]:
    """Compile with these liberties of the arithmetic; without the compiler, the function itself."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return lambda function: function
    return lambda function: Compiled(function, fastmath)


class Compiled:
    """A function that is compiled, or loaded from the cache, when it is first called."""

    _dispatcher: Any = None
    _part: Any = None

    def __init__(self, function: Callable[..., Any], fastmath: set[str] | bool) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self.fastmath = fastmath

    def __call__(self, *arguments: Any) -> Any:
        if _interpreted:
            return self.py_func(*arguments)
        return (self._dispatcher or self.dispatcher)(*arguments)

    @property
    def dispatcher(self) -> Any:
        """Numba's own object for the function."""
        if self._dispatcher is None:
            with standing_still():  # importing Numba takes as long as compiling some loops
                made = import_module("maxmargin.numeric.compiler").dispatcher(self.py_func, self.fastmath)
            self.__dict__.setdefault("_dispatcher", made)  # two threads may both come here: the first one's stays
        return self._dispatcher

    @property
    def part(self) -> Any:
        """The same for compiled code that calls the function, and takes it in."""
        if self._part is None:
            made = import_module("maxmargin.numeric.compiler").part(self.py_func, self.fastmath)
            self.__dict__.setdefault("_part", made)
        return self._part

    @property
    def _numba_type_(self) -> Any:
        """What compiled code that calls this function takes it for."""
        return import_module("numba").types.Dispatcher(self.part)

    def __reduce__(self) -> str:
        return self.__qualname__  # type: ignore[attr-defined]  # a module's function, pickled by its name


_interpreted = False


@contextmanager
def interpreted(wanted: bool) -> Iterator[None]:
    """Run compiled functions as plain Python (in all threads): for so little work that Numba would take longer."""
    global _interpreted
    before, _interpreted = _interpreted, wanted
    try:
        yield
    finally:
        _interpreted = before
