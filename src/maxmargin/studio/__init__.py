"""The studio: the solvers, live, in a browser or a notebook. PROTOCOL.md has what the page and its hosts say.

A session answers a page's commands; the server, the widget and the tape are its hosts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maxmargin.studio.widget import Widget

__all__ = ["Widget"]


def __getattr__(name: str) -> Any:
    if name == "Widget":  # it needs an extra, and the server does not need it
        from maxmargin.studio.widget import Widget

        return Widget
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
