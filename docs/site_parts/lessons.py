"""The lessons of the site: one notebook for each part of the course in `maxmargin.lesson`, which is their only source.

Text, formulas, code, figures and exercises are those of `maxmargin demo`. myst-nb runs every cell of the notebooks.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from maxmargin.lesson import twins
from maxmargin.lesson.course import NUMBERS, PARTS, SOURCES
from maxmargin.lesson.exercises import PRELUDE, sheet
from maxmargin.lesson.part import Part, Picture, Recording, Shown, Table
from maxmargin.lesson.prose import MARK
from maxmargin.studio.tape import tape_of

#: The commands of the course's formulas that LaTeX does not have.
COMMANDS = {
    "half": r"\tfrac{1}{2}",
    "R": r"\mathbb{R}",
    "Proj": r"\operatorname{Proj}",
    "clip": r"\operatorname{clip}",
    "sign": r"\operatorname{sign}",
    "diag": r"\operatorname{diag}",
    "conv": r"\operatorname{conv}",
    "argmin": r"\operatorname{arg\,min}",
    "argmax": r"\operatorname{arg\,max}",
}
COMMAND = re.compile(r"\\(" + "|".join(COMMANDS) + r")(?![A-Za-z])")

Cell = dict[str, Any]


def write(folder: Path) -> None:
    """Write all notebooks; one that has not changed keeps its date."""
    for part in PARTS:
        cells = list(_cells(part))
        for number, one in enumerate(cells):
            one["id"] = f"{part.key}-{number}"
        text = json.dumps(_notebook(cells), ensure_ascii=False, indent=1) + "\n"
        path = folder / f"{name_of(part.key)}.ipynb"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def write_tapes(folder: Path) -> None:
    """Write the recorded runs that the lessons show, those that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        for one in runs_of(part):
            place = folder / f"{one.name}.html"
            if not place.exists():
                place.write_bytes(tape_of(one.run(), re.sub(r"[$\\]", "", part.title)))


def runs_of(part: Part) -> list[Recording]:
    """The recorded runs of a part."""
    shown = [one for one in part.shown if isinstance(one, Recording)]
    return [*shown, part.recorded] if part.recorded is not None else shown


def name_of(key: str) -> str:
    """The file of a part, in the order of the course."""
    return f"{NUMBERS[key]:02d}-{key}"


def _notebook(cells: list[Cell]) -> dict[str, Any]:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _cells(part: Part) -> Iterator[Cell]:
    values = {**NUMBERS, **part.facts()}
    number = NUMBERS[part.key]
    yield _text(
        f"# {number}. {plain(part.title, values)}",
        *(plain(text, values) for text in part.idea),
        f"*It follows source {part.source}, {SOURCES[part.source]}. "
        f"Download it as {{nb-download}}`{name_of(part.key)}.ipynb`.*",
    )
    if part.formulas:
        yield _text(
            *(
                piece
                for line in part.formulas
                for piece in (plain(line.words, values), f"$$\n{_latex(line.formula)}\n$$")
            )
        )
    yield _code(
        PRELUDE + "from maxmargin.lesson.course import figure", "hide-cell", shown="what all code here begins with"
    )
    if part.twins:
        yield _text("## As plain NumPy")
        for name in part.twins:
            yield _code(inspect.getsource(getattr(twins, name)))
    if part.call:
        yield _text("## By this library")
        hidden = [name for name in part.twins if re.search(rf"\b{name}\b", PRELUDE)]
        again = f"from maxmargin import {', '.join(hidden)}  # not those of the cells above\n\n" if hidden else ""
        yield _code(again + _shown_at_the_end(part.call))
    for one in (*part.shown, *([] if part.recorded is None else [part.recorded])):
        yield from _shown(one, values)
    yield _text("## What to notice", "\n".join(f"- {plain(text, values)}" for text in part.notice))
    if part.misprints:
        yield _text("## Misprints in the source", "\n".join(f"- {plain(text, values)}" for text in part.misprints))
    yield _text("## Exercises", "Solutions are hidden until you open them. All of them run.")
    for k, exercise in enumerate(part.exercises, 1):
        asked = sheet(exercise)
        yield _text(f"### Exercise {number}.{k}: {plain(asked.title, values)}", plain(asked.question, values))
        yield _code(asked.solution, "hide-cell", shown="the solution")


def _shown(one: Shown, values: Mapping[str, Any]) -> Iterator[Cell]:
    caption = plain(one.caption, values)
    if isinstance(one, Picture):
        yield _text(caption)
        yield _code(f'figure("{one.name}")', "remove-input")
    elif isinstance(one, Recording):
        title = re.sub(r"[*`$\\{}]|\]\([^)]*\)|\[", "", caption)
        frame = f'<iframe class="tape" src="../tapes/{one.name}.html" title="{title}" loading="lazy"></iframe>'
        yield _text(caption, frame)
    elif isinstance(one, Table):
        yield _text(caption, _table(*one.make(), values))
    else:
        typed = f"```python\n{one.code.strip()}\n```" if one.code else ""
        yield _text(caption, typed, f"```text\n{one.make().rstrip()}\n```")


def _shown_at_the_end(call: str) -> str:
    """A call that ends with a fit shows it, as a notebook does."""
    last = call.rstrip().splitlines()[-1]
    return f"{call.rstrip()}\nresult" if last.startswith("result = ") else call.rstrip()


def _text(*blocks: str) -> Cell:
    return {"cell_type": "markdown", "metadata": {}, "source": "\n\n".join(block for block in blocks if block)}


def _code(source: str, *tags: str, shown: str = "") -> Cell:
    """A cell of code; one that is collapsed says what it would show."""
    about: dict[str, Any] = {"tags": list(tags)} if tags else {}
    if shown:
        about["jupyter"] = {"source_hidden": True}
        about["mystnb"] = {"code_prompt_show": f"Show {shown}", "code_prompt_hide": f"Hide {shown}"}
    cell: Cell = {"cell_type": "code", "execution_count": None, "metadata": about, "outputs": []}
    return {**cell, "source": source.strip("\n")}


def _latex(formula: str) -> str:
    return COMMAND.sub(lambda found: COMMANDS[found[1]], formula)


def plain(text: str, values: Mapping[str, Any]) -> str:
    """A text of the course as Markdown: values filled in, links to other lessons."""
    pieces, end = [], 0
    for found in MARK.finditer(text):
        pieces.append(text[end : found.start()].replace("<", "&lt;"))
        formula, code, stress, name, key, exercise = found.groups()
        if formula:
            pieces.append(f"${_latex(formula)}$")
        elif name:
            pieces.append(str(values[name]))
        elif key:
            label = f"exercise {values[key]}{exercise}" if exercise else f"lesson {values[key]}"
            pieces.append(f"[{label}]({name_of(key)}.ipynb)")
        else:
            pieces.append(f"`{code}`" if code else f"*{stress}*")
        end = found.end()
    return "".join([*pieces, text[end:].replace("<", "&lt;")])


def _table(header: Any, rows: Any, values: Mapping[str, Any]) -> str:
    def cell(text: str) -> str:
        # A bar would end the cell, in a formula too.
        text = plain(text, values).replace(r"\|", r"\Vert ")
        return re.sub(r"\|(?=[^$]*\$(?:[^$]*\$[^$]*\$)*[^$]*$)", r"\\vert ", text).replace("|", r"\|")

    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(text if row is lines[1] else cell(text) for text in row) + " |" for row in lines)
