"""The page's modules as one script: what a notebook's widget and a tape need, which can load no second file.

Each module becomes a function that returns its exports, in the order in which they import one another. It reads the
few forms of import and export that PROTOCOL.md allows, and refuses any other.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

#: The page: its modules, style and document.
PAGE = Path(__file__).parent / "page"

_IMPORT = re.compile(
    r"""^import\s+(?:\{(?P<names>[^}]*)\}|\*\s+as\s+(?P<all>[\w$]+))\s+from\s+["'](?P<from>[^"']+)["'];?[ \t]*$""",
    re.M,
)
_DECLARED = re.compile(
    r"^export\s+(?P<kind>async\s+function\s*\*?|function\s*\*?|class|const)\s+(?P<name>[\w$]+)", re.M
)
_DEFAULT = re.compile(r"^export\s+default\s+", re.M)
_LIST = re.compile(r"^export\s*\{(?P<names>[^}]*)\};?[ \t]*$", re.M)
_LEFT_OVER = re.compile(r"^\s*(?:import|export)\b(?!\s*:)|\bimport\s*\(|\bimport\.meta\b", re.M)


def bundled(root: str, page: Path = PAGE) -> str:
    """A module and all that it imports as the text of one module, with the same default export (if it has one)."""
    order: list[str] = []
    made: dict[str, str] = {}

    def visit(path: str, above: tuple[str, ...]) -> None:
        if path in above:
            raise ValueError(f"the page's modules import in a circle: {' → '.join([*above, path])}")
        if path in made:
            return
        source = _without_docs((page / path).read_text(encoding="utf-8"))
        folder = posixpath.dirname(path)
        made[path] = ""
        for match in _IMPORT.finditer(source):
            visit(posixpath.normpath(posixpath.join(folder, match["from"])), (*above, path))
        made[path] = _as_function(path, folder, source)
        order.append(path)

    visit(root, ())
    end = (
        f"export default {_variable(root)}.default;\n" if ".default" in made[root] or _has_default(page / root) else ""
    )
    return "\n".join(made[path] for path in order) + "\n" + end


def _has_default(file: Path) -> bool:
    return _DEFAULT.search(file.read_text(encoding="utf-8")) is not None


def _variable(path: str) -> str:
    return "$" + re.sub(r"\W", "_", path)


def _as_function(path: str, folder: str, source: str) -> str:
    """One module as a constant: its exports."""
    exports: dict[str, str] = {}

    def imported(match: re.Match[str]) -> str:
        other = _variable(posixpath.normpath(posixpath.join(folder, match["from"])))
        lines = "\n" * match[0].count("\n")
        if match["all"]:
            return f"const {match['all']} = {other};{lines}"
        names = ", ".join(": ".join(_renamed(one)) for one in _listed(match["names"]))
        return f"const {{ {names} }} = {other};{lines}"

    def declared(match: re.Match[str]) -> str:
        exports[match["name"]] = match["name"]
        return f"{match['kind']} {match['name']}"

    def listed(match: re.Match[str]) -> str:
        exports.update((_renamed(one)[1], _renamed(one)[0]) for one in _listed(match["names"]))
        return "\n" * match[0].count("\n")

    body = _IMPORT.sub(imported, source)
    body = _DECLARED.sub(declared, body)
    body = _LIST.sub(listed, body)
    if _DEFAULT.search(body):
        body = _DEFAULT.sub("const $default = ", body)
        exports["default"] = "$default"
    if left := _LEFT_OVER.search(_without_comments(body)):
        raise ValueError(f"{path}: {left[0].strip()!r} is not among the forms that a bundle can have (PROTOCOL.md)")
    told = ", ".join(f"{name}: {local}" if name != local else name for name, local in exports.items())
    return f"// {path}\nconst {_variable(path)} = (() => {{\n{body.rstrip()}\nreturn {{ {told} }};\n}})();"


def _listed(names: str) -> list[str]:
    return [one.strip() for one in names.split(",") if one.strip()]


def _renamed(one: str) -> tuple[str, ...]:
    """``a as b`` as the two names, ``a`` as one name twice."""
    parts = re.split(r"\s+as\s+", one)
    return (parts[0], parts[-1])


def _without_docs(source: str) -> str:
    """The source without its types and lines of comment: a quarter of it, which every tape would carry."""
    return re.sub(r"\n{2,}", "\n", re.sub(r"[ \t]*/\*\*.*?\*/[ \t]*|^[ \t]*//[^\n]*\n", "", source, flags=re.S | re.M))


def _without_comments(source: str) -> str:
    """The source with its comments as blanks; texts that hold comment marks do not matter here."""
    return re.sub(r"/\*.*?\*/|^\s*//[^\n]*", "", source, flags=re.S | re.M)
