"""One registry for losses, kernels, regularisers and solvers: a new one is a new file in its folder.

`register` is called by the file itself; the folder's files are imported the first time that somebody asks.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import threading
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from maxmargin.errors import InvalidInput

Entry = TypeVar("Entry")


class Registry(Generic[Entry]):
    """Named entries of one kind, discovered from the modules of some packages."""

    def __init__(self, kind: str, *packages: str) -> None:
        self.kind = kind
        self.packages = packages
        self._entries: dict[str, Entry] = {}
        self._discovered = self._discovering = False
        self._lock = threading.RLock()

    def register(self, name: str, entry: Entry) -> None:
        """Add an entry under its name; a name is taken once."""
        if name in self._entries:
            raise ValueError(f"the {self.kind} {name!r} is registered twice")
        self._entries[name] = entry

    def names(self) -> list[str]:
        """All names, sorted."""
        self._discover()
        return sorted(self._entries)

    def __getitem__(self, name: str) -> Entry:
        self._discover()
        try:
            return self._entries[str(name).replace("_", "-")]
        except KeyError:
            raise InvalidInput(f"there is no {self.kind} {name!r}; there are: {', '.join(self.names())}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def classes(self) -> dict[str, type]:
        """The classes of all entries, by their own names."""
        made = [entry if isinstance(entry, type) else type(entry) for entry in map(self.__getitem__, self.names())]
        return {one.__name__: one for one in made}

    def class_of(self, module: str, name: str) -> type:
        """A registered class by its own name, for the `__getattr__` of a package that offers them all."""
        found = None if name.startswith("_") else self.classes().get(name)
        if found is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return found

    def _discover(self) -> None:
        if self._discovered:
            return
        with self._lock:  # another thread must wait until all are there; a module that asks on the way need not
            if self._discovered or self._discovering:
                return
            self._discovering = True
            try:
                for package in self.packages:
                    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
                        importlib.import_module(f"{package}.{module.name}")
                self._discovered = True
            finally:  # what could not be imported is tried, and told, again
                self._discovering = False


def documented(kind: Any) -> dict[str, tuple[str, str]]:
    """The fields of a class as its docstring tells them: the values that each takes, and what it means."""
    text = inspect.cleandoc(kind.__doc__ or "")
    _, _, section = text.partition("Parameters\n----------\n")
    section = re.split(r"^\w+\n-{3,}$", section, maxsplit=1, flags=re.M)[0]  # up to the next one
    found: dict[str, tuple[str, str]] = {}
    name = ""
    for line in section.splitlines():
        if line and not line.startswith(" "):
            name, _, values = line.partition(" : ")
            found[name] = (values, "")
        elif line.strip():
            values, meaning = found[name]
            found[name] = (values, f"{meaning} {line.strip()}".strip())
    return found
