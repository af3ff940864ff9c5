"""Tables of what is registered."""

from __future__ import annotations

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
