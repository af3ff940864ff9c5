"""Shown: what a notebook shows instead of the text of `print`; `notebook.py` makes the HTML when it is asked for."""

from __future__ import annotations


class Shown:
    """A class whose instances notebooks show as a small table."""

    def _repr_html_(self) -> str:
        from maxmargin.notebook import html_of

        return html_of(self)
