"""A solver of one's own, from a file: it registers itself as those of the library do, and appears in the menus."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from maxmargin.errors import InvalidInput
from maxmargin.solvers.base import registry


def load(file: Path) -> list[str]:
    """Import a file, and tell the names of the solvers that it has registered."""
    before = set(registry.names())
    spec = importlib.util.spec_from_file_location(f"studio_solver_{file.stem}", file)
    if not file.is_file() or spec is None or spec.loader is None:
        raise InvalidInput(f"{file} is not a Python file; name one that registers a solver")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a dataclass looks for the module that it is in
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever a file of the user's own may raise
        raise InvalidInput(f"{file} cannot be imported: {type(error).__name__}: {error}") from error
    new = sorted(set(registry.names()) - before)
    if not new:
        raise InvalidInput(f"{file} registers no solver; end it with registry.register(MySolver.name, MySolver())")
    return new
