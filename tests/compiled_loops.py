"""A law of compiled code: where arrays lie in memory must not change the last bits of a result.

Where a loop writes to an array, LLVM makes two copies of it, one with vectors and one without, and takes the second at
run time if the arrays might overlap. It also takes it if one array merely begins a few numbers behind another, or lies
where an index below 0 would lead to. If the loop sums as well, the two copies add in two orders, and the sum depends on
what the memory manager did. A sum has a loop of its own, then, in which nothing is written.

Every function that is compiled while tests run is looked at (`conftest.py`); what the cache on disk has is not.
"""

from __future__ import annotations

import os
import re

#: The functions whose last bits depend on where their arrays lie.
found: list[str] = []

_LABEL = re.compile(r'^"?([-\w.$<>]+)"?:')
_NEXT = re.compile(r'label %"?([-\w.$<>]+)"?')
_SUM = re.compile(r"= phi <\d+ x (?:double|float)>")


def sums_that_depend_on_memory(text: str) -> int:
    """How many loops of this optimised code have a sum in a copy that is taken only where arrays are far apart."""
    count = 0
    for body in re.split(r"^define ", text, flags=re.MULTILINE)[1:]:
        if "vector.memcheck" not in body:
            continue
        blocks, name = {}, "entry"
        for line in body.splitlines():
            label = _LABEL.match(line)
            if label:
                name = label[1]
            elif line.strip():
                blocks.setdefault(name, []).append(line)
        count += sum(
            any(map(_SUM.search, blocks[loop]))
            for start in blocks
            if start.startswith("vector.memcheck")
            for loop in _loops_behind(start, blocks)
        )
    return count


def _loops_behind(start: str, blocks: dict[str, list[str]]) -> list[str]:
    """The vector loops that a check of the memory leads to."""
    waiting, seen, loops = [start], set(), []
    while waiting:
        name = waiting.pop()
        if name in seen or name not in blocks:
            continue
        seen.add(name)
        if name.startswith(("vector.body", "vec.epilog.vector.body")):
            loops.append(name)
        waiting += [after for after in _NEXT.findall(blocks[name][-1]) if after.startswith("vec")]
    return loops


def watch() -> None:
    """Look at all code of ours that is compiled from now on."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return
    from numba.core.codegen import CPUCodeLibrary

    import maxmargin.numeric.compiler  # noqa: F401  # it wraps the same method

    optimize = CPUCodeLibrary._optimize_final_module

    def looked_at(library):
        optimize(library)
        module = library._final_module
        ours = ("maxmargin", "test_memory_layout")
        if any(name in one.name and not one.is_declaration for one in module.functions for name in ours):
            if sums_that_depend_on_memory(str(module)):
                found.append(library.name)

    CPUCodeLibrary._optimize_final_module = looked_at
