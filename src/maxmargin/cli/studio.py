"""`maxmargin studio`: the solvers, live, in a browser on this machine."""

from __future__ import annotations

from pathlib import Path

import typer


def studio(
    port: int | None = typer.Option(None, "--port", help="The port; by default any that is free.", min=1, max=65535),
    browser: bool = typer.Option(True, "--browser/--no-browser", help="Open the page in the browser."),
    solver: list[Path] = typer.Option(
        [], "--solver", help="A Python file with a solver of your own, which it registers; may be repeated."
    ),
) -> None:
    """Open a page on this machine to draw points and watch the solvers find, and prove, their margin.

    Nothing leaves this machine: the page comes from the loopback address, and only its own address may talk to it.
    Ctrl-C ends it.

    Example: maxmargin studio

    Example: maxmargin studio --no-browser --port 8000 --solver my_solver.py
    """
    import webbrowser

    from maxmargin.studio.own import load
    from maxmargin.studio.server import serve

    for file in solver:
        load(file)

    def opened(address: str) -> None:
        print(f"The studio: {address}\nCtrl-C ends it.", flush=True)
        if browser:
            webbrowser.open(address)

    serve(port, opened)
