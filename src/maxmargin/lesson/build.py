"""A part of the lesson as HTML: its text, its code, its figures (saved beside the page) and its exercises."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from html import escape, unescape
from io import BytesIO
from pathlib import Path
from typing import Any

from maxmargin.errors import MissingExtra
from maxmargin.lesson import twins
from maxmargin.lesson.exercises import sheet
from maxmargin.lesson.mathml import math
from maxmargin.lesson.part import Exercise, Part, Picture, Printed, Recording, Shown, Table
from maxmargin.lesson.prose import bullets, inline, paragraph, python, rich_table
from maxmargin.page import picture
from maxmargin.result import Result

#: Dots per inch of the saved figures, for a wide page and for a narrow one.
WIDE_DPI, NARROW_DPI = 110, 170
COLOURS = 128


#: What makes the file of a recorded run, which it is given with its title.
TapeMaker = Callable[[Result, str], bytes]


def section(part: Part, numbers: Mapping[str, int], folder: Path, tape: TapeMaker | None = None) -> str:
    """One part, with its figures written into the folder; `numbers` are those of all parts, by key."""
    number = numbers[part.key]
    try:
        body = _body(part, numbers, folder, tape)
    except MissingExtra as missing:
        body = paragraph(f"This part cannot be computed here: {missing}.", kind="soft")
    return (
        f'<section id="{part.key}">\n<h2><span class="number">{number}</span> {inline(part.title)}</h2>\n'
        f'<p class="soft">Follows source {part.source}. <a href="#contents">Contents</a></p>\n{body}\n</section>'
    )


def _body(part: Part, numbers: Mapping[str, int], folder: Path, tape: TapeMaker | None) -> str:
    number, values = numbers[part.key], {**numbers, **part.facts()}
    pieces = [
        *(paragraph(text, values) for text in part.idea),
        *_formulas(part, values),
        *_code(part),
        *(show(shown, folder, values, tape) for shown in part.shown),
        "<h3>What to notice</h3>",
        bullets(part.notice, values),
    ]
    if part.misprints:
        pieces += [
            '<aside class="misprint"><h3>Misprints in the source</h3>',
            bullets(part.misprints, values),
            "</aside>",
        ]
    pieces.append("<h3>Exercises</h3>")
    for k, exercise in enumerate(part.exercises, 1):
        pieces.append(_exercise(exercise, f"{part.key}-{k}", f"{number}.{k}", values))
    return "\n".join(pieces)


def _formulas(part: Part, values: Mapping[str, Any]) -> Iterator[str]:
    for line in part.formulas:
        yield paragraph(line.words, values, kind="lead")
        # The pieces of a long line stand below each other on a narrow page.
        pieces = [line.formula] if "aligned" in line.formula else re.split(r"\\qquad|\\quad", line.formula)
        maths = "".join(math(piece, display=True) for piece in pieces)
        yield f'<div class="formula" tabindex="0">{maths}</div>'


def _code(part: Part) -> Iterator[str]:
    if part.twins:
        yield "<h3>As plain NumPy</h3>"
        yield from (python(inspect.getsource(getattr(twins, name))) for name in part.twins)
    if part.call:
        yield "<h3>By this library</h3>"
        yield python(part.call)


def show(shown: Shown, folder: Path, values: Mapping[str, Any] | None = None, tape: TapeMaker | None = None) -> str:
    """A figure, a recorded run, a table or something printed, with its caption."""
    caption = inline(shown.caption, values)
    if isinstance(shown, Picture):
        return _drawn(shown, folder, caption)
    if isinstance(shown, Recording):
        return _recorded(shown, folder, caption, tape)
    if isinstance(shown, Table):
        return f"<figure>{rich_table(*shown.make(), values)}<figcaption>{caption}</figcaption></figure>"
    assert isinstance(shown, Printed)
    typed = python(shown.code) if shown.code else ""
    look = "output wrapped" if shown.wrapped else "output"
    output = f'<pre class="{look}" tabindex="0"><code>{escape(shown.make(), quote=False)}</code></pre>'
    return f"<figure>{typed}{output}<figcaption>{caption}</figcaption></figure>"


def _recorded(shown: Recording, folder: Path, caption: str, tape: TapeMaker | None) -> str:
    """A tape in a frame of its own, as the page itself has no scripts; and what is shown in its place without them."""
    pieces = []
    if tape is not None:
        file, title = f"{shown.name}.html", unescape(re.sub(r"<[^>]*>", "", caption))
        (folder / file).write_bytes(tape(shown.run(), title))
        pieces.append(
            f'<figure class="tape"><iframe src="{file}" title="{escape(title)}" loading="lazy"></iframe>'
            f'<figcaption>{caption} <a href="{file}">Open it on a page of its own</a>.</figcaption></figure>'
        )
    if shown.animate is not None:
        wide, narrow = f"{shown.name}.gif", f"{shown.name}-narrow.gif"
        shown.animate(folder / wide, None)
        shown.animate(folder / narrow, 1)
        animation = picture(wide, caption, narrow)
        pieces.append(animation if tape is None else f"<noscript>{animation}</noscript>")
    return "\n".join(pieces)


def _drawn(shown: Picture, folder: Path, caption: str) -> str:
    wide, narrow = f"{shown.name}.png", f"{shown.name}-narrow.png"
    _save(shown.draw(None).figure, folder / wide, WIDE_DPI)
    _save(shown.draw(1).figure, folder / narrow, NARROW_DPI)
    return picture(wide, caption, narrow)


def _save(figure: Any, file: Path, dpi: int) -> None:
    """Write a figure with few colours, which makes the file a third as large and nobody sees."""
    from PIL import Image

    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    few = Image.open(buffer).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(file, optimize=True)


def _exercise(exercise: Exercise, key: str, number: str, values: Mapping[str, Any]) -> str:
    asked = sheet(exercise)
    return (
        f'<div class="exercise" id="{key}"><h4>Exercise {number}: {inline(asked.title)}</h4>\n'
        f"{paragraph(asked.question, values)}\n"
        f"<details><summary>Solution</summary>\n{python(asked.solution)}\n"
        f'<p class="answer">Result: {escape(exercise(), quote=False)}.</p></details></div>'
    )
