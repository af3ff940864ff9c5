"""What compiled code was made of: the function's file, those of all it calls, and the constants that they read.

Numba looks at the function's own file only, so that code would stay in the cache which has an old callee inside.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from types import CodeType
from typing import Any

from maxmargin.numeric.compiled import Compiled, extensions

#: What compiled code takes in by value.
CONSTANTS = (bool, int, float, str, tuple)


def sources(function: Callable[..., Any]) -> tuple[Any, ...]:
    """What the code of a function depends on; equal where nothing of that has changed."""
    files: dict[str, tuple[int, int]] = {}
    constants: dict[tuple[str, str, str], str] = {}
    waiting, seen = [function], {function}
    while waiting:
        one = waiting.pop()
        path = one.__code__.co_filename
        files[path] = _stamp(path)
        for name in _names(one.__code__):
            value = one.__globals__.get(name)
            if isinstance(value, Compiled):
                if value.py_func not in seen:
                    seen.add(value.py_func)
                    waiting.append(value.py_func)
            elif isinstance(value, CONSTANTS):
                constants[one.__module__, one.__qualname__, name] = repr(value)
    for module in extensions:
        found = find_spec(module)
        if found is not None and found.origin is not None:
            files[found.origin] = _stamp(found.origin)
    # Folders may move, and the files with them.
    return tuple(sorted((os.path.basename(path), *stamp) for path, stamp in files.items())), tuple(
        sorted(constants.items())
    )


def _names(code: CodeType) -> Iterator[str]:
    """The names that a function reads, those of the functions inside it included."""
    yield from code.co_names
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _names(value)


@cache
def _stamp(path: str) -> tuple[int, int]:
    """When a file was written, and its size."""
    try:
        seen = os.stat(path)
    except OSError:  # inside an archive
        return 0, 0
    return seen.st_mtime_ns, seen.st_size
