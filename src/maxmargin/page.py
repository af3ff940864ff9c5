"""The bones of an HTML page: one self-contained document, readable on a phone, that needs no network."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = """
:root { color-scheme: light; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --good: #1a7f37; --bad: #9a3412; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 62rem; color: var(--ink); background: #fff;
  font: 16px/1.55 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .4rem; padding-top: .8rem; border-top: 1px solid var(--line); }
p { margin: .5rem 0 .9rem; max-width: 46rem; }
.soft, figcaption { color: var(--soft); font-size: .92rem; }
figure { margin: 1rem 0 1.4rem; }
img { max-width: 100%; height: auto; display: block; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
thead th { border-bottom: 2px solid var(--ink); }
.good { color: var(--good); } .bad { color: var(--bad); }
code { font: .92em ui-monospace, Menlo, Consolas, monospace; background: #f3f5f7; padding: .1em .3em; }
"""


def document(title: str, body: str) -> str:
    """A whole HTML document."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n'
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table that scrolls by itself where the screen is narrow; cells are text."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    lines = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{lines}</tbody></table></div>'


def picture(source: str, caption: str) -> str:
    """A figure with its caption; the source is a file beside the page, or what `embedded` gives."""
    return f'<figure><img src="{source}" alt="{escape(caption)}"><figcaption>{escape(caption)}</figcaption></figure>'


def embedded(figure: Figure) -> str:
    """A figure as part of the page itself."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight")
    return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
