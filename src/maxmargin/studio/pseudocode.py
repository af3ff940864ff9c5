"""The numbered pseudocode of a solver, and which of its lines have just run.

Each solver's file opens with numbered pseudocode, and its code carries the same numbers in comments and docstrings.
A generator stands still where it yields. The lines that ran since it stood there before are those of the innermost
loop around that place: the numbers written in it, and in the functions of the same file that it calls.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import CodeType, ModuleType
from typing import Any

from maxmargin.solvers.base import registry as solvers

#: A number as the code carries it: "3.", "2. and 3.", "2. to 4.".
_NUMBER = re.compile(r"(?<![\w.])(\d)\.(?:\s+(and|to)\s+(\d)\.)?(?!\d)")
_LINE = re.compile(r"^ {4}(\d)\. +(\S.*)$")


@dataclass(frozen=True)
class Pseudocode:
    """The problem in one line, and the numbered lines with what belongs to each."""

    problem: str
    lines: tuple[tuple[int, str], ...]


def pseudocode(kind: type) -> Pseudocode:
    """What the file of a solver opens with."""
    return _opening(sys.modules[kind.__module__])


def pseudocode_of(iterates: Iterator[Any], kind: type) -> Pseudocode:
    """The same for a run: a problem of another family may have an algorithm of its own, in a file of its own."""
    return _opening(_module_of(iterates, kind))


@cache
def _home(file: str | None, kind: type) -> ModuleType:
    """The file of a run's loop, where that opens with pseudocode of its own and not of another solver."""
    own = sys.modules[kind.__module__]
    there = next((one for one in list(sys.modules.values()) if file and getattr(one, "__file__", "") == file), own)
    of_others = {type(solvers[name]).__module__ for name in solvers}
    return there if _opening(there).lines and there.__name__ not in of_others else own


def _module_of(iterates: Iterator[Any], kind: type) -> ModuleType:
    code = getattr(iterates, "gi_code", None)
    return _home(None if code is None else code.co_filename, kind)


def _opening(module: ModuleType) -> Pseudocode:
    text = module.__doc__ or ""
    problem = next((line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("Problem:")), "")
    lines: list[tuple[int, str]] = []
    for line in text.splitlines():
        if match := _LINE.match(line):
            lines.append((int(match.group(1)), match.group(2)))
        elif lines and line.startswith("        ") and line.strip():
            number, told = lines[-1]
            lines[-1] = number, f"{told}\n{line[7:].rstrip()}"
        elif lines and not line.startswith("    ") and line.strip():
            if not line.rstrip().endswith(":"):  # a heading between two parts is followed by more lines
                break
    return Pseudocode(problem, tuple(lines))


def lines_that_ran(iterates: Iterator[Any], kind: type, first: bool) -> list[int]:
    """The numbers of the lines since the last iterate; of the first one also what comes before the loop."""
    module = _module_of(iterates, kind)
    known = {number for number, _ in _opening(module).lines}
    generator: Any = iterates
    place: tuple[CodeType, int] | None = None
    while generator is not None:
        frame = getattr(generator, "gi_frame", None)
        if frame is not None and frame.f_code.co_filename == module.__file__:
            place = frame.f_code, frame.f_lineno
        generator = getattr(generator, "gi_yieldfrom", None)
    ran = set() if place is None else _around(module.__file__ or "", *place)
    if not ran:  # its loop is in another file: everything but the start
        ran = known - {min(known, default=0)}
    if first:
        ran = ran | {number for number in known if number < min(ran, default=10)}
    return sorted(ran & known)


@cache
def _around(file: str, code: CodeType, line: int) -> frozenset[int]:
    """The numbers in the innermost loop around a line, and in the functions that it calls."""
    with open(file, encoding="utf-8") as opened:
        source = opened.read()
    tree, marks = ast.parse(source), _marks(source)
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    loops = [
        node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While) and node.lineno <= line <= _end(node)
    ]
    if not loops:
        return frozenset()
    found: set[int] = set()
    waiting: list[ast.AST] = [max(loops, key=lambda node: node.lineno)]
    seen: set[str] = {code.co_name}
    while waiting:
        node = waiting.pop()
        found |= {number for at, number in marks if node.lineno <= at <= _end(node)}  # type: ignore[attr-defined]
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and inner.id in functions and inner.id not in seen:
                seen.add(inner.id)
                waiting.append(functions[inner.id])
    return frozenset(found)


def _end(node: Any) -> int:
    return node.end_lineno or node.lineno


def _marks(source: str) -> list[tuple[int, int]]:
    """The lines of comments and docstrings that carry numbers, each with its number."""
    found = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and token.start[1] > 0):
            for match in _NUMBER.finditer(token.string):
                low = int(match.group(1))
                others = range(low, int(match.group(3)) + 1) if match.group(2) == "to" else [low]
                found += [(token.start[0], number) for number in others]
                if match.group(2) == "and":
                    found.append((token.start[0], int(match.group(3))))
    return found
