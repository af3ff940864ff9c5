"""Numbers and sentences as people read them, and the small pieces of HTML that hold them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape

#: Longer names are cut: a label or a parameter may be anything.
LONGEST = 40


def percent(share: float) -> str:
    """A share in plain digits, two of them, rounded up so that "at most" stays true."""
    if share <= 0.0:
        return "0%"
    value = 100.0 * share
    digits = max(0, 1 - math.floor(math.log10(value)))
    text = f"{math.ceil(value * 10**digits - 1e-9) / 10**digits:,.{digits}f}"
    return (text.rstrip("0").rstrip(".") if digits else text) + "%"


def number(value: float, digits: int = 3) -> str:
    """A number, infinite or not."""
    if math.isnan(value):
        return "–"
    return ("∞" if value > 0 else "−∞") if math.isinf(value) else f"{value:.{digits}g}"


def count(many: int, what: str) -> str:
    """Say "1 sample" or "1,200 samples"."""
    return f"{many:,} {what}" + ("" if many == 1 else "s")


def short(value: object) -> str:
    """Any value as text of a bearable length."""
    text = str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def sentence(text: str) -> str:
    """A capital letter and a full stop."""
    return text[:1].upper() + text[1:].rstrip(".") + "." if text else ""


def paragraph(text: str) -> str:
    """A paragraph of plain text."""
    return f"<p>{escape(text)}</p>\n"


def bullets(texts: Iterable[str]) -> str:
    """A list of sentences."""
    return "<ul>\n" + "".join(f"<li>{escape(sentence(text))}</li>\n" for text in texts) + "</ul>\n"
