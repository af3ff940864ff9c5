"""The benchmarks on the site: one table of all fits that can be filtered, and the tables as the races wrote them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

#: The solvers of other projects, by their column in the tables.
PEERS = {
    "liblinear": "LIBLINEAR",
    "linearsvc": "scikit-learn LinearSVC",
    "snapml": "Snap ML",
    "sklearnex": "scikit-learn-intelex",
    "svc": "scikit-learn SVC (LIBSVM)",
}
PROBLEM = re.compile(r"(?P<data>\S+) C=(?P<C>\S+)(?: γ=(?P<gamma>\S+)·scale)? (?P<bias>\w+)")
CELL = re.compile(r"(?P<slow>> )?(?P<seconds>[\d.e-]+)(?P<short>\*.*)?")


@dataclass(frozen=True)
class Time:
    """What one solver needed; `reached` is whether it came to the gap."""

    solver: str
    seconds: float
    reached: bool


@dataclass(frozen=True)
class Line:
    """One problem to one gap."""

    file: str
    data: str
    kernel: str
    C: str
    gap: str
    ours: Time
    peer: Time

    @property
    def ratio(self) -> float:
        """How many times as fast ours is."""
        return self.peer.seconds / self.ours.seconds


def lines(results: Path) -> list[Line]:
    """Every line of every table of seconds, those where ours is behind first."""
    found = [line for path in sorted(results.glob("*.md")) for line in _lines(path)]
    return sorted(found, key=lambda line: line.ratio)


def _lines(path: Path) -> Iterator[Line]:
    text = path.read_text(encoding="utf-8")
    for gap, table in re.findall(r"^## Seconds to (\S+)\n\n(.*?)(?=\n\n|\Z)", text, re.M | re.S):
        head, _, *rows = ([cell.strip() for cell in row.strip("| ").split(" | ")] for row in table.splitlines())
        for row in rows:
            problem = PROBLEM.fullmatch(row[0])
            times = {name: _time(name, cell) for name, cell in zip(head[1:], row[1:], strict=True)}
            ours = times["maxmargin auto"]
            peers = [one for name, one in times.items() if name in PEERS and one is not None]
            if problem is None or ours is None:
                raise ValueError(f"{path.name} has a line that is not understood: {row}")
            if not peers:  # a free bias, which none of them has
                continue
            arrived = [one for one in peers if one.reached]
            # Nobody arrived: the longest fit is the one that came nearest.
            peer = min(arrived, key=lambda one: one.seconds) if arrived else max(peers, key=lambda one: one.seconds)
            gamma = problem["gamma"]
            kernel = f"linear, bias {problem['bias']}" if gamma is None else f"RBF, γ = {gamma}·scale"
            yield Line(path.stem, problem["data"], kernel, problem["C"], f"{float(gap):.0e}", ours, peer)


def _time(name: str, cell: str) -> Time | None:
    found = CELL.fullmatch(cell)
    return None if found is None else Time(name, float(found["seconds"]), not (found["slow"] or found["short"]))


def page(results: Path) -> str:
    """The page with the table that can be filtered."""
    found = lines(results)
    behind = sum(line.ratio < 1 for line in found)
    choices = {
        "kernel": sorted({line.kernel for line in found}),
        "data": sorted({line.data for line in found}),
        "C": sorted({line.C for line in found}, key=float),
        "gap": sorted({line.gap for line in found}, key=float, reverse=True),
    }
    filters = "".join(
        f'<label>{name} <select data-column="{name}"><option value="">all</option>'
        + "".join(f"<option>{escape(one)}</option>" for one in values)
        + "</select></label>\n"
        for name, values in choices.items()
    )
    rows = "\n".join(map(_row, found))
    conditions = "\n".join(
        f"- [{path.stem}](measurements/{path.stem}.md): {_conditions(path)}" for path in _raced(results)
    )
    return f"""# Benchmarks, line by line

Seconds until a fit has the relative gap that is asked for: ours, from the arrays to the certificate, beside the fastest
other library that arrives. The lines where we are behind come first: {behind} of {len(found)}.
[How we measure](../explanation/how-we-measure.md) has the rules, [the performance page](../performance.md) the summary.

```{{raw}} html
<form class="filters" aria-label="Filter the table">
{filters}<label><input type="checkbox" data-behind> only where we are behind</label>
<output aria-live="polite"></output>
</form>
<div class="pst-scrollable-table-container"><table class="table benchmarks">
<thead><tr><th>data</th><th>kernel</th><th>C</th><th>gap</th><th>ours, s</th><th>theirs, s</th><th>fastest other</th>
<th>times as fast</th><th>table</th></tr></thead>
<tbody>
{rows}
</tbody></table></div>
<script src="../_static/benchmarks.js" defer></script>
```

≥: no other library reached the gap; the time is that of its longest fit, which came nearest or was stopped.

## Machines, versions and dates

{conditions}
"""


def _row(line: Line) -> str:
    more = "" if line.peer.reached else "≥ "
    cells = [
        line.data, line.kernel, line.C, line.gap, f"{line.ours.seconds:.3g}", f"{line.peer.seconds:.3g}",
        PEERS[line.peer.solver], f"{more}{line.ratio:.2f}",
    ]  # fmt: skip
    about = (
        f' data-data="{escape(line.data)}" data-kernel="{escape(line.kernel)}" data-c="{line.C}" data-gap="{line.gap}"'
    )
    behind = ' class="behind"' if line.ratio < 1 else ""
    link = f'<td><a href="measurements/{line.file}.html">{line.file}</a></td>'
    return f"<tr{about}{behind}>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + f"{link}</tr>"


def _raced(results: Path) -> list[Path]:
    return [path for path in sorted(results.glob("*.md")) if "\n## Seconds to " in path.read_text(encoding="utf-8")]


def _conditions(path: Path) -> str:
    """The line that a race begins with: date, machine, load and versions."""
    return path.read_text(encoding="utf-8").splitlines()[2]


def measurements(folder: Path, benchmarks: Path) -> None:
    """The tables as pages, from the files that the races wrote."""
    folder.mkdir(exist_ok=True)
    found = [benchmarks / "README.md", *sorted((benchmarks / "results").glob("*.md"))]
    for path in [*found, *(benchmarks / "results").glob("*.png")]:
        place = folder / path.name
        if not place.exists() or place.read_bytes() != path.read_bytes():
            place.write_bytes(path.read_bytes())
    listed = "\n".join(path.stem for path in found)
    about = "Every table that [the performance page](../../performance.md) speaks of, as the races wrote it."
    text = f"# Measurements\n\n{about}\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n"
    (folder / "index.md").write_text(text, encoding="utf-8")
