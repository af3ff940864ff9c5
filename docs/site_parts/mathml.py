"""Formulas as MathML, made when the site is built: no script, no fonts, no network."""

from __future__ import annotations

import re
from html import escape

from latex2mathml.converter import convert


def setup(app) -> None:
    """Register the way formulas are written, and choose it."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.config.html_math_renderer = "mathml"


def _inline(translator, node) -> None:
    translator.body.append(formula(node.astext(), "inline"))
    from docutils import nodes

    raise nodes.SkipNode


def _block(translator, node) -> None:
    translator.body.append(f'<div class="formula">{formula(node.astext(), "block")}</div>\n')
    from docutils import nodes

    raise nodes.SkipNode


def formula(text: str, display: str) -> str:
    """One formula; its source is there for screen readers and for copying."""
    text = re.sub(r"\\label\{[^}]*\}", "", text).strip()
    made = convert(text, display=display)
    return made.replace("<math ", f'<math alttext="{escape(text)}" ', 1)
