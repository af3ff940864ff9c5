r"""Formulas of the lesson: a small part of LaTeX's notation becomes MathML, which browsers draw without any script.

    1. Cut the formula into tokens: commands, numbers, letters, signs.
    2. Read them by recursive descent: an atom is a token or a group in braces; `_` and `^` bind to the atom before.
    3. Each atom is a MathML element: mi for names, mn for numbers, mo for operators, mfrac, msqrt, mtable, ...

What is not known is refused with its name: a formula never appears half translated.

>>> math(r"\half x_i^2")
'<math><mfrac><mn>1</mn><mn>2</mn></mfrac><msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup></math>'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\s+|.")

NAMES = dict(
    zip(
        "alpha beta gamma delta epsilon eta theta lambda mu nu xi pi rho sigma tau phi chi psi omega".split(),
        "αβγδεηθλμνξπρστφχψω",
        strict=True,
    )
) | {"Phi": "Φ", "Pi": "Π", "Sigma": "Σ", "ell": "ℓ", "infty": "∞", "nabla": "∇", "partial": "∂", "R": "ℝ"}

SIGNS = {
    "le": "≤", "ge": "≥", "ne": "≠", "in": "∈", "subseteq": "⊆", "to": "→", "leftarrow": "←", "cdot": "·",
    "circ": "∘", "times": "×", "pm": "±", "approx": "≈", "propto": "∝", "forall": "∀", "implies": "⟹",
    "iff": "⟺", "ldots": "…", "dots": "…", "top": "⊤", "mid": "|", "langle": "⟨", "rangle": "⟩", "cup": "∪",
    "cap": "∩", "|": "‖", "{": "{", "}": "}", "succeq": "⪰", "colon": ":",
}  # fmt: skip
#: Written upright; those of the second line carry their index below them in a formula of its own.
FUNCTIONS = ("sign", "log", "exp", "diag", "conv", "dim")
LIMITS = {"max": "max", "min": "min", "argmin": "arg min", "argmax": "arg max", "Proj": "Proj", "clip": "clip"}
LARGE = {"sum": "∑"}
SPACES = {",": "0.17em", ";": "0.28em", "quad": "1em", "qquad": "2em", " ": "0.28em"}
ACCENTS = {"tilde": "˜", "hat": "^", "bar": "¯"}
FENCES = "()[]|"


class UnknownNotation(ValueError):
    """A formula uses something that is not translated."""


def math(formula: str, display: bool = False) -> str:
    """The formula as a `<math>` element; `display` gives it a line of its own."""
    parser = _Parser(formula)
    inside = parser.row(until=())
    style = ' display="block"' if display else ""
    return f"<math{style}>{inside}</math>"


class _Parser:
    """Reads one formula from left to right."""

    def __init__(self, formula: str) -> None:
        self.formula = formula
        self.tokens = [token for token in TOKEN.findall(formula) if not token.isspace()]  # 1.
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        if not token:
            raise UnknownNotation(f"the formula ends too early: {self.formula}")
        self.at += 1
        return token

    def expect(self, wanted: str) -> None:
        token = self.take()
        if token != wanted:
            raise UnknownNotation(f"{wanted!r} is expected, {token!r} found in {self.formula}")

    def row(self, until: tuple[str, ...]) -> str:
        """Everything up to one of the given tokens, which is left where it is (2.)."""
        return "".join(self._scripted_atoms(until))

    def _scripted_atoms(self, until: tuple[str, ...]) -> Iterator[str]:
        while self.peek() and self.peek() not in until:
            if self.peek() in ("}", "&", r"\\", r"\end", r"\right"):
                raise UnknownNotation(f"{self.peek()!r} without its beginning in {self.formula}")
            yield self.scripted()

    def scripted(self) -> str:
        below_above = self.peek().removeprefix("\\") in LIMITS | LARGE and self.peek().startswith("\\")
        base = self.atom()
        scripts: dict[str, str] = {}
        while self.peek() in ("_", "^", "'"):
            mark = self.take()
            if mark == "'":
                scripts["^"] = "<mo>′</mo>"
                continue
            if mark in scripts:
                raise UnknownNotation(f"two {mark!r} at one place in {self.formula}")
            scripts[mark] = self.atom()
        if not scripts:
            return base
        low, high = scripts.get("_"), scripts.get("^")
        if low is not None and high is not None:
            name, parts = ("munderover" if below_above else "msubsup"), base + low + high
        elif low is not None:
            name, parts = ("munder" if below_above else "msub"), base + low
        else:
            name, parts = ("mover" if below_above else "msup"), base + str(high)
        return f"<{name}>{parts}</{name}>"

    def atom(self) -> str:
        """One element (3.)."""
        token = self.take()
        if token == "{":
            inside = self.row(until=("}",))
            self.expect("}")
            return f"<mrow>{inside}</mrow>"
        if token.startswith("\\"):
            return self.command(token[1:])
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{token}</mi>"
        if token in "+-=<>,;:!/*" + FENCES:
            return self.operator(token)
        if token in "≤≥∈→←…·∞½":
            return f"<mo>{token}</mo>"
        raise UnknownNotation(f"{token!r} in {self.formula}")

    def operator(self, token: str) -> str:
        if token in FENCES:  # it keeps the height of the line unless \left or \right asks for more
            return f'<mo stretchy="false">{token}</mo>'
        if token == "/":
            return '<mo lspace="0" rspace="0">/</mo>'
        if token in "+-" and self._begins():
            return f'<mo form="prefix" lspace="0" rspace="0">{escape(token.replace("-", "−"))}</mo>'
        return f"<mo>{escape(token.replace('-', '−'))}</mo>"

    def _begins(self) -> bool:
        """Whether the sign just taken has nothing before it that it could be added to."""
        before = self.tokens[self.at - 2] if self.at > 1 else "{"
        return before in "{([,=<>" or before in (r"\le", r"\ge", r"\in", r"\to", "&", r"\quad", r"\qquad")

    def command(self, name: str) -> str:
        if name in NAMES:
            return f"<mi>{NAMES[name]}</mi>"
        if name in SIGNS:
            fixed = ' stretchy="false"' if name in ("|", "langle", "rangle", "{", "}", "mid") else ""
            return f"<mo{fixed}>{SIGNS[name]}</mo>"
        if name in FUNCTIONS:
            return f"<mi>{name}</mi><mo>&#8289;</mo>" if self.peek() == "(" else f"<mi>{name}</mi>"
        if name in LIMITS:
            # Before a bracket it is a function, elsewhere an operator with a little room after it.
            after = "0" if self.peek() == "(" else "0.17em"
            return f'<mo movablelimits="true" lspace="0.17em" rspace="{after}">{LIMITS[name]}</mo>'
        if name in LARGE:
            return f'<mo largeop="true" movablelimits="true">{LARGE[name]}</mo>'
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}"></mspace>'
        if name == "half":
            return "<mfrac><mn>1</mn><mn>2</mn></mfrac>"
        if name == "frac":
            return f"<mfrac>{self.atom()}{self.atom()}</mfrac>"
        if name == "sqrt":
            return f"<msqrt>{self.atom()}</msqrt>"
        if name in ACCENTS:
            return f'<mover accent="true">{self.atom()}<mo stretchy="false">{ACCENTS[name]}</mo></mover>'
        if name in ("text", "mathbf"):
            return self.words(bold=name == "mathbf")
        if name == "left":
            return self.fenced()
        if name == "begin":
            return self.environment()
        raise UnknownNotation(rf"\{name} in {self.formula}")

    def words(self, bold: bool) -> str:
        r"""The argument of \text, spaces included, or of \mathbf."""
        found = self._raw_argument()
        if bold:
            return f'<mi style="font-weight:bold;font-style:normal">{escape(found)}</mi>'
        # Spaces at the ends would be dropped.
        kept = re.sub("^ | $", "\u00a0", found)
        return f"<mtext>{escape(kept)}</mtext>"

    def _raw_argument(self) -> str:
        # Spaces were dropped from the tokens; the words are looked up in the formula itself.
        before = sum(1 for token in self.tokens[: self.at] if token in (r"\text", r"\mathbf"))
        found = re.findall(r"\\(?:text|mathbf)\{([^{}]*)\}", self.formula)
        while self.take() != "}":
            pass
        return str(found[before - 1])

    def fenced(self) -> str:
        opening = self._fence()
        inside = self.row(until=(r"\right",))
        self.expect(r"\right")
        closing = self._fence()
        return f"<mrow>{opening}{inside}{closing}</mrow>"

    def _fence(self) -> str:
        token = self.take()
        if token == ".":
            return ""
        sign = SIGNS.get(token[1:], "") if token.startswith("\\") else token if token in FENCES else ""
        if not sign:
            raise UnknownNotation(f"the fence {token!r} in {self.formula}")
        return f'<mo stretchy="true">{sign}</mo>'

    def environment(self) -> str:
        kind = self._environment_name()
        if kind not in ("cases", "pmatrix", "aligned"):
            raise UnknownNotation(rf"\begin{{{kind}}} in {self.formula}")
        rows: list[list[str]] = [[]]
        while True:
            rows[-1].append(self.row(until=("&", r"\\", r"\end")))
            mark = self.take()
            if mark == r"\end":
                break
            if mark == r"\\":
                rows.append([])
        if self._environment_name() != kind:
            raise UnknownNotation(rf"\begin{{{kind}}} does not end in {self.formula}")
        lines = "".join("<mtr>" + "".join(f"<mtd>{cell}</mtd>" for cell in row) + "</mtr>" for row in rows)
        table = f'<mtable class="{kind}" displaystyle="true">{lines}</mtable>'
        if kind == "cases":
            return f'<mrow><mo stretchy="true">{{</mo>{table}</mrow>'
        if kind == "pmatrix":
            return f'<mrow><mo stretchy="true">(</mo>{table}<mo stretchy="true">)</mo></mrow>'
        return table

    def _environment_name(self) -> str:
        self.expect("{")
        letters = ""
        while self.peek() != "}":
            letters += self.take()
        self.expect("}")
        return letters
