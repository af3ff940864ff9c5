"""Text of the lesson as HTML, and Python with its comments set apart.

Marks in the text: `$formulas$`, `code`, `*stress*`, `<<name>>` for a value, `[[key]]` for a link to a part and
`[[key.2]]` for a link to its second exercise. The values of the names, and the number of each key, are handed over.
"""

from __future__ import annotations

import io
import keyword
import re
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from maxmargin.lesson.mathml import math

#: A formula, a piece of code, a stressed word, a value to fill in, or a link.
MARK = re.compile(r"\$([^$]+)\$|`([^`]+)`|\*([^*\s][^*]*)\*|<<(\w+)>>|\[\[([a-z]+)(\.\d)?\]\]")


#: A cell with more characters than this is text.
LONG = 40


def inline(text: str, values: Mapping[str, Any] | None = None) -> str:
    """One paragraph as HTML, without the paragraph's own tags."""
    pieces, end = [], 0
    for found in MARK.finditer(text):
        pieces.append(escape(text[end : found.start()], quote=False))
        formula, code, stress, name, key, exercise = found.groups()
        if formula:
            # No line ends between a formula and the comma after it.
            stop = re.match(r"[,.;:?)’]+|-\w+", text[found.end() :])
            mark = stop.group() if stop else ""
            opening = "(" if pieces[-1].endswith("(") else ""
            pieces[-1] = pieces[-1].removesuffix(opening)
            whole = f"{opening}{math(formula)}{mark}"
            pieces.append(f'<span class="unbroken">{whole}</span>' if opening or mark else whole)
            end = found.end() + len(mark)
            continue
        elif code:
            pieces.append(f"<code>{escape(code)}</code>")
        elif stress:
            pieces.append(f"<em>{escape(stress)}</em>")
        elif name:
            pieces.append(escape(str((values or {})[name])))
        else:
            number = (values or {})[key]
            label = f"exercise {number}{exercise}" if exercise else f"part {number}"
            pieces.append(f'<a href="#{key}{(exercise or "").replace(".", "-")}">{label}</a>')
        end = found.end()
    pieces.append(escape(text[end:], quote=False))
    return "".join(pieces)


def paragraph(text: str, values: Mapping[str, Any] | None = None, kind: str = "") -> str:
    """A paragraph, perhaps of a class of the style sheet."""
    attribute = f' class="{kind}"' if kind else ""
    return f"<p{attribute}>{inline(text, values)}</p>"


def bullets(lines: tuple[str, ...], values: Mapping[str, Any] | None = None) -> str:
    """A list."""
    return "<ul>" + "".join(f"<li>{inline(line, values)}</li>" for line in lines) + "</ul>"


def rich_table(header: Sequence[str], rows: Iterable[Sequence[str]], values: Mapping[str, Any] | None = None) -> str:
    """A table whose cells are text with marks; it scrolls by itself where the screen is narrow."""
    rows = list(rows)
    # Columns of sentences are set as text, columns of numbers as numbers.
    long = [any(len(row[k]) > LONG for row in rows) for k in range(len(header))]
    looks = [' class="text"' if text else "" for text in long]
    head = "".join(f"<th{look}>{inline(cell, values)}</th>" for cell, look in zip(header, looks, strict=True))
    body = ""
    for row in rows:
        cells = (f"<td{look}>{inline(cell, values)}</td>" for cell, look in zip(row, looks, strict=True))
        body += f"<tr>{''.join(cells)}</tr>\n"
    return (
        f'<div class="wide" tabindex="0"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>'
    )


def python(source: str) -> str:
    """Python code as a block: comments soft, keywords bold."""
    lines = source.strip("\n").splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    text, pieces, end = "".join(lines), [], 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = _look(token)
        if not kind:
            continue
        first = starts[token.start[0] - 1] + token.start[1]
        last = starts[token.end[0] - 1] + token.end[1]
        pieces += [escape(text[end:first], quote=False), f'<span class="{kind}">{escape(text[first:last])}</span>']
        end = last
    pieces.append(escape(text[end:], quote=False))
    return f'<pre tabindex="0"><code>{"".join(pieces)}</code></pre>'


def _look(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.COMMENT:
        return "comment"
    if token.type == tokenize.STRING:
        return "string"
    return "keyword" if token.type == tokenize.NAME and keyword.iskeyword(token.string) else ""
