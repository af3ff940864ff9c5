"""Formulas become MathML that is well formed; what is not known is refused."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from maxmargin.lesson.mathml import UnknownNotation, math


def shape(formula: str) -> str:
    """The formula's elements without their attributes."""

    def written(node: ElementTree.Element) -> str:
        inside = "".join(written(child) for child in node)
        return f"{node.tag}({inside or (node.text or '')})"

    return "".join(written(child) for child in ElementTree.fromstring(math(formula)))


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("x", "mi(x)"),
        ("12.5", "mn(12.5)"),
        ("x_i", "msub(mi(x)mi(i))"),
        ("x^2", "msup(mi(x)mn(2))"),
        ("x_i^2", "msubsup(mi(x)mi(i)mn(2))"),
        ("x^2_i", "msubsup(mi(x)mi(i)mn(2))"),
        (r"\frac{a}{b+1}", "mfrac(mrow(mi(a))mrow(mi(b)mo(+)mn(1)))"),
        (r"\half", "mfrac(mn(1)mn(2))"),
        (r"\sum_{i=1}^n", "munderover(mo(∑)mrow(mi(i)mo(=)mn(1))mi(n))"),
        (r"\min_w", "munder(mo(min)mi(w))"),
        (r"\lambda \le \infty", "mi(λ)mo(≤)mi(∞)"),
        (r"\text{if } z", "mtext(if\u00a0)mi(z)"),
        (r"\text{a}\,\text{b c}", "mtext(a)mspace()mtext(b c)"),
        (r"\left( x \right)", "mrow(mo(()mi(x)mo()))"),
        (r"\sqrt c", "msqrt(mi(c))"),
        ("a - b", "mi(a)mo(−)mi(b)"),
        ("f'", "msup(mi(f)mo(′))"),
        ("1/c", "mn(1)mo(/)mi(c)"),
    ],
)
def test_notation(formula, expected):
    assert shape(formula) == expected


def test_tables():
    cases = shape(r"\begin{cases} 0 & x < 1 \\ 1 & x \ge 1 \end{cases}")
    assert cases.startswith("mrow(mo({)mtable(mtr(mtd(mn(0))mtd(") and cases.count("mtr") == 2
    assert shape(r"\begin{pmatrix} 0 & 1 \end{pmatrix}").endswith("mo()))")


@pytest.mark.parametrize(
    "formula",
    [r"\unheard x", "{x", "x}", r"\begin{cases} 1", r"\begin{array} 1 \end{array}", "x_i_j", r"\left( x", "#"],
)
def test_what_is_not_known_is_refused(formula):
    with pytest.raises(UnknownNotation):
        math(formula)


def test_signs_of_the_markup_are_escaped():
    assert "&lt;" in math("a < b") and "<b" not in math("a < b")
    assert math("x", display=True).startswith('<math display="block">')


def test_a_sign_with_nothing_before_it_is_a_prefix():
    for formula in ("-1", "[-1, 0]", "a = -b", r"\frac{-b}{c}", r"x \in -S"):
        assert 'form="prefix"' in math(formula), formula
    for formula in ("a - b", "1 - y", r"\|a\| - b", "(a) - b"):
        assert "prefix" not in math(formula), formula
