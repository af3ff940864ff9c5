"""The bones of an HTML page: one self-contained document, readable on a phone, that needs no network."""

from __future__ import annotations

import base64
import io
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING

from maxmargin.files import place, replacing

__all__ = ["Page", "document", "embedded", "facts", "picture", "place", "table", "write", "written"]

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
pre { overflow-x: auto; background: #f3f5f7; padding: .8rem 1rem; border-radius: 6px; }
pre code { background: none; padding: 0; overflow-wrap: normal; }
li { max-width: 46rem; margin: .35rem 0; }
.verdict { font-size: 1.15rem; margin: 1rem 0 .6rem; padding: .7rem 1rem; background: #f6f8fa;
  border-left: .35rem solid var(--soft); }
.verdict.good, .verdict.bad { color: var(--ink); }
.verdict.good { border-color: var(--good); } .verdict.bad { border-color: var(--bad); }
.facts { width: 100%; table-layout: fixed; }
.facts th { width: 9.5rem; font-weight: 600; }
.facts td:nth-child(2) { width: 17rem; }
.facts th, .facts td { text-align: left; vertical-align: top; white-space: normal; }
.panels { overflow-x: auto; }
.panels img { min-width: 44rem; }
.panels figcaption { position: sticky; left: 0; }
@media (max-width: 40rem) {
  th, td { padding: .3rem .4rem; }
  .facts, .facts tbody, .facts tr, .facts th, .facts td, .facts td:nth-child(2) { display: block; width: auto; }
  .facts tr { padding: .4rem 0; border-bottom: 1px solid var(--line); }
  .facts th, .facts td { padding: 0; border: 0; }
}
"""


def document(title: str, body: str, style: str = "") -> str:
    """A whole HTML document, with rules for its style besides those that all pages share."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{escape(title)}</title>\n<style>{STYLE}{style}</style>\n</head>\n'
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table that scrolls by itself where the screen is narrow; cells are text."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    lines = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{lines}</tbody></table></div>'


def facts(rows: Iterable[Sequence[str]]) -> str:
    """What there is to know, line by line: a name, a value, and perhaps a sentence; stacked on a narrow screen."""
    lines = ""
    for name, value, *words in rows:
        sentence = "".join(f'<td class="soft">{escape(text)}</td>' for text in words)
        lines += f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td>{sentence}</tr>\n'
    return f'<table class="facts"><tbody>\n{lines}</tbody></table>'


def picture(source: str, caption: str, narrow: str | None = None) -> str:
    """A figure with its caption, which is HTML; the source is a file beside the page, or what `embedded` gives.

    `narrow` is another version of it for narrow screens.
    """
    words = " ".join(unescape(re.sub(r"<[^>]*>", "", caption)).split())
    image = f'<img src="{source}" alt="{escape(words)}">'
    if narrow is not None:
        image = f'<picture><source media="(max-width: 40rem)" srcset="{narrow}">{image}</picture>'
    return f"<figure>{image}<figcaption>{caption}</figcaption></figure>"


def embedded(figure: Figure) -> str:
    """A figure as part of the page itself."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight")
    return "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


@dataclass(frozen=True, repr=False)
class Page:
    """A whole HTML document that is not written yet: a notebook shows it inline, `save` writes it."""

    html: str

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page whole or not at all; returns its path."""
        return write(path, self.html)

    def __repr__(self) -> str:
        return f"Page({len(self.html) / 1000:.0f} kB of HTML; save(path) writes it)"

    def _repr_html_(self) -> str:
        # A document of its own, which cannot run anything: its style and its links stay inside.
        return (
            '<iframe title="report" sandbox="" width="100%" height="640" style="border: 1px solid rgba(128,128,128,.5);'
            f' background: #fff" srcdoc="{escape(self.html)}"></iframe>'
        )


def written(path: str | os.PathLike[str] | None, html: str) -> Path | Page:
    """The path of the page that was written, or the page itself where there is no path."""
    return Page(html) if path is None else write(path, html)


def write(path: str | os.PathLike[str], text: str) -> Path:
    """Write a page whole or not at all: whoever reads the file meanwhile sees the old one."""
    with replacing(path) as file:
        # A label may hold half of a surrogate pair, which UTF-8 has no bytes for.
        file.write(text.encode("utf-8", "xmlcharrefreplace"))
    return Path(path)
