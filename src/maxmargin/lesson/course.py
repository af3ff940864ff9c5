"""The course: its parts in the order of the five sources, and what stands around them."""

from __future__ import annotations

from html import escape
from typing import Any

from maxmargin.errors import InvalidInput
from maxmargin.lesson import notation, sources
from maxmargin.lesson.exercises import PRELUDE
from maxmargin.lesson.part import Part, Picture
from maxmargin.lesson.prose import inline, paragraph, python, rich_table
from maxmargin.lesson.source000 import MARGIN, SUBGRADIENT
from maxmargin.lesson.source000_ascent import COORDINATE, PROJECTED
from maxmargin.lesson.source000_duality import CONJUGATE, DUALITY
from maxmargin.lesson.source001 import ASCENT, MULTIPLIERS
from maxmargin.lesson.source002 import KERNELS, PENALTY, SMO_PART
from maxmargin.lesson.source003 import KINDS, LOSSES, SADDLE
from maxmargin.lesson.source003_race import DUEL
from maxmargin.lesson.source004 import HULLS, KKT, PROGRAMS
from maxmargin.lesson.source004_messages import PERCEPTRON, SIZE

TITLE = "Support vector machines with proof: a course"

PARTS: tuple[Part, ...] = (
    MARGIN, SUBGRADIENT, DUALITY, CONJUGATE, PROJECTED, COORDINATE,
    MULTIPLIERS, ASCENT,
    PENALTY, KERNELS, SMO_PART,
    LOSSES, SADDLE, KINDS, DUEL,
    PROGRAMS, KKT, HULLS, PERCEPTRON, SIZE,
)  # fmt: skip

NUMBERS: dict[str, int] = {part.key: number for number, part in enumerate(PARTS, 1)}

#: What the five texts are about.
SOURCES = {
    "000": "a report: primal and dual SVM, sub-gradients, projected gradients, coordinates",
    "001": "lecture notes: the dual of the soft margin and gradient ascent",
    "002": "a blog post: the dual by gradient descent with a penalty",
    "003": "lecture slides: losses, duality as a saddle point, coordinate descent",
    "004": "lecture notes: the dual of the hard margin as a quadratic program",
}

INTRODUCTION = (
    "This course follows five teaching texts, called source 000 to source 004, in their order. Each part gives the"
    " idea, the formulas, the algorithm in a few lines of NumPy with the letters of its source, the same algorithm by"
    " this library, figures, and exercises. Solutions are hidden until you open them, and all of them run.",
    "Every number and every figure on this page was computed when the page was made. Every fit carries a"
    " *certificate*: the primal value, the dual value, and the gap between them, which bounds how far the fit is from"
    " the optimum. Why it does so is the subject of [[duality]].",
    "You need linear algebra (vectors, inner products, eigenvalues) and derivatives. The data are small: two clouds"
    " of 50 samples each that overlap, two that can be separated, two moons, a disc in a ring, and 569 tumours with 30"
    " measurements each.",
)


def figure(name: str) -> Any:
    """Draw a figure of the course, for a notebook."""
    pictures = {one.name: one for part in PARTS for one in part.shown if isinstance(one, Picture)}
    if name not in pictures:
        raise InvalidInput(f"the course has no figure {name!r}; it has: {', '.join(pictures)}")
    return pictures[name].draw(None)


def introduction() -> str:
    """What comes before the parts: how to read, the contents, the notation."""
    pieces = [f"<h1>{escape(TITLE)}</h1>", *(paragraph(text, NUMBERS) for text in INTRODUCTION)]
    pieces += ["<p>All code on this page runs after these lines:</p>", python(PRELUDE)]
    pieces += ['<nav id="contents"><h2>Contents</h2>', *_contents(), "</nav>"]
    pieces += [
        '<section id="notation"><h2>Notation</h2>',
        paragraph("The five texts use one letter for different things and different letters for one thing."),
        rich_table(notation.HEADER, notation.ROWS),
        "</section>",
    ]
    return "\n".join(pieces)


def _contents() -> list[str]:
    pieces = []
    for source, about in SOURCES.items():
        mine = [part for part in PARTS if part.source == source]
        items = "".join(
            f'<li value="{NUMBERS[part.key]}"><a href="#{part.key}">{inline(part.title)}</a></li>' for part in mine
        )
        pieces.append(f"<h3>Source {source} <span>{escape(about)}</span></h3><ol>{items}</ol>")
    last = (
        '<li><a href="#notation">Notation</a></li><li><a href="#all">All methods in one figure</a></li>'
        '<li><a href="#table">Every method on four problems</a></li><li><a href="#map">Map of the sources</a></li>'
    )
    pieces.append(f"<h3>Reference</h3><ul>{last}</ul>")
    return pieces


def source_map() -> str:
    """The table that leads from each item of the sources to its call and its part."""
    rows = [(item.source, item.item, item.call, f"[[{item.part}]]") for item in sources.ITEMS]
    return "\n".join(
        [
            '<section id="map"><h2>Map of the sources</h2>',
            paragraph("Every figure, algorithm, step and formula of the five texts, with the call that does it."),
            rich_table(("source", "item", "call", "part"), rows, NUMBERS),
            "</section>",
        ]
    )
