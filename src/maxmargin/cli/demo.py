"""`maxmargin demo`: every method on embedded data, and a course in one page."""

from __future__ import annotations

from pathlib import Path

import typer


def demo(
    folder: Path = typer.Option(
        Path("demo-output"), "--output", "-o", help="Where index.html and its figures go.", show_default=True
    ),
) -> None:
    """Train by every method on four small problems, print a table, and write a course as a page with figures.

    Example: maxmargin demo -o lesson
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from maxmargin.demo import HEADER, TASKS, Row, agreement, lesson, rows
    from maxmargin.errors import InvalidInput, missing_extra

    console = Console()
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise missing_extra("matplotlib", "plot") from None
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{folder} is a file; name a folder with -o")
    folder.mkdir(parents=True, exist_ok=True)
    console.print("aug.: augmented; gap: relative; right: training accuracy; SVs: support vectors")
    found: list[Row] = []
    for task in TASKS:
        shown = Table(title=task.title, title_justify="left", box=SIMPLE_HEAD, padding=0)
        for k, name in enumerate(HEADER):
            shown.add_column(name, justify="left" if k < 2 else "right", no_wrap=True)
        with console.status(task.title) as status:
            for row in rows(task):
                if isinstance(row, str):
                    console.print(row)
                    continue
                status.update(f"{task.title}: {row.method}")
                found.append(row)
                shown.add_row(*row.cells())
        console.print(shown)
        console.print(agreement([row for row in found if row.task is task]), style="dim")
    with console.status("drawing") as status:
        page = lesson(folder, found, lambda what: status.update(f"drawing: {what}"))
    console.print(f"The course: open {page}")
