"""Tables of what is registered."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, fields
from typing import Any


def described(name: str, kind: Any) -> list[str]:
    """A registered class as its name, the first line of its docstring, and its parameters with their defaults."""
    known = [
        field.name if field.default is MISSING else f"{field.name}={field.default}"
        for field in fields(kind)
        if not field.name.startswith("_")
    ]
    return [name, (kind.__doc__ or "").splitlines()[0], ", ".join(known) or "-"]


def documented(kind: Any) -> dict[str, tuple[str, str]]:
    """The fields of a class as its docstring tells them: the values that each takes, and what it means."""
    text = inspect.cleandoc(kind.__doc__ or "")
    _, _, section = text.partition("Parameters\n----------\n")
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


def show(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table, as wide as the terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1))
    for k, name in enumerate(header):
        table.add_column(name, no_wrap=k == 0)
    for row in rows:
        table.add_row(*(str(cell).replace("[", "\\[") for cell in row))
    Console().print(table)
