"""Markdown out of the texts of the code."""

from __future__ import annotations

import re
from collections.abc import Iterable


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    head = [one for one in header]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def plain(text: str) -> str:
    """Words of a docstring as Markdown: what would be read as markup is not."""
    text = text.replace("``", "`")
    return re.sub(r"(?<!`)(\*|<|>)(?![^`]*`(?:[^`]*`[^`]*`)*[^`]*$)", r"\\\1", text)
